"""A row is all that an optimizer takes: traced, and stepping as it should."""

from pathlib import Path

import pytest
from long_rows import first

from engine.architecture import Experts
from engine.estimate import fits, ledger
from engine.ledger import Phase
from engine.optimizers import TABLE, optimizers
from engine.state_forms import FORMS
from engine.symbols import P_a, P_blocks, P_factors, P_hidden, P_paged, P_small

torch = pytest.importorskip("torch")

from engine.verify.optimizers import Adafactor, EightBitAdamW, Lion, Muon, PagedAdamW, codes
from engine.verify.stepper import optimizer as running
from engine.verify.trace import executed, traced

GPT = {"gated": False, "norm": "layernorm", "qkv_bias": True, "mlp_bias": True, "positions": 512}
WIDE = {"layers": 4, "hidden": 1024, "ffn": 2816}  # so that blocks of 512 bytes are little
EXPERTS = {"experts": Experts(routed=4, per_token=2, ffn=704)}
ROWS = [
    {},
    {"shape": GPT | {"tied": True}, "precision": "fp32"},
    {"shape": EXPERTS, "precision": "pure-bf16"},
    {"precision": "mixed-fp32-grad", "gradient_accumulation": 2},
    {"data": 4, "zero": 0, "precision": "autocast"},
    {"data": 4, "zero": 1},
    {"data": 4, "zero": 2, "precision": "fp32"},
    {"data": 4, "zero": 3, "shape": GPT | WIDE, "sequence": 512},
    {"data": 3, "zero": 3, "precision": "pure-bf16", "shape": WIDE, "sequence": 512},
]
FURTHER = (
    Path(__file__).parents[1] / "recipes" / "optimizer" / "engine" / "data" / "optimizers.toml"
)
NAMES = (*optimizers(), "rmsprop")
# Muon steps whole matrices: not shares of them, and no expert's. What is paged is stepped as 8-bit
# AdamW and Lion are.
SOME = {"muon": (0, 1, 3, 4), "paged-adamw-8bit": (0, 6, 7), "paged-adamw-32bit": (2, 5)}
PAIRS = [(name, row) for name in NAMES for row in SOME.get(name, range(len(ROWS)))]

# Half of them, so that every optimizer and every row is among them.
KEPT = {(name, row) for name, row in PAIRS if (NAMES.index(name) + row) % 2 == 0}


@pytest.fixture(autouse=True)
def _one_more_row(monkeypatch, tmp_path):
    table = tmp_path / "optimizers.toml"
    table.write_text(f"{TABLE.read_text()}\n{FURTHER.read_text()}")
    monkeypatch.setattr("engine.optimizers.TABLE", table)
    optimizers.cache_clear()
    yield
    monkeypatch.undo()
    optimizers.cache_clear()


@pytest.mark.parametrize(("optimizer", "row"), first(KEPT, PAIRS))
def test_every_phase_meets_the_traced_step(scenario, gaps, optimizer, row):
    found = gaps(scenario(optimizer=optimizer, **ROWS[row]))
    assert max(map(abs, found.values())) < 0.002, found


@pytest.mark.parametrize("optimizer", NAMES)
@pytest.mark.parametrize("precision", ["fp32", "mixed"])
def test_states_are_made_in_the_first_step(scenario, optimizer, precision):
    made = scenario(optimizer=optimizer, precision=precision, shape={"vocab": 32000})
    book = ledger(made)
    first = traced(made, steps=1).peaks(0)
    for phase in (Phase.FORWARD, Phase.LOSS, Phase.STEP):
        predicted = book.first_step[phase] - book.size("cuBLAS workspace")
        assert predicted == pytest.approx(first[phase].size, rel=0.003)


@pytest.mark.parametrize("optimizer", NAMES)
def test_every_phase_meets_an_executed_step(scenario, gaps, optimizer):
    made = scenario(optimizer=optimizer, attention="eager")
    found = gaps(made, executed(made))
    assert max(map(abs, found.values())) < 0.002, found


def test_8_bit_moments_take_two_bytes_and_a_scale_for_each_block(scenario):
    book = ledger(scenario("llama-2-7b", optimizer="adamw-8bit"))
    parameters = 6_738_415_616
    assert book.values[P_small] == 0
    assert book.values[P_blocks] == parameters // 256
    assert book.size("optimizer states") == 2 * parameters + 8 * parameters // 256 + 2048


def test_tensors_of_fewer_than_4096_elements_keep_fp32_moments(scenario):
    made = scenario(optimizer="adamw-8bit", shape={"hidden": 256, "layers": 3})
    assert ledger(made).values[P_small] == (2 * 3 + 1) * 256  # the norms


def test_a_flat_part_of_zero_is_one_large_tensor(scenario):
    values = ledger(scenario(optimizer="adamw-8bit", data=8, zero=2)).values
    assert values[P_small] == 0


def test_a_factored_matrix_has_a_number_for_each_row_and_column(scenario):
    made = scenario(optimizer="adafactor", shape={"vocab": 1000, "layers": 3} | EXPERTS)
    h, f, experts = 256, 704, 4
    layer = 4 * (h + h) + (experts + h) + experts * (2 * f + h) + experts * (h + f) + 2 * h
    assert ledger(made).values[P_factors] == 2 * (1000 + h) + h + 3 * layer


def test_lion_keeps_fp32_beside_16_bit_weights(scenario):
    book = ledger(scenario("gpt2", optimizer="lion", precision="pure-bf16", sequence=128))
    assert book.size("optimizer states") == 2 * book.size("weights")


def test_muon_keeps_one_momentum_of_the_layers_matrices_and_two_moments_of_the_rest(scenario):
    book = ledger(scenario("llama-2-7b", optimizer="muon", precision="fp32"))
    matrices = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    rest = 2 * 32000 * 4096 + 65 * 4096  # embedding, head and norms
    assert book.values[P_hidden] == matrices
    assert book.size("optimizer states") == 4 * matrices + 8 * rest


# An fp32 gradient and update, two bf16 copies, two bf16 Gram matrices of 4096 x 4096.
def test_muon_makes_the_copies_of_one_matrix_and_its_gram_matrices(scenario):
    book = ledger(scenario("llama-2-7b", optimizer="muon"))
    made = book.size("temporaries of one matrix") + book.size("more of them")
    assert made == 12 * 4096 * 11008 + 4 * 4096**2


@pytest.mark.parametrize("precision", ["fp32", "mixed", "mixed-fp32-grad", "pure-bf16"])
@pytest.mark.parametrize("tied", [False, True])
def test_muon_s_matrices_come_before_the_heads_moments_in_the_first_step(
    scenario, precision, tied
):
    wide = {"vocab": 500, "hidden": 512, "ffn": 1408, "tied": tied}
    made = scenario(optimizer="muon", precision=precision, shape=wide)
    book = ledger(made)
    first = traced(made, steps=1).peaks(0)[Phase.STEP].size
    predicted = book.first_step[Phase.STEP] - book.size("cuBLAS workspace")
    assert predicted == pytest.approx(first, rel=0.003)


def test_muon_steps_matrices_as_pytorch_s_and_the_rest_as_adamw():
    torch.testing.assert_close(_stepped(Muon, (40, 30)), _stepped(torch.optim.Muon, (40, 30)))
    torch.testing.assert_close(_stepped(Muon, (50,)), _stepped(torch.optim.AdamW, (50,)))


def test_muon_leaves_a_matrix_outside_the_layers_to_adamw():
    torch.manual_seed(2)
    weight = torch.nn.Parameter(torch.randn(40, 30))
    weight.grad = torch.randn(40, 30)
    made = running("muon", [weight], [weight])
    made.step()
    assert set(made.state[weight]) == {"step", "exp_avg", "exp_avg_sq"}


PAGED = ("paged-adamw-8bit", "paged-adamw-32bit")


@pytest.mark.parametrize(
    ("optimizer", "each"), [("paged-adamw-8bit", 2), ("paged-adamw-32bit", 8)]
)
def test_paged_moments_of_large_tensors_are_between_none_and_all_on_the_gpu(
    scenario, optimizer, each
):
    book = ledger(scenario("llama-2-7b", optimizer=optimizer))
    paged = 6_738_415_616 - 65 * 4096  # all but the norms
    row = [line.name for line in book.lines].index("paged optimizer states")
    assert (book.lows[row], book.sizes[row]) == (0, each * paged)
    assert book.nvidia_smi[1] - book.nvidia_smi[0] > each * paged


@pytest.mark.parametrize("optimizer", PAGED)
def test_paged_moments_are_no_allocated_bytes(scenario, optimizer):
    book = ledger(scenario("llama-2-7b", optimizer=optimizer))
    norms, scales = 8 * 65 * 4096, 8 * (6_738_415_616 - 65 * 4096) // 256
    kept = norms if optimizer == "paged-adamw-32bit" else norms // 4 + scales + 2048 + 8 * 65 * 16
    assert book.size("optimizer states") == kept
    assert sum(book.phases.values()) < sum(
        ledger(scenario("llama-2-7b", optimizer="adamw-8bit")).phases.values()
    )


@pytest.mark.parametrize(
    ("optimizer", "answer"), [("adamw-fused", "no"), ("paged-adamw-32bit", "tight")]
)
def test_a_step_that_fits_only_with_pages_on_the_host_is_tight(scenario, optimizer, answer):
    assert fits(scenario("llama-2-13b", optimizer=optimizer, precision="pure-bf16")) == answer


def test_small_tensors_are_not_paged(scenario):
    values = ledger(scenario(optimizer="paged-adamw-8bit", shape={"hidden": 256})).values
    small = 256 * 256
    assert small < 100_000 < 256 * 704
    assert values[P_paged] == 3 * 3 * 256 * 704 + 2 * 1000 * 256


def test_adapters_moments_are_paged_where_they_are_large(adapted):
    book = ledger(adapted("llama-2-7b", rank=64, base="4-bit", optimizer="paged-adamw-32bit"))
    assert book.size("paged optimizer states") == 8 * book.values[P_a]
    assert book.size("optimizer states") == 0


def test_paged_adamw_steps_as_pytorchs():
    torch.testing.assert_close(
        _stepped(PagedAdamW, (400, 300)), _stepped(torch.optim.AdamW, (400, 300))
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_runs_keeps_as_many_states_as_its_row_says(name):
    weight = torch.nn.Parameter(torch.randn(64, 64))
    weight.grad = torch.randn(64, 64)
    made = running(name, [weight])
    made.step()
    kept = [x for x in made.state[weight].values() if torch.is_tensor(x) and x.shape == (64, 64)]
    factored = optimizers()[name].form == "factored"
    assert len(kept) == (0 if factored else optimizers()[name].states)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_names_its_form_its_states_and_what_it_makes(name):
    row = optimizers()[name]
    assert row.form in FORMS
    assert bool(row.called) == bool(row.states)
    assert bool(row.makes) == bool(row.temporaries or row.of_one)


@pytest.mark.parametrize("signed", [False, True])
def test_a_byte_stands_for_256_numbers_from_its_block_s_largest_down(signed):
    numbers = codes(signed=signed).tolist()
    assert len(set(numbers)) == 256
    assert numbers == sorted(numbers)
    assert numbers[-1] == 1
    assert 0 in numbers
    assert (numbers[0] < -0.9) == signed


def _stepped(optimizer, shape, steps=3):
    torch.manual_seed(2)
    weight = torch.nn.Parameter(torch.randn(shape))
    made = optimizer([weight])
    for _ in range(steps):
        weight.grad = torch.randn(shape)
        made.step()
    return weight.detach()


def test_8_bit_adamw_steps_nearly_as_pytorchs_adamw():
    exact = _stepped(torch.optim.AdamW, (100, 70))
    start = _stepped(torch.optim.AdamW, (100, 70), steps=0)
    near = _stepped(EightBitAdamW, (100, 70))
    assert (near - exact).norm() < 0.1 * (exact - start).norm()


def test_adamw_with_fp32_moments_steps_as_pytorchs():
    torch.testing.assert_close(_stepped(EightBitAdamW, (50,)), _stepped(torch.optim.AdamW, (50,)))


@pytest.mark.parametrize("shape", [(40, 30), (3, 20, 10), (50,)])
def test_adafactor_steps_as_pytorchs(shape):
    torch.testing.assert_close(_stepped(Adafactor, shape), _stepped(torch.optim.Adafactor, shape))


def test_lion_steps_by_the_sign_alone():
    before, after = _stepped(Lion, (60,), steps=0), _stepped(Lion, (60,), steps=1)
    moved = (after - before * (1 - 1e-5)).abs()
    torch.testing.assert_close(moved, torch.full((60,), 1e-4), atol=1e-6, rtol=0)
