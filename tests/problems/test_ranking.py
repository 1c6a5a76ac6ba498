"""An order that is asked for fits its parts, and survives JSON."""

import json
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest

from problems.answers.ranking import Measure, RankedItem, RankingAnswer, folded
from problems.problem import Mistake
from problems.registry import as_json, build
from problems.telling import telling

STEP_TIME = Measure(verb="costs", unit="%", of="step time", signed=True)


def item(key, name, value, *aliases):
    return RankedItem(key=key, name=name, aliases=aliases, value=Fraction(value))


ITEMS = (
    item("1", "full recompute", 33, "ckpt"),
    item("2", "fused attention", -2, "fa"),
    item("3", "ZeRO-1", "3.1"),
    item("4", "ZeRO-2", "3.2"),
)
ANSWER = RankingAnswer(
    items=ITEMS, order=(("2",), ("3", "4"), ("1",)), measure=STEP_TIME, first="cheapest"
)


@pytest.mark.parametrize("order", [(("2",), ("3", "4"), ("1",)), (("1",), ("4", "3"), ("2",))])
def test_the_values_may_grow_or_fall_along_the_order(order):
    assert replace(ANSWER, order=order).order == order


def test_an_answer_is_frozen():
    with pytest.raises(FrozenInstanceError):
        ANSWER.first = "dearest"


@pytest.mark.parametrize(
    "order",
    [
        (),
        (("2",), ("3",), ("1",)),
        (("2",), ("3", "4"), ("1",), ("5",)),
        (("2",), ("3", "4"), ("1", "2")),
        (("2",), ("3", "4"), (), ("1",)),
    ],
)
def test_an_order_holds_each_item_once(order):
    with pytest.raises(ValueError, match="does not hold each item once"):
        replace(ANSWER, order=order)


def test_an_order_in_which_all_tie_is_no_question():
    with pytest.raises(ValueError, match="nothing is before"):
        replace(ANSWER, order=(("1", "2", "3", "4"),))


@pytest.mark.parametrize(
    "order",
    [(("3",), ("2",), ("4",), ("1",)), (("2", "1"), ("3", "4")), (("2", "4"), ("1", "3"))],
)
def test_an_order_against_its_values_is_refused(order):
    with pytest.raises(ValueError, match="neither grow nor fall"):
        replace(ANSWER, order=order)


def test_two_equal_values_cannot_be_apart():
    items = (item("1", "DDP", 3), item("2", "ZeRO-1", 3))
    with pytest.raises(ValueError, match="neither grow nor fall"):
        replace(ANSWER, items=items, order=(("1",), ("2",)))


@pytest.mark.parametrize("key", ["0", "01", "100", "A", "ab", "", "é", "²"])
def test_a_key_is_a_number_or_a_small_letter(key):
    with pytest.raises(ValueError, match="no number from 1 to 99"):
        replace(ANSWER, items=(item(key, "DDP", 1), *ITEMS))


def test_keys_are_all_numbers_or_all_letters():
    items = (item("1", "DDP", 1), item("b", "ZeRO-1", 2))
    with pytest.raises(ValueError, match="some keys are numbers and some are letters"):
        replace(ANSWER, items=items, order=(("1",), ("b",)))


@pytest.mark.parametrize("alias", ["fa", "FA", "f-a", "Fused Attention", "2", "zero 1"])
def test_no_two_items_may_be_typed_alike(alias):
    items = (replace(ITEMS[0], aliases=(alias,)), *ITEMS[1:])
    with pytest.raises(ValueError, match="2 items may be typed as"):
        replace(ANSWER, items=items)


def test_an_item_may_have_a_name_in_two_spellings():
    items = (replace(ITEMS[0], aliases=("full-recompute",)), *ITEMS[1:])
    assert replace(ANSWER, items=items).items == items


def test_a_name_has_a_letter_or_digit():
    with pytest.raises(ValueError, match="neither letter nor digit"):
        replace(ANSWER, items=(replace(ITEMS[0], aliases=("->",)), *ITEMS[1:]))


def test_every_fault_is_listed():
    items = (item("0", "DDP", 1), item("b", "DDP", 2))
    with pytest.raises(ValueError, match=r"no number.*some keys.*typed as ddp.*each item once"):
        replace(ANSWER, items=items)


@pytest.mark.parametrize(
    ("name", "spelling"),
    [("ZeRO-3/FSDP", "zero3fsdp"), ("8-bit states", "8bitstates"), ("a_b", "ab"), ("→", "")],
)
def test_a_name_is_its_letters_and_digits(name, spelling):
    assert folded(name) == spelling


def test_an_order_as_json_has_the_stable_shape():
    problem = replace(build("model-states", 1), answer=ANSWER, mistakes=())
    answer = json.loads(json.dumps(as_json(problem)["answer"]))
    assert answer.pop("items")[::3] == [
        {"key": "1", "name": "full recompute", "aliases": ["ckpt"], "value": 33},
        {"key": "4", "name": "ZeRO-2", "aliases": [], "value": "16/5"},
    ]
    assert answer == {
        "type": "ranking",
        "order": [["2"], ["3", "4"], ["1"]],
        "measure": {"verb": "costs", "unit": "%", "of": "step time", "signed": True},
        "first": "cheapest",
    }


def test_no_number_reveals_a_mistake_in_an_order():
    assert telling(ANSWER, [Mistake(name="m", value=Fraction(3), feedback="f")]) == ()
