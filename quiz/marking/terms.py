"""Marks several numbers at once: each on its own, and one that follows from the others by them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.units import MB
from problems.answers.count import CountAnswer
from problems.answers.numbers import in_gb
from problems.answers.quantity import QuantityAnswer
from problems.answers.terms import Term, TermsAnswer
from problems.mistakes import share_of
from problems.problem import Problem
from problems.wording import listed
from quiz.answers import Quantity, Unreadable
from quiz.answers.echo import short
from quiz.answers.terms import LEFT_OUT, names_left, read_terms
from quiz.marking.assess import assess
from quiz.marking.diagnosis import several, slip_names
from quiz.marking.marker import Halves, Request
from quiz.marking.nearness import nearest
from quiz.marking.numbers import number_forms
from quiz.marking.verdict import Verdict, mark_of, opening

LONGEST_TERMS = 600
# An empty place before another number: behind a comma, or at the start.
EMPTY = re.compile(r"(^|[,;])\s*(?=[,;].*\d)")
PLACE = re.compile(rf"(?:^|[,;])(?:{LEFT_OUT.pattern})(?=[,;].*\d)")
# Of more that is off the names are enough.
EXPLAINED = 3


@dataclass(frozen=True, kw_only=True)
class TermMark:
    """How one term fared.

    Args:
        name: of the term.
        score: its share of the credit, from 0 to 1.
        mistake: the name of the mistake that gives its number, where one does.
        says: what is said of it.
        carried: whether it is off only because terms that it follows from are.
    """

    name: str
    score: Fraction
    mistake: str | None = None
    says: str = ""
    carried: bool = False


def mark_terms(problem: Problem, answer: TermsAnswer, text: str) -> Verdict | Unreadable:
    """Mark `text`: each term has the same share of the credit."""
    typed = read_terms(text, answer.terms)
    if isinstance(typed, Unreadable):
        return typed
    marks = [*_marks(problem, answer, typed.quantities)]
    score = sum((mark.score for mark in marks), Fraction(0)) / len(answer.terms)
    missing = tuple(names_left(typed.quantities))
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed={name: one.value if one else None for name, one in typed.quantities.items()},
        score=score,
        verdict=mark_of(score),
        mistake=next((mark.mistake for mark in marks if mark.mistake), None),
        feedback=" ".join([f"{opening(score)}{answer.said}.", *_says(marks, missing)]),
        reading=", ".join(_read_as(typed.quantities)),
        remarks=typed.remarks,
    )


def request_terms(answer: TermsAnswer) -> Request:
    """Return what stands below the question."""
    wants = f"Type {listed(answer.names)}: in this order or by name, in one line or line by line."
    return Request(items=(), wants=wants)


def terms_forms(answer: TermsAnswer) -> tuple[str, ...]:
    """Return lines with all terms in their order, and with one of them by name."""
    each = [_form(term) for term in answer.terms]
    return (", ".join(each), f"{answer.names[-1]} {each[-1]}", f"-, {each[1]}")


def _form(term: Term) -> str:
    return "8" if isinstance(term.answer, CountAnswer) else number_forms(term.answer)[0]


def _marks(
    problem: Problem, answer: TermsAnswer, typed: Mapping[str, Quantity | None]
) -> Iterator[TermMark]:
    numbers = {name: one.value for name, one in typed.items() if one}
    for term in answer.terms:
        quantity = typed[term.name]
        if quantity is None:
            continue
        alone = _alone(problem, term, quantity)
        if alone.score < 1 and _follows(term, numbers):
            yield TermMark(name=term.name, score=Fraction(1), carried=True)
        else:
            yield alone


def terms_slips(problem: Problem, answer: TermsAnswer) -> Iterator[str]:
    """Yield the slips that a term's number can be traced to."""
    for term in answer.terms:
        if isinstance(term.answer, QuantityAnswer):
            yield from slip_names(problem, term.answer)


def _follows(term: Term, numbers: Mapping[str, Fraction]) -> bool:
    """Return whether a term is right by the numbers typed for those that it comes of."""
    if term.follows is None or not numbers.keys() >= {*term.follows.of}:
        return False
    return term.is_right(numbers[term.name], term.follows.value(numbers))


def _alone(problem: Problem, term: Term, quantity: Quantity) -> TermMark:
    """Return how a term fares by itself."""
    own = tuple(mistake for mistake in problem.mistakes if mistake.term == term.name)
    if isinstance(term.answer, CountAnswer):
        if quantity.value == term.answer.value:
            return TermMark(name=term.name, score=Fraction(1))
        found = nearest(quantity.value, own)
        named = None if found is None or found.also else found
        side = "high" if quantity.value > term.answer.value else "low"
        says = named.feedback if named else " ".join([f"Yours is too {side}.", *several(found)])
        return TermMark(
            name=term.name,
            score=share_of(found) if found else Fraction(0),
            mistake=named.name if named else None,
            says=says,
        )
    marked = assess(quantity, term.answer, replace(problem, answer=term.answer, mistakes=own))
    return TermMark(
        name=term.name, score=marked.score, mistake=marked.mistake, says=" ".join(marked.says)
    )


def _says(marks: Sequence[TermMark], missing: tuple[str, ...]) -> Iterator[str]:
    """Yield which terms are right, which are off and why, and which were left out."""
    right = [mark.name for mark in marks if mark.score == 1 and not mark.carried]
    off: dict[str, list[TermMark]] = {}
    for mark in marks:
        if mark.score < 1:
            off.setdefault(mark.mistake or mark.says, []).append(mark)
    carried = [mark.name for mark in marks if mark.carried]
    if right and (off or carried or missing):
        yield f"Right: {listed(right)}."
    for group in [*off.values()][:EXPLAINED]:
        names = listed([mark.name for mark in group])
        yield f"{names[:1].upper()}{names[1:]}: {group[0].says}" if group[0].says else f"{names}."
    if rest := [mark.name for group in [*off.values()][EXPLAINED:] for mark in group]:
        yield f"Off too: {listed(rest)}."
    if carried:
        ending = "s" if len(carried) == 1 else ""
        yield f"By your own numbers {listed(carried)} follow{ending}: counted as right."
    if missing:
        yield f"Left out: {listed(missing)}."


def _read_as(typed: Mapping[str, Quantity | None]) -> Iterator[str]:
    for name, one in typed.items():
        if one is None:
            continue
        hedge = "about " if one.approximate else ""
        low, high = (_said(one, end) for end in (one.low, one.high))
        yield f"{name} {hedge}{low if low == high else f'{low} to {high}'}"


def _said(quantity: Quantity, end: Fraction) -> str:
    if quantity.unit == "s":
        return f"{float(end):.4g} s"
    sized = quantity.unit == "bytes" and end >= MB
    return in_gb(end) if sized else short(end, quantity.unit)


def _lacks(verdict: Verdict) -> bool:
    return isinstance(verdict.parsed, Mapping) and None in verdict.parsed.values()


def _wants(verdict: Verdict) -> str:
    parsed = verdict.parsed if isinstance(verdict.parsed, Mapping) else {}
    left = [*names_left(parsed)]
    if PLACE.search(verdict.answer):
        left = _behind_first(parsed, left)
    then = f" Then {listed(left[1:])}." if left[1:] else ""
    leaves_out = "the rest" if left[1:] else "it"
    return f"And {left[0]}?{then} Enter alone leaves {leaves_out} out."


def _behind_first(parsed: Mapping[str, object | None], left: Sequence[str]) -> list[str]:
    """Return the names as further numbers are read: the places left empty come last."""
    names = [*parsed]
    last = max((names.index(name) for name, one in parsed.items() if one is not None), default=0)
    return sorted(left, key=lambda name: names.index(name) < last)


def _lead(pending: str, _: str) -> str:
    """Keep empty places as such: the next line is for the first of them."""
    filled = EMPTY.sub(r"\1 -", pending).strip()
    tight = filled != pending and " " not in pending
    return (filled.replace(",", ", ") if tight else filled) + "; "


LINES = Halves(
    lacks=_lacks,
    lead=_lead,
    leaves_out=lambda line: not line.strip(" -.?"),
    wants=_wants,
    withdrawn="Taken back: type the terms again.",
    many=True,
)
