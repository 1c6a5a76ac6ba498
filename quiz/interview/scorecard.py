"""What an interview came to, as frozen values: the scorecard that screens and pages show."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Literal

from problems.interview.script import Aspect, Interview, Part, Point, Question
from quiz.marking.verdict import Verdict

Mode = Literal["alone", "two"]
Unmarked = Literal["not reached", "not marked", "passed over"]
"""Why there is no mark."""


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A point that was made, and the words it was heard in ("" where an interviewer marked it).

    `unasked` tells a point that was made before its question was put.
    """

    point: Point
    words: str
    unasked: bool = False


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came of one question.

    Args:
        typed: every line, thoughts and answers, as they were typed; in an interview of two the
            interviewer's notes.
        answer: the line that counts as the answer; "" where there is none.
        verdict: of that line, where a problem was asked and a line could be read.
        score: of the question's aspect, from 0 to 1; None where there is none.
        heard: points that were made.
        missed: points that the level expects and nobody heard.
        reused: whether an earlier line was used; None where none could be.
        carried: whether the number is right but for an earlier one that was wrong, and counts so.
        hints: how many were asked for.
        seconds: spent on it.
        unmarked: why there is no score, where there is none.
        reads: what the answer and the points earn, where an interviewer's mark differs.
    """

    question: Question
    typed: tuple[str, ...]
    answer: str
    verdict: Verdict | None
    score: Fraction | None
    heard: tuple[Heard, ...]
    missed: tuple[Point, ...]
    reused: bool | None
    carried: bool
    hints: int
    seconds: float
    unmarked: Unmarked = "not reached"
    reads: Fraction | None = None


@dataclass(frozen=True, kw_only=True)
class PartCard:
    """A part with its replies. `score` is their mean, None where none was reached."""

    part: Part
    replies: tuple[Reply, ...]
    score: Fraction | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Scorecard:
    """An interview in marks.

    Args:
        started: when it began, UTC.
        finished: whether it was gone through to its end.
        aspects: the five marks, from 0 to 1; None where nothing asked for it was reached.
        reuse: of the answers that could have used an earlier line, how many did, and how many
            they are.
        mistakes: (name, what went wrong, key of the question).
        next: what to practise, as commands with why each.
    """

    interview: Interview
    mode: Mode
    started: datetime
    finished: bool
    parts: tuple[PartCard, ...]
    aspects: Mapping[Aspect, Fraction | None]
    reuse: tuple[int, int]
    mistakes: tuple[tuple[str, str, str], ...]
    next: tuple[tuple[str, str], ...]
