"""Learners whose gaps are known are found out by what they are asked and answer."""

import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from learners import QUESTIONS, found_out, learner, practised

from problems.answers.quantity import QuantityAnswer
from problems.registry import from_id, kinds
from quiz.answers import Unreadable
from quiz.grading import grade
from quiz.schedule.choosing import Wanted, chosen_next
from quiz.schedule.due import cards, due
from quiz.schedule.skill import skills

LEARNERS = 60
ALL = tuple(kinds().values())


def test_a_senior_who_has_not_met_two_topics_is_found_out():
    assert found_out(LEARNERS, gap=-1, rest=2) >= 0.95 * LEARNERS


def test_a_senior_who_is_a_junior_in_two_topics_is_mostly_found_out():
    assert found_out(LEARNERS, gap=0, rest=2) >= 0.8 * LEARNERS


@pytest.mark.parametrize(("level", "low", "high"), [(0, -0.6, 0.6), (2, 1.4, 3)])
def test_the_level_of_all_topics_is_found(level, low, high):
    _, score_of = learner(1, gap=level, rest=level)
    estimates = skills(practised(1, score_of)).values()
    assert low < sum(one.mean for one in estimates) / len(estimates) < high


def slips(problem, name):
    """What is typed by who makes this mistake wherever it can be made; None elsewhere."""
    wrong = {one.name: one.value for one in problem.mistakes}
    if name not in wrong or not isinstance(problem.answer, QuantityAnswer):
        return None
    return f"{round(wrong[name])} bytes"


@pytest.mark.parametrize("seed", range(6))
def test_a_mistake_that_is_always_made_is_found_out_in_a_set_of_thirty(answer, start, seed):
    """The questions are chosen, and every answer is right but where this mistake can be made."""
    name = "GB typed as GiB"
    asked, answers = (), []
    for _ in range(QUESTIONS):
        asked += (chosen_next(Wanted(fitting=ALL, level=None, seed=seed, asked=asked), answers),)
        problem = from_id(asked[-1])
        typed = slips(problem, name)
        verdict = None if typed is None else grade(problem, typed)
        assert not isinstance(verdict, Unreadable)
        given = {"score": 1} if verdict is None else {"score": verdict.score}
        tells = tuple(one.name for one in problem.mistakes)
        mistake = None if verdict is None else verdict.mistake
        answers.append(answer(problem.id, **given, mistake=mistake, tells=tells))
    made = Counter(concept.mistake for concept in cards(answers) if concept.mistake)
    assert made.most_common(1)[0][0] == name
    first = due(answers, start + timedelta(days=1))
    assert {concept for concept in cards(answers) if concept.mistake == name} <= set(first)
