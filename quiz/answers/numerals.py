"""Numerals with the separators of several locales, as exact fractions."""

import re
from dataclasses import dataclass
from fractions import Fraction

from quiz.answers.quantity import RefusalError
from quiz.answers.units_typed import Option, choice

DIGITS = 40
EXPONENT = 40

SPACED = re.compile(r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?")
TICKED = re.compile(r"\d{1,3}(?:'\d{3})+(?!\d)(?:[.,]\d+)?|\d{1,3}(?:_\d{3})+(?!\d)(?:\.\d+)?")
PLAIN = re.compile(r"\d+(?:[.,]\d+)*|\.\d+")
POWER = re.compile(r" ?[eE][+-]?\d+(?!\d|[.,]\d)")
# "16. GB": the point ends the number.
TRAILING = re.compile(r"\.(?![\d.,'_])")
RUNS_ON = re.compile(r"[.,'_]?\d")

WESTERN = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+")
INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}")

GROUPS = "thousands"
MARK = "decimals"
SPACE = "a thousands space"


@dataclass(frozen=True)
class Numeral:
    """A numeral of the text: its readings, likeliest first, and the index behind it."""

    options: tuple[Option, ...]
    key: str
    end: int


def read_numeral(plain: str, start: int) -> Numeral:
    """Read the numeral that begins at `start` of the normalised text.

    Raises:
        RefusalError: with an index into `plain`: unknown separators, or too many digits.
    """
    match = SPACED.match(plain, start) or TICKED.match(plain, start) or PLAIN.match(plain, start)
    if match is None:
        raise RefusalError(start, "this is no number; type one such as 16 or 1.5")
    end = match.end()
    power = POWER.match(plain, end)
    exponent = 0
    if power:
        end = power.end()
        exponent = _exponent(power.group().lstrip(" eE"), start)
    elif TRAILING.match(plain, end):
        end += 1
    if RUNS_ON.match(plain, end):
        raise RefusalError(
            end, "these digits cannot be told apart; type a number such as 1234567.8"
        )
    body = match.group()
    if sum(c.isdigit() for c in body) > DIGITS:
        raise RefusalError(start, f"this number has more than {DIGITS} digits; type fewer")
    values = _readings(body, start, scientific=power is not None)
    scale = Fraction(10) ** exponent
    options = tuple(choice(value * scale, 0, said) for value, said in values)
    # Numerals whose likelier reading is the same share one key: a text has one custom.
    return Numeral(options, values[0][1], end)


def _exponent(typed: str, start: int) -> int:
    exponent = int(typed)
    if abs(exponent) > EXPONENT:
        raise RefusalError(start, "this number is too large or too small; use a unit such as GB")
    return exponent


def _readings(body: str, start: int, *, scientific: bool) -> list[tuple[Fraction, str]]:
    if " " in body:
        value = _decimal(body.replace(" ", ""))
        alone = body.count(" ") == 1
        said = SPACE if alone else GROUPS
        return [(value, said)]
    body = body.replace("'", "").replace("_", "")
    dots, commas = body.count("."), body.count(",")
    if dots and commas:
        return [(_mixed(body, start), GROUPS)]
    if dots > 1 or commas > 1:
        return [(_grouped(body.replace(".", ","), start), GROUPS)]
    return _one_mark(body, scientific=scientific)


def _one_mark(body: str, *, scientific: bool) -> list[tuple[Fraction, str]]:
    value = _decimal(body)
    if WESTERN.fullmatch(body):
        both = [
            (Fraction(body.replace(",", "")), "a thousands comma"),
            (value, "a decimal comma"),
        ]
        return both[::-1] if scientific else both
    if re.fullmatch(r"[1-9]\d{0,2}\.\d\d0", body):
        grouped = Fraction(body.replace(".", ""))
        return [(value, "a decimal point"), (grouped, "a thousands point")]
    return [(value, MARK)]


def _decimal(body: str) -> Fraction:
    return Fraction(body.replace(",", "."))


def _grouped(body: str, start: int) -> Fraction:
    if not WESTERN.fullmatch(body) and not INDIAN.fullmatch(body):
        raise RefusalError(
            start, "the separators of this number fit no custom; type it without them"
        )
    return Fraction(body.replace(",", ""))


def _mixed(body: str, start: int) -> Fraction:
    mark = "." if body.rfind(".") > body.rfind(",") else ","
    whole, _, rest = body.rpartition(mark)
    if mark in whole:
        raise RefusalError(
            start, "the separators of this number fit no custom; type it without them"
        )
    return _grouped(whole.replace(".", ","), start) + Fraction("0." + rest)
