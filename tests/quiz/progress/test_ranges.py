from fractions import Fraction

import pytest

from quiz.progress.ranges import ranges, width


def held(row_of_answers, fates, typed="10-12 GB"):
    rows = row_of_answers(len(fates), typed=typed, held=True)
    other = row_of_answers(len(fates), typed=typed, held=False, score=0)
    return [rows[at] if fate else other[at] for at, fate in enumerate(fates)]


@pytest.mark.parametrize(
    ("typed", "parsed", "ratio"),
    [
        ("10-12 GB", Fraction(11), Fraction(6, 5)),
        ("80 ± 20 GB", Fraction(80), Fraction(5, 3)),
        ("10-12", Fraction(11), Fraction(6, 5)),
        ("2x to 3x", Fraction(2), Fraction(3, 2)),
        ("0.4-0.5 s", Fraction(1), Fraction(5, 4)),
        ("900 MB to 1.8 GB", Fraction(1), 2),
        ("no, 80-90 GB", {"yes": False, "number": Fraction(85)}, Fraction(9, 8)),
        ("3, 28-35 GB", {"step": Fraction(3), "number": Fraction(31)}, Fraction(5, 4)),
        ("0-10 GB", Fraction(5), None),
        ("2P to 3P", Fraction(5), None),
        ("no", {"yes": False, "number": None}, None),
        ("12 GB", Fraction(12), None),
    ],
)
def test_the_width_of_a_range_is_its_upper_end_over_its_lower(answer, now, typed, parsed, ratio):
    assert width(answer(now, typed=typed, parsed=parsed).attempt.verdict) == ratio


def test_of_no_range_nothing_is_said(row_of_answers):
    found = ranges(row_of_answers(5))
    assert (found.held, found.typed, found.groups, found.judgement) == (0, 0, (), "few")
    assert (found.lately.share, found.lately.width) == (None, None)


@pytest.mark.parametrize(
    ("right", "wrong", "judgement"),
    [
        (7, 0, "few"),
        (8, 0, "narrower"),
        (19, 1, "narrower"),
        (18, 2, "sound"),
        (14, 6, "sound"),
        (13, 7, "wider"),
        (10, 10, "wider"),
        (0, 8, "wider"),
    ],
)
def test_the_last_twenty_ranges_say_whether_they_are_too_wide(
    row_of_answers, right, wrong, judgement
):
    found = ranges(held(row_of_answers, [True] * right + [False] * wrong))
    assert (found.held, found.typed) == (right, right + wrong)
    assert found.judgement == judgement


def test_ranges_of_long_ago_do_not_judge_those_of_today(row_of_answers):
    found = ranges(held(row_of_answers, [False] * 20 + [True] * 20))
    assert (found.judgement, found.held, found.typed) == ("narrower", 20, 40)
    assert (found.before.share, found.lately.share) == (0, 1)


def test_groups_are_of_ten_and_the_first_has_what_is_left(row_of_answers):
    rows = held(row_of_answers, [True] * 3 + [False] * 4 + [True] * 6)
    found = ranges(rows).groups
    assert [(one.held, one.typed) for one in found] == [(3, 3), (6, 10)]
    assert (found[0].first, found[0].last, found[1].first) == (rows[0].at, rows[2].at, rows[3].at)
    assert len(ranges(held(row_of_answers, [True] * 95)).groups) == 8


def test_the_usual_width_is_the_median_of_those_that_can_be_read(row_of_answers):
    rows = [
        *held(row_of_answers, [True, True], typed="10-11 GB"),
        *held(row_of_answers, [True], typed="10-15 GB"),
        *held(row_of_answers, [True], typed="P to 2P"),
    ]
    assert ranges(rows).lately.width == Fraction(11, 10)
