"""What people type to the questions of an interview, and the points that it makes there.

A row of `said_to_questions.txt` is what was typed, lines parted by " // ", and behind "->" the
points; none where it makes none.
"""

from pathlib import Path

import pytest

from problems.interview.drawing import interview
from problems.interview.points import table
from quiz.interview.marking import reply
from quiz.interview.sitting import held

ROWS = Path(__file__).with_name("said_to_questions.txt")


def rows():
    key = ""
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            key = line.strip("[]")
        elif line:
            typed, _, names = line.partition(" ->")
            yield key, typed, set(names.split())


@pytest.fixture(scope="module")
def drawn():
    """An interview about a run with fp32 shards, and one about a run in mixed precision."""
    return {"fp32": interview("senior", 45, 5), "mixed": interview("mid", 45, 23)}


@pytest.mark.parametrize("key", dict.fromkeys(key for key, _, _ in rows()))
def test_what_is_typed_to_a_question_makes_these_points_and_no_others(key, drawn):
    of = drawn["mixed" if key.endswith("mixed precision") else "fp32"]
    at = next(i for i, one in enumerate(of.questions) if one.key == key.partition(" ")[0])
    wrong = []
    for own, typed, names in rows():
        if own == key:
            lines = [(1.0, ""), *((1.0, line) for line in typed.split(" // "))]
            sitting = held(of, [(1.0, "")] * (at - 1) + lines[at == 0 :], at_once=False)
            marked = reply(sitting, at, lambda name: table()[name].phrases)
            made = {one.point.name for one in marked.heard}
            wrong += [] if made == names else [(typed, made ^ names)]
    assert wrong == []
