"""The label of an answer, from what its features speak for: verdict, core reason, falsehood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p
from typing import Literal

from problems.claims import Claim
from quiz.claims.features import features, telling
from quiz.claims.reading import Reading
from quiz.claims.weights import HEADS, Weights, weights

Label = Literal["correct", "partial", "wrong"]
Side = Literal["right", "hedged", "wrong"]

LABELS: tuple[Label, ...] = ("correct", "partial", "wrong")


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way in which an answer comes by its label.

    Args:
        side: the verdict, stated or implied: right, hedged the wrong way, or wrong or absent.
        core: whether the core reason is given.
        false: whether something serious in it is false.
        likely: how likely it is, 0 to 1.
    """

    side: Side
    core: bool
    false: bool
    likely: float

    @property
    def label(self) -> Label:
        """What a fair interviewer calls such an answer."""
        if self.side != "right":
            return "partial" if self.side == "hedged" else "wrong"
        if self.core:
            return "partial" if self.false else "correct"
        return "wrong" if self.false else "partial"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A label, the likeliest way to it, and the words that speak for it.

    Args:
        label: correct, partial or wrong.
        way: the likeliest way to this label.
        sure: how likely the label is, 0 to 1.
        earned: for each token, how much it speaks for the core reason.
        lost: for each token, how much it speaks for a false statement.
    """

    label: Label
    way: Way
    sure: float
    earned: Sequence[float]
    lost: Sequence[float]


def judge(asked: Claim, answer: Reading, *, by: Weights | None = None) -> Judged:
    """Judge an answer, `by` other weights where some are given; who asserts nothing is wrong."""
    if not answer.said:
        none = Way(side="wrong", core=False, false=False, likely=1.0)
        nothing = (0.0,) * len(answer.typed)
        return Judged(label=none.label, way=none, sure=1.0, earned=nothing, lost=nothing)
    found = features(asked, answer)
    known = by or weights()
    weighed = {name: known.of(asked.id, name) for name in found}
    ways = _ways([sum(row[head] for row in weighed.values()) for head in range(len(HEADS))])
    if not telling(answer):
        ways = [way for way in ways if not (way.core or way.false)]
    likely = dict.fromkeys(LABELS, 0.0)
    for way in ways:
        likely[way.label] += way.likely
    label = min(LABELS, key=lambda name: _cost(name, likely))
    return Judged(
        label=label,
        way=max((way for way in ways if way.label == label), key=lambda way: way.likely),
        sure=likely[label],
        earned=_by_token(answer, found, weighed, HEADS.index("core")),
        lost=_by_token(answer, found, weighed, HEADS.index("false")),
    )


def _cost(label: Label, likely: Mapping[Label, float]) -> float:
    """Return how far off a label is to be expected: one step from its neighbour, two across."""
    at = LABELS.index(label)
    return sum(abs(at - LABELS.index(other)) * share for other, share in likely.items())


def _ways(scores: Sequence[float]) -> Sequence[Way]:
    """Return every way, with how likely these scores, in the order of `HEADS`, make it."""
    right, hedged, core, false = scores
    most = max(right, hedged, 0.0)
    sides: dict[Side, float] = {
        "right": exp(right - most), "hedged": exp(hedged - most), "wrong": exp(-most),
    }  # fmt: skip
    whole = sum(sides.values())
    cores, falses = _chance(core), _chance(false)
    return [
        Way(
            side=side,
            core=with_core,
            false=with_false,
            likely=share / whole * cores[with_core] * falses[with_false],
        )
        for side, share in sides.items()
        for with_core in (True, False)
        for with_false in (True, False)
    ]


def _chance(score: float) -> Mapping[bool, float]:
    """Return how likely a thing with this score is, and how likely it is not."""
    no = exp(-log1p(exp(score))) if score < 0 else exp(-score - log1p(exp(-score)))
    return {True: 1 - no, False: no}


def _by_token(
    answer: Reading,
    found: Mapping[str, frozenset[int]],
    weighed: Mapping[str, Sequence[float]],
    head: int,
) -> Sequence[float]:
    """Return how much each token speaks for a head: its share of the features it is part of."""
    shares = [0.0] * len(answer.typed)
    for name, places in found.items():
        for at in places:
            shares[at] += weighed[name][head] / len(places)
    return tuple(shares)
