"""Learners whose gaps are known are found out by what they are asked and answer."""

from datetime import timedelta

import pytest

from problems.draw import Draw
from problems.problem import TOPICS
from problems.registry import build, kinds
from quiz.answers import Unreadable
from quiz.grading import grade
from quiz.schedule.choosing import Wanted, chosen_next
from quiz.schedule.concepts import Concept
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


@pytest.mark.parametrize("name", ["GB typed as GiB", "weights only"])
def test_a_mistake_that_is_always_made_is_named_and_comes_back(answer, start, name):
    """Every number is right but where the mistake can be made: there it is the mistake's."""
    answers, made = [], set()
    for seed, kind in enumerate(("zero-states", "model-states", "weights-by-precision")):
        problem = build(kind, seed)
        wrong = {mistake.name: mistake.value for mistake in problem.mistakes}
        typed = f"{float(wrong.get(name, problem.answer.value)):.0f} bytes"
        verdict = grade(problem, typed)
        assert not isinstance(verdict, Unreadable)
        tells = tuple(wrong)
        given = {"mistake": verdict.mistake, "tells": tells, "day": seed}
        answers.append(answer(problem.id, verdict.score, **given))
        made |= {kind} if name in wrong else set()
    concepts = {Concept(kind=kind, mistake=name) for kind in made}
    assert concepts
    assert {concept for concept in cards(answers) if concept.mistake} == concepts
    assert concepts <= set(due(answers, start + timedelta(days=30)))
