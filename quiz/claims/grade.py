"""Marks an answer to a claim, and says which words earned or lost what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from problems.claims import Claim, FalseStatement, Point, claim
from quiz.answers.quantity import RefusalError, Unreadable
from quiz.claims.clauses import Clause, clauses
from quiz.claims.hearing import Heard, first, nearly, reasons
from quiz.claims.known import Repeated, repeated
from quiz.claims.labels import Evidence, Label, label, verdict
from quiz.claims.lexicon import lexicon
from quiz.claims.salad import is_salad
from quiz.claims.speech import speech
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


# From so many words on, or with so many signs of arithmetic, an answer argues.
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
    salad = not verdicts and is_salad(typed, words)
    own = [] if salad else [c for c in said if not (c.reported or c.corrected)]
    again = [*repeated(asked, typed, said)]
    points, errors = reasons(asked, own, again)
    right = bool(verdicts) and verdicts[-1].value == asked.truth
    if right and not errors and not any(one.what.core for one in points):
        points = [*nearly(asked, [c for c in own if not c.quoted]), *points]
    evidence = Evidence(
        stated=verdicts,
        echoed=_echoed(asked, own, again),
        concedes=any(
            speech().has("conceding", clause.words) for clause in said if not clause.corrected
        ),
        at_length=not salad and _at_length(typed, said),
        points=[one.what for one in points],
        errors=[one.what for one in errors],
    )
    given = label(asked, evidence)
    credited = tuple(one.what.id for one in points) if given != "wrong" else ()
    return ClaimVerdict(
        claim=asked.id,
        answer=answer,
        label=given,
        said=verdict(asked, evidence),
        credited=credited,
        missing=tuple(point.id for point in asked.points if point.id not in credited),
        error=_error(asked, evidence, given),
        spans=tuple(
            sorted(_spans(typed, verdicts, points, errors), key=lambda s: (s.start, s.end))
        ),
    )


def _at_length(typed: Sequence[Token], said: Sequence[Clause]) -> bool:
    """Return whether an answer argues at length or in numbers, though nothing known was heard."""
    things = {m.concept for clause in said for m in clause.mentions if m.sort == "things"}
    sums = sum(token.kind == "sign" and token.word in "+*/=->" for token in typed)
    return (len(typed) >= LENGTH and len(things) >= MANY) or (sums >= MANY and bool(things))


def _echoed(asked: Claim, own: Sequence[Clause], again: Sequence[Repeated]) -> bool | None:
    """Return whether the claim is repeated, contradicted, or neither."""
    if any(one.of == "claim" for one in again):
        return True
    said = [clause for clause in own if not clause.quoted]
    topic = frozenset(asked.topic)
    against = [f"not {written}" for written in asked.affirms if not written.startswith("not ")]
    if first((*against, *asked.denies), said, topic):
        return False
    return True if first(asked.affirms, said, topic) else None


def _error(asked: Claim, evidence: Evidence, given: Label) -> str | None:
    if evidence.errors:
        return evidence.errors[0].id
    if evidence.stated and given == "partial" and evidence.stated[-1].value != asked.truth:
        return HEDGED[not asked.truth]
    return None


def _spans(
    typed: Sequence[Token],
    verdicts: Sequence[Stated],
    points: Sequence[Heard[Point]],
    errors: Sequence[Heard[FalseStatement]],
) -> Iterator[Span]:
    for one in verdicts[-1:]:
        yield _span(typed, one.first, one.last, "verdict", "true" if one.value else "false")
    for point in points:
        yield _span(typed, *point.ends, "point", point.what.id)
    for error in errors:
        yield _span(typed, *error.ends, "error", error.what.id)


def _span(
    typed: Sequence[Token],
    first: int,
    last: int,
    kind: Literal["verdict", "point", "error"],
    name: str,
) -> Span:
    return Span(start=typed[first].start, end=typed[last].end, kind=kind, name=name)
