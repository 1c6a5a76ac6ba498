"""Blueprint, seed and roster fix a set, which asks everybody the same kinds of question."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from problems.registry import kinds
from quiz.sets.blueprint import blueprint_of
from quiz.sets.drawing import draw_set
from quiz.sets.key import key_text
from quiz.sets.problem_set import Student

ROOT = Path(__file__).parents[3]
PLAN = {
    "title": "Week 3",
    "part": [
        {"kinds": ["zero-states"]},
        {"kinds": ["model-states"], "points": 2},
        {"kinds": ["claim"], "same": True},
    ],
}


@pytest.fixture
def students(for_each):
    return tuple(variant.student for variant in for_each.variants)


def test_the_same_seed_gives_the_same_bytes(blueprint, for_each, students):
    assert key_text(draw_set(blueprint, 7, students)) == key_text(for_each)


def test_another_process_with_another_hash_seed_gives_the_same_bytes(for_all, tmp_path):
    (tmp_path / "draw.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from quiz.sets.blueprint import blueprint_of\n"
        "from quiz.sets.drawing import draw_set\n"
        "from quiz.sets.key import key_text\n"
        f"plan = blueprint_of({PLAN!r}, 'x')\n"
        "sys.stdout.buffer.write(key_text(draw_set(plan, 7)).encode())\n"
    )
    run = [sys.executable, tmp_path / "draw.py"]
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    done = subprocess.run(run, capture_output=True, env=environment, check=True)
    assert done.stdout.decode() == key_text(for_all)


def test_another_seed_gives_other_numbers(blueprint, for_all):
    other = draw_set(blueprint, 8).variants[0]
    assert other.problems[0] != for_all.variants[0].problems[0]


def test_every_slot_is_filled_with_its_kind_at_its_level(for_each):
    for variant in for_each.variants:
        for slot, problem in zip(for_each.slots, variant.problems, strict=True):
            found = (problem.kind, problem.topic, problem.level, problem.answer.type)
            assert found == (slot.kind, slot.topic, slot.level, slot.type)


def test_every_student_has_numbers_of_their_own(for_each, students):
    asked = {variant.problems[0].prompt for variant in for_each.variants}
    assert len(asked) == len(students)


def test_everybody_has_the_same_where_the_part_says_so(for_each):
    assert len({variant.problems[2].id for variant in for_each.variants}) == 1


def test_a_student_who_comes_late_changes_no_sheet(blueprint, for_each, students):
    later = draw_set(blueprint, 7, (*students, Student(id="late")))
    assert later.variants[:-1] == for_each.variants
    assert later.slots == for_each.slots


def test_a_sheet_does_not_depend_on_a_name_or_on_the_order_of_the_roster(
    blueprint, for_each, students
):
    turned = draw_set(blueprint, 7, tuple(Student(id=one.id) for one in students[::-1]))
    sheets = {variant.student.id: variant.problems for variant in turned.variants}
    assert all(sheets[one.student.id] == one.problems for one in for_each.variants)


def test_a_kind_with_few_questions_is_drawn_on_until_nobody_has_the_same():
    plan = blueprint_of({"part": [{"kinds": ["which-reason"]}]}, "x")
    found = draw_set(plan, 3, tuple(Student(id=str(number)) for number in range(40)))
    asked = [variant.problems[0].prompt for variant in found.variants]
    assert len(set(asked)) == len(asked)


def test_a_sheet_asks_nothing_twice_of_a_kind_with_few_questions():
    plan = blueprint_of({"part": [{"kinds": ["claim"], "count": 12}]}, "x")
    for students in ((), (Student(id="a"), Student(id="b"))):
        for variant in draw_set(plan, 4, students).variants:
            assert len({problem.prompt for problem in variant.problems}) == 12


def test_kinds_with_too_few_questions_for_a_class_are_not_drawn_for_one(students):
    few = {name for name, kind in kinds().items() if "distinct" in kind.allows}
    plan = blueprint_of({"part": [{"topic": "G", "count": 2}]}, "x")
    found = draw_set(plan, 1, students[:1])
    assert not few & {slot.kind for slot in found.slots}


def test_no_kind_comes_twice_before_all_have_come():
    plan = blueprint_of({"part": [{"kinds": ["zero-states", "model-states"], "count": 4}]}, "x")
    names = [slot.kind for slot in draw_set(plan, 2).slots]
    assert set(names[:2]) == set(names[2:]) == {"zero-states", "model-states"}


def test_a_kind_with_several_types_of_answer_asks_everybody_for_the_same(students):
    plan = blueprint_of({"part": [{"kinds": ["sharding-throughput"]}]}, "x")
    for seed in range(3):
        found = draw_set(plan, seed, students)
        assert {v.problems[0].answer.type for v in found.variants} == {found.slots[0].type}


def test_a_type_that_is_asked_for_is_kept():
    part = {"kinds": ["sharding-throughput"], "types": ["factor"], "count": 3}
    found = draw_set(blueprint_of({"part": [part]}, "x"), 4)
    assert {slot.type for slot in found.slots} == {"factor"}


def test_a_level_that_is_asked_for_is_kept():
    plan = blueprint_of({"part": [{"level": "senior", "count": 5}]}, "x")
    assert {slot.level for slot in draw_set(plan, 4).slots} == {"senior"}
