"""Sets that several tests grade, drawn once, and files of answers to them."""

import pytest

from problems.answers.registry import types
from quiz.classes.answers import Answers, Cell, Sheet
from quiz.classes.marking import mark
from quiz.classes.reading import read_answers
from quiz.sets.blueprint import blueprint_of
from quiz.sets.drawing import draw_set
from quiz.sets.problem_set import Student

PARTS = [
    {"kinds": ["zero-states"]},
    {"kinds": ["model-states"], "points": 2},
    {"kinds": ["claim"], "same": True},
]
KINDS = (
    "zero-states", "fewest-gpus", "activation-scaling", "fits", "rank-levers", "which-convention",
    "claim", "repair-sum", "states-ledger", "zero-table", "own-convention", "frozen-formula",
    "activations-conditions", "oom-checklist",
)  # fmt: skip
CLASS = tuple(
    Student(id=id_, name=name)
    for id_, name in (("ada", "Ada"), ("bob", ""), ("čapek", "Karel Čapek"))
)


def drawn(parts, students=()):
    return draw_set(blueprint_of({"title": "Week 3", "part": parts}, "plan.toml"), 7, students)


@pytest.fixture(scope="session")
def for_all():
    """One sheet for everyone: zero-states, model-states for 2 points, a claim."""
    return drawn(PARTS)


@pytest.fixture(scope="session")
def for_each():
    """The same for Ada, Bob and Čapek."""
    return drawn(PARTS, CLASS)


@pytest.fixture(scope="session")
def every_type():
    """One sheet for everyone, with a question of each type of answer."""
    found = drawn([{"kinds": [name]} for name in KINDS])
    assert {slot.type for slot in found.slots} == set(types())
    return found


@pytest.fixture(scope="session")
def draw():
    """Draw a set of parts, for students."""
    return drawn


@pytest.fixture
def read(tmp_path):
    """Read lines, or bytes, as a file of answers."""

    def read(problems, *lines):
        path = tmp_path / "answers.csv"
        data = lines[0] if isinstance(lines[0], bytes) else "\n".join(lines).encode()
        path.write_bytes(data)
        return read_answers(path, problems)

    return read


@pytest.fixture
def class_of():
    """Mark the answers of students, a list of texts for each id, as if from a file."""

    def class_of(problems, texts):
        sheets = tuple(
            Sheet(
                student=Student(id=id_),
                cells={
                    at: Cell(line=line, column=str(at + 1), text=text)
                    for at, text in enumerate(row)
                },
            )
            for line, (id_, row) in enumerate(texts.items(), 2)
        )
        cells = sum(len(one.cells) for one in sheets)
        answers = Answers(
            how="", notes=(), rows=len(sheets), cells=cells, sheets=sheets, unused=()
        )
        return mark(problems, answers)

    return class_of
