"""A question as items of a question bank, where a program asks less than a whole one at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_lowercase

from engine.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB
from quiz.formats.parts import NumberPart, Option, OrderPart, Part, PickPart
from quiz.formats.questions import Question

# The unit that is taken for another, with how many of the other it is.
TWINS = {
    "kB": ("KiB", Fraction(KB, KIB)), "KiB": ("kB", Fraction(KIB, KB)),
    "MB": ("MiB", Fraction(MB, MIB)), "MiB": ("MB", Fraction(MIB, MB)),
    "GB": ("GiB", Fraction(GB, GIB)), "GiB": ("GB", Fraction(GIB, GB)),
    "TB": ("TiB", Fraction(TB, TIB)), "TiB": ("TB", Fraction(TIB, TB)),
}  # fmt: skip
IDLE = "left out"


@dataclass(frozen=True, kw_only=True)
class Item:
    """One or more parts of a question that are asked together.

    Args:
        question: all of it.
        parts: those that are asked here.
        letter: which of its items it is, from "a" on; "" where it is the only one.
    """

    question: Question
    parts: tuple[Part, ...]
    letter: str = ""

    @property
    def id(self) -> str:
        """That of the problem, with the letter behind it."""
        return self.question.id + self.letter

    @property
    def share(self) -> Fraction:
        """Its share of the points of the question."""
        return sum((part.weight for part in self.parts), Fraction(0))

    @property
    def points(self) -> Fraction:
        """What a right answer is worth."""
        return self.question.points * self.share


def items(question: Question, *, together: bool) -> tuple[Item, ...]:
    """Return the items of a question, numbers and picks in one of them or each by itself."""
    groups = [*_groups(question.parts)] if together else [(part,) for part in question.parts]
    letters = ascii_lowercase if len(groups) > 1 else [""]
    return tuple(
        Item(question=question, parts=parts, letter=letter)
        for parts, letter in zip(groups, letters, strict=False)
    )


def _groups(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """Yield the numbers and picks together where there is nothing else, else each part."""
    if all(isinstance(part, NumberPart | PickPart) for part in parts):
        yield parts
    else:
        yield from ((part,) for part in parts)


def is_truth(options: tuple[Option, ...]) -> bool:
    """Return whether a pick is between true and false."""
    return {one.text for one in options} == {"true", "false"}


def is_strict(part: OrderPart) -> bool:
    """Return whether everything has a place of its own."""
    return not part.idle and all(len(group) == 1 for group in part.order)


def in_order(part: OrderPart) -> tuple[str, ...]:
    """Return what is to be put in order, in the right one."""
    names = {item.key: item.name for item in part.items}
    return tuple(names[key] for group in part.order for key in group)


def places(part: OrderPart) -> tuple[tuple[str, str], ...]:
    """Return each thing, as it is shown, with its place: those that tie have one."""
    place = {key: str(at) for at, group in enumerate(part.order, 1) for key in group}
    return tuple((item.name, place.get(item.key, IDLE)) for item in part.items)


def instruction(part: Part) -> str:
    """Return how a part is answered where a program reads numbers, picks and places alone."""
    match part:
        case NumberPart(unit=unit) if unit:
            return f"Give a number in {unit}, without the unit."
        case NumberPart():
            return "Give a number."
        case OrderPart(idle=idle):
            tie = "" if is_strict(part) else ": those that tie have the same"
            rest = f"; what does not belong is {IDLE}" if idle else ""
            return f"Give each its place, 1 for the first{tie}{rest}."
        case PickPart():
            return ""
        case _:
            return part.wants
