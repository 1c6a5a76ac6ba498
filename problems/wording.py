"""How numbers and recipes are written in prompts, hints, solutions and feedback."""

from collections.abc import Iterable
from fractions import Fraction
from math import floor, log10

from engine.accelerator import Accelerator
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.units import GB, GIB, MB
from problems.answers.numbers import in_gb

PAPER_DIGITS = 3
# What FSDP2 keeps in place of weights and master copy, called the same everywhere.
FP32_SHARD = "fp32 shard of the weights"

_FSDP_MIXED = (
    f"mixed precision: {FP32_SHARD} that the optimizer steps, layers gathered in 16 bits, "
    "fp32 {}"
)


def number(value: int) -> str:
    """Return a whole number with its thousands set apart."""
    return f"{value:,}"


def sentence(text: str) -> str:
    """Return a text with its first letter as a capital and the others as they are."""
    return text[:1].upper() + text[1:]


def card(gpu: Accelerator) -> str:
    """Return a card's title so that it can stand within a sentence."""
    name, comma, rest = gpu.title.partition(", ")
    return f"{name} ({rest})" if comma else name


def short(value: Fraction | int) -> str:
    """Return a small factor or number of bytes as people write it: 16, 3.75, 0.125."""
    return f"{float(value):.4g}"


def gb(size: Fraction | int) -> str:
    """Return bytes in GB, in MB below 0.1 GB, to at least three digits."""
    return in_gb(size)


def gib(size: Fraction | int) -> str:
    """Return bytes in GiB."""
    return f"{float(size) / GIB:,.2f} GiB"


def rounded(value: int, digits: int = PAPER_DIGITS) -> int:
    """Return a count rounded to three digits, as one carries it on paper, or to more."""
    step = int("1" + "0" * max(len(str(value)) - digits, 0))
    return (value + step // 2) // step * step


def billions(value: int) -> str:
    """Return a count in billions without its unit, for sums on paper: 6.74, 0.124."""
    return short(Fraction(value, GB))


def recipe_said(precision: str, optimizer: str, *, fsdp: bool = False) -> str:
    """Return "AdamW, mixed precision: 16-bit weights and gradients, …", every width said.

    Args:
        precision: a name of `PRECISIONS`.
        optimizer: a name of `engine.optimizers.optimizers`.
        fsdp: the states lie in FSDP2's shards.
    """
    row, steps = PRECISIONS[precision], optimizers()[optimizer]
    said, wide = row.title, row.as_wide
    if fsdp and row.master:
        said, wide = _FSDP_MIXED, ("gradients",)
    names = (*wide, steps.called) if steps.states else wide
    return f"{steps.title}, {said.format(listed(names))}"


def all_of(count: int) -> str:
    """Return "both" for two and "all 8" for more."""
    return "both" if count == 2 else f"all {count}"


def listed(parts: list[str] | tuple[str, ...]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def paper(size: Fraction | int, *, digits: int = PAPER_DIGITS) -> str:
    """Return bytes to three digits, as one writes them after a sum on paper; GB from 0.1 GB on.

    A product of numbers that are rounded already is written with a digit more.
    """
    amount, name = float(size) / GB, "GB"
    if abs(amount) < 0.1:
        amount, name = float(size) / MB, "MB"
    return f"{_digits(amount, digits)} {name}"


def bare_gb(size: Fraction | int) -> str:
    """Return bytes as a number of GB to three digits, a summand on paper."""
    return _digits(float(size) / GB, PAPER_DIGITS)


def rest_of_rounding(parameters: int, sizes: Iterable[tuple[Fraction | int, int]]) -> str:
    """Return what is left between sizes on paper and exact ones, from parameters rounded there.

    Args:
        parameters: those that are rounded on paper.
        sizes: each on paper and exact.
    """
    if all(gb(sketched) == gb(exact) for sketched, exact in sizes):
        return "Paper and exact agree"
    return (
        f"The rest of the difference is rounding {number(parameters)} to "
        f"{billions(rounded(parameters))} billion"
    )


def in_seconds(value: Fraction | float) -> str:
    """Return seconds to three digits: "13.8 s", "0.0412 s"."""
    return f"{_digits(float(value), PAPER_DIGITS)} s"


def digits_of(value: Fraction | float) -> str:
    """Return a plain number to three digits, whole digits never dropped."""
    return _digits(float(value), PAPER_DIGITS)


def bytes_of(each: Fraction | int) -> str:
    """Return a small number of bytes with its noun: "1 byte", "3.75 bytes"."""
    said = short(each)
    return f"{said} {'byte' if said == '1' else 'bytes'}"


def _digits(value: float, digits: int) -> str:
    """Return a number to so many significant digits, whole digits never dropped."""
    before = floor(log10(abs(value))) + 1 if value else 1
    return f"{value:,.{max(digits - before, 0)}f}"
