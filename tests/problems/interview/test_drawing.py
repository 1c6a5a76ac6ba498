"""Interviews as they are drawn: the same everywhere, for every level and length, of many kinds."""

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

from engine.errors import InputError
from engine.estimate import fits
from problems.interview.drawing import LONGEST, SHORTEST, TITLES, interview
from problems.interview.points import table
from problems.interview.script import ASPECTS
from problems.registry import kinds
from tests.problems.interview import fingerprint

LEVELS = ("junior", "mid", "senior")
SEEDS = range(10)
MINUTES = (20, 25, 30, 37, 45)
ORDER = {level: place for place, level in enumerate(LEVELS)}
EVERY = [(level, seed) for level in LEVELS for seed in SEEDS]


def keys(level, minutes, seed):
    return [question.key for question in interview(level, minutes, seed).questions]


def test_an_interview_is_the_same_in_every_process():
    printed = subprocess.run(
        [sys.executable, fingerprint.__file__],
        env=os.environ | {"PYTHONHASHSEED": "77", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.split() == [fingerprint.of(interview(*row)) for row in fingerprint.DRAWN]


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
def test_many_seeds_give_an_interview(level):
    for seed in range(60):
        assert interview(level, LONGEST, seed).questions


@pytest.mark.parametrize("minutes", MINUTES)
@pytest.mark.parametrize("level", LEVELS)
def test_the_parts_come_in_their_order_and_their_minutes_add_up(level, minutes):
    parts = interview(level, minutes, 1).parts
    assert [part.key for part in parts] == list(TITLES)
    assert sum(part.minutes for part in parts) == minutes
    assert all(part.minutes >= 1 and part.questions for part in parts)


@pytest.mark.parametrize("level", LEVELS)
def test_more_minutes_keep_the_run_and_add_questions(level):
    for seed in range(4):
        asked = [keys(level, minutes, seed) for minutes in MINUTES]
        for fewer, more in pairwise(asked):
            assert [key for key in more if key in fewer] == fewer
        assert len(asked[0]) + 6 <= len(asked[-1])
        runs = {interview(level, minutes, seed).scenario for minutes in MINUTES}
        assert len(runs) == 1


@pytest.mark.parametrize("level", LEVELS)
def test_forty_five_minutes_ask_more_than_thirty_and_verifying_has_two(level):
    for seed in range(4):
        assert len(keys(level, 30, seed)) + 3 <= len(keys(level, 45, seed))
        assert all(interview(level, minutes, seed).parts[-1].minutes >= 2 for minutes in MINUTES)


def test_runs_fit_are_tight_and_do_not_fit_in_a_fair_mix():
    verdicts = Counter(fits(interview(level, 20, seed).scenario) for level, seed in EVERY)
    assert len(EVERY) * 0.25 <= verdicts["yes"] <= len(EVERY) * 0.6
    assert len(EVERY) * 0.25 <= verdicts["no"] <= len(EVERY) * 0.6
    assert verdicts["tight"] >= 3


def test_levels_ask_different_things():
    asked = {level: {key for seed in SEEDS for key in keys(level, 45, seed)} for level in LEVELS}
    assert asked["mid"] - asked["junior"] >= {"beyond-allocated", "activation-terms", "moment"}
    assert asked["senior"] - asked["mid"] >= {"network", "interplay", "plan"}
    assert not asked["junior"] & {"gathered", "lever-order", "overturns", "network"}


def test_a_senior_s_run_goes_over_a_network_and_a_junior_s_stays_in_a_node():
    for seed in SEEDS:
        assert interview("senior", 20, seed).scenario.parallel.data > 8
        assert interview("junior", 20, seed).scenario.hardware.gpus <= 8


@pytest.mark.parametrize(("level", "seed"), EVERY)
def test_questions_are_whole(level, seed):
    drawn = interview(level, LONGEST, seed)
    questions = drawn.questions
    assert len({question.key for question in questions}) == len(questions)
    assert {question.aspect for question in questions} == set(ASPECTS)
    for question in questions:
        assert question.says.strip()
        assert question.stronger.endswith(".")
        assert question.practises
        assert set(question.practises) <= kinds().keys()
        assert (question.problem is None) == bool(question.points)
        if question.problem is not None:
            assert question.problem.scenario == question.scenario
            assert len(question.problem.hints) == 3
            assert question.problem.solution


@pytest.mark.parametrize(("level", "seed"), EVERY)
def test_points_are_five_to_nine_and_stand_in_the_table(level, seed):
    for question in interview(level, LONGEST, seed).questions:
        if not question.points:
            continue
        names = [point.name for point in question.points]
        assert 5 <= len(names) <= 9, question.key
        assert len(set(names)) == len(names)
        for point in question.points:
            assert point.name in table()
            assert ORDER[point.level] <= ORDER["senior"]
            assert point.says[-1] in ".!"


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_is_expected_to_say_something_to_each_question(level):
    for seed in SEEDS:
        for question in interview(level, LONGEST, seed).questions:
            if question.points:
                expected = [one for one in question.points if ORDER[one.level] <= ORDER[level]]
                assert expected, question.key


@pytest.mark.parametrize("level", LEVELS)
def test_a_follow_up_changes_one_thing(level):
    for seed in SEEDS:
        drawn = interview(level, LONGEST, seed)
        for question in drawn.questions:
            if question.changes.endswith(" context"):
                one, other = question.scenario.workload, drawn.scenario.workload
                assert one.sequence != other.sequence
                assert (one.micro_batch, one.gradient_accumulation) == (
                    other.micro_batch,
                    other.gradient_accumulation,
                )
            elif question.changes.endswith(" GPUs"):
                assert question.scenario.workload == drawn.scenario.workload
                assert question.scenario.recipe == drawn.scenario.recipe
                assert question.scenario.hardware.gpus != drawn.scenario.hardware.gpus


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (("boss", 30, 1), "level"),
        (("mid", SHORTEST - 1, 1), "minutes"),
        (("mid", LONGEST + 1, 1), "minutes"),
        (("mid", 30, -1), "seed"),
    ],
)
def test_what_cannot_be_drawn_is_refused(row, fault):
    with pytest.raises(InputError, match=fault):
        interview(*row)


def test_every_fault_is_told_at_once():
    with pytest.raises(InputError) as error:
        interview("boss", 3, -1)
    assert len(error.value.faults) == 3
