"""A problem as plain JSON values, in the shape that sheets, keys and other programs read.

A number that is whole is an integer; any other is the string "n/d" of the exact fraction, so that
`fractions.Fraction(value)` reads both and no digit is lost.
"""

from dataclasses import asdict
from fractions import Fraction
from typing import Any, assert_never

from engine.scenario_file import to_mapping
from problems.choice import ChoiceAnswer
from problems.problem import (
    Answer,
    ClaimAnswer,
    CountAnswer,
    FactorAnswer,
    Problem,
    QuantityAnswer,
    RunFacts,
    YesNoAnswer,
)
from problems.ranking import RankedItem, RankingAnswer


def as_json(problem: Problem) -> dict[str, Any]:
    """Return `problem` with its key: id, question, answer, hints, solution and mistakes."""
    return {
        "id": problem.id,
        "kind": problem.kind,
        "topic": problem.topic,
        "level": problem.level,
        "seed": problem.seed,
        "scenario": to_mapping(problem.scenario) if problem.scenario else None,
        "prompt": problem.prompt,
        "answer": _answer(problem.answer),
        "hints": list(problem.hints),
        "solution": [{"text": step.text, "depth": step.depth} for step in problem.solution],
        "mistakes": [
            {"name": m.name, "value": _number(m.value), "feedback": m.feedback}
            for m in problem.mistakes
        ],
    }


def _number(value: Fraction) -> int | str:
    return int(value) if value.denominator == 1 else str(value)


def _answer(answer: Answer) -> dict[str, Any]:
    match answer:
        case QuantityAnswer():
            return {
                "type": "quantity",
                "value": _number(answer.value),
                "unit": answer.unit,
                "default_unit": answer.default_unit,
                "band": answer.band,
                "symbols": dict(answer.symbols),
            }
        case CountAnswer():
            return {"type": "count", "value": answer.value, "noun": answer.noun} | _before(answer)
        case FactorAnswer():
            return {"type": "factor", "value": _number(answer.value)}
        case YesNoAnswer():
            return {"type": "yes-no", "value": answer.value, "proof": _answer(answer.proof)}
        case RankingAnswer() | ChoiceAnswer() | ClaimAnswer():
            return _in_words(answer)
        case _:
            assert_never(answer)


def _in_words(answer: RankingAnswer | ChoiceAnswer | ClaimAnswer) -> dict[str, Any]:
    if isinstance(answer, RankingAnswer):
        return _ranking(answer)
    if isinstance(answer, ChoiceAnswer):
        return _choice(answer)
    return {
        "type": "claim",
        "claim": answer.claim,
        "truth": answer.truth,
        "core": answer.core,
        "run": None if answer.run is None else _facts(answer.run),
    }


def _facts(run: RunFacts) -> dict[str, Any]:
    return {
        "each": _number(run.each),
        "shared": _number(run.shared),
        "parts": list(run.parts),
        "sizes": list(run.sizes),
        "named": {word: list(sizes) for word, sizes in run.named.items()},
    }


def _before(answer: CountAnswer) -> dict[str, str]:
    return {"before": answer.before} if answer.before else {}


def _ranking(answer: RankingAnswer) -> dict[str, Any]:
    return {
        "type": "ranking",
        "items": [_item(item) for item in answer.items],
        "order": [list(group) for group in answer.order],
        "measure": asdict(answer.measure),
        "first": answer.first,
    }


def _choice(answer: ChoiceAnswer) -> dict[str, Any]:
    return {
        "type": "choice",
        "value": answer.right.item.key,
        "items": [
            _item(choice.item) | {"mistake": choice.mistake, "feedback": choice.feedback}
            for choice in answer.choices
        ],
    }


def _item(item: RankedItem) -> dict[str, Any]:
    return {
        "key": item.key,
        "name": item.name,
        "aliases": list(item.aliases),
        "value": _number(item.value),
    }
