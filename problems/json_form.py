"""A problem as plain JSON values, as sheets, keys and other programs read it, and back from it.

A number that is whole is an integer; any other is the string "n/d" of the exact fraction, so that
`fractions.Fraction(value)` reads both and no digit is lost.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.scenario_file import from_mapping, to_mapping
from problems.answers.numbers import exact
from problems.answers.registry import answer_from
from problems.mistakes import share_of
from problems.problem import Mistake, Problem, Step


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
        "exhibit": problem.exhibit or None,
        "answer": problem.answer.as_json,
        "hints": list(problem.hints),
        "solution": [{"text": step.text, "depth": step.depth} for step in problem.solution],
        "mistakes": [_mistake_as_json(mistake) for mistake in problem.mistakes],
    }


def from_json(plain: Mapping[str, Any]) -> Problem:
    """Return the problem that `as_json` wrote: it marks as that one does, in any version.

    Raises:
        KeyError: a value is missing.
        ValueError: the answer's values do not fit each other, or a share is not below 1.
        InputError: the scenario is none.
    """
    return Problem(
        kind=plain["kind"],
        topic=plain["topic"],
        level=plain["level"],
        seed=plain["seed"],
        prompt=plain["prompt"],
        answer=answer_from(plain["answer"]),
        hints=tuple(plain["hints"]),
        solution=tuple(Step(text=one["text"], depth=one["depth"]) for one in plain["solution"]),
        mistakes=tuple(map(_mistake_from_json, plain["mistakes"])),
        scenario=None if plain["scenario"] is None else from_mapping(plain["scenario"]),
        exhibit=plain["exhibit"] or "",
    )


def _mistake_as_json(mistake: Mistake) -> dict[str, Any]:
    return {
        "name": mistake.name,
        "value": exact(mistake.value),
        "feedback": mistake.feedback,
        "moves": sorted(mistake.moves),
        "also": list(mistake.also),
        "term": mistake.term,
        "share": exact(share_of(mistake)),
    }


def _mistake_from_json(plain: Mapping[str, Any]) -> Mistake:
    return Mistake(
        name=plain["name"],
        value=Fraction(plain["value"]),
        feedback=plain["feedback"],
        moves=frozenset(plain["moves"]),
        also=tuple(plain["also"]),
        term=plain["term"],
        share=_share(plain),
    )


def _share(plain: Mapping[str, Any]) -> Fraction:
    share = Fraction(str(plain["share"]))
    if not 0 <= share < 1:
        message = f"the share of {plain['name']!r} is {plain['share']}, and goes from 0 to below 1"
        raise ValueError(message)
    return share
