import pytest

from quiz.answers import Unreadable
from quiz.answers.yes_no import leaves_out, read_yes_no


@pytest.mark.parametrize(
    ("typed", "yes", "rest"),
    [
        ("yes, 61 GB", True, "61 GB"),
        ("no: 93 GiB", False, "93 GiB"),
        ("yes", True, ""),
        ("Y", True, ""),
        ("n 93", False, "93"),
        ("NO - 93 GB", False, "93 GB"),
        ("fits", True, ""),
        ("it fits, 61 GB", True, "61 GB"),
        ("doesn't fit", False, ""),
        ("doesn\N{RIGHT SINGLE QUOTATION MARK}t fit: 93 GB", False, "93 GB"),
        ("does not fit 93 GB", False, "93 GB"),
        ("won't fit. 93 GB", False, "93 GB"),
        ("OOM, 93 GB", False, "93 GB"),
        ("no, it doesn't fit, 93 GB", False, "93 GB"),
        ("61 GB, yes", True, "61 GB"),
        ("93 GB so no.", False, "93 GB"),
        ("no because 93 GB", False, "93 GB"),
        ("yes .5 TB", True, ".5 TB"),
        ("no -5 GB", False, "-5 GB"),
    ],
)
def test_the_verdict_is_told_from_the_number(typed, yes, rest):
    read = read_yes_no(typed)
    assert (read.yes, read.rest.strip()) == (yes, rest)


@pytest.mark.parametrize(
    "typed", ["61 GB", "nothing", "yesterday", "noon", "", "  ", "yes, no", "fits? no"]
)
def test_without_one_verdict_it_is_unreadable(typed):
    assert isinstance(read_yes_no(typed), Unreadable)


@pytest.mark.parametrize("typed", ["yes, 61 GB", "no  -  93 GB", "93 GB, no"])
def test_the_offset_points_at_the_rest(typed):
    read = read_yes_no(typed)
    assert typed[read.offset :].startswith(read.rest)


def test_the_advice_shows_a_number_as_the_question_wants_it():
    refused = read_yes_no("0.172 s", "1.5 s")
    assert refused.reason == "begin with yes or no, then the number: yes, 1.5 s"


def test_both_at_once_are_refused_at_the_beginning():
    refused = read_yes_no("yes, 61 GB, no")
    assert (refused.offset, "both yes and no" in refused.reason) == (0, True)


@pytest.mark.parametrize(
    ("typed", "without"),
    [
        ("", True),
        (" - ", True),
        ("No idea.", True),
        ("don\N{RIGHT SINGLE QUOTATION MARK}t know!", True),
        ("n/a", True),
        ("61 GB", False),
        ("0", False),
        ("no 61", False),
    ],
)
def test_a_line_may_say_that_it_has_no_number(typed, without):
    assert leaves_out(typed) is without
