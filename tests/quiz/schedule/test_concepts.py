import pytest

from quiz.schedule.concepts import Concept, Recall, is_lapse, recalled

KIND = Concept(kind="zero-states")
MASTER = Concept(kind="zero-states", mistake="master copy forgotten")
UNITS = Concept(kind="zero-states", mistake="GB typed as GiB")
ELSEWHERE = Concept(kind="peak", mistake="GB typed as GiB")
AGAIN, HARD, GOOD = Recall.AGAIN, Recall.HARD, Recall.GOOD


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"score": 1}, {KIND: GOOD}),
        ({"score": 1, "hints": 1}, {KIND: HARD}),
        ({"score": "1/2"}, {KIND: HARD}),
        ({"score": "1/2", "mistake": MASTER.mistake}, {KIND: AGAIN, MASTER: AGAIN}),
        ({"score": 0, "mistake": MASTER.mistake}, {KIND: AGAIN, MASTER: AGAIN}),
        ({"score": 0}, {KIND: AGAIN}),
        ({"score": 0, "mark": "skipped"}, {KIND: AGAIN}),
        ({"score": 0, "mark": "shown"}, {KIND: AGAIN}),
        ({"score": 1, "tells": (MASTER.mistake,)}, {KIND: GOOD, MASTER: GOOD}),
        ({"score": 1, "tells": (MASTER.mistake,), "hints": 2}, {KIND: HARD, MASTER: HARD}),
        ({"score": "1/2", "tells": (MASTER.mistake,)}, {KIND: HARD}),
        ({"score": 1, "tells": None}, {KIND: GOOD}),
        ({"score": 0, "mistake": MASTER.mistake, "own": "correct"}, {KIND: GOOD}),
        ({"score": 1, "own": "wrong"}, {KIND: AGAIN}),
        ({"score": 1, "own": "partial"}, {KIND: HARD}),
    ],
)
def test_an_answer_says_how_well_the_kind_and_its_mistakes_are_known(answer, given, says):
    attempt = answer("zero-states@3", **given).attempt
    assert dict(recalled(attempt, (KIND, MASTER, UNITS, ELSEWHERE))) == says


def test_only_a_mistake_that_was_made_before_can_be_confirmed(answer):
    attempt = answer("zero-states@3", 1, tells=(MASTER.mistake, UNITS.mistake)).attempt
    assert dict(recalled(attempt, (KIND, UNITS))) == {KIND: GOOD, UNITS: GOOD}


@pytest.mark.parametrize(
    ("given", "lapse"),
    [
        ({"score": 0}, True),
        ({"score": "1/4", "mistake": "moments forgotten"}, True),
        ({"score": "1/2"}, False),
        ({"score": 1, "hints": 3}, False),
        ({"score": 0, "own": "partial"}, False),
    ],
)
def test_what_was_not_known_is_a_lapse(answer, given, lapse):
    assert is_lapse(answer("zero-states@3", **given).attempt) is lapse
