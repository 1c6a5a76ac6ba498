import pytest

from engine.errors import Fault
from quiz.options.values import real, whole


@pytest.mark.parametrize(("typed", "number"), [("8", 8), (" 8 ", 8), ("-5", -5), ("4_096", 4096)])
def test_a_whole_number_is_digits(typed, number):
    assert whole("--count", typed) == number


@pytest.mark.parametrize("typed", ["x", "", "1e3", "8.0", "4,096", "0x10", "\N{SUPERSCRIPT TWO}"])
def test_what_is_no_whole_number_is_told_what_is_wanted(typed):
    fault = whole("--count", typed)
    assert str(fault) == f"--count: {typed!r} is not a whole number; write digits, such as 8"


def test_a_number_of_ten_thousand_digits_is_too_large():
    assert whole("--seed", "9" * 10_000) == Fault(
        "--seed", "a number of 10,000 digits is too large"
    )


@pytest.mark.parametrize(("typed", "number"), [("0.1", 0.1), ("0", 0.0)])
def test_a_real_number_is_read(typed, number):
    assert real("--dropout", typed) == number


def test_what_is_no_real_number_is_told_what_is_wanted():
    fault = real("--dropout", "none")
    assert str(fault) == "--dropout: 'none' is not a number; write one such as 0.1"
