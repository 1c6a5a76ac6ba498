"""The line of keys under a question and behind a verdict: those that do something now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from problems.problem import Problem
from quiz.practice.session import Session, can_overrule, symbol_of

SEPARATOR = " · "


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key, its word, and what it does.

    Args:
        key: what is typed; "" where it means something else in the question.
        word: what does the same, and is never an answer.
        says: what it does, in a word or two.
    """

    key: str
    word: str
    says: str

    @property
    def said(self) -> str:
        """Key and effect; the word alone where the key is not its own."""
        return f"{self.key} {self.says}" if self.key else self.word

    @property
    def short(self) -> str:
        """What is typed."""
        return self.key or self.word


def of_question(session: Session, problem: Problem) -> tuple[Key, ...]:
    """Return the keys under the question that is asked now."""
    return tuple(
        Key(key="" if symbol_of(key, problem) else key, word=word, says=word)
        for key, word in _working(session, problem)
    )


def _working(session: Session, problem: Problem) -> Iterator[tuple[str, str]]:
    if session.hints < len(problem.hints):
        yield "h", "hint"
    yield from (("r", "reading"), ("s", "skip"), ("w", "solution"))
    if _can_undo(session):
        yield "u", "undo"
    yield from (("q", "stop"), ("?", "help"))


def behind_verdict(session: Session, problem: Problem) -> tuple[Key, ...]:
    """Return the keys behind the verdict on `problem`, the last answer of the session."""
    keys = [("enter", "score" if session.finished else "next"), ("w", "why")]
    if can_overrule(session, problem):
        keys.append(("o", "your own mark"))
    if _can_undo(session):
        keys.append(("u", "undo"))
    return tuple(Key(key=key, word=key, says=says) for key, says in (*keys, ("q", "stop")))


def _can_undo(session: Session) -> bool:
    return session.position > session.fixed


def in_one_line(keys: Sequence[Key], room: int) -> str:
    """Return the keys in `room` columns: what as many of the first do, and the last, as fit."""
    *most, last = keys
    for told in range(len(most), 0, -1):
        said = [key.said for key in most[:told]] + [key.short for key in most[told:]]
        line = SEPARATOR.join([*said, last.said])
        if len(line) <= room:
            return line
    return f"{' '.join(key.short for key in most)}{SEPARATOR}{last.said}"
