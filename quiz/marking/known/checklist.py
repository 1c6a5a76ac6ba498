"""Marks the actions that were typed: their order, and what was typed though it does not help.

Every two actions that the right order sets apart are a pair, as of a ranking, and so is each
action that helps with each that does not. Of such a pair all is lost where the one that does not
help was typed before the other, and half where it was typed at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from problems.answers.checklist import ChecklistAnswer
from problems.answers.ranking import Order
from problems.problem import Problem
from problems.wording import listed, sentence
from quiz.answers import Unreadable, read_ranking
from quiz.answers.ranking_text import LONGEST_ORDER
from quiz.marking.kendall import Pair, pairs
from quiz.marking.marker import Marker, Request, behind_keys
from quiz.marking.verdict import Verdict, mark_of, opening

IDLE = "an action that does not help"


def _mark(problem: Problem, answer: ChecklistAnswer, text: str) -> Verdict | Unreadable:
    """Mark `text`: the score is the share of the pairs that it has right."""
    typed = read_ranking(text, answer.items)
    if isinstance(typed, Unreadable):
        return typed
    found = _pairs(typed.order, answer)
    score = 1 - sum((pair.lost for pair in found), Fraction(0)) / len(found)
    named = {key for group in typed.order for key in group}
    idle = [key for key in answer.idle if key in named]
    says = [*_first(found, answer), *_idle(idle, answer), *_missing(named, answer)]
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=typed.order,
        score=score,
        verdict=mark_of(score),
        mistake=IDLE if idle else None,
        feedback=" ".join([f"{opening(score)}{answer.said}.", *says]),
        reading=answer.in_order(typed.order),
        remarks=typed.remarks,
    )


def _request(answer: ChecklistAnswer) -> Request:
    noun = "numbers" if answer.items[0].key.isdigit() else "letters"
    return Request(
        items=behind_keys(answer.items),
        wants=f"Type the {noun} of those that help, the {answer.first} first; leave out the rest.",
    )


def _pairs(typed: Order, answer: ChecklistAnswer) -> tuple[Pair, ...]:
    """Return the pairs of the order, and each action that helps with each that does not."""
    named = {key for group in typed for key in group}
    left_out = tuple(key for key in answer.idle if key not in named)
    whole = (*typed, left_out) if left_out else typed
    right = (*answer.order, answer.idle) if answer.idle else answer.order
    return tuple(
        replace(pair, fate="tied")
        if pair.after in answer.idle and pair.after in named and pair.fate == "right"
        else pair
        for pair in pairs(whole, right)
    )


def _first(found: Sequence[Pair], answer: ChecklistAnswer) -> Iterator[str]:
    """Yield what is said of the first pair out of order, as the right order has them."""
    for pair in found:
        if pair.after in answer.idle or pair.fate not in {"inverted", "tied"}:
            continue
        before, after = answer.action(pair.before), answer.action(pair.after)
        link = "before" if pair.fate == "inverted" else "level with"
        whys = " ".join(dict.fromkeys((before.why, after.why)))
        yield f"{sentence(after.item.name)} {link} {before.item.name}: {whys}"
        return


def _idle(keys: Sequence[str], answer: ChecklistAnswer) -> Iterator[str]:
    for key in keys:
        action = answer.action(key)
        yield f"To be left out: {action.item.name}. {action.why}"


def _missing(named: set[str], answer: ChecklistAnswer) -> Iterator[str]:
    missing = [
        answer.action(key).item.name for group in answer.order for key in group if key not in named
    ]
    if missing:
        yield f"Left out, and so lost: {listed(missing)}."


def _forms(answer: ChecklistAnswer) -> tuple[str, ...]:
    first, second = (item.key for item in answer.items[:2])
    return (f"{first}, {second}", f"{second} {first}")


MARKER = Marker(
    of=ChecklistAnswer,
    mark=_mark,
    longest=LONGEST_ORDER,
    request=_request,
    forms=_forms,
    names=lambda _, answer: (IDLE,) if answer.idle else (),
)
