"""How well a learner's ranges are judged: how many held the answer, and how wide they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Literal

from quiz.answers import Quantity, Unreadable, parse_quantity, read_seconds
from quiz.answers.repair import read_repair
from quiz.answers.yes_no import read_yes_no
from quiz.history.store import Answered
from quiz.marking.verdict import Verdict

LATELY = 20
GROUP = 10
GROUPS = 8
# Fewer say nothing of who typed them.
FEWEST = 8
NEARLY_ALL, MOST = Fraction(95, 100), Fraction(70, 100)
# A solution has fewer steps.
STEPS = 99

Judgement = Literal["few", "narrower", "sound", "wider"]


@dataclass(frozen=True, kw_only=True)
class Held:
    """Of ranges: how many held the answer, how many they are, and their usual width.

    `width` is the median of upper end over lower end; None where none of them could be read
    without its question, as one in a question's letters, or begins at 0.
    """

    held: int
    typed: int
    width: Fraction | None

    @property
    def share(self) -> Fraction | None:
        """How many of them held; None where there is none."""
        return Fraction(self.held, self.typed) if self.typed else None


@dataclass(frozen=True, kw_only=True)
class Group:
    """Ten ranges in a row, or the fewer that come first."""

    first: datetime
    last: datetime
    held: int
    typed: int

    @property
    def share(self) -> Fraction:
        """How many of them held the answer."""
        return Fraction(self.held, self.typed)


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Every range ever typed.

    Args:
        held: of all, how many held the answer.
        typed: how many they are.
        lately: the last 20.
        before: the 20 before those.
        groups: the last 80, ten by ten.
    """

    held: int
    typed: int
    lately: Held
    before: Held
    groups: tuple[Group, ...]

    @property
    def judgement(self) -> Judgement:
        """What the last ones say: they could be narrower, should be wider, or neither."""
        share = self.lately.share
        if share is None or self.lately.typed < FEWEST:
            return "few"
        if share >= NEARLY_ALL:
            return "narrower"
        return "sound" if share >= MOST else "wider"


def ranges(answered: Sequence[Answered]) -> Ranges:
    """Return what the ranges among answers say; answers are in the order in which they came."""
    every = [one for one in answered if one.attempt.verdict.held is not None]
    return Ranges(
        held=_held(every),
        typed=len(every),
        lately=_together(every[-LATELY:]),
        before=_together(every[-2 * LATELY : -LATELY]),
        groups=_groups(every),
    )


def width(verdict: Verdict) -> Fraction | None:
    """Return upper end over lower end of a range that was typed; None where it cannot be told."""
    typed = verdict.answer
    if isinstance(verdict.parsed, Mapping):
        part = read_repair(typed, STEPS) if "step" in verdict.parsed else read_yes_no(typed)
        typed = typed if isinstance(part, Unreadable) else part.rest
    ways = (partial(parse_quantity, default_unit="GB"), parse_quantity, read_seconds)
    found = (one for way in ways if isinstance(one := way(typed), Quantity))
    return next((one.high / one.low for one in found if 0 < one.low < one.high), None)


def _held(some: Sequence[Answered]) -> int:
    return sum(bool(one.attempt.verdict.held) for one in some)


def _together(some: Sequence[Answered]) -> Held:
    widths = [found for one in some if (found := width(one.attempt.verdict))]
    return Held(
        held=_held(some), typed=len(some), width=Fraction(median(widths)) if widths else None
    )


def _groups(every: Sequence[Answered]) -> tuple[Group, ...]:
    """Return groups that end with the last range, the first one perhaps of fewer than ten."""
    kept = every[-GROUP * GROUPS :]
    first = len(kept) % GROUP
    edges = [*([0] if first else []), *range(first, len(kept) + 1, GROUP)]
    return tuple(
        Group(
            first=kept[start].at,
            last=kept[stop - 1].at,
            held=_held(kept[start:stop]),
            typed=stop - start,
        )
        for start, stop in pairwise(edges)
    )
