"""The table of points: every row is used, and a row that cannot be used is refused by name."""

import re

import pytest

from problems.interview.drawing import LONGEST, interview
from problems.interview.points import LISTENED, read, table

DRAWN = [(level, seed) for level in ("junior", "mid", "senior") for seed in range(10)]
# The first of its level whose layers keep their inputs alone.
FULLY_RECOMPUTED = 23
GOOD = '["{}"]\naspects = ["{}"]\nphrases = ["{}"]\n'


def test_every_point_is_listened_for_somewhere():
    heard = {
        point.name
        for level, seed in (*DRAWN, ("mid", FULLY_RECOMPUTED))
        for question in interview(level, LONGEST, seed).questions
        for point in question.points
    }
    assert set(table()) == heard


def test_points_are_heard_by_many_words():
    for row in table().values():
        assert len(row.phrases) >= 5, row.name
        assert set(row.aspects) <= set(LISTENED)


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("micro-batch", "mbs"),
        ("micro-batch", "batch size per gpu"),
        ("attention-kernel", "sdpa"),
        ("attention-kernel", "flash attention"),
        ("master-copy", "master weights"),
        ("recomputation", "gradient checkpointing"),
        ("cuda-context", "cuda context"),
        ("max-allocated", "max memory allocated"),
    ],
)
def test_usual_words_are_in_the_table(name, phrase):
    assert phrase in table()[name].phrases


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD.format("Micro batch", "terms", "mbs"), "'Micro batch' is no name"),
        (GOOD.format("mbs", "term", "mbs"), "'mbs': 'term' is none of conditions"),
        (GOOD.format("mbs", "terms", "MBS"), "'mbs': 'MBS' is no group of lower-case words"),
        (GOOD.format("mbs", "terms", "a  b"), "'a  b' is no group"),
        ('[mbs]\naspects = ["terms"]\n', "'mbs' does not have aspects and phrases"),
        ('[mbs]\naspects = []\nphrases = ["mbs"]\n', "'mbs': aspects is no list of words"),
        ('[mbs]\naspects = ["terms"]\nphrases = "mbs"\n', "'mbs': phrases is no list"),
        ('[mbs]\naspects = ["terms"]\nphrases = ["a", "a"]\n', "or has one twice"),
        ('[mbs]\naspects = ["terms"]\nphrases = [1]\n', "'mbs': phrases is no list of words"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_by_name(text, fault):
    with pytest.raises(ValueError, match=re.escape(fault)):
        read(text)


def test_all_bad_rows_are_told_at_once():
    text = GOOD.format("A", "terms", "x") + GOOD.format("b", "no", "x")
    with pytest.raises(ValueError, match=r"'A' is no name.*'b': 'no' is none"):
        read(text)
