from dataclasses import replace
from datetime import timedelta

import pytest

from problems.problem import TOPICS
from quiz.schedule.skill import expected, level_for, skills

JUNIOR, MID, SENIOR = "parameter-count@0", "largest-share@0", "more-ranks@0"


@pytest.mark.parametrize(("mean", "level", "share"), [(1, 1, 0.7), (1, 0, 0.945), (1, 2, 0.24)])
def test_who_stands_at_a_level_earns_so_much_of_the_credit(mean, level, share):
    assert expected(mean, level) == pytest.approx(share, abs=0.001)


def test_without_answers_every_topic_is_unknown_and_begins_near_junior():
    found = skills([])
    assert list(found) == list(TOPICS)
    assert {one.answers for one in found.values()} == {0}
    assert [one.mean for one in found.values()] == pytest.approx([0.4] * 8, abs=0.05)
    assert min(one.deviation for one in found.values()) > 0.8


def many(answer, problem, scores):
    return [answer(problem, score, day=day) for day, score in enumerate(scores)]


def test_right_answers_raise_a_topic_and_wrong_ones_lower_it(answer):
    right, wrong = (skills(many(answer, MID, [score] * 6)) for score in (1, 0))
    assert wrong["D"].mean < skills([])["D"].mean < right["D"].mean
    assert right["D"].deviation < skills([])["D"].deviation
    assert right["D"].answers == 6


def test_other_topics_follow_from_afar(answer):
    found = skills(many(answer, MID, [1] * 12))
    assert 0.4 < found["A"].mean < found["D"].mean
    assert found["A"].deviation > found["D"].deviation


def test_a_right_answer_at_senior_level_tells_more_than_one_at_junior_level(answer):
    senior, junior = (skills(many(answer, at, [1] * 3)) for at in (SENIOR, JUNIOR))
    assert senior["D"].mean > junior["A"].mean


def test_half_of_the_credit_lies_between(answer):
    none, half, full = (skills(many(answer, MID, [s] * 5))["D"].mean for s in (0, "1/2", 1))
    assert none < half < full


def test_what_was_learnt_outweighs_what_was_wrong_long_ago(answer):
    improved = skills(many(answer, MID, [0] * 30 + [1] * 30))["D"].mean
    worsened = skills(many(answer, MID, [1] * 30 + [0] * 30))["D"].mean
    assert improved > worsened + 0.5


def test_answers_whose_level_was_not_kept_count_as_mid(answer):
    def kept(level):
        return [unlevelled(one, level) for one in many(answer, SENIOR, [1, 0, 1])]

    assert skills(kept(None)) == skills(kept("mid"))


def unlevelled(one, level):
    return replace(one, attempt=replace(one.attempt, level=level))


@pytest.mark.parametrize(
    ("scores", "level"), [([0] * 12, "junior"), ([1] * 12, "senior"), ([1, 1, 0] * 6, "mid")]
)
def test_the_level_is_the_nearest(answer, scores, level):
    assert level_for(skills(many(answer, MID, scores))["D"]) == level


def test_when_it_was_answered_does_not_matter_but_for_the_order(answer):
    answers = many(answer, MID, [1, 0, 1])
    later = [replace(one, at=one.at + timedelta(days=400)) for one in answers]
    assert skills(later) == skills(answers)
