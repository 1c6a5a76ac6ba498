import json
from datetime import date, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest

from quiz.progress.json_form import as_json
from quiz.progress.levels import Estimate
from quiz.progress.words import number, opening

KEYS = {
    "now", "today", "topic", "answers", "passed", "own_marks", "first", "topics", "weeks", "due",
    "days", "ranges", "mistakes", "efforts", "interviews",
}  # fmt: skip
DAY = timedelta(days=1)


def test_of_no_answers_there_is_a_report(told):
    found = told(())
    assert (found.answers, found.first, found.topics, found.mistakes) == (0, None, (), ())
    assert set(as_json(found)) == KEYS


def test_one_answer_is_a_report(told, answer, now):
    found = told((answer(now - DAY),))
    assert (found.answers, found.days.streak, found.first) == (1, 1, now - DAY)
    assert [one.topic for one in found.topics if one.estimate] == ["A"]
    assert [one.topic for one in found.topics] == [*"ABCDEFGH"]


def test_what_came_after_the_day_asked_for_is_left_out(told, answer, now):
    rows = [answer(now - 3 * DAY), answer(now - DAY), answer(now + DAY)]
    assert told(rows).answers == 2
    assert told(rows, now=now - 2 * DAY).answers == 1
    assert told(rows, now=now + DAY).answers == 3


def test_questions_passed_over_and_own_marks_are_counted(told, answer, now):
    rows = [
        answer(now - DAY, score=0, verdict="skipped"),
        answer(now - DAY, score=0, verdict="shown"),
        answer(now - DAY, score=0, own="correct"),
    ]
    found = told(rows)
    assert (found.answers, found.passed, found.own) == (1, 2, 1)
    assert found.topics[0].share.lately == Fraction(1, 3)


def test_where_every_question_was_passed_over_that_is_said(told, answer, now):
    found = told([answer(now, score=0, verdict="skipped")])
    assert opening(found) == "No answers yet, and 1 question passed over, which count as 0."


def test_a_level_a_little_below_junior_is_no_minus_zero():
    assert number(Estimate(at=-0.04, low=-0.24, high=0.16)) == "0.0 ± 0.2"


def test_a_day_with_nothing_but_skips_is_no_day_of_a_streak(told, answer, now):
    found = told([answer(now - DAY), answer(now, score=0, verdict="skipped")])
    assert (found.days.streak, found.days.counts) == (1, {(now - DAY).date(): 1})


def test_one_topic_leaves_out_all_others(told, many):
    every, one = told(many), told(many, topic="D")
    assert [line.topic for line in one.topics] == ["D"]
    assert one.topics[0] == next(line for line in every.topics if line.topic == "D")
    assert one.answers < every.answers
    assert {concept.topic for concept in one.due.concepts} == {"D"}


def test_a_topic_and_a_kind_that_there_are_no_longer_are_reported(told, answer, now):
    found = told([answer(now - DAY, topic="Z", kind="gone", score=0, mistake="lost")])
    assert [one.topic for one in found.topics] == [*"ABCDEFGH", "Z"]
    assert [(one.name, one.kind) for one in found.mistakes] == [("lost", None)]


def test_concepts_that_are_due_are_counted_by_topic_and_later_ones_by_day(told, many, now):
    concepts = told(many).due.concepts
    moments = [one.at for one in concepts]
    assert moments == sorted(moments)
    middle = moments[len(moments) // 2]
    later = told(many, now=max(middle, now))
    assert later.due.now == sum(at <= max(middle, now) for at in moments)
    assert later.due.now == sum(line.due for line in later.topics)
    assert later.due.now + sum(number for _, number in later.due.days) == len(moments)


def test_days_on_which_something_falls_due_are_those_of_the_calendar(told, many):
    auckland = ZoneInfo("Pacific/Auckland")
    found = told(many, zone=auckland)
    waiting = [one.at.astimezone(auckland).date() for one in found.due.concepts[found.due.now :]]
    assert [day for day, _ in found.due.days] == sorted(set(waiting))


def test_levels_by_week_end_with_the_level_of_today(told, many):
    found = told(many)
    assert (len(found.weeks), found.weeks[-1]) == (12, date(2026, 3, 2))
    for line in found.topics:
        assert len(line.then) == 12
        assert line.then[-1] == line.estimate
    first = next(line for line in found.topics if line.topic == "A").then
    assert first[0] is None
    assert first[-1] is not None


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (-0.4, "below junior"),
        (-0.2, "about junior"),
        (0.25, "about junior"),
        (0.5, "between junior and mid"),
        (0.8, "about mid"),
        (1.3, "between mid and senior"),
        (2.2, "about senior"),
        (2.4, "above senior"),
    ],
)
def test_a_level_is_said_in_words(at, said):
    assert Estimate(at=at, low=at - 0.2, high=at + 0.2).said == said


def test_the_object_has_moments_in_utc_and_days_of_the_reader(told, answer, now):
    rows = [answer(now.replace(hour=23, minute=30) - DAY, score=0, mistake="lost")]
    found = as_json(told(rows, zone=ZoneInfo("Europe/Berlin")))
    assert (found["now"], found["today"]) == ("2026-03-04T18:00:00.000+00:00", "2026-03-04")
    assert found["first"] == found["mistakes"][0]["last"] == "2026-03-03T23:30:00.000+00:00"
    assert found["days"]["counts"] == {"2026-03-04": 1}


def test_the_object_is_plain_and_the_same_again(told, many):
    found = as_json(told(many))
    assert json.loads(json.dumps(found)) == found
    assert set(found) == KEYS
    assert set(found["topics"][0]) == {
        "topic", "title", "level", "level_by_week", "questions", "share_of_last_20",
        "share_of_20_before", "last", "due",
    }  # fmt: skip
    assert set(found["mistakes"][0]) == {
        "name", "times", "last_30_days", "30_before", "last", "not_made_since", "overcome",
        "kind", "by_week",
    }  # fmt: skip


def test_a_huge_history_says_the_same_of_its_last_weeks(told, answer, many, now):
    old = [answer(now - 400 * DAY + timedelta(minutes=at), topic="B") for at in range(3000)]
    found, few = told((*old, *many)), told(many)
    assert found.answers == few.answers + 3000
    assert (found.efforts[0], found.ranges) == (few.efforts[0], few.ranges)
    assert [one.name for one in found.mistakes] == [one.name for one in few.mistakes]
