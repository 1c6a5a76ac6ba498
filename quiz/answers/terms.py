"""Reads several numbers in one line, by name or in order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from problems.answers.count import CountAnswer
from problems.answers.terms import Term
from quiz.answers.parse import parse_quantity
from quiz.answers.quantity import Quantity, RefusalError, Unreadable
from quiz.answers.seconds import read_seconds
from quiz.answers.term_pieces import Piece, pieces_of

# In place of a number that is left out.
LEFT_OUT = re.compile(r"\s*(?:-|—|\?+|x|n/?a|none|skip|unknown)?\s*")
UNIT = re.compile(r"[\d.)]\s*([kmgt]i?b)\b", re.IGNORECASE)
BARE = re.compile(r"[\s\d.,~≈]+")
# "436 and 143 MB", "0.1 + 0.2 = 0.3 TB": numbers joined, and one unit behind all of them.
JOINED = re.compile(r"\s*[\d.]+(?:\s*(?:\band\b|[&+=])\s*[\d.]+)+\s*[kmgt]i?b\s*", re.IGNORECASE)
SPELLED = {"kb": "kB", "kib": "KiB"}
WORD = re.compile(r"[A-Za-z][A-Za-z-]*")
# How much nearer to each other the numbers may lie in the question's own unit.
AS_NEAR = Fraction(11, 10)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What was typed: by name, in the order asked for, the number; None where it was left out."""

    quantities: Mapping[str, Quantity | None]
    remarks: tuple[str, ...]


def read_terms(typed: str, terms: Sequence[Term]) -> Terms | Unreadable:
    """Read a line such as "weights 14 GB, gradients 14, 84 = 112", or say what is amiss where.

    Args:
        typed: any text is safe. A number without a name is the first term that none before it is.
        terms: what is asked for.
    """
    try:
        pieces = _assigned(pieces_of(typed, terms), terms)
        unit = _shared_unit(typed, pieces)
        read = [(piece, _quantity(piece, unit)) for piece in pieces]
    except RefusalError as refusal:
        return refusal.unreadable
    found = {piece.term.name: quantity for piece, quantity in read if piece.term}
    remarks = [remark for one in found.values() if one for remark in one.remarks]
    units = [unit] if unit else _own_units(pieces)
    remarks.extend(f"read numbers without a unit in {one}" for one in units)
    return Terms(
        quantities={term.name: found.get(term.name) for term in terms},
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _assigned(pieces: Sequence[Piece], terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Give each piece without a name the first term that no piece before it has.

    A term that was left out may be given its number further on.
    """
    symbols, assigned = _symbols(terms), dict[str, Piece]()
    for piece in pieces:
        if stranger := _stranger(piece, symbols):
            raise RefusalError(piece.start + stranger.start(), f"no such term; {_asked(terms)}")
        term = piece.term or _next(terms, assigned)
        if term is None:
            raise RefusalError(piece.start, f"this is a number too many; {_asked(terms)}")
        if term.name in assigned and not _is_left_out(assigned[term.name]):
            reason = f"{term.name} is here twice; type one number for it"
            raise RefusalError(piece.start, reason)
        assigned[term.name] = replace(piece, term=term)
    return tuple(assigned.values())


def _next(terms: Sequence[Term], assigned: Mapping[str, Piece]) -> Term | None:
    """Return the first term without a piece, else the first that was left out."""
    free = [term for term in terms if term.name not in assigned]
    left_out = [t for t in terms if t.name in assigned and _is_left_out(assigned[t.name])]
    return next(iter((*free, *left_out)), None)


def _is_left_out(piece: Piece) -> bool:
    return bool(piece.text.strip() and LEFT_OUT.fullmatch(piece.text))


def _asked(terms: Sequence[Term]) -> str:
    return f"asked for are {', '.join(term.name for term in terms)}"


def _symbols(terms: Sequence[Term]) -> dict[str, int]:
    """Return the symbols of all terms: a line is of one question."""
    numbers = (term.answer.number for term in terms)
    return {name: size for one in numbers if one for name, size in one.symbols.items()}


def _stranger(piece: Piece, symbols: Mapping[str, int]) -> re.Match[str] | None:
    """Return the word in front of a number that cannot be read with it and can be without."""
    word = WORD.search(piece.text)
    if word is None or re.search(r"\d", piece.text[: word.start()]):
        return None
    with_it = parse_quantity(piece.text, default_unit="GB", symbols=symbols)
    if not isinstance(with_it, Unreadable):
        return None
    behind = re.sub(r"^[^\d(~≈]*", "", piece.text)
    without = parse_quantity(behind, default_unit="GB", symbols=symbols)
    return None if isinstance(without, Unreadable) else word


def _shared_unit(typed: str, pieces: Sequence[Piece]) -> str | None:
    """Return the unit behind several numbers that are joined, where all are meant in it.

    "436 and 143 MB" are both in MB, "900 and 1.8 TB" are not both in TB: it is the unit in which
    they lie nearer to each other. Any other number without a unit is in the question's own.
    """
    if not JOINED.fullmatch(typed) or not all(_is_size(piece) for piece in pieces):
        return None
    unit = _unit(pieces[-1])
    own = _spread([_quantity(piece, None) for piece in pieces])
    shared = _spread([_quantity(piece, unit) for piece in pieces])
    return unit if shared <= own * AS_NEAR and _default(pieces[0]) != unit else None


def _unit(piece: Piece) -> str | None:
    """Return the unit of bytes that was typed behind a number, as it is written."""
    unit = UNIT.search(piece.text)
    if unit is None:
        return None
    return SPELLED.get(unit[1].lower(), unit[1][:-1].upper().replace("I", "i") + "B")


def _own_units(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the question's own unit of the numbers without one, where others have another."""
    sized = [piece for piece in pieces if _is_size(piece) and not _is_left_out(piece)]
    bare = dict.fromkeys(_default(piece) for piece in sized if BARE.fullmatch(piece.text))
    typed = {unit for piece in sized if (unit := _unit(piece))}
    yield from (own for own in bare if own and typed - {own})


def _is_size(piece: Piece) -> bool:
    number = piece.term and piece.term.answer.number
    return bool(number and number.unit == "bytes")


def _default(piece: Piece) -> str | None:
    number = piece.term and piece.term.answer.number
    return number.default_unit if number else None


def _spread(quantities: Sequence[Quantity | None]) -> Fraction:
    values = [one.value for one in quantities if one and one.value]
    return max(values) / min(values) if values else Fraction(1)


def _quantity(piece: Piece, unit: str | None) -> Quantity | None:
    """Return the number of a piece, one of bytes in `unit` where it has none of its own."""
    if piece.term is None or LEFT_OUT.fullmatch(piece.text):
        if not piece.text.strip():
            reason = f"a number is missing here; type {piece.name} and its number"
            raise RefusalError(piece.start, reason)
        return None
    read = _read(piece, piece.term, unit)
    if isinstance(read, Unreadable):
        raise RefusalError(piece.start + read.offset, read.reason)
    return read


def _read(piece: Piece, term: Term, unit: str | None) -> Quantity | Unreadable:
    asked = term.answer
    if isinstance(asked, CountAnswer):
        read = parse_quantity(piece.text, default_unit="1", asks=f"number of {asked.noun}")
        return _whole(read, asked)
    if asked.unit == "s":
        return read_seconds(piece.text)
    inherited = unit if unit and asked.unit == "bytes" else asked.default_unit
    asks = "bytes per parameter" if asked.default_unit in {"B", "bytes"} else None
    return parse_quantity(piece.text, default_unit=inherited, symbols=asked.symbols, asks=asks)


def _whole(read: Quantity | Unreadable, asked: CountAnswer) -> Quantity | Unreadable:
    if isinstance(read, Quantity) and (read.low != read.high or read.value.denominator != 1):
        return Unreadable(offset=0, reason=f"type one whole number of {asked.noun}")
    return read


def names_left(quantities: Mapping[str, object | None]) -> Iterator[str]:
    """Yield the names of the terms that were left out."""
    yield from (name for name, quantity in quantities.items() if quantity is None)
