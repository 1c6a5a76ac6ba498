"""What other programs are told of a problem earns there what the grader gives."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from problems.answers.count import CountAnswer
from problems.registry import build as build_anew
from problems.registry import kinds
from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.questions import parts_of, question_of
from quiz.grading import grade
from quiz.marking.nearness import NAMED_WITHIN

SEEDS = range(2)

build = cache(build_anew)


def numbers():
    """Kinds that ask for one number, of bytes or of things."""
    return [
        name
        for name in kinds()
        if all(isinstance(only(build(name, seed)), NumberPart) for seed in SEEDS)
    ]


def only(problem):
    parts = parts_of(problem.answer, problem)
    return parts[0] if len(parts) == 1 else None


def share(part, value):
    """Return what a program that tries one span after another gives."""
    spans = (part.right, *part.spans)
    return next((span.share for span in spans if span.low <= value <= span.high), Fraction(0))


def typed(part, value):
    unit = part.unit or ("s" if part.said.endswith(" s") else "")
    return f"{float(value):.12g} {unit}".strip()


@pytest.mark.parametrize("kind", numbers())
def test_what_is_right_is_right_to_the_bounds(kind):
    for seed in SEEDS:
        problem = build(kind, seed)
        part = only(problem)
        inside = (part.right.high - part.right.low) / 1000
        for value in (part.right.low + inside, part.right.value, part.right.high - inside):
            assert grade(problem, typed(part, value)).score == 1


@pytest.mark.parametrize("kind", numbers())
def test_spans_do_not_overlap(kind):
    for seed in SEEDS:
        part = only(build(kind, seed))
        spans = sorted((part.right, *part.spans), key=lambda span: (span.low, span.high))
        assert all(before.high <= after.low for before, after in pairwise(spans))


@pytest.mark.parametrize("kind", numbers())
def test_a_mistake_earns_and_is_told_what_the_grader_says(kind):
    for seed in SEEDS:
        problem = build(kind, seed)
        part = only(problem)
        for mistake in problem.mistakes:
            name = " or ".join((mistake.name, *mistake.also))
            spans = [span for span in part.spans if span.mistake == name]
            assert {span.value for span in spans} == {spans[0].value}
            verdict = grade(problem, typed(part, spans[0].value))
            if verdict.mistake == mistake.name:
                assert spans[0].feedback == mistake.feedback
                assert verdict.score == share(part, spans[0].value)


@pytest.mark.parametrize("kind", ["fits", "peak-ledger", "more-ranks", "zero-states"])
def test_what_is_near_earns_its_part_beside_the_mistakes(kind):
    problem = build(kind, 1)
    part = [one for one in parts_of(problem.answer, problem) if isinstance(one, NumberPart)][-1]
    nothing = [span for span in part.spans if not span.mistake]
    parts = set() if kind == "zero-states" else {Fraction(1, 2), Fraction(1, 4)}
    assert {span.share for span in nothing} == parts
    assert all(abs(span.value / part.right.value - 1) < NAMED_WITHIN for span in nothing)


def test_units_say_how_many_of_them_the_own_one_is():
    problem = build("zero-states", 1)
    units = dict(only(problem).units)
    assert units["GB"] == 1
    assert units["MB"] == 1000
    assert units["GiB"] == Fraction(10**9, 2**30)


@pytest.mark.parametrize("kind", kinds())
def test_weights_add_up_to_the_whole(kind):
    for seed in SEEDS:
        problem = build(kind, seed)
        assert sum(part.weight for part in parts_of(problem.answer, problem)) == 1


def test_every_type_has_its_form(every_type):
    variant = every_type.variants[0]
    forms = {
        problem.answer.type: tuple(
            type(part) for part in question_of(slot, variant, problem).parts
        )
        for slot, problem in zip(every_type.slots, variant.problems, strict=True)
    }
    assert forms["yes-no"] == forms["repair"] == (PickPart, NumberPart)
    assert forms["claim"] == (PickPart, WordsPart)
    assert forms["ranking"] == forms["checklist"] == (OrderPart,)
    assert forms["choice"] == (PickPart,)
    assert forms["symbolic"] == forms["conditions"] == forms["breakdown"] == (WordsPart,)
    assert set(forms["ledger"]) | set(forms["table"]) == {NumberPart}
    assert forms["quantity"] == forms["count"] == forms["factor"] == (NumberPart,)


def test_a_count_is_right_or_wrong(every_type):
    problem = next(
        one for one in every_type.variants[0].problems if isinstance(one.answer, CountAnswer)
    )
    part = only(problem)
    assert part.right.low == part.right.high == problem.answer.value
    assert part.is_whole


@pytest.mark.parametrize(
    "kind", ["which-convention", "frozen-formula", "oom-checklist", "zero-states"]
)
def test_wrong_answers_are_told_something(kind, every_type):
    problem = build(kind, 0)
    question = question_of(every_type.slots[0], every_type.variants[0], problem)
    assert question.feedback
    assert all(row.answer and row.says for row in question.feedback)
