"""Properties that every ledger has."""

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sympy import Integer

from engine import units
from engine.catalog import accelerators
from engine.estimate import capacity, fits, ledger, model_states
from engine.ledger import MODEL_STATES, OUTSIDE, Category, Evidence, Phase
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.state_forms import form_of
from engine.symbols import P, largest
from engine.whiteboard import whiteboard

PROPERTY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def in_whole_rows(recipe):
    """Products in float8 want multiples of 16 tokens."""
    if not PRECISIONS[recipe["precision"]].float8:
        return recipe
    return recipe | {"sequence": -(-recipe["sequence"] // 16) * 16}


recipes = st.fixed_dictionaries(
    {
        "precision": st.sampled_from(tuple(PRECISIONS)),
        "optimizer": st.sampled_from(tuple(optimizers())),
        "attention": st.sampled_from(("flash", "eager")),
        "recompute": st.sampled_from(("none", "selective", "full")),
        "loss": st.sampled_from(("eager", "fused")),
        "dropout": st.sampled_from((0.0, 0.1)),
        "micro_batch": st.integers(1, 64),
        "sequence": st.integers(1, 4096),
        "gradient_accumulation": st.integers(1, 3),
    }
).map(in_whole_rows)


def shared(recipe, stages=(0, 1, 2, 3)):
    """Stages under which the recipe is modelled."""
    if recipe["optimizer"] == "muon":
        return [0]
    unsharded = {"autocast", "mixed-fp32-grad"}
    return [z for z in stages if z < 3 or recipe["precision"] not in unsharded]


@PROPERTY
@given(recipe=recipes, ranks=st.sampled_from((1, 2, 8, 512)))
def test_every_line_explains_itself_and_holds_whole_bytes(scenario, recipe, ranks):
    for zero in shared(recipe):
        book = ledger(scenario(data=ranks, zero=zero, **recipe))
        assert len({line.name for line in book.lines}) == len(book.lines)
        for line, size, low in zip(book.lines, book.sizes, book.lows, strict=True):
            assert line.why
            assert line.source
            assert line.phases
            assert isinstance(line.evidence, Evidence)
            assert isinstance(size, int)
            assert 0 <= low <= size


@PROPERTY
@given(recipe=recipes)
def test_the_largest_of_the_formulas_of_the_phases_gives_the_peak(scenario, recipe):
    book = ledger(scenario(**recipe))
    formula = largest(*(book.formula(phase) for phase in book.phases))
    assert isinstance(formula, sympy.Max)
    assert formula.xreplace({x: Integer(n) for x, n in book.values.items()}).doit() == book.peak


@PROPERTY
@given(recipe=recipes, ranks=st.sampled_from((2, 8, 512)))
def test_a_higher_stage_never_adds_to_the_model_states(scenario, recipe, ranks):
    held = [
        ledger(scenario(data=ranks, zero=zero, **recipe)).total(*MODEL_STATES, phase=Phase.STEP)
        for zero in shared(recipe, (0, 1, 2))
    ]
    assert held == sorted(held, reverse=True)


@PROPERTY
@given(recipe=recipes)
def test_more_tokens_never_lower_a_phase(scenario, recipe):
    less = ledger(scenario(**recipe))
    more = ledger(scenario(**recipe | {"micro_batch": recipe["micro_batch"] + 1}))
    assert all(more.phases[phase] >= less.phases[phase] for phase in less.phases)


@PROPERTY
@given(recipe=recipes)
def test_recomputation_never_saves_more(scenario, recipe):
    saved = [
        ledger(scenario(**recipe | {"recompute": name})).total(
            Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST
        )
        for name in ("none", "selective", "full")
    ]
    assert saved == sorted(saved, reverse=True)


@PROPERTY
@given(recipe=recipes)
def test_accumulation_keeps_gradients_alive_and_activations_as_they_are(scenario, recipe):
    once = ledger(scenario(**recipe | {"gradient_accumulation": 1}))
    often = ledger(scenario(**recipe | {"gradient_accumulation": 4}))
    for phase in (Phase.FORWARD, Phase.LOSS):
        assert often.total(Category.GRADIENTS, phase=phase) == often.size("gradients")
        assert often.total(Category.ACTIVATIONS) == once.total(Category.ACTIVATIONS)


@PROPERTY
@given(recipe=recipes)
def test_the_first_step_lacks_the_optimizer_states_until_it_steps(scenario, recipe):
    book = ledger(scenario(**recipe))
    states = book.total(Category.OPTIMIZER_STATE)
    late = {"muon"}  # AdamW's moments are made when the largest matrix has been stepped
    assert book.first_step[Phase.STEP] <= book.phases[Phase.STEP]
    assert (book.first_step[Phase.STEP] == book.phases[Phase.STEP]) or recipe["optimizer"] in late
    assert book.first_step[Phase.LOSS] == book.phases[Phase.LOSS] - states


@PROPERTY
@given(recipe=recipes, ranks=st.sampled_from((1, 8)))
def test_reserved_and_nvidia_smi_stand_above_the_peak(scenario, recipe, ranks):
    book = ledger(scenario(data=ranks, **recipe))
    assert book.peak < book.reserved[0] < book.reserved[1]
    assert book.reserved[0] < book.nvidia_smi[0] < book.nvidia_smi[1]
    assert all(line.category not in OUTSIDE for line, _ in book.alive)
    assert sum(size for _, size in book.alive) == book.peak


@PROPERTY
@given(recipe=recipes)
def test_the_whiteboard_is_a_part_of_the_ledger(scenario, recipe):
    made = scenario(**recipe)
    exact, paper = ledger(made), whiteboard(made)
    assert {line.name for line in paper.lines} <= {line.name for line in exact.lines}
    assert paper.peak <= exact.peak


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "optimizer", [n for n, row in optimizers().items() if form_of(row).by_elements]
)
def test_model_states_are_the_ledgers(scenario, precision, optimizer):
    made = scenario("llama-2-7b", precision=precision, optimizer=optimizer)
    book = ledger(made)
    held = model_states(6_738_415_616, precision=precision, optimizer=optimizer)
    if not optimizers()[optimizer].paged:  # one tensor is paged whole, norms are not
        assert held == {name: book.size(name) for name in held}
    kept = (*MODEL_STATES, Category.UNIFIED_MEMORY)
    assert sum(held.values()) == book.total(*kept, phase=Phase.STEP)


def test_factored_states_are_none_of_a_number_of_parameters():
    with pytest.raises(ValueError, match="adafactor"):
        model_states(1_000, precision="mixed", optimizer="adafactor")


@pytest.mark.parametrize(
    ("precision", "each"),
    [("fp32", 16), ("mixed", 16), ("mixed-fp32-grad", 18), ("autocast", 16), ("pure-bf16", 8)],
)
def test_adam_costs_the_usual_bytes_per_parameter(precision, each):
    assert sum(model_states(1_000, precision=precision).values()) == each * 1_000


def test_autocast_keeps_a_cast_of_every_matrix_beside_the_16_bytes(scenario):
    book = ledger(scenario("gpt2", precision="autocast", sequence=1024))
    casts = book.size("weight casts of the layers") + book.size("weight cast of the head")
    assert casts == pytest.approx(2 * 124_439_808, rel=0.01)


def test_a_fullest_rank_holds_whole_rows(scenario):
    book = ledger(scenario(shape={"vocab": 1001}, data=8, zero=3))
    assert 8 * book.size("weights") > 4 * book.values[P]


@pytest.mark.parametrize(
    ("sequence", "verdict"), [(512, "yes"), (24_000, "tight"), (60_000, "no")]
)
def test_fits_has_three_answers(scenario, sequence, verdict):
    made = scenario("llama-3.2-1b", precision="pure-bf16", sequence=sequence, gpu="a100-80gb")
    book = ledger(made)
    assert fits(made) == verdict
    assert (book.peak > capacity(made)) == (verdict == "no")
    assert (book.nvidia_smi[1] <= capacity(made)) == (verdict == "yes")


def test_every_card_of_the_catalogue_can_be_asked(scenario):
    for name in accelerators():
        made = scenario("gpt2", gpu=name, sequence=128)
        assert fits(made) == "yes"
        assert capacity(made) % units.MIB == 0
