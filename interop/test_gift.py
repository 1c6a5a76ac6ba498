"""GIFT, read by gift-pegjs: what is asked, what is right, and what is told."""

import html
import json
import re
import subprocess
from pathlib import Path

import pytest

from quiz.formats.items import items, places
from quiz.formats.parts import NumberPart, OrderPart, PickPart
from quiz.formats.questions import question_of

HERE = Path(__file__).parent


def plain(text):
    """Return HTML as it is shown."""
    shown = re.sub(r"</?(?:p|b|pre|ul|li)>", "", text or "").replace("<br>", "\n")
    return html.unescape(shown)


def told(feedback):
    return plain(feedback["text"]) if feedback else ""


@pytest.fixture
def read(written):
    """Write a set as GIFT, and return every item with what was read of it."""

    def read_set(problems):
        path = written(problems, "gift") / "gift.txt"
        run = ["node", HERE / "gift_reads.js", path]
        done = subprocess.run(run, cwd=HERE, capture_output=True, text=True, check=True)
        rows = [one for one in json.loads(done.stdout) if one["type"] != "Category"]
        found = {one["id"]: one for one in rows}
        for slot, problem in zip(problems.slots, problems.variants[0].problems, strict=True):
            question = question_of(slot, problems.variants[0], problem)
            for item in items(question, together=False):
                yield item, found.pop(item.id)
        assert not found

    return read_set


def test_what_is_asked_and_the_way_to_it_arrive(marked_up, read):
    for item, one in read(marked_up):
        assert one["stem"]["format"] == "html"
        assert item.question.prompt in plain(one["stem"]["text"])
        assert item.question.exhibit in plain(one["stem"]["text"])
        assert item.question.said in told(one["globalFeedback"])
        assert all(step in told(one["globalFeedback"]) for step in item.question.solution)
        assert one["tags"] == [
            item.question.topic_title, item.question.level, item.question.kind,
        ]  # fmt: skip
        assert one["title"].startswith(f"{item.question.number} {item.question.about}")


def test_numbers_have_their_bounds_shares_and_feedback(marked_up, read):
    for item, one in read(marked_up):
        (part,) = item.parts
        if not isinstance(part, NumberPart):
            continue
        assert one["type"] == "Numerical"
        for span, choice in zip((part.right, *part.spans), one["choices"], strict=True):
            middle, within = choice["text"]["number"], choice["text"]["range"]
            assert middle - within == pytest.approx(float(span.low), rel=1e-12)
            assert middle + within == pytest.approx(float(span.high), rel=1e-12)
            assert (100 if choice["weight"] is None else choice["weight"]) == 100 * span.share
            assert told(choice["feedback"]) == span.feedback


def test_picks_and_truths_have_the_right_one(marked_up, read):
    seen = set()
    for item, one in read(marked_up):
        (part,) = item.parts
        if not isinstance(part, PickPart):
            continue
        seen.add(one["type"])
        if one["type"] == "TF":
            assert part.said == str(one["isTrue"]).lower()
            continue
        for option, choice in zip(part.options, one["choices"], strict=True):
            assert plain(choice["text"]["text"]) == option.text
            assert choice["isCorrect"] == option.is_right
            assert told(choice["feedback"]) == option.feedback
    assert seen == {"TF", "MC"}


def test_orders_are_matched_and_words_are_essays(marked_up, read):
    for item, one in read(marked_up):
        (part,) = item.parts
        if isinstance(part, OrderPart):
            pairs = [
                (plain(pair["subquestion"]["text"]), pair["subanswer"])
                for pair in one["matchPairs"]
            ]
            assert pairs == [*places(part)]
        elif not isinstance(part, NumberPart | PickPart):
            assert one["type"] == "Essay"


def test_a_personal_set_is_read_too(personal, written):
    path = written(personal, "gift") / "gift.txt"
    run = ["node", HERE / "gift_reads.js", path]
    done = subprocess.run(run, cwd=HERE, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    assert sum(one["type"] == "Category" for one in rows) == len(personal.slots)
    titles = [html.unescape(one["title"]) for one in rows if one["type"] != "Category"]
    for variant in personal.variants:
        assert sum(title.startswith(f"{variant.student.id}: ") for title in titles) == 2
