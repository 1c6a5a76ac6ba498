"""Wrong numbers and what they are traced to: one mistake, a slip of reading, or two at once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from engine.units import GB, GIB, MB, MIB
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.repair import RepairAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draw import Draw
from problems.mistakes import mistakes, share_of
from problems.registry import build, kinds
from quiz.answers import parse_quantity
from quiz.grading import grade
from quiz.marking.diagnosis import diagnose, explained
from quiz.marking.nearness import credit, slip

SEEDS = range(300, 308)
NUMBERS = [
    name
    for name in kinds()
    if isinstance(
        build(name, 0).answer, QuantityAnswer | FactorAnswer | YesNoAnswer | RepairAnswer
    )
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
            if found is None:  # a GiB said as GB is as near, and none of the two is named
                assert slip(rounded(mistake.value), answer.value)
                continue
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
    # A mistake of the problem that gives the same number comes before a slip.
    problem = replace(build("model-states", 7), mistakes=())
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
    assert named > 10


def named_pair():
    """A problem, two of its mistakes, and the number that only both of them together give."""
    for seed in range(20):
        problem = build("model-states", seed)
        for one, other in two(problem):
            value = one.value + other.value - problem.answer.value
            found = diagnose(problem, value) if value > 0 else None
            if found is not None and found.mistakes == (one.name, other.name):
                return problem, one, other, value
    raise AssertionError


def test_two_at_once_are_not_named_where_another_mistake_gives_what_one_of_them_does():
    problem, one, other, value = named_pair()
    either = replace(one, also=("the other way to it",))
    others = tuple(each for each in problem.mistakes if each.name != one.name)
    unsure = replace(problem, mistakes=(either, *others))
    assert diagnose(unsure, value) is None
    assert explained(unsure, value).also == (f"the other way to it and {other.name}",)


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


def made(make_problem, *values, unit="bytes"):
    """A problem whose answer is 1000, with mistakes named by their numbers."""
    named = [(str(value), value) for value in values]
    return make_problem(QuantityAnswer(value=Fraction(1000), unit=unit), named)


@pytest.mark.parametrize(
    ("number", "values", "name"),
    [
        # Within 3%, with its own number as the whole.
        (515, (500,), "500"),
        (516, (500,), None),
        (485, (500,), "500"),
        # 0.3% apart is equally near: 500 of 500, 500 of 500 / 1.003.
        (500, (500, Fraction(500_000, 1003)), None),
        (500, (500, Fraction(500_000, 1004)), "500"),
        (500, (Fraction(500_000, 1004), 500), "500"),
        # 505 / 501 - 1 and 505 / 500 - 1 are 0.2% apart.
        (505, (500, 501), None),
        # Two that move no terms are never made together: 400 + 700 - 1000 = 100.
        (100, (400, 700), None),
    ],
)
def test_the_nearest_mistake_is_named_where_one_is(make_problem, number, values, name):
    found = diagnose(made(make_problem, *values), Fraction(number))
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("number", "moves", "named"),
    [
        # 700 + 600 - 1000 = 300: 0.5% of it is 1.5.
        (300, ("a", "b"), True),
        (Fraction(603, 2), ("a", "b"), True),
        (302, ("a", "b"), False),
        (300, ("a", "a"), False),
        (300, ("a", ""), False),
        (300, ("", "b"), False),
    ],
)
def test_two_mistakes_add_up_where_they_move_other_terms(make_problem, number, moves, named):
    problem = made(make_problem, 700, 600, unit="1")
    mistakes = tuple(
        replace(one, moves=frozenset(terms))
        for one, terms in zip(problem.mistakes, moves, strict=True)
    )
    found = diagnose(replace(problem, mistakes=mistakes), Fraction(number))
    assert (found is not None and found.mistakes == ("700", "600")) is named


def test_two_mistakes_are_told_with_their_number_and_both_their_words(make_problem):
    problem = made(make_problem, 700, 600, unit="1")
    mistakes = tuple(
        replace(one, moves=frozenset(terms))
        for one, terms in zip(problem.mistakes, "ab", strict=True)
    )
    found = diagnose(replace(problem, mistakes=mistakes), Fraction(300))
    assert found.says == ("Two things at once, 700 and 600, give 300. This is 700. This is 600.")
    assert (found.value, found.share) == (300, 0)


def test_two_mistakes_may_leave_less_than_one(make_problem):
    problem = made(make_problem, 700, Fraction(601, 2), unit="1")
    mistakes = tuple(
        replace(one, moves=frozenset(terms))
        for one, terms in zip(problem.mistakes, "ab", strict=True)
    )
    found = diagnose(replace(problem, mistakes=mistakes), Fraction(1, 2))
    assert found.name == "700 and 601/2"


def test_two_mistakes_that_leave_nothing_are_none(make_problem):
    problem = made(make_problem, 700, 300, unit="1")
    mistakes = tuple(
        replace(one, moves=frozenset(terms))
        for one, terms in zip(problem.mistakes, "ab", strict=True)
    )
    assert diagnose(replace(problem, mistakes=mistakes), Fraction(0)) is None


def test_a_number_is_traced_as_it_was_read(make_problem):
    problem = made(make_problem, 500, unit="1")
    assert diagnose(problem, parse_quantity("500", default_unit="1")).name == "500"


def test_a_plain_number_is_no_unit_of_bytes_said_wrong(make_problem):
    problem = made(make_problem, 500, unit="1")
    moved = replace(problem, mistakes=(replace(problem.mistakes[0], moves=frozenset("a")),))
    assert diagnose(moved, Fraction(500 * GB, GIB)) is None
    assert diagnose(moved, Fraction(1000 * MB, MIB)) is None
