"""The label of an answer to a claim, from what was heard in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from problems.claims import Claim, FalseStatement, Point
from quiz.claims.verdicts import Stated

Label = Literal["correct", "partial", "wrong"]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was heard in an answer.

    Args:
        stated: the verdicts in so many words, in order.
        echoed: whether the claim is repeated (True), contradicted (False) or neither.
        at_length: it reasons about the matter at length, or in numbers.
        concedes: it takes a part of its verdict back: "although", "except".
        points: the points made.
        errors: the false statements made.
    """

    stated: Sequence[Stated] = ()
    echoed: bool | None = None
    at_length: bool = False
    concedes: bool = False
    points: Sequence[Point] = ()
    errors: Sequence[FalseStatement] = ()

    @property
    def core(self) -> bool:
        """Whether a point was made that carries the verdict by itself."""
        return any(point.core for point in self.points)

    @property
    def misled(self) -> bool:
        """Whether a false statement takes the claim the wrong way round."""
        return any(error.misconception for error in self.errors)


def label(claim: Claim, heard: Evidence) -> Label:
    """Return the label that a fair interviewer gives."""
    if not heard.stated:
        return _implied(claim, heard)
    last = heard.stated[-1]
    if last.value == claim.truth:
        return _of_reasons(heard)
    return "partial" if _hedges(claim, heard, last) else "wrong"


def _hedges(claim: Claim, heard: Evidence, last: Stated) -> bool:
    """Return whether a wrong verdict is taken back in part."""
    if heard.misled:
        return False
    reason = bool(heard.points) or heard.echoed is claim.truth
    return (last.hedged and heard.concedes) or ((last.hedged or heard.concedes) and reason)


def verdict(claim: Claim, heard: Evidence) -> bool | None:
    """Return the verdict stated or implied; None where there is none."""
    if heard.stated:
        return heard.stated[-1].value
    if heard.core and not heard.misled:
        return claim.truth
    if heard.misled:
        return not claim.truth
    if heard.echoed is not None:
        return heard.echoed
    return None


def _implied(claim: Claim, heard: Evidence) -> Label:
    value = verdict(claim, heard)
    if value is None:
        return "partial" if heard.at_length and not heard.errors else "wrong"
    if heard.core and not any(error.firm for error in heard.errors):
        # Who gives the core reason and no verdict argues against the false statement heard.
        return "correct"
    if value == claim.truth:
        return _of_reasons(heard)
    return "partial" if heard.core else "wrong"


def _of_reasons(heard: Evidence) -> Label:
    """Return the label of a right verdict."""
    if heard.core:
        return "partial" if heard.errors else "correct"
    return "wrong" if heard.errors else "partial"
