"""A set of questions being answered: a frozen state, and the events that typed lines cause.

Nothing here knows of a terminal, a clock or a file.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from problems.problem import Problem, QuantityAnswer, YesNoAnswer
from quiz.answers import Unreadable
from quiz.grading import grade, lacks_number, skipped
from quiz.verdict import Verdict

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
class Given:
    """An answered question: what it was about, how it was marked, what it took."""

    topic: str
    verdict: Verdict
    hints: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Session:
    """Where a learner stands.

    Args:
        problems: ids, in the order in which they are asked.
        given: one entry for each question that is done with, from the first on.
        hints: how many were shown for the question that is asked now.
        pending: a yes or no that waits for its number, as typed; "" where none does.
    """

    problems: tuple[str, ...]
    given: tuple[Given, ...] = ()
    hints: int = 0
    pending: str = ""

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
    """A key that is also a symbol of the question: the command's word tells them apart."""

    key: str
    word: Command


@dataclass(frozen=True, kw_only=True)
class WantsNumber:
    """A yes or no was read; the number that proves it is the other half."""


@dataclass(frozen=True, kw_only=True)
class Undone:
    """The last answer was taken back and its question is asked again."""

    given: Given


@dataclass(frozen=True, kw_only=True)
class NothingToUndo:
    """There is no answer to take back."""


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
    | Undone
    | NothingToUndo
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
    if command and len(line.strip()) == 1 and _is_symbol(line.strip(), problem):
        return session, Clash(key=line.strip(), word=command)
    if command:
        return _obey(session, problem, command, seconds)
    if not line.strip() and not session.pending:
        return session, Blank()
    return _mark(session, problem, line, seconds=seconds, ask_again=ask_again)


def undo(session: Session) -> Turn:
    """Take the last answer back."""
    if not session.given:
        return session, NothingToUndo()
    *kept, last = session.given
    again = replace(session, given=tuple(kept), hints=last.hints, pending="")
    return again, Undone(given=last)


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
            return _done(session, problem, verdict, seconds)


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
    """Mark `line` behind the yes or no that waits for it, or by itself where it has its own."""
    if not pending:
        return grade(problem, line), line
    alone = grade(problem, line)
    if isinstance(alone, Verdict):
        return alone, line
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


def _is_symbol(key: str, problem: Problem) -> bool:
    answer = problem.answer
    if isinstance(answer, YesNoAnswer):
        answer = answer.proof
    return isinstance(answer, QuantityAnswer) and key in answer.symbols


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A set in numbers.

    Args:
        answered: questions done with.
        score: the sum of their scores.
        topics: (topic, questions, score), in the order in which they were met.
        mistakes: (name, times), the most frequent first.
        weakest: the topic in which most was lost; None where nothing was.
    """

    answered: int
    score: Fraction
    topics: tuple[tuple[str, int, Fraction], ...]
    mistakes: tuple[tuple[str, int], ...]
    weakest: str | None


def summary(session: Session) -> Summary:
    """Return the numbers of what has been answered so far."""
    asked: Counter[str] = Counter(given.topic for given in session.given)
    scores = dict.fromkeys(asked, Fraction(0))
    for given in session.given:
        scores[given.topic] += given.verdict.score
    named = Counter(g.verdict.mistake for g in session.given if g.verdict.mistake)
    shares = {topic: scores[topic] / asked[topic] for topic in asked}
    weakest = min(shares, key=lambda topic: shares[topic], default=None)
    return Summary(
        answered=len(session.given),
        score=sum(scores.values(), Fraction(0)),
        topics=tuple((topic, asked[topic], scores[topic]) for topic in asked),
        mistakes=tuple(named.most_common()),
        weakest=weakest if weakest is not None and shares[weakest] < 1 else None,
    )
