"""A worked answer, line by line, and the same with one wrong line whose number is carried on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from engine.units import GIB, count, decimal
from problems.answers.numbers import counted
from problems.answers.quantity import QuantityAnswer
from problems.answers.repair import WorkedStep
from problems.wording import digits_of, number

Values = Mapping[str, Fraction]
Of = Callable[[Values], Fraction | int]
Form = Literal["bytes", "GiB", "each", "count"]
# Counts below are written out: 8,192.
WRITTEN_OUT = 10**6


def times(key: str, factor: Fraction | int) -> Of:
    """Return what multiplies the number of the line `key`."""
    return lambda values: values[key] * factor


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line: what it works out, how, and how it follows from the lines before.

    Args:
        key: what later lines call its number.
        says: its left side, with a place such as {weights} for the number of each line used.
        of: its number, from those of the lines before.
        form: how the number is written; all but a count are bytes, "each" a few of them.
        noun: what stands behind the number: what is counted, or what each bytes are of.
    """

    key: str
    says: str
    of: Of
    form: Form = "bytes"
    noun: str = ""

    @property
    def is_size(self) -> bool:
        """Whether the number is one of bytes, in GB and the like."""
        return self.form in {"bytes", "GiB"}

    def written(self, value: Fraction) -> str:
        """Return a number of this line as people write it: "14 GB", "8,192 tokens"."""
        said = _written(self.form, value)
        first, *rest = self.noun.split(" ")
        return " ".join([said, counted(value, first), *rest]).strip()

    def wrong(self, name: str, says: str, of: Of, *, why: str, nudge: str) -> "WrongLine":
        """Return how somebody writes it who makes the mistake `name`; see `WrongLine`."""
        return WrongLine(name=name, line=replace(self, says=says, of=of), why=why, nudge=nudge)


@dataclass(frozen=True, kw_only=True)
class WrongLine:
    """A line as somebody writes it who is wrong.

    Args:
        name: of the mistake, a row of `data/mistakes.toml`.
        line: stands in the place of the right line with its key.
        why: follows the right number there, with a place for {off}, how far off it is.
        nudge: a question that leads to it.
    """

    name: str
    line: Line
    why: str
    nudge: str


@dataclass(frozen=True, kw_only=True)
class Worked:
    """A worked answer."""

    lines: tuple[Line, ...]

    def values(self, wrong: Line | None = None) -> dict[str, Fraction]:
        """Return each line's number, with `wrong` in the place of the line with its key."""
        values: dict[str, Fraction] = {}
        for line in self.with_line(wrong):
            values[line.key] = Fraction(line.of(values))
        return values

    def with_line(self, wrong: Line | None) -> tuple[Line, ...]:
        """Return the lines, with `wrong` in the place of the one with its key."""
        if wrong is None:
            return self.lines
        return tuple(wrong if line.key == wrong.key else line for line in self.lines)

    def texts(self, wrong: Line | None = None) -> tuple[str, ...]:
        """Return the lines as they are written, their numbers to three digits."""
        values, lines = self.values(wrong), self.with_line(wrong)
        said = {line.key: _written(line.form, values[line.key]) for line in lines}
        return tuple(
            f"{line.says.format_map(said)} = {line.written(values[line.key])}" for line in lines
        )

    def steps(self, wrong: Line) -> tuple[WorkedStep, ...]:
        """Return the steps of an answer in which `wrong` is the first wrong line."""
        right, shown = self.values(), self.values(wrong)
        return tuple(
            WorkedStep(
                text=text,
                shown=shown[line.key],
                right=_asked(line, right[line.key], text),
                noun=line.noun if line.form == "count" else "",
            )
            for line, text in zip(self.with_line(wrong), self.texts(wrong), strict=True)
        )

    def place(self, key: str) -> int:
        """Return where the line with this key stands, counted from 1."""
        return 1 + next(at for at, line in enumerate(self.lines) if line.key == key)


def _asked(line: Line, value: Fraction, text: str) -> QuantityAnswer:
    """Return the number as it is asked for: bare in the unit in which the text has it."""
    if line.form == "count":
        return QuantityAnswer(value=value, unit="1", default_unit=None)
    unit = "B" if line.form == "each" else text.rsplit(maxsplit=1)[-1]
    return QuantityAnswer(value=value, default_unit=unit)


def _written(form: Form, value: Fraction) -> str:
    """Return a number to three digits, a count below a million in full."""
    if form == "bytes":
        return _to_three_digits(decimal, value)
    if form == "GiB":
        return f"{digits_of(value / GIB)} GiB"
    if form == "count" and value >= WRITTEN_OUT:
        return _to_three_digits(count, value)
    return number(int(value)) if value.denominator == 1 else digits_of(value)


def _to_three_digits(write: Callable[..., str], value: Fraction) -> str:
    """Return what `write` makes of a whole number, with as many decimals as three digits need."""
    whole = round(value)
    before = len(write(whole).partition(".")[0].replace(",", ""))
    return write(whole, digits=max(3 - before, 0))
