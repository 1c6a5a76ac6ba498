"""One of several things as people type it."""

from fractions import Fraction

import pytest

from problems.answers.ranking import RankedItem
from quiz.answers import Picked, Unreadable, read_choice

LEVERS = (("ZeRO-1", "z1", "stage 1"), ("ZeRO-2", "z2", "stage 2"), ("offload", "cpu offload"))


def items(keys):
    return tuple(
        RankedItem(key=key, name=name, aliases=tuple(aliases), value=Fraction(0))
        for key, (name, *aliases) in zip(keys, LEVERS, strict=True)
    )


@pytest.mark.parametrize("typed", ["b", "B", "b)", "(b)", "ZeRO-2", "zero 2", "z2", "stage 2"])
def test_a_key_a_name_and_a_short_name_are_read(typed):
    assert read_choice(typed, items("abc")) == Picked(key="b")


def test_what_was_assumed_is_said():
    remarks = ("read the numbers before the names as places",)
    assert read_choice("1. z2", items("abc")) == Picked(key="b", remarks=remarks)


@pytest.mark.parametrize(
    ("keys", "typed", "offset", "reason"),
    [
        ("abc", "", 0, "type one of them, by its letter or name"),
        ("123", "...", 0, "type one of them, by its number or name"),
        ("abc", "a, b", 0, "type one of them only"),
        ("abc", "a = b", 0, "type one of them only"),
        ("abc", "a > a", 4, "type each item once"),
        ("abc", "  stage", 2, "this may be ZeRO-1 (a) or ZeRO-2 (b); type which"),
    ],
)
def test_anything_else_is_refused_with_its_place(keys, typed, offset, reason):
    found = read_choice(typed, items(keys))
    assert isinstance(found, Unreadable)
    assert (found.offset, reason in found.reason) == (offset, True), found


@pytest.mark.parametrize(
    "typed", ["b, 138 GB", "ZeRO-2 (1.5 TiB)", "z2: ~138.2GB.", "stage 2 = 90 MB"]
)
def test_a_size_behind_the_pick_is_passed_over(typed):
    remarks = ("the size beside it was not marked",)
    assert read_choice(typed, items("abc")) == Picked(key="b", remarks=remarks)


@pytest.mark.parametrize("typed", ["138 GB", "a, b, 138 GB", "(138 GB)"])
def test_a_size_picks_nothing(typed):
    assert isinstance(read_choice(typed, items("abc")), Unreadable)
