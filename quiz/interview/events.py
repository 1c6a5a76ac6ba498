"""What a line that is typed in an interview can lead to, one value for each."""

from dataclasses import dataclass

from quiz.answers import Unreadable
from quiz.interview.commands import Command
from quiz.marking.verdict import Verdict


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
class NothingToUndo:
    """There is no line to take back."""


@dataclass(frozen=True, kw_only=True)
class Stands:
    """The question before cannot be gone back to: what was told since would help."""


@dataclass(frozen=True, kw_only=True)
class Hint:
    """Hint number `number` of `of`, counted from 1."""

    text: str
    number: int
    of: int


@dataclass(frozen=True, kw_only=True)
class NoHint:
    """There is no further hint."""


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
class Help:
    """The list of commands is wanted."""


@dataclass(frozen=True, kw_only=True)
class NoVerdict:
    """The solution was asked for before the end."""


@dataclass(frozen=True, kw_only=True)
class Quit:
    """The candidate stops, to go on later."""


@dataclass(frozen=True, kw_only=True)
class Clash:
    """A key that is also a symbol of the question, `key`.

    The command's word tells them apart, and so does `instead`, which says the symbol.
    """

    key: str
    word: Command
    instead: str


Event = (
    Answered
    | Thought
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
