"""How answers of one type are asked for and marked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from problems.answers.answer import Answer
from problems.answers.ranking import RankedItem
from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.answers.normal import LONGEST
from quiz.marking.verdict import Verdict

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What stands below the question: things to choose from, a line each, and what to type."""

    items: tuple[str, ...]
    wants: str


def behind_keys(items: Sequence[RankedItem]) -> tuple[str, ...]:
    """Return the items as they are shown, each behind its key."""
    width = max(len(item.key) for item in items)
    return tuple(f"{item.key:>{width}}  {item.name}" for item in items)


@dataclass(frozen=True, kw_only=True)
class Halves:
    """An answer that may come in several lines, where a person is asked for the next.

    Attributes:
        lacks: whether something of a marked answer is missing.
        lead: what goes before the next line so that all are one answer, or why they are none.
            Takes what was typed so far and the next line.
        leaves_out: whether a line in place of what is missing says that there is none.
        wants: how it is asked for, behind what was typed so far.
        withdrawn: what is said when the lines were taken back.
        many: whether it may be asked for again; else two lines are all.
    """

    lacks: Callable[[Verdict], bool]
    lead: Callable[[str, str], str | Unreadable]
    leaves_out: Callable[[str], bool]
    wants: Callable[[Verdict], str]
    withdrawn: str
    many: bool = False


@dataclass(frozen=True, kw_only=True)
class Marker(Generic[A]):
    """Everything that is known of a type of answer beside the right one.

    Attributes:
        of: the type.
        mark: marks a line, or says where and why it cannot be read.
        longest: characters that an answer has at most.
        request: what stands below the question; None where the prompt says it all.
        halves: None where the whole answer is one line.
        own_mark: whether the learner may put a mark of their own in the place of the program's.
        forms: lines that could be typed, as examples of what is read; none tells the answer.
        remarks_tell: whether what is remarked on an answer tells how it is marked.
        gives_reason: whether the feedback has the reason, which a solution would repeat.
        names: the mistakes that an answer may be traced to beside the problem's own.
    """

    of: type[A]
    mark: Callable[[Problem, A, str], Verdict | Unreadable]
    longest: int = LONGEST
    request: Callable[[A], Request] | None = None
    halves: Halves | None = None
    own_mark: bool = False
    forms: Callable[[A], tuple[str, ...]] | None = None
    remarks_tell: bool = False
    gives_reason: bool = False
    names: Callable[[Problem, A], Iterable[str]] | None = None
