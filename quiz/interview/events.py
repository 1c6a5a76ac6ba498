"""What a line that is typed in an interview can lead to, one value for each."""

from dataclasses import dataclass

from quiz.answers import Unreadable
from quiz.marking.verdict import Verdict
from quiz.practice.events import Clash, Help, Hint, NoHint, NothingToUndo, Quit, Stands

__all__ = [
    "Answered",
    "Back",
    "Clash",
    "Event",
    "Help",
    "Hint",
    "Left",
    "NoHint",
    "NoVerdict",
    "NotRead",
    "NothingToRead",
    "NothingToUndo",
    "Paused",
    "Quit",
    "Read",
    "Resumed",
    "Stands",
    "TakenBack",
    "Thought",
    "Unanswered",
]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The line counts as the answer until another one does. `verdict` is not to be shown yet."""

    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Thought:
    """The line is kept and listened to.

    Args:
        typed: what `why.offset` points into.
        why: where it stopped being an answer; None where points alone are listened for.
    """

    typed: str
    why: Unreadable | None


@dataclass(frozen=True, kw_only=True)
class Unanswered:
    """Something was said and no answer was read; the next empty line goes on all the same."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """The question at `index` is left for the next one; `skipped` where it was passed over."""

    index: int
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Back:
    """A question before is asked again, with what was said to it."""


@dataclass(frozen=True, kw_only=True)
class TakenBack:
    """The last line to the question, `typed`, counts no more."""

    typed: str


@dataclass(frozen=True, kw_only=True)
class Read:
    """How a text would be read as an answer; it was not given. Nothing else is to be shown."""

    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class NotRead:
    """The text could not be read as an answer."""

    typed: str
    why: Unreadable


@dataclass(frozen=True, kw_only=True)
class NothingToRead:
    """No answer is read here (`listened`), or no text stood behind the command."""

    listened: bool


@dataclass(frozen=True, kw_only=True)
class Paused:
    """The clock stands until the next line."""


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """The clock goes on."""


@dataclass(frozen=True, kw_only=True)
class NoVerdict:
    """The solution was asked for before the end."""


Event = (
    Answered
    | Thought
    | Unanswered
    | Left
    | Back
    | TakenBack
    | NothingToUndo
    | Stands
    | Hint
    | NoHint
    | Read
    | NotRead
    | NothingToRead
    | Paused
    | Resumed
    | Help
    | NoVerdict
    | Quit
    | Clash
)
