"""Marks an answer to a claim, and says which words earned or lost what."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from problems.claims import Claim, FalseStatement, Point, claim, falsehoods
from quiz.answers.quantity import RefusalError, Unreadable
from quiz.claims.clauses import Clause, clauses, is_salad
from quiz.claims.frames import heard
from quiz.claims.labels import Evidence, Label, label, verdict
from quiz.claims.lexicon import Mention, lexicon
from quiz.claims.text import Token, tokens
from quiz.claims.verdicts import Stated, stated


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of the answer and what it was heard as.

    Args:
        start: index of its first character.
        end: index behind its last one.
        kind: "verdict", "point" or "error".
        name: "true" or "false"; the id of the point or of the false statement.
    """

    start: int
    end: int
    kind: Literal["verdict", "point", "error"]
    name: str


@dataclass(frozen=True, kw_only=True)
class ClaimVerdict:
    """A marked answer to a claim.

    Args:
        claim: the id of the claim.
        answer: what was typed.
        label: correct, partial or wrong.
        said: whether the claim was called true, in words or by the reason; None for neither.
        credited: ids of the points made.
        missing: ids of the others, core ones first.
        error: id of the false statement heard, None where none was.
        spans: where all this was heard, in the order of the text.
    """

    claim: str
    answer: str
    label: Label
    said: bool | None = None
    credited: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    error: str | None = None
    spans: tuple[Span, ...] = ()


LENGTH = 25
MANY = 2
HEDGED = {True: "verdict-hedged-true", False: "verdict-hedged-false"}


def grade_claim(claim_id: str, answer: str) -> ClaimVerdict | Unreadable:
    """Mark what a learner says about a claim; a text that cannot be shown is `Unreadable`.

    Raises:
        InputError: there is no such claim.
    """
    asked = claim(claim_id)
    try:
        typed = tokens(answer)
    except RefusalError as refusal:
        return refusal.unreadable
    return mark(asked, answer, typed)


def mark(asked: Claim, answer: str, typed: Sequence[Token]) -> ClaimVerdict:
    """Mark an answer that was read."""
    words = lexicon()
    said = clauses(typed, words.mentions(typed), words)
    verdicts = stated(typed, said, negative=asked.negative) if said else ()
    topic = frozenset(asked.topic)
    own = [clause for clause in said if not (clause.reported or clause.corrected)]
    salad = not verdicts and is_salad(typed, words)
    if salad:
        own = []
    points = list(_points(asked, own))
    plain = [clause for clause in own if not clause.quoted]
    errors = list(_beside(_errors(asked, plain), points, said))
    points = list(_but_for(points, errors, said))
    evidence = Evidence(
        stated=verdicts,
        echoed=_echoed(asked, plain, topic),
        at_length=not salad and _at_length(typed, said),
        points=[point for point, _ in points],
        errors=[error for error, _ in errors],
    )
    given = label(asked, evidence)
    credited = tuple(point.id for point, _ in points) if given != "wrong" else ()
    return ClaimVerdict(
        claim=asked.id,
        answer=answer,
        label=given,
        said=verdict(asked, evidence),
        credited=credited,
        missing=tuple(point.id for point in asked.points if point.id not in credited),
        error=_error(asked, evidence, given),
        spans=tuple(sorted(_spans(typed, verdicts, points, errors), key=lambda s: (s.start, s.end))),
    )


def _at_length(typed: Sequence[Token], said: Sequence[Clause]) -> bool:
    """Return whether an answer argues at length or in numbers, though nothing known was heard."""
    things = {m.concept for clause in said for m in clause.mentions if m.sort == "things"}
    sums = sum(token.kind == "sign" and token.word in "+*/=->" for token in typed)
    return (len(typed) >= LENGTH and len(things) >= MANY) or (sums >= MANY and bool(things))


def _beside(
    errors: Iterable[tuple[FalseStatement, tuple[Mention, ...]]],
    points: Sequence[tuple[Point, tuple[Mention, ...]]],
    said: Sequence[Clause],
) -> Iterator[tuple[FalseStatement, tuple[Mention, ...]]]:
    """Yield the errors but for those that may be no more than the core reason misheard."""
    core = {first for point, place in points if point.core for first in _clauses_of(place, said)}
    for error, place in errors:
        if error.firm or not _clauses_of(place, said) <= core:
            yield error, place


def _but_for(
    points: Iterable[tuple[Point, tuple[Mention, ...]]],
    errors: Sequence[tuple[FalseStatement, tuple[Mention, ...]]],
    said: Sequence[Clause],
) -> Iterator[tuple[Point, tuple[Mention, ...]]]:
    """Yield the points but for those that may be no more than a false statement misheard."""
    firm = [(_clauses_of(place, said), set(place)) for error, place in errors if error.firm]
    for point, place in points:
        where = _clauses_of(place, said)
        if not any(where <= there and not shared.isdisjoint(place) for there, shared in firm):
            yield point, place


def _clauses_of(place: Sequence[Mention], said: Sequence[Clause]) -> set[int]:
    return {clause.first for clause in said for m in place if clause.first <= m.first <= clause.last}


def _points(
    asked: Claim, said: Sequence[Clause]
) -> Iterator[tuple[Point, tuple[Mention, ...]]]:
    for point in asked.points:
        found = _first(point.frames, said, frozenset())
        if found:
            yield point, found


def _errors(
    asked: Claim, said: Sequence[Clause]
) -> Iterator[tuple[FalseStatement, tuple[Mention, ...]]]:
    for error in asked.errors:
        found = _first(error.frames, said, frozenset())
        if found:
            yield error, found
    for error in falsehoods():
        found = () if asked.id in error.unless else _first(error.frames, said, frozenset())
        if found:
            yield error, found


def _first(
    frames: Sequence[str], said: Sequence[Clause], topic: frozenset[str]
) -> tuple[Mention, ...]:
    places = (place for written in frames for place in heard(written, said, topic))
    return next(places, ())


def _echoed(asked: Claim, said: Sequence[Clause], topic: frozenset[str]) -> bool | None:
    """Return whether the claim is repeated, contradicted, or neither."""
    against = [f"not {written}" for written in asked.affirms if not written.startswith("not ")]
    if _first((*against, *asked.denies), said, topic):
        return False
    return True if _first(asked.affirms, said, topic) else None


def _error(asked: Claim, evidence: Evidence, given: Label) -> str | None:
    if evidence.errors:
        return evidence.errors[0].id
    if evidence.stated and given == "partial" and evidence.stated[-1].value != asked.truth:
        return HEDGED[not asked.truth]
    return None


def _spans(
    typed: Sequence[Token],
    verdicts: Sequence[Stated],
    points: Sequence[tuple[Point, tuple[Mention, ...]]],
    errors: Sequence[tuple[FalseStatement, tuple[Mention, ...]]],
) -> Iterator[Span]:
    for one in verdicts[-1:]:
        name = "true" if one.value else "false"
        yield _span(typed, one.first, one.last, "verdict", name)
    for point, place in points:
        yield _around(typed, place, "point", point.id)
    for error, place in errors:
        yield _around(typed, place, "error", error.id)


def _around(
    typed: Sequence[Token], place: Sequence[Mention], kind: Literal["point", "error"], name: str
) -> Span:
    return _span(typed, min(m.first for m in place), max(m.last for m in place), kind, name)


def _span(
    typed: Sequence[Token],
    first: int,
    last: int,
    kind: Literal["verdict", "point", "error"],
    name: str,
) -> Span:
    return Span(start=typed[first].start, end=typed[last].end, kind=kind, name=name)
