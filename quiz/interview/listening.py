"""Listening to lines, one after the other: whether a point stands when all was said.

What was said last counts: who says the contrary of a point later, or corrects it, takes it back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from problems.interview.script import Width
from quiz.interview.clauses import Clause, clauses
from quiz.interview.cues import (
    ALL,
    CORRECTING,
    ELSEWHERE,
    INTERJECTIONS,
    LEAVING_SOMETHING,
    ON_A_CONDITION,
    POINTING,
    PRESENCE,
    SHARDING,
    SUMMED,
    TAKING_BACK,
)
from quiz.interview.denials import divided
from quiz.interview.heaps import is_heap
from quiz.interview.hearing import Manner, Sense, sense, spans
from quiz.interview.widths import (
    is_named,
    is_shared,
    misstated,
    misstated_alone,
    names_last,
    speaks_of_width,
)

# Questions and points that ask for statements. A list of names answers the others.
STATED_QUESTIONS = frozenset({"died-in-step-2", "interplay", "verify"})
STATED_POINTS = frozenset({"convention"})
# Where a correction stands: "no", "oh wait", "ah no sorry".
OPENING = 3


@dataclass(frozen=True, kw_only=True)
class Listened:
    """A point as it is listened for.

    Args:
        phrases: what it is known by.
        how: it has to be made.
        contraries: what its clause must not say besides.
        width: of a term that is asked for with its width.
        others: what each of the other such terms is known by.
        stated: whether something has to be said of it: a heap of names does not make it.
    """

    phrases: Sequence[str]
    how: Manner
    contraries: Sequence[str] = ()
    width: Width | None = None
    others: Sequence[Sequence[str]] = ()
    stated: bool = False


@dataclass(frozen=True, kw_only=True)
class Stand:
    """Where a point stands behind some lines.

    Args:
        words: in which it was made; "" where it does not stand.
        taken_back: whether it was made and then taken back.
        line: number of the line in which it was made last.
        near: the clause that was said last, but for "oh no" and its like.
    """

    words: str = ""
    taken_back: bool = False
    line: int = 0
    near: Clause | None = None


def stand(lines: Sequence[str], point: Listened) -> Stand:
    """Return where a point stands when all lines were said."""
    found = Stand()
    for number, line in enumerate(lines, 1):
        if point.stated and is_heap(line):
            continue
        found = _behind(found, number, clauses(line), point)
    return found


def _behind(before: Stand, number: int, said: Sequence[Clause], point: Listened) -> Stand:
    """Return where a point stands behind one more line."""
    found, corrects = before, False
    for clause in said:
        corrects = corrects or _corrects(clause)
        meant = _sense(clause, point)
        if meant == "made":
            found = replace(found, words=found.words or clause.words, line=number)
        elif found.words and (
            _says_contrary(clause, meant, point, later=number > found.line, corrects=corrects)
            or (number <= found.line + 1 and corrects and _points_back(clause, meant, point))
            or _misses(clause, found.near, point, corrects=corrects)
        ):
            found = replace(found, words="", taken_back=True)
        if not _is_interjection(clause):
            found = replace(found, near=clause)
    return found


def _sense(clause: Clause, point: Listened) -> Sense:
    found = sense(clause, point.phrases, point.how, point.contraries)
    if found == "made" and point.width is not None:
        if not is_named(clause, point.phrases, point.others):
            return "nothing"
        wrong = misstated(clause, point.phrases, point.others, point.width)
        return "denied" if wrong else "made"
    return found


def _is_interjection(clause: Clause) -> bool:
    return all(token.word in INTERJECTIONS for token in clause.said)


def _corrects(clause: Clause) -> bool:
    """Return whether a clause begins to correct what was said before."""
    if _is_interjection(clause) or (clause.said[0].word == "no" and 0 not in clause.negators):
        return True
    places = [at for at in clause.places(CORRECTING) if at - 1 not in clause.negators]
    return bool(places) and (places[0] < OPENING or places[-1] == len(clause.said) - 1)


def _says_contrary(
    clause: Clause, meant: Sense, point: Listened, *, later: bool, corrects: bool
) -> bool:
    """Return whether a clause takes back what was said of a point, by naming it or everything."""
    divides = point.how in {"asked", "whole"}
    if meant == "nothing":
        return divides and _sweeps(clause)
    if (divides or point.width is not None) and clause.has(ON_A_CONDITION):
        return False
    return corrects or (later and _is_plain(clause, point))


def _is_plain(clause: Clause, point: Listened) -> bool:
    """Return whether it is the contrary whatever stands around it.

    "Before step 1 there were no moments" tells more of what was said. It is not taken back.
    """
    match point.how:
        case "asked" | "whole":
            return clause.has(SHARDING) or clause.has(SUMMED)
        case "listed" if point.width is not None:
            elsewhere = clause.has(ELSEWHERE)
            return not elsewhere and not is_shared(clause, point.phrases, point.others)
        case "listed":
            return clause.said[0].word == "not"
        case _:
            return True


def _sweeps(clause: Clause) -> bool:
    """Return whether a clause says that all is divided: "everything is sharded"."""
    words = [token.word for token in clause.said]
    everything = any(
        word in ALL and token.stem in {"be", "get"}
        for word, token in zip(words, clause.said[1:], strict=False)
    )
    rest = clause.negators or clause.has(LEAVING_SOMETHING) or clause.has(ON_A_CONDITION)
    return everything and clause.has(SHARDING) and not rest


def _points_back(clause: Clause, meant: Sense, point: Listened) -> bool:
    """Return whether a clause takes back what was said: "they are sharded", "scratch that"."""
    if meant != "nothing":
        return False
    if clause.has(TAKING_BACK):
        return True
    if not {token.word for token in clause.said[:OPENING]} & POINTING:
        return False
    if point.how in {"asked", "whole"}:
        bare = clause.said[-1].stem in {"be", "do"}  # "they are"
        return not clause.negators and (divided(clause) or bare)
    if any(True for _ in spans(clause.said, point.contraries)):
        return True
    return bool(clause.negators) and clause.has(PRESENCE)


def _misses(clause: Clause, near: Clause | None, point: Listened, *, corrects: bool) -> bool:
    """Return whether a clause without a term gives a wrong width to the one before it, or all."""
    if point.width is None or _names_terms(clause, point):
        return False
    if not misstated_alone(clause, point.width):
        return False
    if {token.word for token in clause.said[:OPENING]} & ALL:
        return True
    if near is None or not names_last(near, point.phrases, point.others):
        return False
    return corrects or not speaks_of_width(near, point.phrases, point.others)


def _names_terms(clause: Clause, point: Listened) -> bool:
    known = (point.phrases, *point.others)
    return any(True for phrases in known for _ in spans(clause.said, phrases))
