#!/usr/bin/env python3
"""A million typed answers: none may raise, hang, or be read as another number without a word.

    make fuzz
    python3 bootstrap.py python benchmarks/fuzz.py [NUMBER] [SEED]

Half of them spell a value that is known, in one of many ways; it must be read, or be named as
another reading, or the text be refused. The other half are such spellings broken at random, and
random text: they must be read or refused, in time, and be shown in one printable line.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from os import cpu_count
from typing import Any

from engine.units import BINARY, DECIMAL
from problems.draw import Draw
from quiz.answers import Quantity, Unreadable, caret, describe, parse_quantity

NUMBER = 1_000_000
PART = 20_000
SLOW = 0.05
SHOWN = 20
MOST = 10**30

MEMORY = {"default_unit": "GB", "asks": "memory, in bytes"}
PARAMETERS = {"asks": "number of parameters"}
PER_PARAMETER = {"default_unit": "bytes", "asks": "bytes per parameter"}
RATIO = {"asks": "a ratio (how many times larger)"}
GPUS = {"asks": "number of GPUs"}
SYMBOLS = {"P": 1_300_000_000, "s": 2048, "h": 4096, "L": 32}
SYMBOLIC = MEMORY | {"symbols": SYMBOLS}

BEFORE = ("", "", "", "", "about ", "~", "≈ ", "roughly ", "I think ", "= ", "approx. ", "ca. ")
AFTER = ("", "", "", "", ".", " ", " or so", " total", " per GPU", " (weights only)", "/gpu", "?")
SPACES = ("", " ", " ", "  ", "\u00a0", "\u202f")
TIMES = ("*", " * ", "x", " x ", "\u00d7", " \u00d7 ", " times ")
DASHES = ("-", " - ", "\u2013", " \u2013 ", " to ", "..")
GROUPS = ("", "", ",", "'", "\u2019", "_", "\u202f", "\u00a0")
LONG = {"GB": "gigabytes", "MB": "megabytes", "TB": "terabytes", "GiB": "gibibytes"}
SHORT = {"GB": ("G", "gigs", "gig"), "MB": ("M", "megs"), "GiB": ("Gi",), "MiB": ("Mi",)}
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
WIDE = str.maketrans({c: chr(ord(c) + 0xFEE0) for c in "0123456789.GMTiB"})
PIECES = "GB GiB bits or to per 1e ** 10^ of P {{ $( about half none same third … \x00 \x1b \ud800"
SOUP = (*"0123456789.,+-*/^()=%~<>xBGMkPψ½²'\"_ \n\u202e\uff10\u0663", *PIECES.split(" "))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A typed answer, what the question said, and the value that it spells, if one is known."""

    typed: str
    context: Mapping[str, Any]
    value: Fraction | None = None


@dataclass(kw_only=True)
class Tally:
    """What became of a number of cases."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add what became of further cases."""
        self.counts += other.counts
        self.wrong += other.wrong


def cases(draw: Draw) -> Iterator[Case]:
    """Yield cases without end: a known value, then something broken, by turns."""
    ways: tuple[Callable[[Draw], Case], ...] = (
        _size,
        _size,
        _range,
        _product,
        _sum,
        _share,
        _count,
        _bytes,
        _ratio,
        _symbols,
        _scientific,
    )
    while True:
        known = draw.choice(ways)(draw)
        yield known
        yield Case(typed=_broken(draw, known.typed), context=known.context)


def _number(draw: Draw) -> tuple[str, Fraction]:
    """Return a number as people type it, with at least four digits where it is grouped."""
    whole = draw.choice((draw.between(1, 99), draw.between(100, 999), draw.between(10**3, 10**7)))
    decimals = draw.choice(("", "", f"{draw.between(0, 9)}", f"{draw.between(0, 99):02}"))
    value = whole + Fraction(int(decimals or 0), 10 ** len(decimals))
    group = draw.choice(GROUPS)
    text = f"{whole:,}".replace(",", group)
    if not decimals:
        return text, value
    return f"{text}.{decimals}", value


def _german(draw: Draw) -> tuple[str, Fraction]:
    """Return a number with a decimal comma, and points where it is grouped."""
    whole, decimals = draw.between(1, 10**6), f"{draw.between(0, 99):02}"
    text = f"{whole:,}".replace(",", draw.choice((".", "", " ")))
    return f"{text},{decimals}", whole + Fraction(int(decimals), 100)


def _unit(draw: Draw) -> tuple[str, int]:
    """Return a unit of memory as people spell it; a lower-case b after a capital is left out."""
    name, factor = draw.choice(tuple(DECIMAL + BINARY))
    spellings = [name, name.lower(), name.upper(), *SHORT.get(name, ())]
    if name in LONG:
        spellings += [LONG[name], LONG[name].capitalize()]
    return draw.choice(spellings), factor


def _around(draw: Draw, text: str) -> str:
    return draw.choice(BEFORE) + text + draw.choice(AFTER)


def _size(draw: Draw) -> Case:
    number, value = draw.choice((_number, _number, _german))(draw)
    unit, factor = _unit(draw)
    text = number + draw.choice(SPACES) + unit
    if draw.chance(5):
        text = text.translate(WIDE)
    return Case(typed=_around(draw, text), context=MEMORY, value=value * factor)


def _range(draw: Draw) -> Case:
    low = draw.between(1, 900)
    high = low + draw.between(1, 99)
    unit, factor = _unit(draw)
    middle = Fraction(low + high, 2) * factor
    form = draw.choice(("{0}{2}{1} {3}", "between {0} and {1} {3}", "from {0} to {1} {3}"))
    text = form.format(low, high, draw.choice(DASHES), unit)
    return Case(typed=draw.choice(("", "about ", "~")) + text, context=MEMORY, value=middle)


def _product(draw: Draw) -> Case:
    each, billions = draw.choice((2, 4, 8, 12, 16, 18, 20)), Fraction(draw.between(1, 7000), 10)
    many = f"{float(billions):g}"
    times = draw.choice(TIMES)
    text = draw.choice(
        (
            f"{each} bytes{times}{many}B",
            f"{many}B{times}{each} bytes",
            f"{many}e9{times}{each}",
            f"{each}{times}{many}e9 bytes",
            f"{many} billion{times}{each} bytes",
            f"({each} B/param){times}{many}B params",
        )
    )
    return Case(typed=text, context=MEMORY, value=each * billions * 10**9)


def _sum(draw: Draw) -> Case:
    unit, factor = draw.choice((("GB", 10**9), ("GiB", 2**30), ("MB", 10**6)))
    parts = [draw.between(1, 500) for _ in range(draw.between(2, 4))]
    plus = draw.choice(("+", " + ", " plus "))
    text = plus.join(f"{part} {unit}" for part in parts)
    return Case(typed=text, context=MEMORY, value=Fraction(sum(parts) * factor))


def _share(draw: Draw) -> Case:
    size = draw.between(1, 900)
    share, said = draw.choice(
        (
            (Fraction(1, 3), "a third of"),
            (Fraction(1, 2), "half of"),
            (Fraction(3, 4), "three quarters of"),
            (Fraction(1, 4), "a quarter of"),
            (Fraction(1, 8), "1/8 of"),
            (Fraction(33, 100), "33% of"),
        )
    )
    return Case(typed=f"{said} {size} GB", context=MEMORY, value=share * size * 10**9)


def _count(draw: Draw) -> Case:
    billions = Fraction(draw.between(1, 9999), 10)
    text = f"{float(billions):g}"
    text += draw.choice(
        ("B", " B", "b", " billion", "bn", "e9", " billion parameters", "B params")
    )
    return Case(typed=text, context=PARAMETERS, value=billions * 10**9)


def _bytes(draw: Draw) -> Case:
    value = draw.between(1, 40)
    text = f"{value}" + draw.choice(("", " bytes", "B", " B", " bytes per parameter", " B/param"))
    return Case(typed=text, context=PER_PARAMETER, value=Fraction(value))


def _ratio(draw: Draw) -> Case:
    value = Fraction(draw.between(1, 400), 4)
    text = f"{float(value):g}" + draw.choice(("", "x", "×", " times", " times larger", "-fold"))
    return Case(
        typed=_around(draw, text) if text[-1].isdigit() else text, context=RATIO, value=value
    )


def _symbols(draw: Draw) -> Case:
    each, name = draw.between(1, 40), draw.choice(tuple(SYMBOLS))
    text = draw.choice((f"{each}{name}", f"{each} {name}", f"{each}*{name}", f"{name} * {each}"))
    value = Fraction(each * SYMBOLS[name])
    return Case(typed=text + " bytes", context=SYMBOLIC, value=value)


def _scientific(draw: Draw) -> Case:
    digits, power = Fraction(draw.between(10, 999), 10), draw.between(6, 13)
    text, raised = f"{float(digits):g}", str(power).translate(SUPERSCRIPTS)
    forms = (f"{text}e{power}", f"{text}E+{power}", f"{text}*10^{power}", f"{text} × 10{raised}")
    return Case(typed=f"{draw.choice(forms)} bytes", context=MEMORY, value=digits * 10**power)


def _broken(draw: Draw, text: str) -> str:
    """Return `text` with something dropped, put in, repeated or swapped, or soup."""
    if draw.chance(30):
        return "".join(draw.choice(SOUP) for _ in range(draw.between(0, 30)))
    pieces = list(text)
    for _ in range(draw.between(1, 4)):
        at = draw.below(len(pieces) + 1)
        match draw.below(4):
            case 0:
                pieces[at : at + 1] = []
            case 1:
                pieces.insert(at, draw.choice(SOUP))
            case 2:
                pieces[at:at] = pieces[: draw.between(0, 5)]
            case _:
                pieces[at : at + 2] = reversed(pieces[at : at + 2])
    return "".join(pieces)


def judged(case: Case) -> str:
    """Return what becomes of a case: read, named, refused, or what is wrong, in capitals."""
    started = time.process_time()
    try:
        found = parse_quantity(case.typed, **case.context)
        shown = _shown(case.typed, found)
    except Exception as error:  # noqa: BLE001 - that none is raised is what is tried
        return f"RAISED {type(error).__name__}"
    if time.process_time() - started > SLOW:
        return "SLOW"
    if not shown:
        return "NOT PRINTABLE"
    if isinstance(found, Unreadable):
        return "refused"
    if case.value is None or found.value == case.value:
        return "read"
    return "named as another reading" if case.value in found.alternatives else "MISREAD"


def _shown(typed: str, found: Quantity | Unreadable) -> bool:
    if isinstance(found, Unreadable):
        inside = 0 <= found.offset <= len(typed)
        return inside and caret(typed, found).split("\n")[0].isprintable()
    ordered = 0 <= found.low <= found.value <= found.high <= MOST
    return ordered and all(said.isprintable() for said in (describe(found), *found.remarks))


def part(seed: int, number: int = PART) -> Tally:
    """Return what became of `number` cases of a seed."""
    found = Tally()
    for case, _ in zip(cases(Draw("fuzz", seed)), range(number), strict=False):
        verdict = judged(case)
        found.counts[f"{'known' if case.value is not None else 'broken'}: {verdict}"] += 1
        if verdict.isupper() or verdict.startswith("RAISED"):
            found.wrong.append(f"{verdict}: {case.typed!a} {case.value}")
    return found


def main(number: int, seed: int) -> int:
    """Try `number` cases and return an exit code."""
    parts = range(seed, seed + -(-number // PART))
    found = Tally()
    with ProcessPoolExecutor(cpu_count()) as pool:
        for one in pool.map(part, parts):
            found.add(one)
    for what, many in sorted(found.counts.items()):
        sys.stdout.write(f"{many:>10,}  {what}\n")
    sys.stdout.writelines(f"{line}\n" for line in found.wrong[:SHOWN])
    sys.stdout.write(f"{sum(found.counts.values()):,} answers, {len(found.wrong)} wrong\n")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    numbers = [int(typed) for typed in sys.argv[1:3]]
    sys.exit(main(*numbers, *(NUMBER, 0)[len(numbers) :]))
