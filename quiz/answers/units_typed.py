"""Units and number suffixes as people type them: tables from spelling to factor."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType

from engine.units import GB, GIB, KB, KIB, MB, MIB, TB, TIB

BITS = 8


@dataclass(frozen=True)
class Option:
    """One reading of a word or numeral.

    Args:
        factor: what it multiplies by.
        bytes: its power of bytes, 0 for a plain number.
        said: how the reading is called in a remark.
        last: only tried where every other reading fails.
        symbolic: it is a symbol of the question.
    """

    factor: Fraction
    bytes: int = 0
    said: str = ""
    last: bool = False
    symbolic: bool = False


def choice(
    factor: int | Fraction, power: int = 0, said: str = "", *, last: bool = False
) -> Option:
    """Return a reading, `factor` made exact."""
    return Option(Fraction(factor), power, said, last)


# letter, decimal factor, decimal name, binary factor, binary name. Names: SI brochure (9th ed.)
# and IEC 80000-13:2008.
PREFIXES = (
    ("k", KB, "kilo", KIB, "kibi"),
    ("m", MB, "mega", MIB, "mebi"),
    ("g", GB, "giga", GIB, "gibi"),
    ("t", TB, "tera", TIB, "tebi"),
    ("p", KB * TB, "peta", KIB * TIB, "pebi"),
)

NUMBER_WORDS = {"k": "thousand", "m": "million", "g": "billion", "t": "trillion"}

BYTE_WORDS = ("byte", "bytes", "octet", "octets")
BIT_WORDS = ("bit", "bits")
SLANG = {"gig": GB, "gigs": GB, "meg": MB, "megs": MB, "gigabite": GB, "gigabites": GB}


def _spellings(letter: str, name: str, binary: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lower-case spellings in bytes and those in bits."""
    short = letter + binary
    inbytes = [f"{short}b", f"{short}bs", f"{short}byte", f"{short}bytes"]
    inbytes += [f"{name}byte", f"{name}bytes"]
    inbits = [f"{short}bit", f"{short}bits", f"{name}bit", f"{name}bits"]
    return tuple(inbytes), tuple(inbits)


@cache
def units() -> Mapping[str, tuple[Option, ...]]:
    """Return the readings of every unit and suffix, by its spelling in small letters."""
    table: dict[str, tuple[Option, ...]] = {}
    for letter, decimal, name, binary, binary_name in PREFIXES:
        for factor, called, infix in ((decimal, name, ""), (binary, binary_name, "i")):
            inbytes, inbits = _spellings(letter, called, infix)
            table |= dict.fromkeys(inbytes, (choice(factor, 1, f"{called}bytes"),))
            table |= dict.fromkeys(inbits, (choice(Fraction(factor, BITS), 1, f"{called}bits"),))
        if letter != "p":
            table[f"{letter}i"] = (choice(binary, 1, f"{binary_name}bytes"),)
            table[letter] = table[name] = (
                choice(decimal, 1, f"{name}bytes"),
                choice(decimal, 0, NUMBER_WORDS[letter], last=True),
            )
    table |= {word: (choice(factor, 1),) for word, factor in SLANG.items()}
    table |= dict.fromkeys(BYTE_WORDS, (choice(1, 1),))
    table |= dict.fromkeys(BIT_WORDS, (choice(Fraction(1, BITS), 1),))
    return MappingProxyType(table)


SCALES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("thousand", "thousands"), KB),
        **dict.fromkeys(("million", "millions", "mn", "mln", "mio"), MB),
        **dict.fromkeys(("billion", "billions", "bn", "bln", "bil"), GB),
        **dict.fromkeys(("trillion", "trillions", "tn", "trn"), TB),
    }
)

# "B" alone: bytes or billion. Which comes first depends on the question.
BYTES_B = choice(1, 1, "bytes")
BILLION_B = choice(GB, 0, "billion")


def typed_unit(word: str) -> tuple[Option, ...]:
    """Return the readings of a unit or suffix, likeliest first; () where `word` is none.

    Letter case decides nothing but this: a small b behind a capital prefix is a bit by the book,
    though most people mean bytes. A single B is left to the question.
    """
    low = word.lower()
    options = units().get(low, ())
    if options and low.endswith("b") and word[0].isupper() and word[-1] == "b":
        first = options[0]
        inbits = first.said.replace("bytes", "bits")
        return (*options, choice(first.factor / BITS, 1, inbits))
    return options


def default_factor(unit: str) -> int:
    """Return the bytes of a unit that a question states.

    Raises:
        ValueError: `unit` is none that a question can state.
    """
    options = (BYTES_B,) if unit == "B" else units().get(unit.lower(), ())
    whole = [int(o.factor) for o in options if o.bytes == 1 and o.factor.denominator == 1]
    if not whole:
        message = f"{unit!r} is no unit of bytes"
        raise ValueError(message)
    return whole[0]
