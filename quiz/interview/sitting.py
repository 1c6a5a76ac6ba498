"""An interview being held: a frozen state, and what each typed line makes of it.

Nothing here knows of a terminal, a clock or a file. An interview is the fold of its lines: with
the same (line, seconds) from the beginning on, the same state comes out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from problems.interview.script import Interview, Question
from quiz.answers import Unreadable
from quiz.interview.answer_in import Before, answer_in
from quiz.interview.commands import Command, command_of
from quiz.interview.events import (
    Answered,
    Back,
    Clash,
    Event,
    Help,
    Hint,
    Left,
    NoHint,
    NothingToRead,
    NothingToUndo,
    NotRead,
    NoVerdict,
    Paused,
    Quit,
    Read,
    Resumed,
    Stands,
    TakenBack,
    Thought,
    Unanswered,
)
from quiz.marking.verdict import Verdict
from quiz.practice.commands import to_be_read

# Behind these something is told that the answer was to come before.
TOLD_AFTER = frozenset({"conditions", "prediction"})


@dataclass(frozen=True, kw_only=True)
class Said:
    """A line to the interviewer.

    Args:
        typed: as it was typed.
        verdict: where it could be read as an answer.
        early: whether no number had been answered before.
    """

    typed: str
    verdict: Verdict | None
    early: bool


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A question and what came of it so far.

    Args:
        said: the lines that were not taken back.
        hints: how many were shown.
        seconds: spent on it, without pauses.
        skipped: whether it was passed over: its answer then counts as none.
        asked_again: whether it was told that no answer was read in what was said.
    """

    said: tuple[Said, ...] = ()
    hints: int = 0
    seconds: float = 0.0
    skipped: bool = False
    asked_again: bool = False

    @property
    def answer(self) -> Said | None:
        """The line that counts as the answer: the last one that could be read as one."""
        if self.skipped:
            return None
        return next((one for one in reversed(self.said) if one.verdict is not None), None)


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """Where an interview stands.

    Args:
        interview: what is asked.
        at_once: whether verdicts are shown behind each question.
        exchanges: one for each question that was asked, from the first on.
        position: index of the question that is asked now.
        paused: whether the clock stands.
    """

    interview: Interview
    at_once: bool = False
    exchanges: tuple[Exchange, ...] = (Exchange(),)
    position: int = 0
    paused: bool = False

    @property
    def finished(self) -> bool:
        """Whether every question was left."""
        return self.position >= len(self.interview.questions)

    @property
    def question(self) -> Question:
        """The question that is asked now."""
        return self.interview.questions[self.position]

    @property
    def exchange(self) -> Exchange:
        """What came of it so far."""
        return self.exchanges[self.position]

    @property
    def numbered(self) -> bool:
        """Whether a number was answered."""
        asked = zip(self.interview.questions, self.exchanges, strict=False)
        return any(
            one.verdict is not None
            for question, exchange in asked
            if question.aspect == "number"
            for one in exchange.said
        )

    @property
    def can_undo(self) -> bool:
        """Whether a line, or that the question before was left, can be taken back.

        Where something was told behind a question, what was said to it stands.
        """
        if self.exchange.said:
            return True
        if self.position == 0 or self.at_once:
            return False
        return self.interview.questions[self.position - 1].aspect not in TOLD_AFTER

    def seconds(self, part: int) -> float:
        """Return what was spent on the part at this index."""
        before = sum(len(one.questions) for one in self.interview.parts[:part])
        own = len(self.interview.parts[part].questions)
        return sum(one.seconds for one in self.exchanges[before : before + own])

    def part_of(self, position: int) -> int:
        """Return the index of the part that the question at `position` belongs to."""
        for index, part in enumerate(self.interview.parts):
            if position < len(part.questions):
                return index
            position -= len(part.questions)
        raise IndexError(position)


Turn = tuple[Sitting, Event]


def respond(sitting: Sitting, line: str, seconds: float) -> Turn:
    """Return what a typed line leads to.

    Args:
        sitting: not finished.
        line: as typed, without the newline.
        seconds: since the line before it, or since the question was shown again.
    """
    was_paused = sitting.paused
    if not was_paused:
        spent = sitting.exchange.seconds + seconds
        sitting = _with(sitting, replace(sitting.exchange, seconds=spent))
    sitting = replace(sitting, paused=False)
    if was_paused and not line.strip():
        return sitting, Resumed()
    clash = _clash(sitting.question, line)
    if clash is not None:
        return sitting, clash
    command, read = command_of(line), to_be_read(line)
    if read is not None:
        return sitting, _reading(sitting, read[1])
    if command:
        return _obey(sitting, command)
    if not line.strip():
        return _asked_again(sitting) or _left(sitting, skipped=False)
    return _said(sitting, line)


def held(interview: Interview, lines: Iterable[tuple[float, str]], *, at_once: bool) -> Sitting:
    """Return where an interview stands after (seconds, line) pairs, up to its end."""
    sitting = Sitting(interview=interview, at_once=at_once)
    for seconds, line in lines:
        if sitting.finished:
            break
        sitting, _ = respond(sitting, line, seconds)
    return sitting


def _with(sitting: Sitting, exchange: Exchange) -> Sitting:
    kept, at = sitting.exchanges, sitting.position
    return replace(sitting, exchanges=(*kept[:at], exchange, *kept[at + 1 :]))


def _obey(sitting: Sitting, command: Command) -> Turn:
    match command:
        case "hint":
            return _hint(sitting)
        case "skip":
            return _left(sitting, skipped=True)
        case "undo":
            return _undo(sitting)
        case "pause":
            return replace(sitting, paused=True), Paused()
        case "help" | "why" | "quit" | "reading":
            return sitting, _aside(sitting, command)


def _aside(sitting: Sitting, command: Command) -> Event:
    match command:
        case "why":
            return NoVerdict()
        case "quit":
            return Quit()
        case "reading":
            return NothingToRead(listened=sitting.question.problem is None)
        case _:
            return Help()


def _reading(sitting: Sitting, text: str) -> Event:
    if sitting.question.problem is None:
        return NothingToRead(listened=True)
    verdict = _answer_in(sitting, text)
    return (
        NotRead(typed=text, why=verdict)
        if isinstance(verdict, Unreadable)
        else Read(verdict=verdict)
    )


def _said(sitting: Sitting, line: str) -> Turn:
    verdict = None if sitting.question.problem is None else _answer_in(sitting, line)
    read = verdict if isinstance(verdict, Verdict) else None
    one = Said(typed=line, verdict=read, early=not sitting.numbered)
    exchange = replace(sitting.exchange, said=(*sitting.exchange.said, one), skipped=False)
    event = (
        Answered(verdict=verdict)
        if isinstance(verdict, Verdict)
        else Thought(typed=line, why=verdict)
    )
    return _with(sitting, exchange), event


def _answer_in(sitting: Sitting, line: str) -> Verdict | Unreadable:
    """Mark a line, or the answer that is in it."""
    said = sitting.exchange.answer
    here = None if said is None else said.verdict
    own = {reuse: _own(sitting, reuse.question) for reuse in sitting.question.reuses}
    earlier = tuple(number for number in own.values() if number is not None)
    equal = next((own[one] for one in own if one.times == 1 and not one.plus), None)
    return answer_in(sitting.question, line, Before(here=here, equal=equal, earlier=earlier))


def _own(sitting: Sitting, key: str) -> Fraction | None:
    """Return the candidate's number to an earlier question; None where none was read."""
    for question, exchange in zip(sitting.interview.questions, sitting.exchanges, strict=False):
        if question.key == key and exchange.answer and exchange.answer.verdict:
            parsed = exchange.answer.verdict.parsed
            number = parsed.get("number") if isinstance(parsed, dict) else parsed
            return number if isinstance(number, Fraction) else None
    return None


def _asked_again(sitting: Sitting) -> Turn | None:
    """Tell once that a question would be left with something said and no answer read."""
    exchange = sitting.exchange
    if sitting.question.problem is None or not exchange.said:
        return None
    if exchange.answer is not None or exchange.skipped or exchange.asked_again:
        return None
    return _with(sitting, replace(exchange, asked_again=True)), Unanswered()


def _left(sitting: Sitting, *, skipped: bool) -> Turn:
    index = sitting.position
    if skipped:
        sitting = _with(sitting, replace(sitting.exchange, skipped=True))
    after = index + 1
    opened = sitting.exchanges
    if after == len(opened) and after < len(sitting.interview.questions):
        opened = (*opened, Exchange())
    return replace(sitting, exchanges=opened, position=after), Left(index=index, skipped=skipped)


def _undo(sitting: Sitting) -> Turn:
    exchange = sitting.exchange
    if exchange.said:
        *kept, last = exchange.said
        return _with(sitting, replace(exchange, said=tuple(kept))), TakenBack(typed=last.typed)
    if sitting.position == 0:
        return sitting, NothingToUndo()
    if not sitting.can_undo:
        return sitting, Stands()
    return replace(sitting, position=sitting.position - 1), Back()


def _hint(sitting: Sitting) -> Turn:
    problem, shown = sitting.question.problem, sitting.exchange.hints
    if problem is None or shown >= len(problem.hints):
        return sitting, NoHint()
    hint = Hint(text=problem.hints[shown], number=shown + 1, of=len(problem.hints))
    return _with(sitting, replace(sitting.exchange, hints=shown + 1)), hint


def _clash(question: Question, line: str) -> Clash | None:
    """Return what a line means that is a key, or begins with "r", and is a symbol as well."""
    key = "r" if to_be_read(line) is not None else line.strip()
    command = command_of(key)
    if command is None or question.problem is None:
        return None
    if line.strip().lower().startswith("reading "):
        return None
    symbols = question.problem.answer.alone
    symbol = next((one for one in symbols if one.lower() == key.lower()), None)
    return None if symbol is None else Clash(key=symbol, word=command, instead=symbols[symbol])
