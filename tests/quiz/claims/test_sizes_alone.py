"""A size is no reason, and no verdict: an answer of numbers and units asserts nothing."""

import pytest

from problems.claims import claims
from quiz.claims.grade import grade_claim

NOTHING = (
    "12 GB = 11.2 GiB", "+12 GB", "6.7b*16", "2**999", "bananas are yellow GiB", "GB", "1 = 1",
    "37 GB = 34 GiB, 5.5 bytes", "3.14", "2**999999999",
)  # fmt: skip


@pytest.mark.parametrize("answer", NOTHING)
def test_a_size_earns_nothing_whatever_the_claim(answer):
    for name in claims():
        marked = grade_claim(name, answer)
        assert (marked.label, marked.said) == ("wrong", None)


def test_a_sum_of_names_or_numbers_is_a_reason():
    assert grade_claim("zero2-traffic", "RS+AG = AR, both 2Ψ").label == "correct"
    assert grade_claim("zero2-traffic", "RS + AG = AR, same bytes").label == "correct"
    assert grade_claim("checkpointing-doubles", "1+2 → 1+1+2, 4/3").label == "correct"
