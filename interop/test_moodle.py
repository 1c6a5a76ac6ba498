"""Moodle XML, read by moodle-xml-parser: picks, and the gaps of questions with several numbers.

It reads no other type of question; `moodle_itself.py` has Moodle read them all.
"""

import html
from fractions import Fraction

import pytest
from moodle_xml_parser.parser import parse_file

from quiz.formats.cloze import weights
from quiz.formats.items import items
from quiz.formats.parts import NumberPart, PickPart
from quiz.formats.questions import question_of


@pytest.fixture
def read(written, every_type):
    """What was read of each kind, and every item by the name of its question."""
    found = parse_file(str(written(every_type, "moodle") / "moodle.xml"))
    named = {}
    for slot, problem in zip(every_type.slots, every_type.variants[0].problems, strict=True):
        question = question_of(slot, every_type.variants[0], problem)
        for item in items(question, together=True):
            named[question.title] = item
    return found, named


def told(feedback):
    return html.unescape((feedback or "").replace(r"\#", "#"))


def test_choices_have_their_shares_and_feedback(read):
    found, named = read
    (one,) = found["multichoice"]
    item = named[one.name]
    assert item.question.prompt in one.text_pre_parse.replace("<br>", "\n")
    assert one.default_grade == item.points
    assert one.single
    assert [(row.answer, row.score_fraction, row.feedback) for row in one.options] == [
        (option.text, 100 * option.is_right, option.feedback) for option in item.parts[0].options
    ]


def test_gaps_have_their_weights_bounds_shares_and_feedback(read):
    found, named = read
    assert len(found["cloze"]) == 4
    for one in found["cloze"]:
        item = named[one.name]
        assert item.question.prompt in one.text_pre_parse.replace("<br>", "\n")
        assert [gap.sub_grade for gap in one.gaps] == [*weights(item.parts, item.points)]
        for part, gap in zip(item.parts, one.gaps, strict=True):
            if isinstance(part, NumberPart):
                assert_numbers(part, gap)
            elif isinstance(part, PickPart):
                assert [(row.answer, row.score == 100) for row in gap.options] == [
                    (option.text, option.is_right) for option in part.options
                ]


def assert_numbers(part, gap):
    assert gap.sub_type == "NUMERICAL"
    spans = sorted((part.right, *part.spans), key=lambda span: -span.share)
    for span, row in zip(spans, gap.options, strict=True):
        middle, within = map(Fraction, row.answer.split(":"))
        assert span.low <= middle - within <= middle + within <= span.high
        assert row.score == 100 * span.share
        assert told(row.feedback) == html.unescape(html.escape(span.feedback))
