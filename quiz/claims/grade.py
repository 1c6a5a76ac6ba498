"""Marks an answer to a claim, and says which words earned or lost what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from problems.claims import Claim, Point, claim
from quiz.answers.quantity import RefusalError, Unreadable
from quiz.claims.clauses import Clause
from quiz.claims.judging import Judged, Label, judge
from quiz.claims.naming import Meant, error_meant, fullest, points_made
from quiz.claims.reading import Reading, read

Kind = Literal["verdict", "point", "error"]

# What is false where no known statement is near, and where a verdict is hedged the wrong way.
UNNAMED = "something-false"
HEDGED = {True: "verdict-hedged-true", False: "verdict-hedged-false"}


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
    kind: Kind
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
        sure: how likely the label is, 0 to 1.
    """

    claim: str
    answer: str
    label: Label
    said: bool | None = None
    credited: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    error: str | None = None
    spans: tuple[Span, ...] = ()
    sure: float = 1.0


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """What an answer was heard to say.

    Args:
        points: the points made, the core one first.
        error: the id of the false statement made, `UNNAMED` where none known is near; None where
            nothing false was heard.
        error_at: the clause that makes it.
    """

    points: Sequence[Meant[Point]]
    error: str | None = None
    error_at: Clause | None = None


def grade_claim(claim_id: str, answer: str) -> ClaimVerdict | Unreadable:
    """Mark what a learner says about a claim; a text that cannot be shown is `Unreadable`.

    Raises:
        InputError: there is no such claim.
    """
    asked = claim(claim_id)
    try:
        reading = read(asked, answer)
    except RefusalError as refusal:
        return refusal.unreadable
    judged = judge(asked, reading)
    heard = _heard(asked, reading, judged)
    credited = tuple(one.what.id for one in heard.points)
    return ClaimVerdict(
        claim=asked.id,
        answer=answer,
        label=judged.label,
        said=_verdict(asked, reading, judged),
        credited=credited,
        missing=tuple(point.id for point in asked.points if point.id not in credited),
        error=_error(asked, judged, heard),
        spans=tuple(sorted(_spans(reading, heard), key=lambda span: (span.start, span.end))),
        sure=judged.sure,
    )


def _heard(asked: Claim, answer: Reading, judged: Judged) -> _Heard:
    """Name what was judged: a wrong answer is credited nothing."""
    points: Sequence[Meant[Point]] = ()
    if judged.label != "wrong":
        points = points_made(asked, answer, judged.earned, core=judged.way.core)
    if not judged.way.false:
        return _Heard(points=points)
    false = error_meant(asked, answer, judged.lost)
    if false is None:
        return _Heard(points=points, error=UNNAMED, error_at=fullest(answer, judged.lost))
    return _Heard(points=points, error=false.what.id, error_at=false.where)


def _verdict(asked: Claim, answer: Reading, judged: Judged) -> bool | None:
    """Return the verdict stated or implied."""
    if answer.stated:
        return answer.stated[-1].value
    if judged.way.side == "right" and judged.label != "wrong":
        return asked.truth
    return not asked.truth if judged.way.false or judged.way.side == "hedged" else None


def _error(asked: Claim, judged: Judged, heard: _Heard) -> str | None:
    hedged = HEDGED[not asked.truth] if judged.way.side == "hedged" else None
    return heard.error or hedged


def _spans(answer: Reading, heard: _Heard) -> Iterator[Span]:
    for one in answer.stated[-1:]:
        yield _span(answer, one.first, one.last, "verdict", "true" if one.value else "false")
    for point in heard.points:
        yield _span(answer, point.where.first, point.where.last, "point", point.what.id)
    if heard.error is not None and heard.error_at is not None:
        yield _span(answer, heard.error_at.first, heard.error_at.last, "error", heard.error)


def _span(answer: Reading, first: int, last: int, kind: Kind, name: str) -> Span:
    return Span(start=answer.typed[first].start, end=answer.typed[last].end, kind=kind, name=name)
