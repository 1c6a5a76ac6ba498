"""What a refusal says to type: an example of what the question asks for."""

import pytest

from quiz.answers import Unreadable, parse_quantity, read_seconds


def refused(text, **asked):
    found = parse_quantity(text, **asked)
    assert isinstance(found, Unreadable), found
    return found.reason


SIZED = {"default_unit": "GB"}
PLAIN = ({"default_unit": "1"}, {}, {"asks": "number of GPUs"}, {"asks": "a ratio"})
UNFIT = ("", "?!", "parsecs", "idk", "12 seconds", "inf", "$5", "12 foo", "16 GB + 2")


@pytest.mark.parametrize("text", UNFIT)
@pytest.mark.parametrize("asked", PLAIN, ids=str)
def test_of_a_plain_number_no_unit_is_asked_for(asked, text):
    reason = refused(text, **asked)
    assert "its unit" not in reason
    assert "GB" not in reason


@pytest.mark.parametrize(
    ("text", "asked", "reason"),
    [
        ("", SIZED, "nothing was typed; type a number with its unit, such as 16 GB"),
        ("", PLAIN[0], "nothing was typed; type a number, such as 12.5"),
        ("?!", PLAIN[2], "there is no number here; type one, such as 8"),
        ("idk", PLAIN[3], "no number was typed; type your best estimate, such as 4x"),
        ("idk", {"asks": "seconds"}, "your best estimate with its unit, such as 0.4 s"),
        ("inf", {"default_unit": "B", "asks": "bytes per parameter"}, "such as 16 bytes"),
        ("3 kg", SIZED, "a unit that the question asks for, such as GB"),
        ("3 kg", {"asks": "seconds"}, "a unit that the question asks for, such as s"),
        ("3 kg", PLAIN[0], "a plain number is asked; type it without a unit"),
    ],
)
def test_advice_has_an_example_of_what_is_asked_for(text, asked, reason):
    assert refused(text, **asked).endswith(reason)


@pytest.mark.parametrize("text", ["+2.08%", "-75%", "- 75 %", "+ 10 percent"])
@pytest.mark.parametrize(
    ("asked", "example"),
    [
        (SIZED, "rather than the change; type one such as 16 GB"),
        ({"asks": "a ratio"}, "rather than the change: 1.1 for +10%, 0.25 for -75%"),
        ({"default_unit": "1"}, "rather than the change: 1.1 for +10%, 0.25 for -75%"),
        ({"asks": "number of GPUs"}, "rather than the change; type one such as 8"),
        ({"asks": "seconds"}, "rather than the change; type one such as 0.4 s"),
    ],
    ids=str,
)
def test_of_a_change_in_percent_the_result_is_asked_for(text, asked, example):
    assert refused(text, **asked).endswith(example)


def test_a_negative_number_is_refused_as_before():
    assert refused("-5 GB", **SIZED).startswith("an answer is not negative")


def test_a_share_is_no_time():
    assert read_seconds("25%").reason == "a time is asked; type one such as 0.4 s"
    assert read_seconds("3 GB").reason == "a time is asked; type one such as 0.4 s"
