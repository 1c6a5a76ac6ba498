from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from quiz.progress.days import days, end_of, local

BERLIN, NEW_YORK, AUCKLAND = map(
    ZoneInfo, ("Europe/Berlin", "America/New_York", "Pacific/Auckland")
)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def days_of(moments, today, zone=UTC):
    return days([at(text) for text in moments], date.fromisoformat(today), zone)


@pytest.mark.parametrize(
    ("moments", "today", "streak", "longest"),
    [
        ((), "2026-03-04", 0, 0),
        (("2026-03-04T12:00",), "2026-03-04", 1, 1),
        (("2026-03-03T12:00",), "2026-03-04", 1, 1),
        (("2026-03-02T12:00",), "2026-03-04", 0, 1),
        (("2026-03-03T12:00", "2026-03-04T12:00"), "2026-03-04", 2, 2),
        (("2026-03-04T00:00", "2026-03-04T23:59"), "2026-03-04", 1, 1),
        (("2026-03-03T23:59", "2026-03-04T00:01"), "2026-03-04", 2, 2),
        (("2026-02-28T12:00", "2026-03-01T12:00"), "2026-03-01", 2, 2),
        (("2025-12-31T12:00", "2026-01-01T12:00"), "2026-01-02", 2, 2),
        (
            ("2026-02-01T12:00", "2026-02-02T12:00", "2026-02-03T12:00", "2026-03-04T12:00"),
            "2026-03-04",
            1,
            3,
        ),
        (("2026-03-04T12:00", "2026-03-03T12:00", "2026-03-02T12:00"), "2026-03-04", 3, 3),
    ],
)
def test_a_streak_is_of_days_in_a_row_up_to_today_or_yesterday(moments, today, streak, longest):
    found = days_of(moments, today)
    assert (found.streak, found.longest) == (streak, longest)


@pytest.mark.parametrize(
    ("zone", "counts"),
    [
        (UTC, {date(2026, 3, 3): 2, date(2026, 3, 4): 1}),
        (BERLIN, {date(2026, 3, 3): 1, date(2026, 3, 4): 2}),
        (NEW_YORK, {date(2026, 3, 3): 3}),
        (AUCKLAND, {date(2026, 3, 4): 3}),
    ],
)
def test_a_day_is_that_of_the_readers_calendar(zone, counts):
    moments = ("2026-03-03T12:00", "2026-03-03T23:30", "2026-03-04T03:00")
    assert days_of(moments, "2026-03-04", zone).counts == counts


def test_a_day_of_23_hours_and_one_of_25_break_no_streak():
    # Berlin goes an hour ahead on 29 March 2026 and back on 25 October 2026.
    spring = ("2026-03-27T23:30", "2026-03-28T23:30", "2026-03-29T22:30")
    assert days_of(spring, "2026-03-30", BERLIN).streak == 3
    autumn = ("2026-10-23T22:30", "2026-10-24T22:30", "2026-10-25T23:30")
    assert days_of(autumn, "2026-10-26", BERLIN).streak == 3


@pytest.mark.parametrize(
    ("day", "zone", "end"),
    [
        ("2026-03-04", UTC, "2026-03-04T23:59:59.999999"),
        ("2026-03-04", BERLIN, "2026-03-04T22:59:59.999999"),
        ("2026-03-28", BERLIN, "2026-03-28T22:59:59.999999"),
        ("2026-03-29", BERLIN, "2026-03-29T21:59:59.999999"),
        ("2026-10-25", BERLIN, "2026-10-25T22:59:59.999999"),
        ("2026-12-31", NEW_YORK, "2027-01-01T04:59:59.999999"),
    ],
)
def test_the_end_of_a_day_is_its_last_moment_there(day, zone, end):
    found = end_of(date.fromisoformat(day), zone)
    assert found == at(end)
    assert local(found, zone).isoformat() == day
    assert local(found + timedelta(microseconds=1), zone).isoformat() > day


def test_the_system_has_a_calendar_of_its_own():
    day = date(2026, 3, 4)
    assert local(end_of(day, None), None) == day


def test_weeks_begin_on_monday_and_the_last_one_ends_ahead():
    found = days_of(("2026-03-02T12:00", "2026-03-04T12:00", "2026-02-22T12:00"), "2026-03-04")
    before, this = found.weeks(2)
    assert (before.start, this.start) == (date(2026, 2, 23), date(2026, 3, 2))
    assert (before.counts, this.counts) == ((0,) * 7, (1, 0, 1, 0, 0, 0, 0))
    assert (before.ahead, this.ahead) == (0, 4)
