"""What a typed line can lead to, one value for each."""

from dataclasses import dataclass

from quiz.answers import Unreadable
from quiz.marking.attempt import Attempt


@dataclass(frozen=True, kw_only=True)
class Marked:
    """The question is done with."""

    attempt: Attempt


@dataclass(frozen=True, kw_only=True)
class Unread:
    """The line could not be read; nothing is counted. `typed` is what `why.offset` points into."""

    typed: str
    why: Unreadable


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How an answer would be read; it was not given."""

    reading: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Readable:
    """Lines that the question reads, as examples."""

    forms: tuple[str, ...]


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
    """A key that is also a symbol of the question, `key`.

    The command's word tells them apart, and so does `instead`, which says the symbol.
    """

    key: str
    word: str
    instead: str


@dataclass(frozen=True, kw_only=True)
class WantsRest:
    """Half of an answer was read; `says` asks for the other half."""

    says: str


@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """The half that waited for the other one was taken back; `says` tells what to do."""

    says: str


@dataclass(frozen=True, kw_only=True)
class Undone:
    """The last answer was taken back and its question is asked again."""

    attempt: Attempt


@dataclass(frozen=True, kw_only=True)
class NothingToUndo:
    """There is nothing to take back."""


@dataclass(frozen=True, kw_only=True)
class Stands:
    """What was done last cannot be taken back."""


@dataclass(frozen=True, kw_only=True)
class Overruled:
    """The learner put a mark of their own in the place of the program's."""

    attempt: Attempt


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
    """Whoever types stops, to go on later."""


Event = (
    Marked
    | Unread
    | Reading
    | Readable
    | Hint
    | NoHint
    | Help
    | Blank
    | Clash
    | WantsRest
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
