"""Answers are right: each is reached a second way."""

from dataclasses import replace
from fractions import Fraction

import pytest

from engine.estimate import fits, ledger
from engine.ledger import MODEL_STATES, Category, Phase
from engine.units import MIB
from problems import scenarios
from problems.bank.states.fewest_gpus import Fit
from problems.model_states import parts_of, size_of
from problems.registry import build

SEEDS = range(40)


def of_kind(kind, seeds=SEEDS):
    return [build(kind, seed) for seed in seeds]


def named(problem, name):
    return next((m for m in problem.mistakes if m.name == name), None)


def test_model_states_on_one_gpu_are_those_of_the_ledger():
    for problem in of_kind("model-states"):
        if problem.scenario:
            book = ledger(problem.scenario)
            assert book.total(*MODEL_STATES, phase=Phase.STEP) == problem.answer.value


def test_model_states_under_zero_are_those_of_the_ledger_up_to_padding():
    for problem in of_kind("zero-states"):
        if problem.scenario:
            # The states are complete before the step, which begins with copies of gradients.
            held = ledger(problem.scenario).total(*MODEL_STATES, phase=Phase.REDUCE)
            assert problem.answer.value == pytest.approx(held, rel=0.02), problem.scenario


def test_fewest_gpus_hold_the_states_and_one_fewer_does_not():
    parts = parts_of("mixed", "adamw")
    for stage in (1, 2, 3):
        for parameters in (7_241_732_096, 13_015_864_320, 32_762_123_264):
            room = 150_000_000_000
            n = Fit(parts=parts, parameters=parameters, stage=stage, room=room).gpus
            assert size_of(parts, parameters, stage, n) <= room
            assert n == 1 or size_of(parts, parameters, stage, n - 1) > room


def test_where_the_whole_parts_fill_a_gpu_no_number_suffices():
    parts = parts_of("mixed", "adamw")
    assert Fit(parts=parts, parameters=70_553_706_496, stage=2, room=85_899_345_920).gpus == 0


def test_counting_in_gib_is_a_named_mistake_of_every_total_of_states():
    for problem in of_kind("model-states"):
        slip = named(problem, "GiB typed as GB")
        if slip:
            assert slip.value == problem.answer.value * Fraction(10**9, 2**30)


def test_zero_1_for_zero_2_of_a_7b_model_on_8_gpus_is_5_5_bytes_a_parameter():
    parts, parameters = parts_of("mixed", "adamw"), 6_738_415_616
    assert size_of(parts, parameters, 1, 8) == pytest.approx(5.5 * parameters, rel=1e-6)


def beside_layers(book):
    """Bytes that the embedding keeps: nothing without dropout."""
    kept = zip(book.lines, book.sizes, strict=True)
    return sum(size for line, size in kept if line.name == "kept by the embedding")


def test_one_layer_times_the_layers_is_what_all_layers_save():
    for problem in of_kind("layer-activations"):
        book, layers = ledger(problem.scenario), problem.scenario.architecture.layers
        kept = book.total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)
        beside = beside_layers(book)
        assert problem.answer.value * layers == kept - beside


def test_activations_of_all_layers_are_those_of_the_ledger():
    for problem in of_kind("model-activations"):
        book = ledger(problem.scenario)
        kept = book.total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)
        assert problem.answer.value == kept - beside_layers(book)


def test_forgetting_the_scores_is_the_size_under_flash_attention_less_its_statistics():
    for problem in of_kind("layer-activations"):
        slip, x = named(problem, "scores forgotten"), problem.scenario
        if slip and x.architecture.kv_heads == x.architecture.heads:
            flash = replace(x, recipe=replace(x.recipe, attention="flash"))
            book = ledger(flash)
            kept = book.total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)
            one = (kept - beside_layers(book)) / x.architecture.layers
            assert float(slip.value) == pytest.approx(one, rel=0.01)


def test_accumulation_alone_changes_no_activation():
    seen = 0
    for problem in of_kind("activation-scaling", range(120)):
        if named(problem, "accumulation counted") and "sequence becomes" not in problem.prompt:
            changes_batch = "micro-batch becomes" in problem.prompt
            assert (problem.answer.value == 1) != changes_batch
            seen += 1
    assert seen > 3


def test_growth_is_linear_in_the_sequence_without_scores_and_steeper_with_them():
    steeper = 0
    for problem in of_kind("activation-scaling", range(120)):
        slip = named(problem, "square of the sequence forgotten")
        steeper += slip is not None
        assert ("every pair of tokens" in problem.prompt) or slip is None
    assert steeper > 5


def test_logits_and_loss_take_twelve_bytes_an_entry_at_their_worst():
    for problem in of_kind("logits-spike"):
        entries = problem.scenario.tokens * problem.scenario.architecture.vocab
        assert problem.answer.value == 12 * entries


def test_a_peak_is_that_of_the_ledger_and_within_the_card():
    for problem in of_kind("peak"):
        assert problem.answer.value == ledger(problem.scenario).peak
        assert problem.answer.value <= problem.scenario.hardware.gpu.memory_mib * MIB


def test_half_of_the_runs_fit():
    verdicts = [problem.answer.value for problem in of_kind("fits", range(150))]
    assert 0.4 <= sum(verdicts) / len(verdicts) <= 0.6


def test_no_run_is_near_the_border_of_fitting():
    for problem in of_kind("fits"):
        scenario = problem.scenario
        assert fits(scenario) == ("yes" if problem.answer.value else "no")
        share = problem.answer.proof.value / (scenario.hardware.gpu.memory_mib * MIB)
        assert abs(share - 1) > Fraction(1, 10)


def test_the_largest_micro_batch_fits_and_one_more_does_not():
    for problem in of_kind("largest-micro-batch"):
        percent = int(problem.prompt.split("stays within ")[1].split("%")[0])
        room = problem.scenario.hardware.gpu.memory_mib * MIB * percent // 100
        count = problem.answer.value
        assert ledger(scenarios.with_micro_batch(problem.scenario, count)).peak <= room
        assert ledger(scenarios.with_micro_batch(problem.scenario, count + 1)).peak > room


def test_forgetting_the_share_gives_the_largest_micro_batch_of_the_whole_card():
    for problem in of_kind("largest-micro-batch", range(15)):
        slip = named(problem, "share forgotten")
        if slip:
            room = problem.scenario.hardware.gpu.memory_mib * MIB
            count = int(slip.value)
            assert ledger(scenarios.with_micro_batch(problem.scenario, count)).peak <= 1.02 * room
            more = scenarios.with_micro_batch(problem.scenario, count + 1)
            assert ledger(more).peak > 0.98 * room


def test_parameters_are_those_of_the_shape_in_the_prompt():
    for problem in of_kind("parameter-count"):
        s = problem.answer.symbols
        matrices = 3 if "three matrices" in problem.prompt else 2
        tied = "is tied" in problem.prompt
        layer = s["h"] * (2 * s["a"] * s["d"] + 2 * s["k"] * s["d"] + matrices * s["f"])
        total = s["L"] * layer + (1 if tied else 2) * s["V"] * s["h"]
        assert problem.answer.value == pytest.approx(total, rel=0.01)
        assert problem.answer.value > total


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("logits and loss forgotten", Category.LOGITS),
        ("saved activations forgotten", Category.ACTIVATIONS),
    ],
)
def test_a_term_forgotten_is_the_sum_at_the_peak_without_it_and_the_next_moment_beside(
    name, category
):
    pairs = 0
    for problem in of_kind("peak", range(60)):
        book = ledger(problem.scenario)
        slip, other = named(problem, name), named(problem, f"{name}, at another moment")
        left = book.peak - book.total(category, phase=book.peak_phase)
        if slip:
            assert slip.value == left
        most = max(size - book.total(category, phase=p) for p, size in book.phases.items())
        if slip and other:
            assert other.value == most > 1.03 * left
            assert slip.feedback.split(",")[0].split("GB ")[1] in other.feedback
            pairs += 1
    assert pairs > 3
