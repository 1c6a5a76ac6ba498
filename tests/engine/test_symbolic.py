"""With b and s left as symbols the ledger's formulas are the traced step's, term by term."""

from dataclasses import replace
from functools import cache

import pytest
from long_rows import first
from sympy import Poly

from engine.errors import InputError
from engine.estimate import ledger
from engine.ledger import OUTSIDE, Phase
from engine.symbols import W, b, s

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
)

from engine.verify.symbolic import (
    COUNTERS,
    LEFTOVERS,
    POSITION_IDS,
    RANDOM_STATE,
    SCALARS,
    SymbolError,
    _Sizes,
    _symbols_only,
    peaks,
    symbolic,
)
from engine.verify.trace import traced

BIASES = {"qkv_bias": True, "output_bias": True, "mlp_bias": True}
GPT_2 = {"gated": False, "norm": "layernorm", "activation": "gelu-tanh", "positions": 600} | BIASES
NEOX = {"gated": False, "norm": "layernorm", "activation": "gelu", "rotary_dim": 8} | BIASES
PHI = NEOX | {"parallel_residual": True, "shared_norm": True, "head_bias": True, "rotary_dim": 12}
GROUPED = {"kv_heads": 2}
QWEN = GROUPED | {"qkv_bias": True, "tied": True}
QK_NORM = {"kv_heads": 4, "head_dim": 64, "qk_norm": "head"}
GEMMA = {"activation": "gelu-tanh", "kv_heads": 1, "head_dim": 96, "tied": True}
OLMO_2 = {"norm_inputs": False, "norm_outputs": True, "qk_norm": "full"}
GEMMA_2 = GEMMA | {"norm_outputs": True, "soft_cap": True}
RELU = {"gated": False, "activation": "relu"}
OLMO = {"norm": "layernorm-no-weight"}


def recipe(precision, attention="flash", recompute="none", optimizer="adamw", **more):
    """The keywords of a recipe."""
    given = {"precision": precision, "attention": attention, "recompute": recompute}
    return given | {"optimizer": optimizer} | more


ROWS = {
    "llama": ({"layers": 3}, recipe("mixed")),
    "llama, eager": ({"layers": 4}, recipe("fp32", "eager", optimizer="sgd")),
    "llama, autocast": ({}, recipe("autocast", "flash", "full")),
    "grouped heads": (GROUPED, recipe("pure-bf16", "flash", "full", "adamw-fused")),
    "grouped heads, autocast": (GROUPED, recipe("autocast", gradient_accumulation=2)),
    "gpt-2": (GPT_2, recipe("fp32", "eager", dropout=0.1, optimizer="sgd-momentum")),
    "gpt-2, fp32 gradients": (GPT_2, recipe("mixed-fp32-grad", "flash", "selective")),
    "gpt-2, tied": (GPT_2 | {"tied": True}, recipe("mixed", "eager", "selective", dropout=0.1)),
    "neox": (NEOX | {"parallel_residual": True}, recipe("pure-bf16", "eager", dropout=0.1)),
    "neox, in sequence": (NEOX, recipe("mixed", gradient_accumulation=2)),
    "phi": (PHI, recipe("mixed", "flash", dropout=0.1, optimizer="adamw-fused")),
    "qwen": (QWEN, recipe("mixed", "flash", "none", "sgd")),
    "norms of heads": (QK_NORM, recipe("mixed", "eager", "selective", dropout=0.1)),
    "norms of heads, fp32": (QK_NORM, recipe("fp32", gradient_accumulation=2)),
    "gemma": (GEMMA, recipe("mixed-fp32-grad", "eager", "none", "adamw-fused")),
    "relu": (RELU, recipe("pure-bf16", "flash", "selective", "sgd-momentum")),
    "gpt-2, autocast": (GPT_2, recipe("autocast", "eager", "full", dropout=0.1)),
    "phi, autocast": (PHI, recipe("autocast", "flash", "selective", "sgd")),
    "phi, recomputed": (PHI, recipe("fp32", "eager", "full")),
    "qwen, wide vocabulary": (
        QWEN | {"vocab": 32000},
        recipe("mixed", "eager", "selective", gradient_accumulation=2),
    ),
    "norms without weights": (OLMO, recipe("mixed", "eager", "selective")),
    "olmo-2": (OLMO_2, recipe("mixed")),
    "olmo-2, autocast": (OLMO_2 | GROUPED, recipe("autocast", "eager", "full", dropout=0.1)),
    "olmo-2, selective": (OLMO_2 | GROUPED, recipe("pure-bf16", "eager", "selective")),
    "olmo-2, side by side": (
        OLMO_2 | {"parallel_residual": True, "shared_norm": True},
        recipe("fp32", "flash", "full", "sgd"),
    ),
    "gemma-2": (GEMMA_2 | {"vocab": 32000}, recipe("mixed")),
    "gemma-2, eager": (GEMMA_2, recipe("fp32", "eager", "none", "adamw-fused", dropout=0.1)),
    "gemma-2, autocast": (GEMMA_2 | {"vocab": 32000}, recipe("autocast", "eager")),
    "gemma-2, recomputed": (GEMMA_2, recipe("mixed", "eager", "full", gradient_accumulation=2)),
    "gemma-2, selective": (GEMMA_2, recipe("pure-bf16", "eager", "selective", "sgd")),
    "norms on both sides": (
        GPT_2 | {"norm_outputs": True},
        recipe("mixed", "flash", "none", dropout=0.1),
    ),
    "no norms": ({"norm_inputs": False}, recipe("fp32")),
}
SHARDED = {
    "llama": ({"layers": 5}, recipe("mixed", "flash", "full")),
    "llama, fp32": ({"layers": 4}, recipe("fp32", "eager", gradient_accumulation=2)),
    "phi": (PHI | {"layers": 4}, recipe("mixed", "flash", dropout=0.1)),
    "qwen": (QWEN | {"layers": 4}, recipe("pure-bf16", "eager", "full", "sgd")),
    "olmo-2": (OLMO_2 | {"layers": 4}, recipe("mixed", "flash", "full")),
    "gemma-2": (GEMMA_2 | {"layers": 5}, recipe("mixed", "eager", gradient_accumulation=2)),
}
KEPT = {
    "llama", "llama, eager", "grouped heads", "grouped heads, autocast", "gpt-2",
    "gpt-2, fp32 gradients", "gpt-2, tied", "neox", "phi", "norms of heads", "gemma", "relu",
    "norms without weights", "olmo-2", "olmo-2, autocast", "gemma-2", "gemma-2, eager",
}  # fmt: skip
FLASH = {name: row for name, row in ROWS.items() if row[1]["attention"] == "flash"}
FEW = ("llama", "grouped heads, autocast", "gpt-2", "phi")
PHASES = ("forward", "loss", "backward-first", "backward-last", "step")


@pytest.fixture
def row(scenario):
    """The scenario of a named row and the peaks of its trace, which is made once."""
    return lambda name: _traced_row(scenario, name)


@cache
def _traced_row(build, name):
    shape, rest = ROWS[name]
    made = build(micro_batch=3, sequence=176, shape={"layers": 2} | shape, **rest)
    return made, peaks(made)


@pytest.mark.parametrize("name", first({"llama", "phi"}, SHARDED))
def test_the_formulas_of_sharded_weights_are_the_traced_polynomials(scenario, name):
    shape, rest = SHARDED[name]
    made = scenario(micro_batch=3, sequence=176, shape=shape, data=4, zero=3, **rest)
    book = ledger(made)
    differences = {peak.phase.value: peak.against(book).difference for peak in peaks(made)}
    assert differences == dict.fromkeys((*PHASES, "reduce"), 0)


def _scores(peak):
    """Bytes of all b·s² elements together."""
    return int(Poly(peak.traced, b, s).coeff_monomial(b * s**2))


@pytest.mark.parametrize("name", first(KEPT, ROWS))
def test_the_formula_of_every_phase_is_the_traced_polynomial(row, name):
    made, found = row(name)
    book = ledger(made)
    differences = {peak.phase.value: peak.against(book).difference for peak in found}
    assert differences == dict.fromkeys(PHASES, 0)


@pytest.mark.parametrize("name", FEW)
def test_batch_and_sequence_are_what_is_left_of_the_symbols(row, name):
    made, found = row(name)
    book = ledger(made)
    for peak in found:
        assert peak.traced.free_symbols == peak.against(book).predicted.free_symbols == {b, s}
        assert peak.traced.is_polynomial(b, s)


@pytest.mark.parametrize(
    ("name", "an_element"),
    [
        ("llama, eager", 4),  # probabilities
        ("gpt-2", 4 + 4 + 1),  # the same behind dropout, and its mask
        ("neox", 2 + 2 + 1),
        ("gemma", 2),
        ("gemma-2, eager", 4 + 4 + 4 + 1),  # what tanh returned too
    ],
)
def test_eager_attention_keeps_its_scores_over_the_square_of_the_sequence(row, name, an_element):
    made, found = row(name)
    a = made.architecture
    loss = next(peak for peak in found if peak.phase is Phase.LOSS)
    assert _scores(loss) == an_element * a.heads * a.layers


@pytest.mark.parametrize("name", first(KEPT & FLASH.keys(), FLASH))
def test_fused_attention_has_nothing_over_the_square_of_the_sequence(row, name):
    assert not any(_scores(peak) for peak in row(name)[1])


def test_every_line_that_is_dropped_is_missed(row):
    made, found = row("gpt-2, tied")
    book = ledger(made)
    for peak in found:
        for line in book.lines:
            if not book.size(line.name) or line.category in OUTSIDE or line.size.has(W):
                continue
            without = replace(book, lines=tuple(x for x in book.lines if x is not line))
            missed = peak.against(without).difference != 0
            assert missed == (peak.phase in line.phases), (peak.phase, line.name)


def test_a_coefficient_that_is_off_by_one_shows_by_how_much(row):
    made, found = row("llama")
    book = ledger(made)
    lines = tuple(
        replace(line, size=line.size + b * s) if line.name == "log-softmax" else line
        for line in book.lines
    )
    wrong = {peak.phase: peak.against(replace(book, lines=lines)).difference for peak in found}
    assert [phase for phase, difference in wrong.items() if difference == -b * s] == [
        Phase.FORWARD,
        Phase.LOSS,
    ]


def test_what_is_left_over_is_counted_by_name(row):
    made, found = row("llama")
    layers = made.architecture.layers
    tensors = 9 * layers + 3
    counters, random = (COUNTERS, 4 * tensors), (RANDOM_STATE, (16 + 8) * layers)
    assert {peak.phase: peak.leftovers for peak in found} == {
        Phase.FORWARD: (counters, (SCALARS, 4 + 4), random),
        Phase.LOSS: (counters, (SCALARS, 4 + 4), random),
        Phase.BACKWARD_FIRST: (counters, (SCALARS, 4 + 4), random),
        Phase.BACKWARD_LAST: (counters, (SCALARS, 4 + 4), (RANDOM_STATE, 16 + 8)),
        Phase.STEP: (counters,),
    }


@pytest.mark.parametrize("name", ["gpt-2", "gpt-2, fp32 gradients", "gpt-2, tied"])
def test_learned_positions_have_ids_that_the_ledger_leaves_out(row, name):
    for peak in row(name)[1]:
        left = dict(peak.leftovers)
        assert left.get(POSITION_IDS, 0) == (0 if peak.phase is Phase.STEP else 8 * s)


@pytest.mark.parametrize("name", FEW)
def test_nothing_is_left_over_but_scalars_and_position_ids(row, name):
    for peak in row(name)[1]:
        assert set(dict(peak.leftovers)) <= set(LEFTOVERS)
        assert all(size.is_Integer or size == 8 * s for _, size in peak.leftovers)
        assert sum(size for _, size in peak.leftovers if size.is_Integer) < 512


@pytest.mark.parametrize(
    ("batch", "sequence", "attention"),
    [
        (3, 176, "eager"),
        (1, 176, "flash"),  # one sequence: the symbol is traced at two
        (2, 256, "eager"),  # as many tokens as the model is wide
    ],
)
def test_the_polynomial_gives_the_bytes_of_a_trace_with_numbers(
    scenario, batch, sequence, attention
):
    made = scenario(
        micro_batch=batch, sequence=sequence, attention=attention, shape=GPT_2 | {"layers": 2}
    )
    timeline = traced(made)
    with_numbers = timeline.peaks(timeline.last_step)
    for one in symbolic(made):
        assert one.difference == 0
        size = one.traced.subs({b: batch, s: sequence}) + one.rounding
        assert size == with_numbers[one.phase].size


def test_a_symbol_that_became_a_number_is_an_error(scenario):
    sizes = _Sizes(scenario(micro_batch=4))
    batch, _ = sizes.batch()
    sizes.check()
    assert batch == 4  # so that the shape environment takes it for a fact
    with pytest.raises(SymbolError, match="ask that b be 4"):
        sizes.check()


@pytest.mark.parametrize(
    "error",
    [
        DataDependentOutputException(torch.ops.aten._local_scalar_dense.default),
        DynamicOutputShapeException(torch.ops.aten.nonzero.default),
        RuntimeError("Cannot call sizes() on tensor with symbolic sizes/strides\nmore"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_where_pytorch_needs_a_number_it_is_an_error_of_symbols(error):
    with pytest.raises(SymbolError) as told, _symbols_only():
        raise error
    assert str(told.value) == str(error).splitlines()[0]


def test_any_other_error_is_a_fault_and_stays_one():
    shapes = "mat1 and mat2 shapes cannot be multiplied"
    with pytest.raises(RuntimeError, match=shapes) as told, _symbols_only():
        torch.ones(2, 3) @ torch.ones(2, 3)
    assert not isinstance(told.value, SymbolError)


@pytest.mark.parametrize("zero", [0, 1, 2])
def test_buckets_of_data_parallelism_are_refused(scenario, zero):
    with pytest.raises(InputError, match="--symbolic"):
        symbolic(scenario(data=4, zero=zero))
