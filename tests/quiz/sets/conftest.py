"""Sets that several tests look at, drawn once."""

import pytest

from quiz.sets.blueprint import blueprint_of
from quiz.sets.drawing import draw_set
from quiz.sets.problem_set import Student

PARTS = [
    {"kinds": ["zero-states"]},
    {"kinds": ["model-states"], "points": 2},
    {"kinds": ["claim"], "same": True},
]
CLASS = tuple(Student(id=f"s{number}", name=f"Student {number}") for number in range(6))


@pytest.fixture(scope="session")
def blueprint():
    return blueprint_of({"title": "Week 3", "part": PARTS}, "plan.toml")


@pytest.fixture(scope="session")
def for_all(blueprint):
    return draw_set(blueprint, 7)


@pytest.fixture(scope="session")
def for_each(blueprint):
    return draw_set(blueprint, 7, CLASS)
