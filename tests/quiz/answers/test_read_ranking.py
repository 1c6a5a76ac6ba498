"""Orders as people type them."""

import tomllib
from fractions import Fraction
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.answers.ranking import RankedItem
from quiz.answers import Ranking, Unreadable, caret, read_ranking
from quiz.answers.ranking_names import one_slip

ROWS = tomllib.loads(Path(__file__).with_name("typed_rankings.toml").read_text(encoding="utf-8"))
ITEMS = {
    name: tuple(
        RankedItem(key=key, name=said, aliases=tuple(aliases), value=Fraction(place))
        for place, (key, said, *aliases) in enumerate(rows["items"])
    )
    for name, rows in ROWS.items()
}
LEVERS = ITEMS["levers"]
READ = [(name, *row) for name, rows in ROWS.items() for row in rows["read"]]
REFUSED = [(name, *row) for name, rows in ROWS.items() for row in rows["refused"]]
HOSTILE = [
    "1" * 600,
    "1 " * 300,
    "(" * 600,
    "1>" * 300,
    "fa " * 200,
    "zero " * 120,
    "full " * 120,
    "zero-" * 120,
    "optimizer offload to " * 28,
    "=" * 600,
    "-" * 600,
    "~=" * 300,
    "a" * 600,
    "x " * 300,
    "1. " * 200,
    "[[1]," * 120,
    "first " * 100,
    "and then " * 66,
    "\\u0031" * 100,
    "'; DROP TABLE attempts; --",
    "${jndi:x}",
    "%s%n",
    "\u202e1 > 2",
    "i\u0307 > \u00df \u0130",
    "\ud800",
    "\U0001f3f3\ufe0f\u200d\U0001f308 > 1",
]


def said(ranking):
    return " > ".join(" = ".join(group) for group in ranking.order)


@pytest.mark.parametrize(("items", "typed", "order"), READ)
def test_an_order_is_read(items, typed, order):
    ranking = read_ranking(typed, ITEMS[items])
    assert isinstance(ranking, Ranking), ranking
    assert said(ranking) == order


@pytest.mark.parametrize(("items", "typed", "reason"), REFUSED)
def test_what_is_no_order_is_refused_with_a_reason(items, typed, reason):
    found = read_ranking(typed, ITEMS[items])
    assert isinstance(found, Unreadable), found
    assert reason in found.reason
    assert 0 <= found.offset <= len(typed)


@pytest.mark.parametrize(
    ("typed", "offset"),
    [
        ("fa > flsh", 5),
        ("fa > ckpt > fa", 12),
        ("\uff11 \uff1e foo", 4),
        ("fa > ", 3),
        ("  fa >= ckpt", 5),
        ("fa, (ckpt", 4),
        ("fa > ckpt\u200b", 9),
        ("1 > 2 " + "> 3" * 300, 600),
    ],
)
def test_a_refusal_points_at_the_place(typed, offset):
    assert read_ranking(typed, LEVERS).offset == offset


@pytest.mark.parametrize(
    ("typed", "what"),
    [
        ("fa, ckpt > z3", "comma"),
        ("fa and ckpt > z3", "word and"),
        ("fa ckpt > z3", "blank"),
        ("fa; ckpt then z3", "semicolon"),
        ("fa > ckpt\nz3", "new line"),
    ],
)
def test_what_stands_beside_an_arrow_is_an_order_and_that_is_said(typed, what):
    remarks = read_ranking(typed, LEVERS).remarks
    assert remarks == (f"read the {what} as an order too; type = for a tie",)


@pytest.mark.parametrize(
    "typed",
    [
        "fa, ckpt, z3",
        "fa > ckpt > z3",
        "fa, > ckpt",
        "(fa, ckpt) > z3",
        "fa = ckpt, z3",
        "fa > ckpt, last z3",
        "fa > ckpt last z3",
    ],
)
def test_an_order_with_one_meaning_needs_no_remark(typed):
    assert read_ranking(typed, LEVERS).remarks == ()


def test_a_numbered_list_against_the_keys_is_told():
    remarks = read_ranking("1. fa 2. ckpt 3. z3", LEVERS).remarks
    assert remarks == ("read the numbers before the names as places",)


def test_six_hundred_characters_are_read_and_one_more_is_refused():
    assert said(read_ranking("1 >" + " " * 596 + "2", LEVERS)) == "1 > 2"
    assert read_ranking("1 >" + " " * 597 + "2", LEVERS).offset == 600


@pytest.mark.parametrize("typed", HOSTILE)
def test_hostile_text_gives_a_value_in_no_time(typed):
    start = process_time()
    found = read_ranking(typed, LEVERS)
    assert process_time() - start < 1
    if isinstance(found, Unreadable):
        assert 0 <= found.offset <= len(typed)


@pytest.mark.parametrize("typed", [f"{bad}{text}" for bad in "\x1b\x07\x9b" for text in ("[2J",)])
def test_a_refused_line_is_shown_without_what_moves_the_cursor(typed):
    found = read_ranking(typed, LEVERS)
    assert caret(typed, found).replace("\n", "").isprintable()
    assert typed not in found.reason


PIECES = st.sampled_from(
    [*"1234 ,;>=~()[]-./+&<\n", " then ", "->", "fa", "ckpt", "zero3", "offload", "and", "first",
     "last", "same as", "2.", "1st", "flsh", "or", "foo", "recompute", "\x00", "é"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=80))
def test_any_text_is_read_or_refused(typed):
    found = read_ranking(typed, LEVERS)
    if isinstance(found, Unreadable):
        assert 0 <= found.offset <= len(typed)
        assert found.reason.isprintable()
    else:
        keys = [key for group in found.order for key in group]
        assert 2 <= len(keys) == len(set(keys))
        assert all(found.order)


@given(
    st.permutations(LEVERS),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.sampled_from([" > ", ">", " -> ", ", ", " then ", "\n", " → "]),
    st.data(),
)
def test_every_order_is_read_in_every_spelling(items, ties, before, data):
    typed, expected = "", ""
    for place, item in enumerate(items):
        if place:
            tie = ties[place - 1]
            typed += " = " if tie else before
            expected += " = " if tie else " > "
        typed += data.draw(st.sampled_from([item.key, item.name, *item.aliases]))
        expected += item.key
    assert said(read_ranking(typed, LEVERS)) == expected


@pytest.mark.parametrize(
    ("typed", "name", "slip"),
    [
        ("flsh", "flash", True),
        ("flassh", "flash", True),
        ("flasj", "flash", True),
        ("falsh", "flash", True),
        ("flash", "flash", False),
        ("flahs", "flash", True),
        ("lfahs", "flash", False),
        ("fls", "flash", False),
        ("zero2", "zero3", False),
        ("zreo3", "zero3", True),
        ("zero", "zero3", False),
        ("", "a", True),
    ],
)
def test_one_letter_is_a_slip_and_a_digit_is_none(typed, name, slip):
    assert one_slip(typed, name) is slip
