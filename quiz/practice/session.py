"""A set of questions being answered: a frozen state, and the events that typed lines cause.

Nothing here knows of a terminal, a clock or a file.
"""

from dataclasses import dataclass, replace

from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.grading import grade, skipped
from quiz.marking.attempt import Attempt
from quiz.marking.marker import Halves
from quiz.marking.registry import forms_of, marker_of
from quiz.marking.telling import could_tell
from quiz.marking.verdict import LABELS, Verdict
from quiz.practice.commands import Command, command_of, overrules, to_be_read
from quiz.practice.events import (
    Blank,
    CannotOverrule,
    Clash,
    Event,
    Help,
    Hint,
    Marked,
    NoHint,
    NotACommand,
    NothingToUndo,
    Overruled,
    Quit,
    Readable,
    Reading,
    Stands,
    Undone,
    Unread,
    WantsMark,
    WantsRest,
    Withdrawn,
)

BEHIND = Unreadable(offset=0, reason="o puts your own mark behind a verdict, at a terminal")


@dataclass(frozen=True, kw_only=True)
class Session:
    """Where a learner stands.

    Args:
        problems: ids, in the order in which they are asked; as far as they are planned.
        attempts: one entry for each question that is done with, from the first on.
        hints: how many were shown for the question that is asked now.
        pending: half of an answer that waits for the other, as typed; "" where none does.
        fixed: how many answers stand whatever is typed: undo does not reach them.
        promised: how many questions there will be; 0 where `problems` has them all.
    """

    problems: tuple[str, ...]
    attempts: tuple[Attempt, ...] = ()
    hints: int = 0
    pending: str = ""
    fixed: int = 0
    promised: int = 0

    @property
    def position(self) -> int:
        """Index of the question that is asked now."""
        return len(self.attempts)

    @property
    def finished(self) -> bool:
        """Whether every question is done with."""
        return self.position >= self.whole

    @property
    def whole(self) -> int:
        """How many questions there are."""
        return self.promised or len(self.problems)


Turn = tuple[Session, Event]


def respond(
    session: Session, problem: Problem, line: str, *, seconds: float, ask_again: bool
) -> Turn:
    """Return what a typed line leads to.

    Args:
        session: not finished; `problem` is the one at its position.
        problem: the question that is asked now.
        line: as typed, without the newline.
        seconds: since the question was shown.
        ask_again: whether half of an answer is asked for the other; else it is marked at once.
    """
    command, halves = command_of(line), marker_of(problem.answer).halves
    symbol = symbol_of(line.strip(), problem)
    if command and symbol:
        instead = problem.answer.alone[symbol]
        return session, Clash(key=symbol, word=command, instead=instead)
    asked = to_be_read(line)
    if asked is not None and symbol_of(asked[0], problem) is None:
        return session, _reading(session, problem, asked[1])
    if session.pending and halves and _stands_alone(line, command, halves):
        return _half_alone(session, problem, halves, command, seconds)
    if command:
        return _obey(session, problem, command, seconds)
    if not line.strip():
        return session, Blank()
    return _mark(session, problem, line, seconds=seconds, ask_again=ask_again)


def undo(session: Session) -> Turn:
    """Take the last answer back."""
    if not session.attempts:
        return session, NothingToUndo()
    if session.position <= session.fixed:
        return session, Stands()
    *kept, last = session.attempts
    again = replace(session, attempts=tuple(kept), hints=last.hints, pending="")
    if session.promised:  # what was planned behind it depends on its answer
        again = replace(again, problems=again.problems[: again.position + 1])
    return again, Undone(attempt=last)


def overrule(session: Session, problem: Problem, line: str) -> Turn:
    """Put the learner's own mark, the last word of `line`, on the last answer to `problem`."""
    if not can_overrule(session, problem):
        return session, CannotOverrule()
    word = line.lower().split()[-1]
    found = [mark for mark in LABELS if mark.startswith(word)]
    if word in {"o", "overrule"} or len(found) != 1:
        return session, WantsMark()
    *before, last = session.attempts
    attempt = replace(last, own=found[0])
    return replace(session, attempts=(*before, attempt)), Overruled(attempt=attempt)


def can_overrule(session: Session, problem: Problem) -> bool:
    """Say whether the last answer, to `problem`, may have the learner's own mark."""
    answered = bool(session.attempts) and session.attempts[-1].verdict.verdict in LABELS
    return marker_of(problem.answer).own_mark and answered


def behind(session: Session, problem: Problem, line: str) -> Turn:
    """Return what a line typed behind the verdict on `problem` leads to."""
    if overrules(line):
        return overrule(session, problem, line)
    match command_of(line):
        case "undo":
            return undo(session)
        case "help":
            return session, Help()
        case "hint":
            return session, NoHint()
        case _:
            return session, NotACommand()


def seen(session: Session) -> Session:
    """Return the state once a solution was shown: what was answered before it stands."""
    return replace(session, fixed=session.position)


def _obey(session: Session, problem: Problem, command: Command, seconds: float) -> Turn:
    match command:
        case "hint":
            return _hint(session, problem)
        case "help":
            return session, Help()
        case "reading":
            return session, Readable(forms=forms_of(problem.answer))
        case "undo":
            return undo(session)
        case "quit":
            return session, Quit()
        case "skip" | "why":
            verdict = skipped(problem, shown=command == "why")
            after, event = _done(session, problem, verdict, seconds)
            return seen(after) if command == "why" else after, event


def _stands_alone(line: str, command: Command | None, halves: Halves) -> bool:
    return halves.leaves_out(line) or command in {"skip", "why", "undo"}


def _half_alone(
    session: Session, problem: Problem, halves: Halves, command: Command | None, seconds: float
) -> Turn:
    """Mark the half that waits by itself, or take it back."""
    marked = grade(problem, session.pending)
    if command == "undo" or isinstance(marked, Unreadable):
        return replace(session, pending=""), Withdrawn(says=halves.withdrawn)
    after, event = _done(session, problem, marked, seconds)
    return seen(after) if command == "why" else after, event


def _hint(session: Session, problem: Problem) -> Turn:
    if session.hints >= len(problem.hints):
        return session, NoHint()
    number = session.hints + 1
    hint = Hint(text=problem.hints[session.hints], number=number, of=len(problem.hints))
    return replace(session, hints=number), hint


def _mark(
    session: Session, problem: Problem, line: str, *, seconds: float, ask_again: bool
) -> Turn:
    marker = marker_of(problem.answer)
    if marker.own_mark and overrules(line):
        return session, Unread(typed=line, why=BEHIND)
    marked, halves = _graded(session, problem, line), marker.halves
    if isinstance(marked, Unreadable):
        return session, Unread(typed=line, why=marked)
    further = halves is not None and (halves.many or not session.pending)
    if halves and further and ask_again and halves.lacks(marked):
        return replace(session, pending=marked.answer), WantsRest(says=halves.wants(marked))
    return _done(session, problem, marked, seconds)


def _reading(session: Session, problem: Problem, line: str) -> Event:
    """Return how `line` would be read, or why it could not be; what it would earn is left out."""
    marked = _graded(session, problem, line)
    if isinstance(marked, Unreadable):
        return Unread(typed=line, why=marked)
    remarks = () if marker_of(problem.answer).remarks_tell else marked.remarks
    return Reading(reading=marked.reading, remarks=remarks)


def _graded(session: Session, problem: Problem, line: str) -> Verdict | Unreadable:
    """Mark `line`, behind what waits for it where something does."""
    halves = marker_of(problem.answer).halves
    if session.pending and halves:
        return _joined(problem, session.pending, line, halves)
    return grade(problem, line)


def _joined(problem: Problem, pending: str, line: str, halves: Halves) -> Verdict | Unreadable:
    """Mark `line` behind what waits for it."""
    lead = halves.lead(pending, line)
    if isinstance(lead, Unreadable):
        return lead
    marked = grade(problem, lead + line)
    if isinstance(marked, Unreadable):
        return replace(marked, offset=max(marked.offset - len(lead), 0))
    return marked


def _done(session: Session, problem: Problem, verdict: Verdict, seconds: float) -> Turn:
    attempt = Attempt(
        topic=problem.topic,
        level=problem.level,
        tells=could_tell(problem),
        verdict=verdict,
        hints=session.hints,
        seconds=round(seconds, 1),
    )
    after = replace(session, attempts=(*session.attempts, attempt), hints=0, pending="")
    return after, Marked(attempt=attempt)


def symbol_of(key: str, problem: Problem) -> str | None:
    """Return the question's symbol that `key` is, in either case; None where it is none."""
    symbols = problem.answer.alone
    return next((symbol for symbol in symbols if symbol.lower() == key.lower()), None)
