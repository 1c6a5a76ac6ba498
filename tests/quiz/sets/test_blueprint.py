"""A blueprint is read with every fault named, and says which kinds a part draws from."""

from fractions import Fraction

import pytest

from engine.errors import InputError
from quiz.sets.blueprint import blueprint_of, read_blueprint

WHOLE = """
title = "Week 3"
minutes = 60

[[part]]
topic = "A"
level = ["junior", "mid"]
count = 3
points = 1.5

[[part]]
kinds = ["fits", "rank-levers"]
count = 2
minutes = 8
same = true
"""


def faults_of(**tables):
    with pytest.raises(InputError) as caught:
        blueprint_of(tables, "plan.toml")
    return [str(fault) for fault in caught.value.faults]


def test_a_blueprint_is_read_as_it_was_written(tmp_path):
    (tmp_path / "plan.toml").write_text(WHOLE)
    found = read_blueprint(tmp_path / "plan.toml")
    first, second = found.parts
    assert (found.title, found.minutes) == ("Week 3", 60)
    assert (first.count, first.points, first.levels) == (3, Fraction(3, 2), ("junior", "mid"))
    assert {kind.topic for kind in first.kinds} == {"A"}
    assert [kind.name for kind in second.kinds] == ["fits", "rank-levers"]
    assert (second.minutes, second.same) == (8, True)


def test_a_topic_may_be_said_by_its_title():
    (part,) = blueprint_of({"part": [{"topic": "activations"}]}, "x").parts
    assert {kind.topic for kind in part.kinds} == {"B"}


@pytest.mark.parametrize(
    "more",
    [
        {"kinds": ["zero-states", "rank-levers", "claim"]},
        pytest.param({}, marks=pytest.mark.long),  # a look at each kind of the bank
    ],
)
def test_types_of_answer_choose_the_kinds(more):
    (part,) = blueprint_of({"part": [{"types": ["ranking"], **more}]}, "x").parts
    assert [kind.name for kind in part.kinds] == ["rank-levers"]


def test_a_tenth_of_a_point_is_a_tenth():
    (part,) = blueprint_of({"part": [{"points": 0.1}]}, "x").parts
    assert part.points == Fraction(1, 10)


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"topic": "Z"}, "part 1: topic: 'Z' is no topic"),
        ({"topic": 3}, "part 1: topic: 3 is no topic"),
        ({"level": "easy"}, "part 1: level: 'easy' is not known"),
        ({"kinds": ["zero-state"]}, "did you mean zero-states"),
        ({"types": ["number"]}, "part 1: types: 'number' is not known"),
        ({"count": 0}, "part 1: count: 0 is not in 1 to 200"),
        ({"count": 1.5}, "part 1: count: 1.5 is not in 1 to 200"),
        ({"count": True}, "part 1: count: true is not in 1 to 200"),
        ({"points": -1}, "part 1: points: -1 is not in 0 to"),
        ({"points": float("nan")}, "part 1: points: nan is not in 0 to"),
        ({"same": "yes"}, "part 1: same: 'yes' is not true or false"),
        ({"colour": 1}, "part 1: 'colour' is not known"),
        ({"topic": "G", "types": ["table"]}, "part 1: no kind of question fits"),
        ("A", "part 1: is no table"),
    ],
)
def test_what_is_no_part_is_named(part, says):
    assert any(says in fault for fault in faults_of(part=[part]))


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ({}, "has no part"),
        ({"part": []}, "has no part"),
        ({"part": [{}], "title": 3}, "title: 3 is no title"),
        ({"part": [{}], "title": " "}, "title: ' ' is no title"),
        ({"part": [{}], "minutes": 0}, "minutes: 0 is no number"),
        ({"part": [{}], "parts": 1}, "'parts' is not known"),
        ({"part": [{"count": 150}, {"count": 60}]}, "more than 200 questions"),
    ],
)
def test_what_is_no_blueprint_is_named(tables, says):
    assert any(says in fault for fault in faults_of(**tables))


def test_all_faults_are_told_at_once():
    assert len(faults_of(part=[{"topic": "Z", "count": 0}, {"level": "x"}], title=3)) == 4


@pytest.mark.parametrize("text", ["[[part", "x = [" * 5000, "\x00"])
def test_what_is_no_toml_is_told(tmp_path, text):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(InputError, match="is not TOML"):
        read_blueprint(tmp_path / "plan.toml")
