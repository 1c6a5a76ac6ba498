"""One spelling for the characters that look alike, with the place in the typed text kept.

NFKC as a whole would turn 10⁹ into 109 and 1½ into 11/2, so each character is mapped on its own
and only where its digits keep their place.
"""

import unicodedata
from dataclasses import dataclass

from quiz.answers.quantity import RefusalError

LONGEST = 200

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))

# Compatibility forms that differ in looks alone: full and half width, no-break, mathematical
# letters and squared units such as U+3387 (GB). Circled digits, subscripts and the like do not.
LOOKS = ("<wide>", "<narrow>", "<noBreak>", "<font>", "<square>")

SAME = {
    **dict.fromkeys("\u2009\u202f\u2007\u2002\u2003\u2004\u2005\u2006\u2008\u200a\u3000\t", " "),
    **dict.fromkeys("\u00d7✕✖\u2217\u2a2f⨉", "✕"),
    **dict.fromkeys("·•⋅∙", "·"),
    **dict.fromkeys("÷\u2215\u2044", "/"),
    **dict.fromkeys("\u2212\ufe63\u2010\u2011", "-"),
    **dict.fromkeys("\u2013—\u2012―", "—"),
    **dict.fromkeys("\u2019\u2018\u02bc\u2032", "'"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("≈≃≅≒≋", "≈"),
    **dict.fromkeys("\u223c〜\u02dc", "~"),
    **dict.fromkeys("≥⩾≧", "≥"),
    **dict.fromkeys("≤⩽≦", "≤"),
    **dict.fromkeys("→⇒", "="),
    "…": "..",
    "\u066b": ".",
    "\u00b5": "\u03bc",
}


@dataclass(frozen=True)
class Text:
    """Normalised characters, and for each (and the end) its index in the text as typed."""

    plain: str
    where: tuple[int, ...]


def normalise(typed: str) -> Text:
    """Return `typed` with look-alike characters made one.

    Raises:
        RefusalError: the text is too long, blank, or has a character that cannot be seen.
    """
    if len(typed) > LONGEST:
        raise RefusalError(LONGEST, f"this is too long; type a number in {LONGEST} characters")
    plain: list[str] = []
    where: list[int] = []
    last = len(typed.rstrip(" \t\r\n"))
    for index, character in enumerate(typed):
        seen = look_alike(index, character) if index < last else " "
        plain.extend(seen)
        where.extend([index] * len(seen))
    if not "".join(plain).strip():
        raise RefusalError(0, "nothing was typed; type a number with its unit, such as 16 GB")
    return Text("".join(plain), (*where, len(typed)))


def look_alike(index: int, character: str) -> str:
    """Return the spelling that stands for `character`, which was typed at `index`.

    Raises:
        RefusalError: it cannot be seen.
    """
    if character in SAME:
        return SAME[character]
    if character.isascii() and character.isprintable():
        return character
    kind = unicodedata.category(character)
    if kind in {"Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me", "Mc", "Zl", "Zp"}:
        raise RefusalError(
            index, "there is a character here that cannot be seen; type the line again"
        )
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if unicodedata.decomposition(character).startswith(LOOKS):
        inner = unicodedata.normalize("NFKC", character)
        return "".join(SAME.get(one, one) for one in inner)
    return character
