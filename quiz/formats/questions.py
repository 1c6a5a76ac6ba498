"""A problem as other programs ask it: a stem and parts, each a number, a pick, an order or words.

What a number earns is what the grader gives it, as intervals that do not overlap: full credit, the
mistakes with their feedback, and what is near. What only the grader can do is left to it: ranges,
arithmetic, other units where a format has none, a wrong term that is carried on, a reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise

from engine.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB
from problems.answers.answer import FULL_CREDIT, Answer, Number
from problems.answers.checklist import ChecklistAnswer
from problems.answers.choice import ChoiceAnswer
from problems.answers.claim import ClaimAnswer
from problems.answers.count import CountAnswer
from problems.answers.numbers import amount
from problems.answers.ranking import Order, RankedItem, RankingAnswer
from problems.answers.repair import RepairAnswer
from problems.answers.symbolic import SymbolicAnswer
from problems.answers.terms import TermsAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.mistakes import share_of
from problems.problem import TOPICS, Mistake, Problem
from quiz.marking.nearness import BANDS, DOUBLE, DOUBLE_CREDIT, NAMED_WITHIN, credit
from quiz.marking.registry import request_of
from quiz.sets.problem_set import Slot, Variant

BYTES = {
    "B": 1, "kB": KB, "MB": MB, "GB": GB, "TB": TB, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB,
}  # fmt: skip
HALF = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Span:
    """Numbers that earn the same and are told the same.

    Args:
        low: the least of them, in the unit of the part.
        high: the greatest.
        share: of the credit of the part, from 0 to 1.
        mistake: the name of the mistake that gives them; "" where there is none.
        feedback: what is said of them; "" where nothing is.
        value: the one in the middle: the right number, or that of the mistake.
    """

    low: Fraction
    high: Fraction
    share: Fraction
    mistake: str = ""
    feedback: str = ""
    value: Fraction


@dataclass(frozen=True, kw_only=True)
class NumberPart:
    """A number is asked for.

    Args:
        label: which, where several are: "gradients"; else "".
        weight: its share of the points of the question.
        right: what earns all of the credit.
        spans: the mistakes, then what is near; none overlaps another or `right`.
        unit: in which the numbers are, and a bare one is read; "" where it has none.
        is_whole: whether it counts things.
        said: the right answer in words.
    """

    label: str = ""
    weight: Fraction = Fraction(1)
    right: Span
    spans: tuple[Span, ...]
    unit: str = ""
    is_whole: bool = False
    said: str

    @property
    def units(self) -> tuple[tuple[str, Fraction], ...]:
        """Units that it may be typed in, each with how many of them its own unit is."""
        if self.unit not in BYTES:
            return ((self.unit, Fraction(1)),) if self.unit else ()
        own = BYTES[self.unit]
        others = (name for name in BYTES if name != self.unit)
        return ((self.unit, Fraction(1)), *((name, Fraction(own, BYTES[name])) for name in others))


@dataclass(frozen=True, kw_only=True)
class Option:
    """One of the things to pick: its text, whether it is right, and what is said of picking it."""

    text: str
    is_right: bool
    mistake: str = ""
    feedback: str = ""


@dataclass(frozen=True, kw_only=True)
class PickPart:
    """One of a few is to be picked; `label` and `weight` as of a `NumberPart`."""

    label: str = ""
    weight: Fraction = Fraction(1)
    options: tuple[Option, ...]

    @property
    def said(self) -> str:
        """The right one."""
        return next(one.text for one in self.options if one.is_right)


@dataclass(frozen=True, kw_only=True)
class OrderPart:
    """Things are to be put in order.

    Args:
        items: as they are shown.
        order: the right order by their keys: those of a group may stand either way.
        idle: keys of those that are to be left out.
        said: the right order in words.
    """

    label: str = ""
    weight: Fraction = Fraction(1)
    items: tuple[RankedItem, ...]
    order: Order
    idle: tuple[str, ...] = ()
    said: str


@dataclass(frozen=True, kw_only=True)
class WordsPart:
    """Words or a formula, which a person or `memquiz grade` marks; `said` is a right answer."""

    label: str = ""
    weight: Fraction = Fraction(1)
    said: str
    wants: str = ""


Part = NumberPart | PickPart | OrderPart | WordsPart


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
        parts: one or more; their weights add up to 1.
        solution: line by line, the way on paper first.
        feedback: the wrong answers that are told something.
        said: the right answer in words.
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
    parts: tuple[Part, ...]
    hints: tuple[str, ...]
    solution: tuple[str, ...]
    feedback: tuple[Feedback, ...]
    said: str

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
        parts=parts_of(problem.answer, problem),
        hints=problem.hints,
        solution=tuple(step.text for step in problem.solution),
        feedback=tuple(_feedback(problem)),
        said=problem.answer.said,
    )


def _feedback(problem: Problem) -> Iterator[Feedback]:
    """Yield the wrong numbers, picks and formulas that are told something."""
    for mistake in problem.mistakes:
        number = problem.answer.part(mistake.term).number
        said = amount(mistake.value, "1" if number is None else number.unit)
        behind = f", {mistake.term}" if mistake.term else ""
        yield Feedback(answer=said + behind, mistake=_name(mistake), says=mistake.feedback)
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
    return (OrderPart(items=answer.items, order=answer.order, said=answer.said),)


@parts_of.register
def _(answer: ChecklistAnswer, problem: Problem) -> tuple[Part, ...]:
    del problem
    return (OrderPart(items=answer.items, order=answer.order, idle=answer.idle, said=answer.said),)


def _number(
    answer: Number, problem: Problem, said: str, *, label: str = "", weight: Fraction = Fraction(1)
) -> NumberPart:
    unit = answer.default_unit or ""
    one = Fraction(BYTES.get(unit, 1))
    within = FULL_CREDIT[answer.band]
    right = _around(answer.value / one, within, Fraction(1))
    mistakes = [each for each in problem.mistakes if each.term in {"", label}]
    wrong = [*_wrong(mistakes, one)]
    return NumberPart(
        label=label,
        weight=weight,
        right=right,
        spans=tuple(_graded(_apart(right, wrong, [*_near(answer, one)]), answer, one)),
        unit=unit,
        said=said,
    )


def _count(
    answer: CountAnswer, problem: Problem, *, label: str = "", weight: Fraction = Fraction(1)
) -> NumberPart:
    mistakes = [each for each in problem.mistakes if each.term in {"", label}]
    return NumberPart(
        label=label,
        weight=weight,
        right=_around(Fraction(answer.value), Fraction(0), Fraction(1)),
        spans=tuple(
            Span(
                low=each.value,
                high=each.value,
                value=each.value,
                share=share_of(each),
                mistake=_name(each),
                feedback=each.feedback,
            )
            for each in mistakes
        ),
        is_whole=True,
        said=answer.said,
    )


def _around(value: Fraction, within: Fraction, share: Fraction) -> Span:
    return Span(low=value * (1 - within), high=value * (1 + within), share=share, value=value)


def _wrong(mistakes: Sequence[Mistake], one: Fraction) -> Iterator[Span]:
    """Yield the numbers that each mistake gives, with its own share of the credit."""
    for each in mistakes:
        share = share_of(each)
        span = _around(each.value / one, NAMED_WITHIN, share)
        yield Span(
            low=span.low,
            high=span.high,
            value=span.value,
            share=share,
            mistake=_name(each),
            feedback=each.feedback,
        )


def _name(mistake: Mistake) -> str:
    return " or ".join((mistake.name, *mistake.also))


def _near(answer: Number, one: Fraction) -> Iterator[Span]:
    """Yield what is less near than full credit asks and earns a part, the nearer first."""
    value = answer.value / one
    for within, share in BANDS[answer.band][1:]:
        yield _around(value, within, share)
    if answer.band == "estimate":
        yield Span(low=value / DOUBLE, high=value * DOUBLE, share=DOUBLE_CREDIT, value=value)


def _apart(right: Span, wrong: Sequence[Span], near: Sequence[Span]) -> Iterator[Span]:
    """Yield spans of which no two overlap: mistakes up to where the next is nearer, what is near.

    A number is so many percent off a mistake, so that the border is the harmonic mean. A bound
    that two share belongs to the one that comes first.
    """
    taken = [right]
    ordered = sorted(wrong, key=lambda span: span.value)
    middles = [
        2 * before.value * after.value / ((before.value + after.value) or 1)
        for before, after in pairwise(ordered)
    ]
    ends = [Fraction(0), *middles, *(span.high for span in ordered[-1:])]
    for span, least, most in zip(ordered, ends[:-1], ends[1:], strict=False):
        yield from _rest(_cut(span, max(span.low, least), min(span.high, most)), taken)
    taken += ordered
    for span in near:
        yield from _rest(span, taken)
        taken.append(span)


def _graded(spans: Iterable[Span], answer: Number, one: Fraction) -> Iterator[Span]:
    """Yield the spans, a mistake cut where its numbers earn more for being near, if any at all."""
    value = answer.value / one
    edges = {edge for span in _near(answer, one) for edge in (span.low, span.high)}
    for span in spans:
        inside = sorted(edge for edge in edges if span.mistake and span.low < edge < span.high)
        for low, high in pairwise([span.low, *inside, span.high]):
            near = credit((low + high) / 2, value, answer.band) if span.share else span.share
            yield replace(_cut(span, low, high), share=max(span.share, near))


def _rest(span: Span, taken: Sequence[Span]) -> Iterator[Span]:
    """Yield what is left of a span where others have taken theirs."""
    left = [(span.low, span.high)]
    for one in taken:
        left = [
            piece
            for low, high in left
            for piece in ((low, min(high, one.low)), (max(low, one.high), high))
            if piece[0] < piece[1]
        ]
    yield from (_cut(span, low, high) for low, high in dict.fromkeys(left))


def _cut(span: Span, low: Fraction, high: Fraction) -> Span:
    return replace(span, low=low, high=high)
