"""How an answer comes by its label: the verdict, the core reason, something false."""

import pytest

from problems.claims import claim
from quiz.claims.judging import Way, judge
from quiz.claims.reading import read

ASKED = claim("zero3-activations")


def test_who_asserts_nothing_is_wrong_for_certain():
    judged = judge(ASKED, read(ASKED, "shard rank"))
    assert judged.way == Way(side="wrong", core=False, false=False, likely=1.0)
    assert (judged.label, judged.sure) == ("wrong", 1.0)
    assert judged.earned == judged.lost == (0.0, 0.0)


@pytest.mark.parametrize(
    ("answer", "side", "core", "false"),
    [
        ("false, each rank keeps its own activations", "right", True, False),
        ("false", "right", False, False),
        ("true", "wrong", False, False),
        ("mostly true", "hedged", False, False),
        ("mostly true, but each rank keeps its own activations", "hedged", True, False),
        ("true, the activations are sharded", "wrong", False, True),
        ("false, but the weights stay replicated on every rank", "right", False, True),
    ],
)
def test_an_answer_comes_by_its_label_in_the_way_that_it_speaks(answer, side, core, false):
    way = judge(ASKED, read(ASKED, answer)).way
    assert (way.side, way.core, way.false) == (side, core, false)


@pytest.mark.parametrize(
    ("side", "core", "false", "label"),
    [
        ("right", True, False, "correct"),
        ("right", True, True, "partial"),
        ("right", False, False, "partial"),
        ("right", False, True, "wrong"),
        ("hedged", True, False, "partial"),
        ("hedged", False, True, "partial"),
        ("wrong", True, False, "wrong"),
        ("wrong", False, True, "wrong"),
    ],
)
def test_a_way_has_the_label_of_a_fair_interviewer(side, core, false, label):
    assert Way(side=side, core=core, false=false, likely=1.0).label == label
