"""A yes or no is heard as people say it, with its number where there is one."""

import pytest

EARLIER = {"peak": "42 GB"}
SENIOR = {"level": "senior", "minutes": 45}


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("still no, 42.5", "no, 42.5 GB"),
        ("no way, 42.5gb", "no, 42.5 GB"),
        ("OOM at 42.5 GB", "no, 42.5 GB"),
        ("no way, 14.5 + 185 + 3 + 2 ~ 204 gigs", "no, 204 GB"),
        ("no. 36 since ddp buckets for grads are added", "no, 36 GB"),
        ("178-120 = 58, yes", "yes, 58 GB"),
        ("35.1 - 18.7 = 16.4 so yes", "yes, 16.4 GB"),
        ("same as before + 0.5 for the buckets = 42.5, no", "no, 42.5 GB"),
        ("42.5 GB > 34 GB so no", "no, 42.5 GB"),
        ("no, it needs 42.5 of 34", "no, 42.5 GB"),
        ("no change, 42 GB, no", "no, 42 GB"),
        ("no, 8 GB too much", "no, without a number"),
        ("over by 8 GB, no", "no, without a number"),
        ("it fits with 8 GB to spare", "yes, without a number"),
        ("about half, so 22, yes", "yes, 22 GB"),
        ("states stay, the rest halves: 22 GB, yes", "yes, 22 GB"),
        ("down from 42 to 23.3, yes", "yes, 23.3 GB"),
        ("with full recompute it fits at 23.3 GB", "yes, 23.3 GB"),
        ("not by a long way", "no, without a number"),
        ("no OOM, 23.3 GB", "yes, 23.3 GB"),
        ("no problem, 23.3 GB", "yes, 23.3 GB"),
        ("won't OOM, 23.3 GB", "yes, 23.3 GB"),
        ("it does fit, 23.3 GB", "yes, 23.3 GB"),
    ],
)
def test_a_verdict_is_read_with_its_number(read_as, line, read):
    assert read_as(line, "peak-on-8", **EARLIER).startswith(read)


@pytest.mark.parametrize(
    "line",
    ["if it fits depends on buckets", "does it fit?", "no buckets", "buckets add 0.5 GB",
     "fits in 48 GB", "42.5"],
)  # fmt: skip
def test_a_line_without_a_verdict_of_its_own_is_a_thought(read_as, line):
    assert read_as(line, "peak-on-8", **EARLIER) is None


@pytest.mark.parametrize("line", ["42.5", "so 42.5 GB", "42.5 GB since ddp", "= 42.5 GB"])
def test_a_number_behind_its_verdict_is_added_to_it(read_as, line):
    assert read_as(line, "peak-on-8", "no", **EARLIER).startswith("no, 42.5 GB")


def test_a_whole_answer_is_replaced_by_another_and_not_by_half_of_it(read_as):
    standing = "no, 42.5 GB"
    assert read_as("sorry, 43 GB", "peak-on-8", standing, **EARLIER).startswith("no, 43 GB")
    assert read_as("no, 8 GB over", "peak-on-8", standing, **EARLIER) is None
    assert read_as("34 GB card", "peak-on-8", standing, **EARLIER) is None
    assert read_as("yes", "peak-on-8", standing, **EARLIER) == "yes, without a number"


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("it hides, 0.2s vs 0.4s compute", "yes, 0.2 s"),
        ("0.2 sec, hides", "yes, 0.2 s"),
        ("16 GB at 80 GB/s is 0.2s, fwd is 0.4s, so it hides", "yes, 0.2 s"),
        ("3 GB / 80 GB/s = 37 ms, hides", "yes, 0.037 s"),
        ("does not hide, 0.4 s", "no, 0.4 s"),
        ("no, it is exposed, 0.4 s", "no, 0.4 s"),
    ],
)
def test_what_hides_is_read_with_the_time_of_the_wire(read_as, line, read):
    assert read_as(line, "network", **SENIOR) == read
