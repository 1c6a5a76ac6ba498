"""Marks a typed order: its share of the pairs, and the worst of those it has wrong."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from engine.units import decimal
from problems.answers.numbers import rounded
from problems.answers.ranking import Measure, RankingAnswer
from problems.problem import Problem
from quiz.answers import Unreadable, read_ranking
from quiz.answers.ranking_text import LONGEST_ORDER
from quiz.marking.kendall import Pair, distance, pairs
from quiz.marking.marker import Marker, Request, behind_keys
from quiz.marking.verdict import UPSIDE_DOWN, Verdict, mark_of, opening

EXPLAINED = 2
# Few digits, but enough to tell two numbers apart.
DIGITS = range(3, 7)
LEAST = Fraction(1, 10**3)
# With two groups the order upside down is no other than the wrong one.
FEWEST_GROUPS = 3


def _mark(problem: Problem, answer: RankingAnswer, text: str) -> Verdict | Unreadable:
    """Mark `text`: the score is the share of the pairs that it has right, a tie for one half."""
    ranking = read_ranking(text, answer.items)
    if isinstance(ranking, Unreadable):
        return ranking
    found = pairs(ranking.order, answer.order)
    score = 1 - distance(ranking.order, answer.order)
    upside_down = _is_upside_down(found, answer)
    says = [
        *_of_pairs(found, score),
        *([_turned(answer)] if upside_down else _worst(found, answer)),
        *_left_out(ranking.order, answer),
    ]
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=ranking.order,
        score=score,
        verdict=mark_of(score),
        mistake=UPSIDE_DOWN if upside_down else None,
        feedback=" ".join([f"{opening(score)}{answer.said}.", *says]),
        reading=answer.in_order(ranking.order),
        remarks=ranking.remarks,
    )


def _request(answer: RankingAnswer) -> Request:
    noun = "numbers" if answer.items[0].key.isdigit() else "letters"
    wants = f"Type their {noun} or names, the {answer.first} first; = between two that tie."
    return Request(items=behind_keys(answer.items), wants=wants)


def _is_upside_down(found: Sequence[Pair], answer: RankingAnswer) -> bool:
    return len(answer.order) >= FEWEST_GROUPS and all(p.fate == "inverted" for p in found)


def _turned(answer: RankingAnswer) -> str:
    return f"This is the order upside down: the {answer.first} comes first."


def _of_pairs(found: Sequence[Pair], score: Fraction) -> Iterator[str]:
    if 0 < score < 1:
        right = float(score * len(found))
        yield f"{right:g} of {len(found)} pairs are in order."


def _worst(found: Sequence[Pair], answer: RankingAnswer) -> Iterator[str]:
    """Yield what is said of the inverted pairs whose numbers lie farthest apart, then of ties."""

    def badness(pair: Pair) -> tuple[Fraction, Fraction]:
        apart = abs(answer.item(pair.before).value - answer.item(pair.after).value)
        return pair.lost, apart

    wrong = [pair for pair in found if pair.fate in {"inverted", "tied"}]
    for pair in sorted(wrong, key=badness, reverse=True)[:EXPLAINED]:
        yield _explained(pair, answer)


def _explained(pair: Pair, answer: RankingAnswer) -> str:
    """Return "Full recompute before flash attention: it costs +33% step time, flash …"."""
    before, after = answer.item(pair.before), answer.item(pair.after)
    measure = answer.measure
    own, other = _apart(after.value, before.value, measure)
    of = f" {measure.of}" if measure.of else ""
    link = "before" if pair.fate == "inverted" else "level with"
    said = f"{after.name[:1].upper()}{after.name[1:]} {link} {before.name}"
    return f"{said}: it {measure.verb} {own}{of}, {before.name} {other}."


def _apart(one: Fraction, other: Fraction, measure: Measure) -> tuple[str, str]:
    said = [(_said(one, measure, digits), _said(other, measure, digits)) for digits in DIGITS]
    return next((pair for pair in said if pair[0] != pair[1]), said[-1])


def _said(value: Fraction, measure: Measure, digits: int) -> str:
    sign = "−" if value < 0 else "+" if value and measure.signed else ""
    if measure.unit == "bytes":
        return sign + decimal(round(abs(value)), digits=digits - 1)
    unit = measure.unit if measure.unit == "%" else f" {measure.unit}"
    if value and abs(value) < LEAST:
        return f"almost 0{unit}"
    return f"{sign}{rounded(abs(value), digits)}{unit}"


def _left_out(order: Sequence[Sequence[str]], answer: RankingAnswer) -> Iterator[str]:
    typed = {key for group in order for key in group}
    missing = [item.name for item in answer.items if item.key not in typed]
    if missing:
        listed = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
        yield f"Left out, and so lost: {listed}."


def _forms(answer: RankingAnswer) -> tuple[str, ...]:
    keys = [item.key for item in answer.items]
    return (" > ".join(keys), " = ".join(keys[:2]), f"{answer.items[-1].name} > {keys[0]}")


MARKER = Marker(
    of=RankingAnswer,
    mark=_mark,
    longest=LONGEST_ORDER,
    request=_request,
    forms=_forms,
    names=lambda _, answer: (UPSIDE_DOWN,) if len(answer.order) >= FEWEST_GROUPS else (),
)
