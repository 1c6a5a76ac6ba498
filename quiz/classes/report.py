"""What is told of a class, as one value and as JSON: marks, questions, what a key moved."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from engine.errors import Fault
from quiz.answers import Unreadable
from quiz.classes.answers import Unused
from quiz.classes.histogram import Bar, histogram
from quiz.classes.items import Item, items
from quiz.classes.marks import Mark, Marked, Result
from quiz.classes.moved import Move, Moved
from quiz.classes.today import Today
from quiz.marking.parsed import plain
from quiz.sets.problem_set import Student

PERCENT = 100


@dataclass(frozen=True, kw_only=True)
class Regraded:
    """What a key before this one gave: who moved, and of whom it knew nothing."""

    moved: tuple[Moved, ...]
    unknown: tuple[Student, ...]

    @property
    def movers(self) -> tuple[Moved, ...]:
        """Those with other points in a question, who moved furthest first."""
        found = (one for one in self.moved if one.is_of_points)
        return tuple(sorted(found, key=lambda one: (-abs(one.by), -abs(one.by_share))))

    @property
    def of_another_total(self) -> int:
        """How many have the same points in every question, of another total."""
        return len(self.moved) - len(self.movers)


@dataclass(frozen=True, kw_only=True)
class Report:
    """A class, graded.

    Args:
        marked: every answer with its mark.
        regraded: what changed since another key; None where none was named.
        today: how the key compares with today's problems; None where that was not asked.
        passing: the share of the points that passes; None where none was named.
        key_notes: mistakes of the key that give what is right within its tolerance.
        again: answers in whose place a later one counts, with the points that they would have.
    """

    marked: Marked
    regraded: Regraded | None = None
    today: Today | None = None
    passing: Fraction | None = None
    key_notes: tuple[Fault, ...] = ()
    again: tuple[tuple[Unused, Fraction], ...] = ()

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """How each question did."""
        return items(self.marked)

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """What each student has of all points; none where no question counts."""
        return tuple(one.share for one in self.marked.results if one.share is not None)

    @property
    def mean(self) -> Fraction | None:
        """The mean share of the points; None where nobody handed in."""
        return sum(self.shares, Fraction(0)) / len(self.shares) if self.shares else None

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        """How the shares are spread."""
        return histogram(self.shares)

    @property
    def below(self) -> tuple[Result, ...]:
        """Students that handed in and do not pass; none where no mark was named."""
        return tuple(
            one
            for one in self.marked.results
            if self.passing is not None and one.share is not None and one.share < self.passing
        )

    @property
    def unreadable(self) -> tuple[Mark, ...]:
        """The answers that could not be read."""
        return tuple(mark for mark in self.marked.all() if mark.state == "unreadable")

    @property
    def doubtful(self) -> tuple[Mark, ...]:
        """The marks that a person should look at."""
        return tuple(mark for mark in self.marked.all() if mark.doubt)


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as plain values."""
    marked, total = report.marked, report.marked.sum
    return {
        "title": marked.problems.title,
        "memquiz": marked.problems.version,
        "seed": marked.problems.seed,
        "read": {"how": marked.answers.how, "notes": list(marked.answers.notes)},
        "cells": {
            "cells": total.cells,
            "marked": total.marked,
            "empty": total.empty,
            "unreadable": total.unreadable,
            "unused": total.unused,
        },
        "mean_percent": percent(report.mean),
        "pass_percent": percent(report.passing),
        "below": [one.student.id for one in report.below],
        "students": [_result(one) for one in marked.results],
        "absent": [_student(one) for one in marked.absent],
        "questions": [_item(one) for one in report.items],
        "key_notes": [f"{one.where}: {one.what}" for one in report.key_notes],
        "histogram": [
            {"low": bar.low, "high": bar.high, "students": bar.students} for bar in report.bars
        ],
        "unused": [
            {
                "line": one.line,
                "column": one.column or None,
                "cells": one.cells,
                "text": one.text,
                "why": one.why,
            }
            for one in marked.answers.unused
        ],
        "again": [
            {"line": one.line, "student": one.again[0][0], "points": float(points)}
            for one, points in report.again
        ],
        "regraded": None if report.regraded is None else _regraded(report.regraded),
        "today": None if report.today is None else _today(report.today),
    }


def percent(share: Fraction | None) -> float | None:
    """Return a share as a percentage to a hundredth."""
    return None if share is None else round(float(share * PERCENT), 2)


def _student(student: Student) -> dict[str, Any]:
    return {"id": student.id, "name": student.name}


def _result(result: Result) -> dict[str, Any]:
    return {
        **_student(result.student),
        "points": float(result.points),
        "of": float(result.of),
        "percent": percent(result.share),
        "answers": [_mark(mark) for mark in result.marks],
    }


def _mark(mark: Mark) -> dict[str, Any]:
    found = mark.found
    return {
        "question": mark.slot.number,
        "problem": mark.problem.id,
        "line": None if mark.cell is None else mark.cell.line,
        "state": mark.state,
        "answer": mark.text,
        "reading": "" if mark.verdict is None else mark.verdict.reading,
        "parsed": None if mark.verdict is None else plain(mark.verdict.parsed),
        "score": float(mark.score),
        "points": float(mark.points),
        "verdict": mark.word,
        "mistake": None if mark.verdict is None else mark.verdict.mistake,
        "feedback": mark.said,
        "offset": found.offset if isinstance(found, Unreadable) else None,
        "remarks": [] if mark.verdict is None else list(mark.verdict.remarks),
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "question": item.slot.number,
        "kind": item.slot.kind,
        "points": float(item.slot.points),
        "counts": bool(item.slot.points),
        "words": dict(sorted(item.words.items())),
        "difficulty": _rounded(item.difficulty),
        "item_rest": _rounded(item.rest),
        "upper_lower": _rounded(item.groups),
        "mistakes": [
            {"name": one.name, "times": one.times, "share": _rounded(one.share)}
            for one in item.slips
        ],
        "concerns": list(item.concerns),
    }


def _rounded(number: Fraction | float | None) -> float | None:
    return None if number is None else round(float(number), 6)


def _regraded(regraded: Regraded) -> dict[str, Any]:
    return {
        "moved": [
            {
                **_student(one.student),
                "before": float(one.before[0]),
                "before_of": float(one.before[1]),
                "now": float(one.now[0]),
                "now_of": float(one.now[1]),
                "questions": [_move(move) for move in one.moves],
            }
            for one in regraded.moved
        ],
        "unknown": [_student(one) for one in regraded.unknown],
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "question": move.number,
        "answer": move.text,
        "before": None if move.before is None else float(move.before),
        "now": None if move.now is None else float(move.now),
        "by": float(move.by),
        "verdict_before": move.words[0],
        "verdict_now": move.words[1],
    }


def _today(today: Today) -> dict[str, Any]:
    return {
        "made_by": today.made_by,
        "version": today.version,
        "problems": today.problems,
        "differs": [
            {"question": one.slot.number, "what": one.what, "whose": list(one.whose)}
            for one in today.differs
        ],
    }
