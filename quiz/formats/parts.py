"""The parts of a question as other programs ask it: a number, a pick, an order, or words."""

from dataclasses import dataclass
from fractions import Fraction

from engine.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB
from problems.answers.ranking import Order, RankedItem
from quiz.formats.spans import Span

BYTES = {
    "B": 1, "kB": KB, "MB": MB, "GB": GB, "TB": TB, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class NumberPart:
    """A number is asked for.

    Args:
        label: which, where several are: "gradients"; else "".
        weight: its share of the points of the question.
        right: what earns all of the credit.
        spans: the mistakes, then what is near; none overlaps another or `right`.
        unit: in which the numbers are, and a bare one is read; "" where it has none.
        is_whole: whether it counts things.
        said: the right answer in words.
    """

    label: str = ""
    weight: Fraction = Fraction(1)
    right: Span
    spans: tuple[Span, ...]
    unit: str = ""
    is_whole: bool = False
    said: str

    @property
    def units(self) -> tuple[tuple[str, Fraction], ...]:
        """Units that it may be typed in, each with how many of them its own unit is."""
        if self.unit not in BYTES:
            return ((self.unit, Fraction(1)),) if self.unit else ()
        own = BYTES[self.unit]
        others = (name for name in BYTES if name != self.unit)
        return ((self.unit, Fraction(1)), *((name, Fraction(own, BYTES[name])) for name in others))


@dataclass(frozen=True, kw_only=True)
class Option:
    """One of the things to pick: its text, whether it is right, and what is said of picking it."""

    text: str
    is_right: bool
    mistake: str = ""
    feedback: str = ""


@dataclass(frozen=True, kw_only=True)
class PickPart:
    """One of a few is to be picked; `label` and `weight` as of a `NumberPart`."""

    label: str = ""
    weight: Fraction = Fraction(1)
    options: tuple[Option, ...]

    @property
    def said(self) -> str:
        """The right one."""
        return next(one.text for one in self.options if one.is_right)


@dataclass(frozen=True, kw_only=True)
class OrderPart:
    """Things are to be put in order.

    Args:
        items: as they are shown.
        order: the right order by their keys: those of a group may stand either way.
        idle: keys of those that are to be left out.
        leaves_out: whether some may be to be left out, though none is.
        first: which comes first, as the question says it: "cheapest".
        said: the right order in words.
    """

    label: str = ""
    weight: Fraction = Fraction(1)
    items: tuple[RankedItem, ...]
    order: Order
    idle: tuple[str, ...] = ()
    leaves_out: bool = False
    first: str
    said: str


@dataclass(frozen=True, kw_only=True)
class WordsPart:
    """Words or a formula, which a person or `memquiz grade` marks; `said` is a right answer."""

    label: str = ""
    weight: Fraction = Fraction(1)
    said: str
    wants: str = ""


Part = NumberPart | PickPart | OrderPart | WordsPart
