"""A learner that is a program: each event is a line of JSON, each answer a line of text."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TextIO, final

from engine.errors import InputError
from problems.problem import TOPICS, Problem
from quiz.marking.attempt import Attempt
from quiz.marking.registry import forms_of, request_of
from quiz.output.started import typed_here
from quiz.output.typing_in import line_of
from quiz.practice.closing import Summary, summary
from quiz.practice.commands import WORDS
from quiz.practice.dialogue import Ending
from quiz.practice.events import (
    Blank,
    Clash,
    Event,
    Help,
    Hint,
    Marked,
    NoHint,
    NothingToUndo,
    Quit,
    Readable,
    Reading,
    Stands,
    Undone,
    Unread,
)
from quiz.practice.session import Session
from quiz.release import VERSION

# Grows when an event or a key of one is renamed, loses its meaning or is gone.
PROTOCOL = 1
ANSWER = "answer"
NAMES: Mapping[type, str] = {
    Unread: "unread",
    Reading: "reading",
    Readable: "forms",
    Hint: "hint",
    NoHint: "no-hint",
    Help: "help",
    Blank: "blank",
    Clash: "clash",
    NothingToUndo: "nothing-to-undo",
    Stands: "stands",
}


@final
class JsonLines:
    """A learner that reads events and types lines.

    Args:
        lines: where lines come from.
        out: where events go, each written through before the next line is read.
    """

    interactive = False

    def __init__(self, lines: TextIO, out: TextIO) -> None:
        self._lines = lines
        self._out = out

    def read(self) -> str | None:
        """Return the next line; None at the end of input.

        Raises:
            InputError: standard input cannot be read.
        """
        return line_of(self._lines)

    def begin(self, session: Session, *, saved: bool) -> None:
        """Say which protocol this is, and how far the set is done."""
        self._write(
            "set",
            protocol=PROTOCOL,
            version=VERSION,
            questions=session.whole,
            answered=session.position,
            saved=saved,
        )

    def ask(self, session: Session, problem: Problem) -> None:
        """Write the question."""
        request = request_of(problem.answer)
        self._write(
            "question",
            awaits=ANSWER,
            number=session.position + 1,
            of=session.whole,
            id=problem.id,
            kind=problem.kind,
            topic=problem.topic,
            title=TOPICS[problem.topic],
            level=problem.level,
            type=problem.answer.type,
            prompt=problem.prompt,
            exhibit=problem.exhibit,
            items=[] if request is None else [" ".join(one.split()) for one in request.items],
            wants="" if request is None else request.wants,
            forms=forms_of(problem.answer),
            hints=len(problem.hints) - session.hints,
        )

    def tell(self, event: Event, problem: Problem) -> None:
        """Write what a line led to."""
        match event:
            case Marked(attempt=attempt):
                self._write("verdict", **_verdict(attempt, problem))
            case Undone(attempt=attempt):
                self._write(
                    "undone", problem=attempt.verdict.problem, typed=attempt.verdict.answer
                )
            case Quit():
                pass  # the summary follows
            case _ if type(event) in NAMES:
                self._write(NAMES[type(event)], awaits=ANSWER, **_values(event))
            case _:  # asked of a person at a terminal alone
                message = f"{type(event).__name__} has no line of JSON"
                raise TypeError(message)

    def pause(self, _session: Session, _problem: Problem) -> str | None:
        """Go on: nothing is asked between two questions."""
        return ""

    def explain(self, problem: Problem) -> None:
        """Write nothing: every verdict has the whole solution."""

    def end(self, session: Session, ending: Ending, *, onward: str) -> None:
        """Write the score, and `onward`, which names the command to go on with."""
        self._write(
            "summary", ending=ending, **_summary(summary(session)), onward=typed_here(onward)
        )

    def fail(self, error: InputError) -> None:
        """Write what is to be mended."""
        faults = [{"where": f.where, "what": f.what, "next": f.next} for f in error.faults]
        self._write("error", faults=faults)

    def _write(self, name: str, *, awaits: str | None = None, **values: object) -> None:
        self._out.write(json.dumps({"event": name, **values, "awaits": awaits}) + "\n")
        self._out.flush()


def _verdict(attempt: Attempt, problem: Problem) -> dict[str, Any]:
    verdict = attempt.verdict
    return {
        **verdict.as_json,
        "reading": verdict.reading,
        "remarks": verdict.remarks,
        "held": verdict.held,
        "hints": attempt.hints,
        "seconds": attempt.seconds,
        "solution": [{"text": step.text, "depth": step.depth} for step in problem.solution],
    }


def _values(event: Event) -> dict[str, Any]:
    match event:
        case Unread(typed=typed, why=why):
            return {"typed": typed, "offset": why.offset, "reason": why.reason}
        case Help():
            commands = dict.fromkeys(WORDS.values())
            return {"commands": {one: [w for w in WORDS if WORDS[w] == one] for one in commands}}
        case _:
            return asdict(event)


def _summary(of: Summary) -> dict[str, Any]:
    return {
        "answered": of.answered,
        "score": float(of.score),
        "topics": [
            {"topic": key, "title": TOPICS[key], "questions": asked, "score": float(score)}
            for key, asked, score in of.topics
        ],
        "mistakes": [{"name": name, "times": times} for name, times in of.mistakes],
        "ranges": {"held": sum(of.ranges), "typed": len(of.ranges)},
    }
