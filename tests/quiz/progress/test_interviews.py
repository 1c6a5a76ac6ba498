"""Interviews stand in the report with their marks, whoever held them."""

import json
from datetime import UTC, datetime

import pytest

from quiz.history.store import Interviewed, Store
from quiz.progress.days import DAY
from quiz.progress.report import report

NOW = datetime(2026, 3, 4, 18, 0, tzinfo=UTC)
KINDS = frozenset({"zero-states"})


@pytest.fixture
def held(memquiz):
    """Two interviews gone through to their end with a word each, one begun and left."""
    for seed, typed in ((3, "precision\n" + "\n" * 60), (4, "\n" * 60), (5, "\n")):
        options = ("--level", "junior", "--minutes", 20, "--seed", seed, "--new")
        done = memquiz("interview", *options, typed=typed)
        assert done.returncode == 0


@pytest.mark.usefixtures("held")
def test_a_finished_interview_is_told_with_its_five_marks(memquiz, data):
    with Store.reading(data) as store:
        first, second = store.interviews()
    assert isinstance(first, Interviewed)
    assert (first.mode, first.level, first.minutes) == ("alone", "junior", 20)
    assert list(first.marks) == ["conditions", "terms", "exclusions", "prediction", "number"]
    assert 0 < first.marks["conditions"] < 1
    assert set(second.marks.values()) == {0}
    page = memquiz("progress").stdout
    assert "No answers yet." in page
    head, *rows = page.partition("\nInterviews\n")[2].splitlines()
    assert head.split() == ["interview", "level", "minutes", *first.marks]
    assert [row.split()[3:5] for row in rows] == [["junior", "20"]] * 2
    assert rows[0].split()[5] == f"{first.marks['conditions']:.0%}"


@pytest.mark.usefixtures("held")
def test_they_stand_in_the_object_and_on_the_page_too(memquiz, tmp_path):
    found = json.loads(memquiz("progress", "--json").stdout)["interviews"]
    assert [one["level"] for one in found] == ["junior", "junior"]
    assert found[1]["marks"]["number"] == 0
    memquiz("progress", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The marks of the last interviews, in percent" in page


@pytest.mark.parametrize(
    ("topic", "now", "number"),
    [(None, NOW, 2), (None, NOW - DAY, 1), (None, NOW - 2 * DAY, 0), ("A", NOW, 0)],
)
def test_one_topic_and_an_earlier_day_leave_them_out(topic, now, number):
    both = tuple(
        Interviewed(at=at, mode="alone", level="mid", minutes=20, marks={})
        for at in (NOW - DAY, NOW)
    )
    found = report((), now=now, zone=UTC, kinds=KINDS, topic=topic, interviews=both)
    assert found.interviews == both[:number]
