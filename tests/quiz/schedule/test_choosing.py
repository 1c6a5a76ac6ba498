import os
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from problems.registry import build, kinds
from quiz.marking.telling import could_tell
from quiz.schedule.choosing import Wanted, asked_again, chosen_next, next_due, overdue
from quiz.schedule.concepts import Concept

ROOT = Path(__file__).parents[3]
ALL = tuple(kinds().values())
STATES = tuple(kind for kind in ALL if kind.topic == "A")


def wanted(**changes):
    return Wanted(**{"fitting": ALL, "level": None, "seed": 5, "asked": ()} | changes)


def kind_of(problem):
    return kinds()[problem.partition("@")[0]]


def level_of(problem):
    name, _, seed = problem.partition("@")
    return kinds()[name].level_of(int(seed))


def asked_in_turn(answer, score, count, **changes):
    """A set of `count` questions, all answered with the same score."""
    asked, answers = (), []
    for _ in range(count):
        problem = chosen_next(wanted(asked=asked, **changes), answers)
        asked += (problem,)
        answers.append(answer(problem, score))
    return asked


def test_the_same_answers_and_seed_lead_to_the_same_question(answer):
    answers = [answer("zero-states@3", 0)]
    assert chosen_next(wanted(), answers) == chosen_next(wanted(), answers)
    assert len({chosen_next(wanted(seed=seed), answers) for seed in range(9)}) > 1


CHOSEN = """
from problems.registry import kinds
from quiz.schedule.choosing import Wanted, chosen_next
asked = ()
for _ in range(12):
    wanted = Wanted(fitting=tuple(kinds().values()), level=None, seed=5, asked=asked)
    asked += (chosen_next(wanted, ()),)
print(*asked)
"""


def test_the_hash_seed_changes_nothing():
    told = {
        subprocess.run(
            [sys.executable, "-c", CHOSEN],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(told) == 1


def test_a_set_goes_round_the_topics_before_it_dwells_on_one(answer):
    asked = asked_in_turn(answer, 1, 8)
    assert len({kind_of(problem).topic for problem in asked}) == 8


def test_no_kind_comes_twice_while_others_of_the_topic_have_not_come(answer):
    levels = len([kind for kind in STATES if "junior" in kind.levels])
    asked = asked_in_turn(answer, 0, levels, fitting=STATES, level="junior")
    assert len({kind_of(problem).name for problem in asked}) == levels


def test_levels_follow_what_is_earned(answer):
    right = Counter(map(level_of, asked_in_turn(answer, 1, 30)[10:]))
    wrong = Counter(map(level_of, asked_in_turn(answer, 0, 30)[10:]))
    assert right["senior"] > 15
    assert wrong["junior"] > 15


@pytest.mark.parametrize("level", ["junior", "mid", "senior"])
def test_a_level_that_is_asked_for_is_kept(answer, level):
    fitting = tuple(kind for kind in ALL if level in kind.levels)
    asked = asked_in_turn(answer, 0, 12, fitting=fitting, level=level)
    assert set(map(level_of, asked)) == {level}


def test_where_most_is_lost_more_is_asked(answer):
    answers = [
        answer(f"{kind.name}@{seed}", 0 if kind.topic == "B" else 1)
        for kind in ALL
        for seed in range(2)
    ]
    topics = Counter(kind_of(chosen_next(wanted(seed=seed), answers)).topic for seed in range(20))
    assert topics["B"] == 20


def test_of_a_kind_that_is_due_a_mistake_stands_for_all(answer, start):
    wrong = answer("zero-states@3", 0, mistake="GB typed as GiB")
    assert overdue(ALL, [wrong], start + timedelta(days=1)) == (
        Concept(kind="zero-states", mistake="GB typed as GiB"),
    )
    assert overdue(ALL, [wrong], start) == ()
    assert overdue(ALL[:1], [wrong], start + timedelta(days=1)) == ()
    assert next_due(ALL, [wrong]) == start + timedelta(days=1)
    assert next_due(ALL[:1], [wrong]) is None


def test_a_mistake_is_asked_for_by_a_question_that_can_tell_it(answer):
    rare = "ZeRO-1 instead"
    concept = Concept(kind="zero-states", mistake=rare)
    for seed in range(6):
        problem = asked_again(wanted(seed=seed), concept, [answer("zero-states@3", 0)])
        name, _, at = problem.partition("@")
        assert rare in could_tell(build(name, int(at)))
    assert not all(rare in could_tell(build("zero-states", seed)) for seed in range(30))


def test_a_question_in_which_another_mistake_gives_the_same_number_is_not_taken_for_it():
    concept = Concept(kind="bytes-per-parameter", mistake="moments forgotten")
    for seed in range(12):
        name, _, at = asked_again(wanted(seed=seed), concept, []).partition("@")
        (made,) = (one for one in build(name, int(at)).mistakes if one.name == concept.mistake)
        assert not made.also


def test_what_comes_back_has_other_numbers():
    concept = Concept(kind="zero-states")
    asked = ("zero-states@3",)
    first = asked_again(wanted(asked=asked), concept, [])
    second = asked_again(wanted(asked=(*asked, first)), concept, [])
    assert len({*asked, first, second}) == 3
