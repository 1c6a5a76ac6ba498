"""Several numbers in a line: by name, in order, however people part them."""

from fractions import Fraction

import pytest

from problems.answers.count import CountAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.terms import Follows, Term
from problems.draw import Draw
from quiz.answers import Unreadable
from quiz.answers.terms import read_terms

GB = 10**9


def size(name, gb, *aliases, follows=None):
    answer = QuantityAnswer(value=Fraction(gb) * GB, symbols={"P": 7 * GB})
    return Term(name=name, aliases=aliases, answer=answer, follows=follows)


NAMES = ("weights", "gradients", "master copy", "moments")
LEDGER = (
    size("weights", 14, "params"),
    size("gradients", 14, "grads"),
    size("master copy", 28, "master"),
    size("moments", 56, "adam"),
    size("total", 112, "sum", follows=Follows(how="sum", of=NAMES)),
)
TABLE = (
    size("DDP", 112, "stage 0"),
    size("ZeRO-1", 49, "stage 1", "z1"),
    size("ZeRO-2", "38.5", "stage 2", "z2"),
    size("ZeRO-3", 28, "stage 3", "z3"),
)
TWO = (size("without", 436), size("with", 143))
COUNTED = (
    size("per sequence", 18),
    size("fixed", 34),
    Term(name="most", answer=CountAnswer(value=2, noun="sequences")),
)


def numbers(typed, terms):
    read = read_terms(typed, terms)
    assert not isinstance(read, Unreadable), read
    return [
        one and float(one.value) / (GB if one.unit == "bytes" else 1)
        for one in read.quantities.values()
    ]


@pytest.mark.parametrize(
    "typed",
    [
        "14, 14, 28, 56, 112",
        "14,14,28,56,112",
        "14 14 28 56 112",
        "14 GB 14 GB 28 GB 56 GB 112 GB",
        "14GB 14GB 28GB 56GB 112GB",
        "14; 14; 28; 56; 112",
        "14 | 14 | 28 | 56 | 112",
        "14 / 14 / 28 / 56 / 112",
        "14, 14, 28, 56 = 112",
        "14 + 14 + 28 + 56 = 112 GB",
        "14+14+28+56=112",
        "0.014+0.014+0.028+0.056=0.112 TB",
        "14, 14, 28, 56 and 112 GB in total",
        "2P, 2P, 4P, 8P = 16P",
        "total 112, 14, 14, 28, 56",
        "weights 14 GB, gradients 14, master copy 28, moments 56, total 112",
        "weights 14 GB gradients 14 GB master 28 GB adam 56 GB sum 112 GB",
        "14 GB weights 14 GB grads 28 GB master 56 GB adam 112 GB total",
        "weights=14 gradients=14 master=28 moments=56 total=112",
        "Weights: 14; Grads: 14; Master copy: 28; Moments: 56; Total: 112",
        "w 14, g 14, ma 28, mo 56, t 112",
        "weights 14 GB of params, grads 14, master 28, adam 56, total 112 in sum",
        "moments 56, weights 14, total 112, master 28, gradients 14",
        "the weights are 14 GB, 14 GB of gradients, master is 28, moments take 56, 112",
        "weights (fp16) 14 GB, grads (fp16) 14 GB, master (fp32) 28, adam (fp32) 56, total 112",
        "wieghts 14, gradeints 14, master 28, moments 56, total 112",
        "weights 2*7 = 14 GB, gradients 2*7, master 4*7, moments 8*7, total 16*7",
    ],
)
def test_a_ledger_may_be_typed_as_people_do(typed):
    assert numbers(typed, LEDGER) == [14, 14, 28, 56, 112]


@pytest.mark.parametrize(
    "typed",
    [
        "112, 49, 38.5, 28",
        "112/49/38.5/28",
        "112 > 49 > 38.5 > 28 GB",
        "112 -> 49 -> 38.5 -> 28",
        "DDP 112 GB, ZeRO-1 49, zero2 38.5, ZeRO 3 28",
        "ddp 112 z1 49 z2 38.5 z3 28",
        "stage 0: 112, stage 1: 49, stage 2: 38.5, stage 3: 28",
        "0: 112, 1: 49, 2: 38.5, 3: 28",
        "zero-3 28, zero-2 38.5, zero-1 49, DDP 112",
    ],
)
def test_a_table_may_be_typed_as_people_do(typed):
    assert numbers(typed, TABLE) == [112, 49, 38.5, 28]


@pytest.mark.parametrize(
    ("typed", "terms", "found"),
    [
        ("14", LEDGER, [14, None, None, None, None]),
        ("grads 14", LEDGER, [None, 14, None, None, None]),
        ("14, -, 28, ?, 112", LEDGER, [14, None, 28, None, 112]),
        ("1,120 GB, 14, 14, 28, 1,176", LEDGER, [1120, 14, 14, 28, 1176]),
        ("about 14, ~14, 25-31, 56, 1.12e2", LEDGER, [14, 14, 28, 56, 112]),
        ("0.436 and 0.143", TWO, [0.436, 0.143]),
        ("18, 34, 2", COUNTED, [18, 34, 2]),
        ("most 2 sequences, fixed 34, per sequence 18", COUNTED, [18, 34, 2]),
        # A bracket with commas is one number.
        ("(2 + 4) * 7, 14, 28, 56, 112", LEDGER, [42, 14, 28, 56, 112]),
    ],
)
def test_what_is_left_out_hedged_or_a_count_is_read_too(typed, terms, found):
    assert numbers(typed, terms) == found


@pytest.mark.parametrize(
    ("typed", "unit", "found"),
    [
        ("436 and 143 MB", "MB", [0.436, 0.143]),
        ("3 and 1 GiB", "GiB", [3 * 1.073741824, 1.073741824]),
        # Not both in TB: that would be 900 TB.
        ("900 and 1.8 TB", "GB", [900, 1800]),
        ("436 MB, 143", "GB", [0.436, 143]),
        ("3 GiB and 1", "GB", [3 * 1.073741824, 1]),
        ("500 MB and 1.2", "GB", [0.5, 1.2]),
        ("436 MB and 0.143 GB", None, [0.436, 0.143]),
        ("436 GB and 143", None, [436, 143]),
    ],
)
def test_the_unit_behind_joined_numbers_is_that_of_all_where_it_can_be(typed, unit, found):
    assert numbers(typed, TWO) == pytest.approx(found)
    said = (f"read numbers without a unit in {unit}",) if unit else ()
    assert read_terms(typed, TWO).remarks == said


@pytest.mark.parametrize(
    ("typed", "terms", "found"),
    [
        ("weights 350, gradients 700, master copy 682 MB", LEDGER, [350, 700, 0.682, None, None]),
        ("350, 700, 682 MB, 1, 1051", LEDGER, [350, 700, 0.682, 1, 1051]),
        ("116, 29, 14.5, 900 MB", TABLE, [116, 29, 14.5, 0.9]),
    ],
)
def test_a_number_without_a_unit_is_in_that_of_the_question(typed, terms, found):
    assert numbers(typed, terms) == found
    assert "read numbers without a unit in GB" in read_terms(typed, terms).remarks


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("350, , 0.68, 1050", [350, None, 0.68, 1050]),
        ("350,,0.68,1050", [350, None, 0.68, 1050]),
        ("350; ; 0.68; 1050", [350, None, 0.68, 1050]),
        (", 700, 0.68, 1050", [None, 700, 0.68, 1050]),
        ("DDP 350, , 0.68", [350, None, 0.68, None]),
        # Slips: all are there, or another sign follows the comma.
        ("350,, 700, 0.68, 1050", [350, 700, 0.68, 1050]),
        ("350, 700, and 0.68", [350, 700, 0.68, None]),
        ("350,\n700,\n0.68", [350, 700, 0.68, None]),
        ("DDP 350,, ZeRO-1 700", [350, 700, None, None]),
    ],
)
def test_an_empty_place_is_a_number_left_out(typed, found):
    assert numbers(typed, TABLE) == found


@pytest.mark.parametrize("again", ["700", "ZeRO-1 700"])
def test_what_was_left_out_may_be_given_further_on(again):
    assert numbers(f"350, -, 0.68, 1050; {again}", TABLE) == [350, 700, 0.68, 1050]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("116 87", [116, 87, None, None]),
        ("116 87.5 29", [116, 87.5, 29, None]),
        ("116 GB 87 GB", [116, 87, None, None]),
        ("116 872", [116872, None, None, None]),
    ],
)
def test_some_numbers_with_blanks_between_them_are_the_first_terms(typed, found):
    assert numbers(typed, TABLE) == found


@pytest.mark.parametrize(
    ("typed", "terms", "offset", "reason"),
    [
        ("", LEDGER, 0, "type weights, gradients, master copy, moments, total"),
        (" ,, ", LEDGER, 0, "type weights"),
        ("14, 14, 28, 56, 112, 9", LEDGER, 20, "a number too many; asked for are weights"),
        ("weights 14, weights 14", LEDGER, 11, "weights is here twice"),
        ("foo 14, gradients 14", LEDGER, 0, "no such term; asked for are weights"),
        ("weights 14, foo 14", LEDGER, 12, "no such term"),
        ("weights, gradients 14", LEDGER, 0, "a number is missing here; type weights"),
        ("weights 14, m 28", LEDGER, 12, "this may be master copy or moments; type which"),
        ("weights gradients 14", LEDGER, 8, "two terms stand beside one number"),
        ("14; 14; 28; foo", LEDGER, 12, "not known"),
        ("zero 4: 28", TABLE, 0, "type which"),
        ("18, 34, 2.5", COUNTED, 7, "type one whole number of sequences"),
        ("14, 14\x00", LEDGER, 6, "cannot be seen"),
    ],
)
def test_what_cannot_be_read_is_told_where_and_what_to_type(typed, terms, offset, reason):
    read = read_terms(typed, terms)
    assert isinstance(read, Unreadable), read
    assert (read.offset, reason in read.reason) == (offset, True), read


PIECES = (
    "weights", "gradients", "14", "GB", " ", ",", ";", "=", "+", "(", ")", "ZeRO-1", "stage",
    "1.5", "/", "->", "and", "about", "total", "½", "ß", "İ", "…", "é", "\n", "m", "x", "-",
    "1e9", "%", "“", "①", "\u0301", "moments", "P", "999999999999999999999999999999999999999",
)  # fmt: skip


def test_any_text_is_read_or_refused_with_a_place_in_it():
    draw = Draw("terms", 1)
    for _ in range(400):
        typed = "".join(draw.choice(PIECES) for _ in range(draw.between(1, 12)))
        for terms in (LEDGER, TABLE):
            read = read_terms(typed, terms)
            assert not isinstance(read, Unreadable) or 0 <= read.offset <= len(typed), typed
