"""A step and its right number are marked half and half, and what follows is told apart."""

from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.quantity import QuantityAnswer
from problems.answers.repair import RepairAnswer, WorkedStep
from problems.registry import build, kinds
from quiz.answers import Unreadable
from quiz.grading import grade
from quiz.marking.parsed import restored, written
from quiz.marking.registry import marker_of

GB = 10**9
# Right: 14 + 14 + 84 = 112 GB. The third step forgot a master copy, and the sum goes on from it.
ROWS = ((14, 14), (14, 14), (56, 84), (84, 112))
ON_A_CARD = WorkedStep(
    text="a card has 80 GB", shown=Fraction(80 * GB), right=QuantityAnswer(value=Fraction(80 * GB))
)


def step(shown, right):
    return WorkedStep(
        text=f"it takes {shown} GB",
        shown=Fraction(shown * GB),
        right=QuantityAnswer(value=Fraction(right * GB)),
    )


ANSWER = RepairAnswer(
    steps=(
        *(step(*row) for row in ROWS),
        WorkedStep(
            text="on 80 GB cards: 2 GPUs",
            shown=Fraction(2),
            right=QuantityAnswer(value=Fraction(3), unit="1", default_unit=None),
            noun="GPUs",
        ),
    ),
    why="The 56 GB shown leaves the master copy out.",
)


@pytest.fixture
def problem(make_problem):
    return make_problem(ANSWER, (("master copy forgotten", 56 * GB),))


@pytest.mark.parametrize(
    ("typed", "score"),
    [
        ("3, 84 GB", 1),
        ("step 3: 84e9", 1),
        ("3, 84", 1),
        ("3, 85.6 GB", 1),
        ("84 GB in step 3", 1),
        ("3", Fraction(1, 2)),
        ("3, 60 GB", Fraction(1, 2)),
        ("4, 84 GB", Fraction(1, 2)),
        ("2, 84 GB", Fraction(1, 2)),
        # GB for GiB has half of the number's half.
        ("3, 78.2 GB", Fraction(3, 4)),
        # The right number of a later step, which only goes on from the wrong one.
        ("4, 112 GB", Fraction(1, 4)),
        ("5, 3 GPUs", Fraction(1, 4)),
        ("1, 14 GB", 0),
        ("2", 0),
        ("5, 7", 0),
    ],
)
def test_step_and_number_are_half_of_the_credit_each(problem, typed, score):
    assert grade(problem, typed).score == score


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("3, 84 GB", "Right: step 3, 84.00 GB = 78.23 GiB. The 56 GB shown leaves the master"),
        ("2, 14 GB", "Not quite: step 3, 84.00 GB = 78.23 GiB. The 56 GB shown"),
        ("2, 14 GB", "Step 2 holds as it stands."),
        ("4, 99 GB", "Step 4 only goes on from the number of an earlier one."),
        ("4, 112 GB", "The number is right for that step, which is 112.00 GB = 104.31 GiB once"),
        ("5, 3", "which is 3 GPUs once step 3 is mended."),
        ("3", "The right number is the other half."),
    ],
)
def test_feedback_says_what_is_right_and_what_the_named_step_is(problem, typed, says):
    assert says in grade(problem, typed).feedback


def test_a_later_step_that_does_not_use_the_wrong_one_holds(make_problem):
    problem = make_problem(replace(ANSWER, steps=(*ANSWER.steps, ON_A_CARD)))
    verdict = grade(problem, "6")
    assert "Step 6 holds as it stands." in verdict.feedback


def test_the_number_shown_is_traced_to_its_mistake(problem):
    assert grade(problem, "3, 56 GB").mistake == "master copy forgotten"


def test_what_was_understood_survives_being_kept(problem):
    parsed = grade(problem, "3, 84 GB").parsed
    assert restored(written(parsed)) == parsed == {"step": 3, "number": 84 * GB}


def test_an_unreadable_number_is_pointed_at_behind_the_step(problem):
    refused = grade(problem, "step 3: 28 furlongs")
    assert isinstance(refused, Unreadable)
    assert refused.offset >= len("step 3: ")


@pytest.mark.parametrize("typed", ["5, 3", "5, 3 GPUs"])
def test_a_step_that_counts_takes_a_plain_number(problem, typed):
    assert grade(problem, typed).reading == "step 5, 3"


def test_a_reading_says_both_halves(problem):
    assert grade(problem, "3 84").reading == "step 3, 84 GB = 84.0e9 bytes = 78.2 GiB"
    assert grade(problem, "3").reading == "step 3, without a number"


@pytest.fixture
def halves(problem):
    return marker_of(problem.answer).halves


@pytest.mark.parametrize(("typed", "lacks"), [("3", True), ("3, 84 GB", False), ("3, 0", False)])
def test_a_step_without_a_number_lacks_it(problem, halves, typed, lacks):
    assert halves.lacks(grade(problem, typed)) is lacks


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("84 GB", "3, 84 GB"),
        ("3, 84 GB", "3, 84 GB"),
        ("step 3: 84 GB", "step 3: 84 GB"),
        ("2 - 4 GB", "3, 2 - 4 GB"),
    ],
)
def test_the_number_is_put_behind_the_step_that_was_named(halves, line, whole):
    assert halves.lead("3", line) + line == whole


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("step 2: 84 GB", "your step 3 stands; type its number, or undo to take it back"),
        ("step 3", "type its right number; Enter alone leaves it out"),
    ],
)
def test_the_step_that_was_named_stands(halves, line, reason):
    assert halves.lead("3", line) == Unreadable(offset=0, reason=reason)


def test_steps_of_which_none_is_wrong_are_refused():
    with pytest.raises(ValueError, match="no step is wrong"):
        replace(ANSWER, steps=ANSWER.steps[:2] * 2)


@pytest.mark.parametrize("steps", [(), ANSWER.steps[2:4], ANSWER.steps * 2])
def test_too_few_and_too_many_steps_are_refused(steps):
    with pytest.raises(ValueError, match="steps, not 3 to 7"):
        replace(ANSWER, steps=steps)


KINDS = [name for name in kinds() if isinstance(build(name, 0).answer, RepairAnswer)]
WAYS = ("{step}, {number}", "step {step}: {number}", "{number} in step {step}", "{step} {number}")


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_as_the_solution_writes_it_earns_all_however_it_is_put(kind):
    for seed in range(10):
        problem = build(kind, seed)
        on_paper = next(step.text for step in problem.solution if step.depth == "whiteboard")
        number = on_paper.rsplit(" = ", 1)[-1]
        for way in WAYS:
            typed = way.format(step=problem.answer.step, number=number)
            assert grade(problem, typed).score == 1, (problem.id, typed)


@pytest.mark.parametrize("kind", KINDS)
def test_the_step_with_the_number_that_is_shown_earns_half_and_little_more(kind):
    for seed in range(10):
        problem = build(kind, seed)
        shown = problem.answer.wrong.text.rsplit(" = ", 1)[-1]
        verdict = grade(problem, f"{problem.answer.step}, {shown}")
        assert Fraction(1, 2) <= verdict.score <= Fraction(3, 4), (problem.id, shown)


def test_a_line_of_step_and_number_is_never_an_exception(problem):
    for typed in ("3, \u00b2", "3: 1/0", "step", "#", "3,,,", "3 = = 84", "\u0130 3", "3" * 150):
        assert grade(problem, typed) is not None


@pytest.mark.parametrize("typed", ["3, 34.1 GB", "step 3: 34,100,000,000", "1, 23.7 GB"])
def test_a_whole_size_for_a_few_bytes_is_refused(typed):
    problem = build("repair-states", 11)
    assert "bytes a parameter" in problem.exhibit
    refused = grade(problem, typed)
    assert isinstance(refused, Unreadable)
    assert "is shown in bytes a parameter, not as a size" in refused.reason
    assert refused.offset == len(typed) - len(
        typed.split(maxsplit=2 if "step" in typed else 1)[-1]
    )


@pytest.mark.parametrize("typed", ["3, 2.875", "3, 1.5 bytes", "3, 90", "4, 34.1 GB"])
def test_a_few_bytes_and_the_size_of_another_step_are_marked(typed):
    assert not isinstance(grade(build("repair-states", 11), typed), Unreadable)
