"""Losses that hold less of the vocabulary than PyTorch's: traced, and equal to it."""

from itertools import product

import pytest
from long_rows import first

from engine.errors import InputError
from engine.estimate import ledger
from engine.ledger import Category, Phase
from engine.lines.losses import LOSSES
from engine.stacks.losses import WRITERS, chunk_rows

torch = pytest.importorskip("torch")

from engine.verify.losses import OF_LOGITS, in_chunks
from engine.verify.symbolic import symbolic
from engine.verify.trace import executed, traced

BIASED = {"head_bias": True, "vocab": 32000}
TIED = {"tied": True, "vocab": 5000}
ROWS = [
    {"shape": {"vocab": 32000}, "sequence": 1000},
    {"shape": BIASED, "precision": "pure-bf16", "micro_batch": 3, "sequence": 500},
    {"shape": TIED, "precision": "fp32", "gradient_accumulation": 2},
    {"shape": TIED, "sequence": 1024, "recompute": "full", "dropout": 0.1},
    {"shape": BIASED, "precision": "mixed-fp32-grad", "data": 4, "zero": 1},
    {"shape": BIASED, "data": 4, "zero": 2, "sequence": 1024},
    {"shape": BIASED | {"layers": 4}, "data": 4, "zero": 3, "sequence": 1024},
    {"shape": TIED | {"layers": 4}, "data": 3, "zero": 3, "gradient_accumulation": 2},
    {"shape": BIASED | {"soft_cap": True}, "sequence": 1000},
    {"shape": TIED | {"soft_cap": True}, "precision": "fp32", "recompute": "full"},
]

PAIRS = list(product(range(len(ROWS)), ("fused", "chunked")))
KEPT = {(row, ("fused", "chunked")[row % 2]) for row in range(len(ROWS))}


@pytest.mark.parametrize(("row", "loss"), first(KEPT, PAIRS))
def test_every_phase_meets_the_traced_step(scenario, gaps, loss, row):
    found = gaps(scenario(loss=loss, **ROWS[row]))
    assert max(map(abs, found.values())) < 0.002, found


def test_the_kernel_takes_the_logits_of_autocast_too(scenario, gaps):
    found = gaps(scenario(loss="fused", precision="autocast", shape={"vocab": 32000}))
    assert max(map(abs, found.values())) < 0.002, found


@pytest.mark.parametrize("loss", ["fused", "chunked"])
def test_every_phase_meets_an_executed_step(scenario, gaps, loss):
    made = scenario(loss=loss, attention="eager", shape={"vocab": 4000})
    found = gaps(made, executed(made))
    assert max(map(abs, found.values())) < 0.002, found


def test_no_tensor_of_all_logits_is_ever_alive_in_chunks(scenario):
    made = scenario(loss="chunked", shape={"vocab": 32000}, sequence=1024)
    logits = [one for one in traced(made).allocations if one.shape[-1:] == (32000,)]
    assert {one.shape for one in logits} == {(16, 32000)}


def test_chunks_hold_a_small_part_of_what_eager_does(scenario):
    held = [
        ledger(scenario("llama-3-8b", loss=loss, sequence=8192)).total(
            Category.LOGITS, phase=Phase.FORWARD
        )
        for loss in ("eager", "fused", "chunked")
    ]
    tokens_and_rows = 8192 * 128256
    assert held == [10 * tokens_and_rows, 2 * tokens_and_rows, 2 * 256 * 128256]


def test_a_cap_of_the_logits_keeps_a_tanh_where_no_kernel_makes_it_again(scenario):
    wide = 1000 * 128
    for loss, kept in (("eager", 2), ("fused", 0), ("chunked", 0)):
        capped, plain = (
            ledger(scenario(loss=loss, shape={"soft_cap": soft_cap})) for soft_cap in (True, False)
        )
        for phase in (Phase.FORWARD, Phase.LOSS):
            assert capped.phases[phase] - plain.phases[phase] == kept * wide


def test_every_loss_has_operators_and_lines():
    assert set(WRITERS) == set(LOSSES)


@pytest.mark.parametrize(
    ("rows", "vocab", "hidden", "chunk"),
    [
        (16384, 32000, 4096, 2048),  # the example in the source's comment
        (8192, 128256, 4096, 256),
        (4096, 32000, 4096, 512),
        (100, 50, 64, 100),
        (3, 5000, 64, 1),
    ],
)
def test_a_chunk_has_a_power_of_two_of_rows_or_all(rows, vocab, hidden, chunk):
    assert chunk_rows(rows, vocab=vocab, hidden=hidden) == chunk


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("cap", [0.0, 0.5])
def test_loss_and_gradients_are_those_of_pytorch(biased, cap):
    torch.manual_seed(1)
    head = torch.nn.Linear(16, 200, bias=biased)
    x, targets = torch.randn(90, 16, requires_grad=True), torch.randint(200, (90,))
    found = {}
    for name in WRITERS:
        x.grad = None
        head.zero_grad()
        loss = in_chunks(x, head, targets, cap) if name == "chunked" else None
        if loss is None:
            loss = OF_LOGITS[name](head(x), targets, cap)
        (3 * loss).backward()
        gradients = [x.grad, *(weight.grad for weight in head.parameters())]
        found[name] = [loss.detach(), *(gradient.clone() for gradient in gradients)]
    for name in ("fused", "chunked"):
        for one, other in zip(found[name], found["eager"], strict=True):
            torch.testing.assert_close(one, other)


def test_formulas_of_chunks_are_refused_because_they_are_no_polynomials(scenario):
    with pytest.raises(InputError, match="no polynomial"):
        symbolic(scenario(loss="chunked"))


def test_the_formulas_of_the_kernel_are_the_traced_polynomials(scenario):
    made = scenario(loss="fused", micro_batch=3, sequence=176, shape={"layers": 2, "vocab": 5000})
    assert {one.difference for one in symbolic(made)} == {0}
