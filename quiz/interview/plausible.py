"""Whether a figure that could be read as the answer is one that a person would mean."""

import re
from fractions import Fraction

from engine.units import GB, TB
from quiz.interview.asides import Asked

# "128k" may be thousands, and k a symbol.
THOUSANDS = re.compile(r"(?:^|=)\s*\d[\d.,]*k\s*$", re.IGNORECASE)
GLUED = re.compile(r"(?<![\w.])(\d+)k\b")
UNIT = re.compile(r"\d\s*(?:[kmgt]i?b|b|bytes?|gigs?)\b|\b[kmgt]i?b\b", re.IGNORECASE)
SYMBOL = re.compile(r"^\W*(?P<name>[A-Za-z]\w*)\s*=\s*[\d.,]+\s*[kmb]?\s*$", re.IGNORECASE)
PLAIN = "read as plain bytes"
# "41 GB of 105" is no product.
OF_ALL = re.compile(
    r"(\d\s*[kmgt]i?b)\s+(?:out )?of\s+(?:the\s+)?\d[\d.]*\s*(?:[kmgt]i?b\b)?", re.IGNORECASE
)
# A bare number behind work is no number of GB from here on, and no number of bytes up to there.
LARGE, MANY = Fraction(4000 * GB), Fraction(10**6) * GB
# A product of sizes of a model has many a factor of 2.
EVEN, SEVERAL = 64, 512
# So few bytes are those of an element.
ELEMENT = 1000


def in_thousands(text: str, of: Asked) -> str:
    """Return a product of figures with each "32k" of it as a number, though k is a symbol."""
    if "k" not in of.symbols:
        return text
    figures = GLUED.sub(r"\1e3", text)
    rest = re.sub(r"e\d|\b[kmgt]i?b\b|\bx\b", "", figures.lower())
    return text if re.search(r"[a-z]", rest) else figures


def is_odd(text: str, of: Asked) -> bool:
    """Return whether a text is one that has another meaning than a size: "b = 32", "128k"."""
    if "k" in of.symbols and THOUSANDS.search(text):
        return True
    assigned = SYMBOL.match(text)
    return assigned is not None and assigned["name"] in of.symbols


def is_assigned(before: str, text: str, of: Asked) -> bool:
    """Return whether an equals sign gives a symbol its value: "P = 124M"."""
    name = re.search(r"(?:^|[\s,;(])([A-Za-z]\w*)\s*$", before)
    return name is not None and name[1] in of.symbols and not UNIT.search(text)


def is_too_much(
    value: Fraction, text: str, line: str, remarks: tuple[str, ...], of: Asked
) -> bool:
    """Return whether a size is one that a run does not have: "2*a*s = 24576" in GB.

    Args:
        value: the size in bytes.
        text: what was read.
        line: as it was typed.
        remarks: how it was read.
        of: what is asked for.
    """
    if of.unit == "B":
        return value >= ELEMENT
    if of.unit != "GB":
        return False
    if 0 < value < ELEMENT:
        return True
    if UNIT.search(text) or PLAIN in remarks:
        return False
    names = (re.search(rf"(?<![a-z]){one}(?![a-z])", text) for one in of.symbols)
    if value >= TB and "/" not in text and any(names):
        return True
    whole = value / GB
    is_product = whole >= SEVERAL and whole.denominator == 1 and not whole.numerator % EVEN
    worked = re.search(r"[=*×]", line) is not None
    return worked and (LARGE <= value < MANY or is_product)
