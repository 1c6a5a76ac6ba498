"""A set of questions being answered: a frozen state, and the events that typed lines cause.

Nothing here knows of a terminal, a clock or a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from problems.problem import ClaimAnswer, Problem, QuantityAnswer, YesNoAnswer
from quiz.answers import Unreadable
from quiz.answers.yes_no import YesNo, leaves_out, read_yes_no
from quiz.grading import grade, lacks_number, skipped
from quiz.marking.given import Given
from quiz.marking.verdict import LABELS, Verdict

BEHIND = Unreadable(offset=0, reason="o puts your own mark behind a verdict, at a terminal")
Command = Literal["hint", "help", "skip", "why", "undo", "quit"]

WORDS: Mapping[str, Command] = {
    **dict.fromkeys(("h", "hint"), "hint"),
    **dict.fromkeys(("?", "help"), "help"),
    **dict.fromkeys(("s", "skip", "pass"), "skip"),
    **dict.fromkeys(("w", "why", "solution", "give up"), "why"),
    **dict.fromkeys(("u", "undo"), "undo"),
    **dict.fromkeys(("q", "quit", "exit", "stop"), "quit"),
}


@dataclass(frozen=True, kw_only=True)
class Session:
    """Where a learner stands.

    Args:
        problems: ids, in the order in which they are asked.
        given: one entry for each question that is done with, from the first on.
        hints: how many were shown for the question that is asked now.
        pending: a yes or no that waits for its number, as typed; "" where none does.
        fixed: how many answers stand whatever is typed: undo does not reach them.
    """

    problems: tuple[str, ...]
    given: tuple[Given, ...] = ()
    hints: int = 0
    pending: str = ""
    fixed: int = 0

    @property
    def position(self) -> int:
        """Index of the question that is asked now."""
        return len(self.given)

    @property
    def finished(self) -> bool:
        """Whether every question is done with."""
        return self.position >= len(self.problems)


@dataclass(frozen=True, kw_only=True)
class Marked:
    """The question is done with."""

    given: Given


@dataclass(frozen=True, kw_only=True)
class Unread:
    """The line could not be read; nothing is counted. `typed` is what `why.offset` points into."""

    typed: str
    why: Unreadable


@dataclass(frozen=True, kw_only=True)
class Hint:
    """Hint number `number` of `of`, counted from 1."""

    text: str
    number: int
    of: int


@dataclass(frozen=True, kw_only=True)
class NoHint:
    """Every hint has been shown."""


@dataclass(frozen=True, kw_only=True)
class Help:
    """The list of commands is wanted."""


@dataclass(frozen=True, kw_only=True)
class Blank:
    """Nothing was typed."""


@dataclass(frozen=True, kw_only=True)
class Clash:
    """A key that is also a symbol of the question, `key`: the command's word tells them apart."""

    key: str
    word: Command


@dataclass(frozen=True, kw_only=True)
class WantsNumber:
    """A yes or no was read; the number that proves it is the other half."""


@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """The yes or no that waited for its number was taken back."""


@dataclass(frozen=True, kw_only=True)
class Undone:
    """The last answer was taken back and its question is asked again."""

    given: Given


@dataclass(frozen=True, kw_only=True)
class NothingToUndo:
    """There is no answer to take back."""


@dataclass(frozen=True, kw_only=True)
class Stands:
    """The last answer cannot be taken back."""


@dataclass(frozen=True, kw_only=True)
class Overruled:
    """The learner put a mark of their own in the place of the program's."""

    given: Given


@dataclass(frozen=True, kw_only=True)
class WantsMark:
    """A mark of the learner's own is to be put; which one was not said."""


@dataclass(frozen=True, kw_only=True)
class CannotOverrule:
    """There is no answer to a claim: numbers and orders are marked by rule, a skip is none."""


@dataclass(frozen=True, kw_only=True)
class NotACommand:
    """Behind a verdict stands something that is no command."""


@dataclass(frozen=True, kw_only=True)
class Quit:
    """The learner stops."""


Event = (
    Marked
    | Unread
    | Hint
    | NoHint
    | Help
    | Blank
    | Clash
    | WantsNumber
    | Withdrawn
    | Undone
    | NothingToUndo
    | Stands
    | Overruled
    | WantsMark
    | CannotOverrule
    | NotACommand
    | Quit
)
Turn = tuple[Session, Event]


def command_of(line: str) -> Command | None:
    """Return the command that a line is, or None."""
    return WORDS.get(line.strip().lower())


def respond(
    session: Session, problem: Problem, line: str, *, seconds: float, ask_again: bool
) -> Turn:
    """Return what a typed line leads to.

    Args:
        session: not finished; `problem` is the one at its position.
        problem: the question that is asked now.
        line: as typed, without the newline.
        seconds: since the question was shown.
        ask_again: whether a yes without a number is asked for it; else it is marked at once.
    """
    command = command_of(line)
    symbol = _symbol(line.strip(), problem)
    if command and symbol:
        return session, Clash(key=symbol, word=command)
    if session.pending and (leaves_out(line) or command in {"skip", "why", "undo"}):
        return _without_number(session, problem, command, seconds)
    if command:
        return _obey(session, problem, command, seconds)
    if not line.strip():
        return session, Blank()
    if isinstance(problem.answer, ClaimAnswer) and overrules(line):
        return session, Unread(typed=line, why=BEHIND)
    return _mark(session, problem, line, seconds=seconds, ask_again=ask_again)


def undo(session: Session) -> Turn:
    """Take the last answer back."""
    if not session.given:
        return session, NothingToUndo()
    if session.position <= session.fixed:
        return session, Stands()
    *kept, last = session.given
    again = replace(session, given=tuple(kept), hints=last.hints, pending="")
    return again, Undone(given=last)


def overrules(line: str) -> bool:
    """Say whether a line behind a verdict puts the learner's own mark: "o partial", "overrule"."""
    words = line.lower().split()
    return bool(words) and words[0] in {"o", "overrule"} and len(words) <= 2


def overrule(session: Session, problem: Problem, line: str) -> Turn:
    """Put the learner's own mark, the last word of `line`, on the last answer to `problem`."""
    answered = bool(session.given) and session.given[-1].verdict.verdict in LABELS
    if not isinstance(problem.answer, ClaimAnswer) or not answered:
        return session, CannotOverrule()
    word = line.lower().split()[-1]
    found = [mark for mark in LABELS if mark.startswith(word)]
    if word in {"o", "overrule"} or len(found) != 1:
        return session, WantsMark()
    *before, last = session.given
    given = replace(last, own=found[0])
    return replace(session, given=(*before, given)), Overruled(given=given)


def behind(session: Session, problem: Problem, line: str) -> Turn:
    """Return what a line typed behind the verdict on `problem` leads to."""
    if overrules(line):
        return overrule(session, problem, line)
    match command_of(line):
        case "undo":
            return undo(session)
        case "help":
            return session, Help()
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
        case "undo":
            return undo(session)
        case "quit":
            return session, Quit()
        case "skip" | "why":
            verdict = skipped(problem, shown=command == "why")
            after, event = _done(session, problem, verdict, seconds)
            return seen(after) if command == "why" else after, event


def _without_number(
    session: Session, problem: Problem, command: Command | None, seconds: float
) -> Turn:
    """Mark the yes or no that waits by itself, or take it back."""
    marked = grade(problem, session.pending)
    if command == "undo" or isinstance(marked, Unreadable):
        return replace(session, pending=""), Withdrawn()
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
    marked, typed = _graded(problem, line, session.pending)
    if isinstance(marked, Unreadable):
        return session, Unread(typed=typed, why=marked)
    if ask_again and not session.pending and lacks_number(marked):
        return replace(session, pending=line), WantsNumber()
    return _done(session, problem, marked, seconds)


def _graded(problem: Problem, line: str, pending: str) -> tuple[Verdict | Unreadable, str]:
    """Mark `line`, behind the yes or no that waits for it: what was said first stands."""
    if not pending:
        return grade(problem, line), line
    first, again = read_yes_no(pending), read_yes_no(line)
    if isinstance(first, YesNo) and isinstance(again, YesNo):
        said = "yes" if first.yes else "no"
        if first.yes != again.yes:
            reason = f"your {said} stands; type its number, or undo to take it back"
            return Unreadable(offset=0, reason=reason), line
        if not again.rest.strip():
            return Unreadable(offset=0, reason="type its number; Enter alone leaves it out"), line
    lead = f"{pending}, "
    joined = grade(problem, lead + line)
    if isinstance(joined, Unreadable):
        joined = replace(joined, offset=max(joined.offset - len(lead), 0))
    return joined, line


def _done(session: Session, problem: Problem, verdict: Verdict, seconds: float) -> Turn:
    given = Given(
        topic=problem.topic, verdict=verdict, hints=session.hints, seconds=round(seconds, 1)
    )
    after = replace(session, given=(*session.given, given), hints=0, pending="")
    return after, Marked(given=given)


def _symbol(key: str, problem: Problem) -> str | None:
    """Return the question's symbol that `key` is, in either case; None where it is none."""
    answer = problem.answer
    if isinstance(answer, YesNoAnswer):
        answer = answer.proof
    symbols = answer.symbols if isinstance(answer, QuantityAnswer) else {}
    return next((symbol for symbol in symbols if symbol.lower() == key.lower()), None)
