"""Learners whose gaps are known are found out by what they are asked and answer."""

from collections import Counter
from datetime import timedelta

import pytest

from problems.answers.quantity import QuantityAnswer
from problems.draw import Draw
from problems.problem import TOPICS
from problems.registry import from_id, kinds
from quiz.answers import Unreadable
from quiz.grading import grade
from quiz.schedule.choosing import Wanted, chosen_next
from quiz.schedule.due import cards, due
from quiz.schedule.skill import LEVELS, skills

QUESTIONS = 30
LEARNERS = 60
ALL = tuple(kinds().values())


def practise(answer, seed, score_of):
    """Answer questions as they are chosen, with what `score_of` gives to topic and level."""
    asked, answers = (), []
    for _ in range(QUESTIONS):
        problem = chosen_next(Wanted(fitting=ALL, level=None, seed=seed, asked=asked), answers)
        name, _, at = problem.partition("@")
        kind = kinds()[name]
        asked += (problem,)
        answers.append(answer(problem, score_of(kind.topic, kind.level_of(int(at)))))
    return answers


def learner(seed, gap, rest):
    """A learner with two weak topics: their letters, and what gives right or wrong by chance.

    Right are 95% of what lies a level or more below the learner, 70% at the learner's level, 24% a
    level above and 5% two above.
    """
    draw = Draw("simulated learner", seed)
    gaps = set(draw.sample(sorted(TOPICS), 2))
    shares = ((1, 95), (0, 70), (-1, 24), (-2, 5))

    def score_of(topic, level):
        above = (gap if topic in gaps else rest) - LEVELS[level]
        share = next((share for least, share in shares if above >= least), 1)
        return int(draw.chance(share))

    return gaps, score_of


def found_out(answer, gap, rest):
    """How many of `LEARNERS` have their gaps as the two lowest estimates."""
    found = 0
    for seed in range(LEARNERS):
        gaps, score_of = learner(seed, gap, rest)
        estimates = skills(practise(answer, seed, score_of))
        found += set(sorted(TOPICS, key=lambda topic: estimates[topic].mean)[:2]) == gaps
    return found


def test_a_senior_who_has_not_met_two_topics_is_found_out(answer):
    assert found_out(answer, gap=-1, rest=2) >= 0.95 * LEARNERS


def test_a_senior_who_is_a_junior_in_two_topics_is_mostly_found_out(answer):
    assert found_out(answer, gap=0, rest=2) >= 0.8 * LEARNERS


@pytest.mark.parametrize(("level", "low", "high"), [(0, -0.6, 0.6), (2, 1.4, 3)])
def test_the_level_of_all_topics_is_found(answer, level, low, high):
    _, score_of = learner(1, gap=level, rest=level)
    estimates = skills(practise(answer, 1, score_of)).values()
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
