"""Wrong numbers and what they are traced to: one mistake, a slip of reading, or two at once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from engine.units import GB, GIB
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draw import Draw
from problems.mistakes import mistakes, share_of
from problems.registry import build, kinds
from quiz.grading import grade
from quiz.marking.diagnosis import diagnose, explained
from quiz.marking.nearness import credit

SEEDS = range(300, 308)
NUMBERS = [
    name
    for name in kinds()
    if isinstance(build(name, 0).answer, QuantityAnswer | FactorAnswer | YesNoAnswer)
]


def rounded(value):
    """A number as people type it, to three digits."""
    return Fraction(f"{float(value):.3g}")


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_mistakes_own_number_is_traced_to_it_and_earns_its_share(kind):
    for seed in SEEDS:
        problem = build(kind, seed)
        answer = problem.answer.number
        for mistake in problem.mistakes:
            found = explained(problem, rounded(mistake.value))
            assert (found.name, found.share) == (mistake.name, share_of(mistake))
            assert (diagnose(problem, rounded(mistake.value)) is None) == bool(mistake.also)
            assert 0 <= found.share < 1
            assert credit(mistake.value, answer.value, answer.band) < 1


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_problem_has_at_least_two_mistakes_that_tell(kind):
    assert all(len(build(kind, seed).mistakes) >= 2 for seed in SEEDS)


@pytest.mark.parametrize("kind", kinds())
def test_every_mistake_has_its_share_in_the_table(kind):
    for seed in SEEDS:
        assert {mistake.name for mistake in build(kind, seed).mistakes} <= set(mistakes())


def test_no_mistake_earns_all_and_each_says_what_went_wrong():
    for known in mistakes().values():
        assert 0 <= known.share < 1
        assert known.says.endswith(".")


SLIPS = [
    (8, "bits for bytes"),
    (Fraction(1, 8), "bytes for bits"),
    (1000, "a thousand times too much"),
    (Fraction(1, 1000), "a thousand times too little"),
    (Fraction(GB, GIB), "GiB typed as GB"),
    (Fraction(GIB, GB), "GB typed as GiB"),
]


@pytest.mark.parametrize(("times", "name"), SLIPS, ids=[name for _, name in SLIPS])
def test_a_right_number_that_was_said_wrong_is_named(times, name):
    problem = build("model-states", 7)
    assert diagnose(problem, problem.answer.value * times).name == name


def of_ranks(kind):
    """A problem of several GPUs in which what all of them take is no mistake of its own."""
    for seed in range(100):
        problem = build(kind, seed)
        gpus = problem.scenario.hardware.gpus
        if gpus > 2 and gpus != 8:
            return problem, gpus
    raise AssertionError(kind)


def test_all_gpus_together_and_a_share_divided_again_are_named():
    problem, gpus = of_ranks("peak")
    own = replace(problem, mistakes=())
    assert diagnose(own, problem.answer.value * gpus).name == "all GPUs together"
    assert diagnose(own, problem.answer.value / gpus).name == "divided by the GPUs once more"


def forgets_the_master_copy():
    """A problem on model states, and its mistake of that name."""
    for seed in range(100):
        problem = build("model-states", seed)
        for mistake in problem.mistakes:
            if mistake.name == "master copy forgotten" and not mistake.also:
                return problem, mistake
    raise AssertionError


def two(problem):
    """Every two mistakes of a problem that can be made together, either first."""
    for one in problem.mistakes:
        for other in problem.mistakes:
            if one.moves and other.moves and not one.moves & other.moves:
                yield one, other


def test_two_mistakes_at_once_are_both_named():
    named = 0
    for seed in range(20):
        problem = build("model-states", seed)
        for one, other in two(problem):
            value = one.value + other.value - problem.answer.value
            found = diagnose(problem, value) if value > 0 else None
            if found is not None and len(found.mistakes) == 2:
                assert found.share == share_of(one) * share_of(other)
                named += {one.name, other.name} == set(found.mistakes)
    assert named > 20


def test_a_mistake_said_in_another_unit_is_both():
    problem, one = forgets_the_master_copy()
    found = diagnose(problem, one.value * Fraction(GB, GIB))
    assert found.mistakes == ("master copy forgotten", "GiB typed as GB")
    assert "Two things at once, master copy forgotten and GiB typed as GB, give" in found.says


def test_nothing_is_said_where_two_mistakes_explain_it_equally_well():
    problem = build("model-states", 7)
    one = problem.mistakes[0]
    twin = replace(one, name="another", value=one.value * Fraction(1001, 1000))
    assert diagnose(replace(problem, mistakes=(one, twin)), one.value) is None


@pytest.mark.parametrize("kind", NUMBERS)
def test_chance_is_seldom_taken_for_two_mistakes(kind):
    draw, named, tried = Draw(f"chance {kind}", 0), 0, 0
    for seed in SEEDS:
        problem = build(kind, seed)
        for _ in range(40):
            number = problem.answer.number.value * Fraction(draw.between(250, 4000), 1000)
            found = diagnose(problem, rounded(number)) if number else None
            named += found is not None and len(found.mistakes) == 2
            tried += 1
    assert named < 0.1 * tried


def test_the_named_mistake_is_in_the_verdict_with_its_share():
    problem, one = forgets_the_master_copy()
    verdict = grade(problem, f"{float(one.value / GB):.4g} GB")
    assert (verdict.mistake, verdict.score) == (one.name, share_of(one))
    assert one.feedback in verdict.feedback


@pytest.mark.parametrize("kind", ["model-states", "fewest-gpus"])
def test_where_several_slips_give_a_number_none_is_named_and_all_are_listed(kind):
    problem, one = next(
        (problem, one)
        for problem in (build(kind, seed) for seed in range(100))
        for one in problem.mistakes
        if one.also
    )
    typed = one.value if kind == "fewest-gpus" else f"{float(one.value / GB):.4g} GB"
    verdict = grade(problem, str(typed))
    assert verdict.mistake is None
    assert f"More than one slip gives it: {one.name}; {one.also[0]}" in verdict.feedback


def test_what_asks_for_no_number_has_no_diagnosis():
    assert diagnose(build("rank-levers", 1), Fraction(1)) is None
