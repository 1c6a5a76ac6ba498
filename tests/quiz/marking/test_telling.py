"""What a wrong answer is traced to is among what its question says that it could tell."""

from fractions import Fraction

import pytest

from problems.answers.choice import ChoiceAnswer
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.registry import build, kinds
from quiz.grading import grade
from quiz.marking.attempt import Attempt
from quiz.marking.telling import could_tell

FACTORS = (1, 8, Fraction(1, 8), 1000, Fraction(10**9, 2**30), Fraction(2**30, 10**9))


def wrong_lines(problem):
    """Lines to type: every number of a mistake, also said wrong, and every pick."""
    answer = problem.answer
    if isinstance(answer, ChoiceAnswer):
        yield from (item.key for item in answer.items)
    number = answer.number
    if number is None or isinstance(answer, FactorAnswer):
        return
    lead = f"{'yes' if answer.value else 'no'}, " if isinstance(answer, YesNoAnswer) else ""
    if not isinstance(answer, QuantityAnswer | YesNoAnswer):
        return
    unit = " bytes" if number.unit == "bytes" else ""
    for value in (number.value, *(one.value for one in problem.mistakes)):
        for times in FACTORS:
            yield f"{lead}{float(value * times)!r}{unit}"


def attempt_on(problem, line):
    return Attempt(
        topic=problem.topic,
        verdict=grade(problem, line),
        hints=0,
        seconds=1.0,
        tells=could_tell(problem),
    )


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_named_mistake_is_among_them_and_so_is_each_of_two(kind):
    problem = build(kind, 5)
    for line in wrong_lines(problem):
        one = attempt_on(problem, line)
        assert set(one.mistakes) <= set(one.tells), (line, one.verdict.mistake)


def test_nearly_every_mistake_that_could_be_told_is_when_it_is_made():
    named = could = 0
    for kind in sorted(kinds()):
        problem = build(kind, 5)
        if not isinstance(problem.answer, QuantityAnswer):
            continue
        for mistake in problem.mistakes:
            line = f"{float(mistake.value)!r}{' bytes' if problem.answer.unit == 'bytes' else ''}"
            made = attempt_on(problem, line)
            if mistake.also:
                assert mistake.name not in made.tells
                assert made.mistakes == ()
            else:
                could += 1
                named += made.mistakes == (mistake.name,)
    assert named >= 0.98 * could > 50


@pytest.mark.parametrize(
    ("kind", "mistake"),
    [
        ("oom-cause", "another cause than the message's"),
        ("claim", "a false reason"),
        ("oom-checklist", "an action that does not help"),
        ("zero-states", "bits for bytes"),
        ("zero-table", "upside down"),
    ],
)
def test_what_any_answer_of_its_form_may_be_called_is_among_them(kind, mistake):
    assert mistake in could_tell(build(kind, 1)) + could_tell(build(kind, 2))
