"""A problem as other programs ask it: a stem and parts, each a number, a pick, an order or words.

What a number earns is what the grader gives it, as intervals that do not overlap: full credit, the
mistakes with their feedback, and what is near. What only the grader can do is left to it: ranges,
arithmetic, other units where a format has none, a wrong term that is carried on, a reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, singledispatch

from problems.answers.answer import Answer, Number
from problems.answers.checklist import ChecklistAnswer
from problems.answers.choice import ChoiceAnswer
from problems.answers.claim import ClaimAnswer
from problems.answers.count import CountAnswer
from problems.answers.numbers import amount
from problems.answers.ranking import RankingAnswer
from problems.answers.repair import RepairAnswer
from problems.answers.symbolic import SymbolicAnswer
from problems.answers.terms import TermsAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.problem import TOPICS, Problem
from quiz.formats.parts import BYTES, NumberPart, Option, OrderPart, Part, PickPart, WordsPart
from quiz.formats.spans import names, spans_of, spans_of_count
from quiz.marking.registry import request_of
from quiz.sets.problem_set import Slot, Variant

HALF = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """A wrong answer in words, the mistake that gives it, and what is said of it."""

    answer: str
    mistake: str
    says: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A problem of a set as other programs ask it, all of it plain text.

    Args:
        number: of its slot, from 1 on.
        student: the id of whose it is; "" where it is everyone's.
        wants: what stands below the question: how an answer is typed.
        choices: what may be picked or ordered, a line each.
        solution: line by line, the way on paper first.
        feedback: the wrong answers that are told something.
        said: the right answer in words.
        problem: that it is.
    """

    number: int
    student: str
    id: str
    kind: str
    topic: str
    level: str
    points: Fraction
    prompt: str
    exhibit: str
    wants: str
    choices: tuple[str, ...]
    hints: tuple[str, ...]
    solution: tuple[str, ...]
    feedback: tuple[Feedback, ...]
    said: str
    problem: Problem

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """One or more, whose weights add up to 1; a sheet to read needs none of their bounds."""
        return parts_of(self.problem.answer, self.problem)

    @property
    def about(self) -> str:
        """Its topic and level: "model states, mid"."""
        return f"{self.topic_title}, {self.level}"

    @property
    def topic_title(self) -> str:
        """The topic in words: "model states"."""
        return TOPICS[self.topic]

    @property
    def title(self) -> str:
        """Its number, what it is about and its id: "3 model states, mid: zero-states@7"."""
        return f"{self.number} {self.about}: {self.id}"


def question_of(slot: Slot, variant: Variant, problem: Problem) -> Question:
    """Return the question that stands in a slot on a sheet."""
    request = request_of(problem.answer)
    return Question(
        number=slot.number,
        student="" if variant.student is None else variant.student.id,
        id=problem.id,
        kind=problem.kind,
        topic=problem.topic,
        level=problem.level,
        points=slot.points,
        prompt=problem.prompt,
        exhibit=problem.exhibit,
        wants="" if request is None else request.wants,
        choices=() if request is None else request.items,
        hints=problem.hints,
        solution=tuple(step.text for step in problem.solution),
        feedback=tuple(_feedback(problem)),
        said=problem.answer.said,
        problem=problem,
    )


def _feedback(problem: Problem) -> Iterator[Feedback]:
    """Yield the wrong numbers, picks and formulas that are told something."""
    for mistake in problem.mistakes:
        number = problem.answer.part(mistake.term).number
        said = amount(mistake.value, "1" if number is None else number.unit)
        behind = f", {mistake.term}" if mistake.term else ""
        yield Feedback(answer=said + behind, mistake=names(mistake), says=mistake.feedback)
    match problem.answer:
        case ChoiceAnswer(choices=choices):
            rows = [(one.item.name, one.mistake, one.feedback) for one in choices if one.mistake]
        case SymbolicAnswer(mistakes=wrong):
            rows = [(one.formula.said, one.name, one.feedback) for one in wrong]
        case ChecklistAnswer(actions=actions):
            rows = [(one.item.name, "", one.why) for one in actions]
        case _:
            rows = []
    for said, name, says in rows:
        yield Feedback(answer=said, mistake=name, says=says)


@singledispatch
def parts_of(answer: Answer, problem: Problem) -> tuple[Part, ...]:
    """Return the parts of a problem; a type of answer that is not known here is words."""
    if answer.number is not None:
        return (_number(answer.number, problem, answer.said),)
    request = request_of(answer)
    return (WordsPart(said=answer.said, wants="" if request is None else request.wants),)


@parts_of.register
def _(answer: CountAnswer, problem: Problem) -> tuple[Part, ...]:
    return (_count(answer, problem),)


@parts_of.register
def _(answer: YesNoAnswer, problem: Problem) -> tuple[Part, ...]:
    options = tuple(
        Option(text=word, is_right=yes == answer.value)
        for word, yes in (("yes", True), ("no", False))
    )
    proof = _number(answer.proof, problem, answer.proof.said, label="the number", weight=HALF)
    return PickPart(label="yes or no", weight=HALF, options=options), proof


@parts_of.register
def _(answer: RepairAnswer, problem: Problem) -> tuple[Part, ...]:
    options = tuple(
        Option(text=str(step), is_right=step == answer.step)
        for step in range(1, len(answer.steps) + 1)
    )
    said = answer.wrong.said
    proof = _number(answer.proof, problem, said, label="the right number there", weight=HALF)
    return PickPart(label="the first wrong step", weight=HALF, options=options), proof


@parts_of.register
def _(answer: TermsAnswer, problem: Problem) -> tuple[Part, ...]:
    weight = Fraction(1, len(answer.terms))
    return tuple(
        _count(term.answer, problem, label=term.name, weight=weight)
        if isinstance(term.answer, CountAnswer)
        else _number(term.answer, problem, term.answer.said, label=term.name, weight=weight)
        for term in answer.terms
    )


@parts_of.register
def _(answer: ChoiceAnswer, problem: Problem) -> tuple[Part, ...]:
    del problem
    options = tuple(
        Option(
            text=one.item.name,
            is_right=not one.mistake,
            mistake=one.mistake,
            feedback=one.feedback,
        )
        for one in answer.choices
    )
    return (PickPart(options=options),)


@parts_of.register
def _(answer: ClaimAnswer, problem: Problem) -> tuple[Part, ...]:
    del problem
    options = tuple(
        Option(text=word, is_right=truth == answer.truth)
        for word, truth in (("true", True), ("false", False))
    )
    reason = WordsPart(label="why", weight=HALF, said=answer.core)
    return PickPart(label="true or false", weight=HALF, options=options), reason


@parts_of.register
def _(answer: RankingAnswer, problem: Problem) -> tuple[Part, ...]:
    del problem
    return (
        OrderPart(items=answer.items, order=answer.order, first=answer.first, said=answer.said),
    )


@parts_of.register
def _(answer: ChecklistAnswer, problem: Problem) -> tuple[Part, ...]:
    del problem
    return (
        OrderPart(
            items=answer.items,
            order=answer.order,
            idle=answer.idle,
            leaves_out=True,
            first=answer.first,
            said=answer.said,
        ),
    )


def _number(
    answer: Number, problem: Problem, said: str, *, label: str = "", weight: Fraction = Fraction(1)
) -> NumberPart:
    unit = answer.default_unit or ""
    one = Fraction(BYTES.get(unit, 1))
    mistakes = [each for each in problem.mistakes if each.term in {"", label}]
    right, *spans = spans_of(answer, mistakes, one)
    return NumberPart(
        label=label,
        weight=weight,
        right=right,
        spans=tuple(spans),
        unit=unit,
        said=said,
    )


def _count(
    answer: CountAnswer, problem: Problem, *, label: str = "", weight: Fraction = Fraction(1)
) -> NumberPart:
    mistakes = [each for each in problem.mistakes if each.term in {"", label}]
    right, *spans = spans_of_count(answer, mistakes)
    return NumberPart(
        label=label,
        weight=weight,
        right=right,
        spans=tuple(spans),
        is_whole=True,
        said=answer.said,
    )
