import pytest

from engine.errors import InputError
from problems.problem import TOPICS
from problems.registry import kinds
from quiz.practice.questions import chosen, topic_key

ANY = {"topic": None, "level": None, "kind": None, "count": 10, "seed": 5}


def kind_of(problem):
    return kinds()[problem.partition("@")[0]]


def test_the_same_seed_gives_the_same_questions():
    assert chosen(**ANY) == chosen(**ANY)


def test_another_seed_gives_others():
    assert chosen(**ANY) != chosen(**ANY | {"seed": 6})


def test_every_kind_comes_before_any_comes_twice():
    ids = chosen(**ANY | {"count": len(kinds())})
    assert {kind_of(problem).name for problem in ids} == set(kinds())


def test_a_longer_set_begins_with_the_shorter_one():
    assert chosen(**ANY | {"count": 15})[:10] == chosen(**ANY)


@pytest.mark.parametrize("level", ["junior", "mid", "senior"])
def test_a_level_leaves_its_own_kinds(level):
    ids = chosen(**ANY | {"level": level})
    assert {kind_of(p).level_of(int(p.partition("@")[2])) for p in ids} == {level}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_leaves_its_own_kinds(topic):
    assert {kind_of(p).topic for p in chosen(**ANY | {"topic": topic})} == {topic}


def test_a_kind_may_be_asked_alone():
    name = next(iter(kinds()))
    assert {kind_of(p).name for p in chosen(**ANY | {"kind": name})} == {name}


@pytest.mark.parametrize(
    ("said", "key"),
    [("A", "A"), ("a", "A"), ("activ", "B"), ("Peak", "D"), ("e", "E"), ("th", None), ("", None)],
)
def test_a_topic_is_named_by_its_letter_or_a_part_of_its_title(said, key):
    assert topic_key(said) == key


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"topic": "cooking"}, "model states"),
        ({"level": "midd"}, "did you mean mid"),
        ({"kind": "zero-state"}, "zero-states"),
        ({"count": 0}, "not in 1 to"),
        ({"count": 10**6}, "not in 1 to"),
        ({"seed": -1}, "not in 0 to"),
    ],
)
def test_an_option_that_names_nothing_is_refused_with_what_there_is(option, says):
    with pytest.raises(InputError, match=says):
        chosen(**ANY | option)


def test_every_fault_is_told_at_once():
    with pytest.raises(InputError) as caught:
        chosen(**ANY | {"topic": "cooking", "level": "god", "count": 0})
    assert len(caught.value.faults) == 3


def test_options_that_leave_no_kind_are_refused():
    name = next(kind.name for kind in kinds().values() if kind.topic == "A")
    with pytest.raises(InputError, match="no kind of question fits"):
        chosen(**ANY | {"topic": "B", "kind": name})
