"""A set with every type of answer, and one with markup wherever text comes from people."""

from dataclasses import replace

import pytest

from problems.answers.registry import types
from quiz.sets.blueprint import blueprint_of
from quiz.sets.drawing import draw_set
from quiz.sets.problem_set import ProblemSet, Student, Variant

MARKUP = '<b>&amp; "it\'s"</b> ]]> {1:NUMERICAL:=2} {=a ~b #c} \\(x\\) $y$ `z` *w* _v_ [u](t) ∑ 李'


KINDS = (
    "zero-states", "fewest-gpus", "activation-scaling", "fits", "rank-levers", "which-convention",
    "claim", "repair-sum", "states-ledger", "zero-table", "own-convention", "frozen-formula",
    "activations-conditions", "oom-checklist",
)  # fmt: skip


@pytest.fixture(scope="session")
def every_type():
    """One sheet for everyone, with a question of each type of answer."""
    parts = [{"kinds": [name]} for name in KINDS]
    found = draw_set(blueprint_of({"title": "Every type", "part": parts}, "x"), 5)
    assert {slot.type for slot in found.slots} == set(types())
    return found


@pytest.fixture(scope="session")
def personal():
    """Two kinds for three students, the names of whom have markup."""
    parts = [{"kinds": ["zero-states"]}, {"kinds": ["which-convention"], "points": 2.5}]
    students = tuple(Student(id=f"s<{at}>&", name=MARKUP) for at in range(3))
    return draw_set(blueprint_of({"title": MARKUP, "part": parts}, "x"), 9, students)


@pytest.fixture(scope="session")
def marked_up(every_type) -> ProblemSet:
    """The set of every type with markup in prompts, exhibits, hints, solutions and feedback."""
    return replace(
        every_type,
        title=MARKUP,
        variants=tuple(
            Variant(problems=tuple(map(with_markup, variant.problems)))
            for variant in every_type.variants
        ),
    )


def with_markup(problem):
    return replace(
        problem,
        prompt=f"{problem.prompt}\n{MARKUP}",
        exhibit=f"{problem.exhibit}\n{MARKUP}".strip(),
        hints=tuple(f"{hint} {MARKUP}" for hint in problem.hints),
        solution=tuple(replace(step, text=f"{step.text} {MARKUP}") for step in problem.solution),
        mistakes=tuple(
            replace(one, feedback=f"{one.feedback} {MARKUP}") for one in problem.mistakes
        ),
    )
