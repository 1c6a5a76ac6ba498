"""Marks numbers and orders by what stands in spans.json beside it, as memquiz does.

PrairieLearn calls `grade` behind its own elements, which mark what was picked, and `test` where a
question tests itself: https://docs.prairielearn.com/question/server/.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

Data = dict[str, Any]
Part = Mapping[str, Any]
Typed = float | str | list[Data] | None


def grade(data: Data) -> None:
    """Set the score and the feedback of each number and order, and the score of them all."""
    for name, part in _parts():
        typed = data["submitted_answers"].get(name)
        data["partial_scores"][name] = _marked(part, typed, data["params"].get(name, []))
    data["score"] = _weighted(data["partial_scores"])


def test(data: Data) -> None:
    """Set what `grade` gives for the answers that the elements chose to test with."""
    if data["test_type"] == "invalid":
        return
    for name, part in _parts():
        raw = data["raw_submitted_answers"]
        typed = json.loads(raw[f"{name}-input"] if part["form"] == "order" else raw[name])
        data["partial_scores"][name] = _marked(part, typed, data["params"].get(name, []))
    data["score"] = _weighted(data["partial_scores"])


def _parts() -> Iterator[tuple[str, Part]]:
    text = Path(__file__).with_name("spans.json").read_text(encoding="utf-8")
    yield from json.loads(text).items()


def _marked(part: Part, typed: Typed, shown: list[Data]) -> Data:
    """Return a score from 0 to 1 with its weight, and feedback where there is some.

    Args:
        part: what spans.json holds of it.
        typed: a number, or the blocks of an order; None or empty where it was left out.
        shown: every block of an order with its key.
    """
    score, says = 0.0, ""
    if isinstance(typed, list):
        keys = {block["uuid"]: block["tag"] for block in shown}
        score, says = _order(part, [keys[block["uuid"]] for block in typed])
    elif typed is not None and typed != "":
        score, says = _number(part, float(typed))
    told = {"feedback": says} if says else {}
    return {"score": score, "weight": part["weight"], **told}


def _weighted(scores: Mapping[str, Data]) -> float:
    weights = {name: float(one.get("weight", 1)) for name, one in scores.items()}
    earned = sum(weights[name] * float(one["score"]) for name, one in scores.items())
    return earned / (sum(weights.values()) or 1)


def _number(part: Part, number: float) -> tuple[float, str]:
    """Return what the first span that holds the number gives."""
    for span in part["spans"]:
        if float(span["low"]) <= number <= float(span["high"]):
            return span["share"], span["feedback"]
    return 0.0, ""


def _order(part: Part, typed: Sequence[str]) -> tuple[float, str]:
    """Return the share of the pairs that are in order, and what is said of what does not help.

    The feedback is HTML, since pl-order-blocks shows it so.
    """
    place = {key: at for at, key in enumerate(typed)}
    groups = [*part["order"], part["idle"]]
    lost = [
        _lost(place.get(before), place.get(after), is_idle=group is part["idle"])
        for first, group in combinations(groups, 2)
        for before in first
        for after in group
    ]
    score = 1 - sum(lost) / len(lost)
    right = f"{len(lost) - sum(lost):g} of {len(lost)} pairs are in order."
    idle = [part["says"][key] for key in typed if key in part["idle"]]
    return score, escape(" ".join([right, *idle])) if score < 1 else ""


def _lost(before: int | None, after: int | None, *, is_idle: bool) -> float:
    """Return the part of a pair that is lost; `is_idle` where the later is to be left out."""
    if before is None or (after is None and not is_idle):
        return 1.0
    if after is None:
        return 0.0
    return 1.0 if after < before else 0.5 if is_idle else 0.0
