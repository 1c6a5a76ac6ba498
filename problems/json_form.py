"""A problem as plain JSON values, in the shape that sheets, keys and other programs read.

A number that is whole is an integer; any other is the string "n/d" of the exact fraction, so that
`fractions.Fraction(value)` reads both and no digit is lost.
"""

from typing import Any

from engine.scenario_file import to_mapping
from problems.answers.numbers import exact
from problems.problem import Problem


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
        "mistakes": [
            {"name": m.name, "value": exact(m.value), "feedback": m.feedback}
            | ({"term": m.term} if m.term else {})
            for m in problem.mistakes
        ],
    }
