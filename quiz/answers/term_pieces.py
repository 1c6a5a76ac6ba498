"""Cuts a line of several numbers into pieces of one number each, and finds the names in them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from string import ascii_lowercase

from problems.answers.ranking import RankedItem, folded
from problems.answers.terms import Term
from quiz.answers.normal import Text
from quiz.answers.quantity import RefusalError
from quiz.answers.ranking_names import Names, one_slip
from quiz.answers.ranking_text import plain_line

# With fewer rows "112 / 8" would be both.
FEWEST_BETWEEN_SLASHES = 3
# Stands for the letters of a name, so that a digit of "ZeRO-2" is no number.
MASK = "¤"
STRONG = re.compile(r"[;\n|]|,(?!\d)|(?<!\d),|\band\b(?=\s*[\d¤~])|\bthen\b")
ANY_COMMA = re.compile(rf"{STRONG.pattern}|,")
SLASH = re.compile(rf"{STRONG.pattern}|/|-?>")
PLUS = re.compile(rf"{STRONG.pattern}|\+|=(?=[^=]*$)")
SPACE = re.compile(r"\s+(?=[\d.])")
WITH_UNIT = r"[\d.]+(?:\s?[kmgt]i?b)?"
BARE_NUMBERS = re.compile(rf"\s*{WITH_UNIT}(?:\s+{WITH_UNIT})+\s*")
# May be one number, its thousands set apart.
GROUPED = re.compile(r"\s*\d{1,3}(?:\s\d{3})+(?:\.\d+)?(?:\s?[kmgt]i?b)?\s*")
COMMAS = frozenset(",;")
# Stands in an empty place.
LEFT_OUT = "-"
LAST_EQUALS = re.compile(r"=(?=[^=]*$)")
# What may stand between a name and its number, on either side: a note, a sign, a word.
BEHIND_NAME = re.compile(
    r"(?:\s*[(\[][^()\[\]]*[)\]](?=\D*\d))?"
    r"(?:\s*(?::=|[:=]|->|\b(?:is|are|takes?|needs?|at|of|for)\b))?"
)
BEFORE_NAME = re.compile(r"\b(?:for|of|in|the|with|under|on|plus|per|and|so|a)\s*$")
EMPTY_BRACKETS = re.compile(r"[(\[]\s*[)\]]")
NOTE = re.compile(r"[(\[][^()\[\]\d]*[)\]]")
NUMBERED = re.compile(r"\s*(\d+)\s*[:=]\s*(?=[\d~≈.])")
ABBREVIATION = re.compile(r"\s*([a-z]+)[\s.:=]*(?=[\d~≈])")
SHORTEST_TYPO = 4


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A number and what belongs to it.

    Args:
        text: as typed, with its name blanked.
        start: where in the line it begins.
        term: the one it is named after; None where it has no name.
        name: how it is called in advice.
    """

    text: str
    start: int
    term: Term | None = None
    name: str = "the term"


@dataclass(frozen=True)
class _Span:
    start: int
    end: int


@dataclass(frozen=True)
class _Named(_Span):
    term: Term


def pieces_of(typed: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Return the pieces of a line, each with the term that it names.

    Raises:
        RefusalError: with an index into `typed`: the line is blank, has a character that cannot
            be seen, or a piece that names two terms or one that may be either of two.
    """
    line = plain_line(typed)
    found = list(_names_in(line.plain, terms))
    masked = _masked(line.plain, found)
    cut = _by_names(_cut(masked, terms), masked, found)
    spans = _places(masked, [*cut], terms)
    if not spans:
        raise RefusalError(0, f"type {', '.join(term.name for term in terms)}")
    return tuple(_piece(typed, line, masked, span, found, terms) for span in spans)


def _filled(masked: str, spans: Sequence[_Span]) -> list[_Span]:
    return [span for span in spans if masked[span.start : span.end].strip()]


def _places(masked: str, spans: Sequence[_Span], terms: Sequence[Term]) -> list[_Span]:
    """Return the spans with a number, and those left empty between two commas before one.

    Where the numbers are all there, or no place is left for it, an empty one is a slip.
    """
    filled = _filled(masked, spans)
    last = filled[-1].start if filled else 0
    empty = (s for s in spans if s.start < last and _between_commas(masked, s))
    places = sorted({*filled, *empty}, key=lambda span: span.start)
    return places if len(filled) < len(terms) and len(places) <= len(terms) else filled


def _between_commas(masked: str, span: _Span) -> bool:
    if masked[span.start : span.end].strip():
        return False
    before, behind = masked[: span.start].strip(), masked[span.end :].lstrip()
    return behind[:1] in COMMAS and (not before or before[-1] in COMMAS)


def _names_in(plain: str, terms: Sequence[Term]) -> Iterator[_Named]:
    """Yield the names that stand in a line, the longest where several begin together."""
    by_key = dict(zip(ascii_lowercase, terms, strict=False))
    names = Names(
        [
            RankedItem(key=key, name=term.name, aliases=term.aliases, value=Fraction(0))
            for key, term in by_key.items()
        ]
    )
    at = 0
    while at < len(plain):
        here = None if at and plain[at - 1].isalnum() else names.at(plain, at)
        if here:
            yield _Named(at, here[1], by_key[here[0]])
        at = here[1] if here else at + 1


def _masked(plain: str, found: Sequence[_Named]) -> str:
    for name in found:
        plain = plain[: name.start] + MASK * (name.end - name.start) + plain[name.end :]
    return plain


def _cut(masked: str, terms: Sequence[Term]) -> list[_Span]:
    """Cut at commas and the like, or at the first other sign that gives as many as are asked.

    Numbers with only blanks between them are cut there, however many they are.
    """
    first = _at(masked, STRONG)
    for cut in _ways(masked, terms):
        spans = _filled(masked, cut(masked))
        if len(spans) == len(terms):
            return spans
    with_empty = _at(masked, ANY_COMMA)
    if len(_places(masked, with_empty, terms)) == len(terms):
        return with_empty
    return [part for span in first for part in _at_blanks(masked, span)]


def _at_blanks(masked: str, span: _Span) -> Iterator[_Span]:
    """Cut a span of several bare numbers between them."""
    text = masked[span.start : span.end]
    several = BARE_NUMBERS.fullmatch(text) and not GROUPED.fullmatch(text)
    for one in _at(text.rstrip(), SPACE) if several else [_Span(0, len(text))]:
        yield _Span(span.start + one.start, span.start + one.end)


def _ways(masked: str, terms: Sequence[Term]) -> Iterator[Callable[[str], list[_Span]]]:
    """Yield ways to cut a line, the likeliest first."""
    adds_up = terms[-1].follows is not None
    yield lambda text: _at(text, STRONG)
    if adds_up:
        yield lambda text: _at_the_sum(text, STRONG)
    yield lambda text: _at(text, ANY_COMMA)
    if adds_up:
        yield lambda text: _at_the_sum(text, ANY_COMMA)
        yield lambda text: _at(text, PLUS)
    if len(terms) >= FEWEST_BETWEEN_SLASHES:
        yield lambda text: _at(text, SLASH)
    if BARE_NUMBERS.fullmatch(masked):
        yield lambda text: _at(text.rstrip(), SPACE)


def _at(masked: str, pattern: re.Pattern[str]) -> list[_Span]:
    """Cut where the pattern is outside of brackets."""
    ends = [match.span() for match in pattern.finditer(masked) if _outside(masked, match.start())]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(masked)]
    return [_Span(start, stop) for start, stop in zip(starts, stops, strict=True)]


def _at_the_sum(masked: str, pattern: re.Pattern[str]) -> list[_Span]:
    """Cut as `_at`, and the last piece before its equals sign."""
    *spans, last = _at(masked, pattern)
    equals = LAST_EQUALS.search(masked, last.start)
    if equals is None:
        return [*spans, last]
    return [*spans, _Span(last.start, equals.start()), _Span(equals.end(), last.end)]


def _outside(masked: str, at: int) -> bool:
    before = masked[:at]
    return before.count("(") <= before.count(")")


def _by_names(spans: Sequence[_Span], masked: str, found: Sequence[_Named]) -> Iterator[_Span]:
    """Cut pieces with several names before each of them, or behind where numbers come first."""
    for span in spans:
        inside = [name for name in found if span.start <= name.start < span.end]
        leads = not inside or not re.search(r"\d", masked[span.start : inside[0].start])
        ends = [span.start]
        for one, other in pairwise(inside):
            if other.term != one.term and re.search(r"\d", masked[one.end : other.start]):
                ends.append(other.start if leads else one.end)
        for start, end in zip(ends, [*ends[1:], span.end], strict=True):
            yield _Span(start, end)


def _piece(
    typed: str,
    line: Text,
    masked: str,
    span: _Span,
    found: Sequence[_Named],
    terms: Sequence[Term],
) -> Piece:
    inside = [name for name in found if span.start <= name.start < span.end]
    bare = [name for name in inside if not _in_a_note(masked, name)] or inside[:1]
    if len({name.term.name for name in bare}) > 1:
        at = line.where[bare[1].start]
        raise RefusalError(at, "two terms stand beside one number; type a number for each")
    blanks = [*inside, *(gap for name in bare for gap in _beside(masked, name, span))]
    term = bare[0].term if bare else None
    if term is None and (label := _label(masked, line, span, terms)):
        term = label.term
        blanks.append(label)
    start, end = line.where[span.start], line.where[span.end]
    text = typed[start:end]
    for blank in blanks:
        low, high = line.where[blank.start] - start, line.where[blank.end] - start
        text = text[:low] + " " * (high - low) + text[high:]
    text = EMPTY_BRACKETS.sub(lambda match: " " * len(match[0]), text)
    return Piece(
        text=text.rstrip() if typed[start:end].strip() else LEFT_OUT,
        start=start,
        term=term,
        name=term.name if term else "the term",
    )


def _label(masked: str, line: Text, span: _Span, terms: Sequence[Term]) -> _Named | None:
    """Return what stands for a name in front of a number: its first letters, or its digits."""
    text = masked[span.start : span.end]
    term = None
    if match := NUMBERED.match(text):
        term = _numbered(match[1], terms)
    elif match := ABBREVIATION.match(text):
        term = _meant(match[1], terms, line.where[span.start + match.start(1)])
    return _Named(span.start, span.start + match.end(), term) if match and term else None


def _numbered(digits: str, terms: Sequence[Term]) -> Term | None:
    """Return the one term that has this number in its name."""
    names = {term.name: (term.name, *term.aliases) for term in terms}
    found = [
        term
        for term in terms
        if any(re.findall(r"\d+", name) == [digits] for name in names[term.name])
    ]
    return found[0] if len(found) == 1 else None


def _in_a_note(masked: str, name: _Named) -> bool:
    return any(note.start() < name.start < note.end() for note in NOTE.finditer(masked))


def _beside(masked: str, name: _Named, span: _Span) -> Iterator[_Span]:
    """Yield the words that join a name to its number."""
    behind = BEHIND_NAME.match(masked, name.end, span.end)
    if behind:
        yield _Span(*behind.span())
    before = BEFORE_NAME.search(masked, span.start, name.start)
    if before:
        yield _Span(*before.span())


def _meant(word: str, terms: Sequence[Term], at: int) -> Term | None:
    """Return the term that a word before a number begins, or has a typing error in.

    Raises:
        RefusalError: it may be one of several.
    """
    spelled = {term.name: [folded(name) for name in (term.name, *term.aliases)] for term in terms}
    for fits in (str.startswith, _slipped):
        meant = [term for term in terms if any(fits(name, word) for name in spelled[term.name])]
        if len(meant) > 1:
            either = " or ".join(term.name for term in meant)
            raise RefusalError(at, f"this may be {either}; type which")
        if meant:
            return meant[0]
    return None


def _slipped(name: str, word: str) -> bool:
    return len(word) >= SHORTEST_TYPO and one_slip(word, name)
