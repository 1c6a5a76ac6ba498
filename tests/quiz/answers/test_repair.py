"""A typed step and number, in the ways that people type the two."""

import pytest

from quiz.answers import Unreadable
from quiz.answers.repair import read_repair


@pytest.mark.parametrize(
    ("typed", "step", "rest"),
    [
        ("3, 28 GB", 3, "28 GB"),
        ("3 28 GB", 3, "28 GB"),
        ("3: 28 GB", 3, "28 GB"),
        ("3) 28 GB", 3, "28 GB"),
        ("3. 28 GB", 3, "28 GB"),
        ("3 - 28 GB", 3, "28 GB"),
        ("3 -> 28 GB", 3, "28 GB"),
        ("3 = 28 GB", 3, "28 GB"),
        ("3,28 GB", 3, "28 GB"),
        ("3; .5 GB", 3, ".5 GB"),
        ("3 (28 GB)", 3, "(28 GB)"),
        ("3 ~28 GB", 3, "~28 GB"),
        ("#3 28 GB", 3, "28 GB"),
        ("step 3: 28 GB", 3, "28 GB"),
        ("Step 3 28e9", 3, "28e9"),
        ("step 3 GB", 3, "GB"),
        ("line no. 3, 28 GB", 3, "28 GB"),
        ("step three: 28 GB", 3, "28 GB"),
        ("the third step, 28 GB", 3, "28 GB"),
        ("3rd step: 28 GB", 3, "28 GB"),
        ("third: 28 GB", 3, "28 GB"),
        ("3rd, 28 GB", 3, "28 GB"),
        ("in step 3 it should be 28 GB", 3, "28 GB"),
        ("the mistake is in step 3, 28 GB", 3, "28 GB"),
        ("3 is wrong, it should be 28 GB", 3, "28 GB"),
        ("step 3 is wrong: the right value is 28 GB", 3, "28 GB"),
        ("28 GB in step 3", 3, "28 GB"),
        ("28 GB (step 3)", 3, "28 GB"),
        ("28 GB at the third step.", 3, "28 GB"),
        ("step 3, 28 GB in step 3", 3, "28 GB"),
        ("3, 28 GB in step 3", 3, "28 GB"),
        ("9,216 bytes in step 3", 3, "9,216 bytes"),
        ("14, in step 3", 3, "14"),
        ("3,072 bytes in step 3", 3, "3,072 bytes"),
        ("3", 3, ""),
        (" 3. ", 3, ""),
        ("step 3", 3, ""),
        ("3, about 28 GB", 3, "about 28 GB"),
        ("3 and 28 GB", 3, "28 GB"),
    ],
)
def test_a_step_is_told_from_its_number(typed, step, rest):
    read = read_repair(typed, 5)
    assert (read.step, read.rest.strip()) == (step, rest)


@pytest.mark.parametrize(
    "typed", ["28 GB", "3.28 GB", "3 GB", "28e9", "no mistake", "", "none", "GB", "-", "x" * 90]
)
def test_a_line_without_a_step_says_what_to_type(typed):
    refused = read_repair(typed, 5)
    assert refused == Unreadable(
        offset=0, reason="begin with the number of the step, then its right number: 2, 14 GB"
    )


@pytest.mark.parametrize("typed", ["0, 28 GB", "6, 28 GB", "28", "step 9", "12: 4 GB"])
def test_a_step_that_is_not_there_is_answered_with_those_that_are(typed):
    assert read_repair(typed, 5).reason.startswith("name one of the steps 1 to 5")


@pytest.mark.parametrize("typed", ["3 and 4: 28 GB", "step 3 and step 4", "3 or 4, 28 GB"])
def test_two_steps_are_too_many(typed):
    refused = read_repair(typed, 5)
    assert isinstance(refused, Unreadable)
    assert "one" in refused.reason


def test_two_steps_at_both_ends_are_too_many():
    assert isinstance(read_repair("step 2, 28 GB in step 3", 5), Unreadable)


def test_what_may_be_one_number_is_asked_again():
    refused = read_repair("3,500 MB", 5)
    assert refused.reason == "is this a step and a number? Put a space behind the comma: 2, 14 GB"
    assert refused.offset == 1
    assert read_repair("3, 500 MB", 5).rest == "500 MB"


def test_the_rest_stands_where_its_offset_says():
    typed = "Step 3 is wrong: 28 GB"
    read = read_repair(typed, 5)
    assert typed[read.offset :] == read.rest


def test_a_letter_whose_lower_case_is_longer_moves_nothing():
    assert read_repair("3, 28 GB \u0130", 5).rest == "28 GB \u0130"
