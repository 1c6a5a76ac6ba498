"""What is said of a wrong number, whole: its distance, its mistake, how a range fared."""

from dataclasses import replace
from fractions import Fraction

import pytest

from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.count import CountAnswer
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.ranking import RankedItem
from quiz.grading import Unreadable, grade, skipped
from quiz.marking.registry import request_of

GB = 10**9


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        # 26 / 25.269 = 1.029, 24 / 25.269 = 0.950, 51 / 25.269 = 2.018.
        ("26 GB", "Yours is 3% too high."),
        # 25.85 / 25.269 = 1.023: full credit ends at 2%.
        ("25.85 GB", "Yours is just over 2% too high."),
        ("24 GB", "Yours is 5% too low."),
        ("51 GB", "Yours is too high by a factor of 2.02."),
        # 60 / 20, 29 / 22 = 1.318.
        ("20-60 GB", "Your range holds it; its upper end is 3 times the lower."),
        ("25.2-25.3 GB", "Your range holds it; its upper end is 0.4% above the lower."),
        (
            "25.26-25.27 GB",
            "Your range holds it; its upper end is less than 0.1% above the lower.",
        ),
        ("22-25.26 GB", "Your range misses it. Its nearer end is less than 0.1% too low."),
        ("22-25.2 GB", "Your range misses it. Its nearer end is 0.3% too low."),
        ("22-29 GB", "Your range holds it; its upper end is 1.32 times the lower."),
        ("0-30 GB", "Your range holds it."),
        # 50 / 25.269 = 1.979, 20 / 25.269 = 0.791, 25.269 / 2 = 12.63.
        ("50-60 GB", "Your range misses it. Its nearer end is 98% too high."),
        ("10-20 GB", "Your range misses it. Its nearer end is 21% too low."),
        ("1-2 GB", "Your range misses it. Its nearer end is too low by a factor of 12.6."),
    ],
)
def test_a_number_is_answered_with_the_right_one_and_its_distance(states_problem, typed, says):
    _, _, feedback = grade(states_problem, typed).feedback.partition(": ")
    assert feedback == f"25.27 GB = 23.53 GiB. {says}"


@pytest.mark.parametrize("typed", ["80-100 GB", "100-120 GB"])
def test_a_range_holds_what_is_one_of_its_ends(make_problem, typed):
    problem = make_problem(QuantityAnswer(value=Fraction(100 * GB)))
    assert grade(problem, typed).held


def test_nothing_is_no_distance_away(states_problem):
    assert grade(states_problem, "0").feedback == "Not quite: 25.27 GB = 23.53 GiB."


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("2000000000", "Not quite: 1,000,000,000. Yours is too high by a factor of 2."),
        ("1", "Not quite: 1,000,000,000. Yours is too low by a factor of 1,000,000,000."),
        (
            "0.5",
            "Not quite: 1,000,000,000. Yours is too low by a factor of more than 1,000,000,000.",
        ),
    ],
)
def test_a_factor_is_said_from_2_to_a_milliard(make_problem, typed, says):
    problem = make_problem(QuantityAnswer(value=Fraction(GB), unit="1", default_unit="1"))
    assert grade(problem, typed).feedback == says


def test_a_slip_of_units_is_told_of_bytes_alone(make_problem):
    size = make_problem(QuantityAnswer(value=Fraction(100 * GB), band="estimate"))
    plain = make_problem(
        QuantityAnswer(value=Fraction(100), unit="1", default_unit=None, band="estimate")
    )
    off = "It is as far off as GiB typed as GB would be: check the unit."
    assert grade(size, "93.13 GB").feedback.endswith(f" GiB. {off}")
    assert grade(plain, "93.13").feedback == "Right: 100."


@pytest.mark.parametrize(
    ("name", "typed", "score"),
    [
        # Shares by problems/data/mistakes.toml: a half, a quarter, nothing.
        ("GiB typed as GB", 30, "1/2"),
        ("GiB typed as GB", 70, "1/2"),
        ("master copy forgotten", 30, "1/4"),
        ("master copy forgotten", 70, "1/2"),
        ("gradients left whole", 70, 0),
        ("a mistake of no table", 70, 0),
    ],
)
def test_a_named_mistake_earns_its_share_or_its_band_if_it_has_a_share(
    make_problem, name, typed, score
):
    answer = QuantityAnswer(value=Fraction(100 * GB), band="estimate")
    verdict = grade(make_problem(answer, [(name, typed * GB)]), f"{typed} GB")
    assert (verdict.mistake, verdict.score) == (name, Fraction(score))


@pytest.mark.parametrize(("typed", "score"), [(30, "1/4"), (70, "1/2")])
def test_a_number_of_two_mistakes_earns_the_least_share_or_its_band(make_problem, typed, score):
    answer = QuantityAnswer(value=Fraction(100 * GB), band="estimate")
    problem = make_problem(answer, [("GiB typed as GB", typed * GB)])
    both = tuple(replace(one, also=("master copy forgotten",)) for one in problem.mistakes)
    verdict = grade(replace(problem, mistakes=both), f"{typed} GB")
    assert (verdict.mistake, verdict.score) == (None, Fraction(score))
    assert verdict.feedback.endswith(
        " More than one slip gives it: GiB typed as GB; master copy forgotten."
    )


@pytest.mark.parametrize(
    ("noun", "typed", "reading", "feedback"),
    [
        ("GPUs", "9", "9 GPUs", "Not quite: 8 GPUs. Yours is too high."),
        ("GPUs", "7", "7 GPUs", "Not quite: 8 GPUs. Yours is too low."),
        ("GPUs", "16", "16 GPUs", "In part: 8 GPUs. This is GiB typed as GB."),
        ("", "9", "9", "Not quite: 8. Yours is too high."),
        ("", "8", "8", "Right: 8."),
        # A mistake whose number is near does not make the right one wrong.
        ("", "100", "100", "Not quite: 8. Yours is too high."),
    ],
)
def test_a_count_is_answered_whole(make_problem, noun, typed, reading, feedback):
    problem = make_problem(CountAnswer(value=8, noun=noun), [("GiB typed as GB", 16)])
    verdict = grade(problem, typed)
    assert (verdict.reading, verdict.feedback) == (reading, feedback)


@pytest.mark.parametrize(
    ("noun", "typed", "reason"),
    [
        ("GPUs", "7-8", "type one whole number, not a range"),
        ("GPUs", "7.5", "type a whole number of GPUs"),
        ("", "7.5", "type a whole number"),
    ],
)
def test_what_is_no_whole_number_is_told_so_at_the_beginning(make_problem, noun, typed, reason):
    refused = grade(make_problem(CountAnswer(value=8, noun=noun)), typed)
    assert (refused.offset, refused.reason) == (0, reason)


@pytest.mark.parametrize(
    ("typed", "value", "remarks"),
    [
        ("9k", 9216, ("read k as 1,024, as contexts are said",)),
        (" 9 K tokens", 9216, ("read k as 1,024, as contexts are said",)),
        ("9216", 9216, ()),
    ],
)
def test_a_k_of_tokens_is_1024_and_said_so(make_problem, typed, value, remarks):
    verdict = grade(make_problem(CountAnswer(value=9216, noun="tokens")), typed)
    assert verdict.parsed == value
    assert verdict.remarks[-1:] == remarks


@pytest.mark.parametrize(
    ("typed", "offset"), [("zero foo", 5), ("stage-foo", 6), ("zeRO - foo", 7), ("foo", 0)]
)
def test_what_stands_behind_the_name_of_a_stage_is_pointed_at(make_problem, typed, offset):
    assert grade(make_problem(CountAnswer(value=2, before="ZeRO-")), typed).offset == offset


@pytest.mark.parametrize(
    ("typed", "mistake", "feedback"),
    [
        (
            "1/4",
            "upside down",
            (
                "Not quite: 4 times. Yours is too low by a factor of 16. "
                "This is the factor upside down: one over it is right."
            ),
        ),
        ("2x", None, "Not quite: 4 times. Yours is too low by a factor of 2."),
        ("4x", None, "Right: 4 times."),
        (
            "1-5",
            None,
            "Not quite: 4 times. Your range holds it; its upper end is 5 times the lower.",
        ),
    ],
)
def test_a_factor_is_answered_whole(make_problem, typed, mistake, feedback):
    verdict = grade(make_problem(FactorAnswer(value=Fraction(4))), typed)
    assert (verdict.mistake, verdict.feedback) == (mistake, feedback)


@pytest.mark.parametrize("value", [1, 4])
def test_a_right_factor_is_not_upside_down_and_a_word_is_none(make_problem, value):
    problem = make_problem(FactorAnswer(value=Fraction(value)))
    assert grade(problem, f"{value}x").mistake is None
    assert isinstance(grade(problem, "foo"), Unreadable)


@pytest.mark.parametrize(
    ("typed", "feedback"),
    [
        ("no", "In part: {}. The number is the other half."),
        ("yes", "Not quite: {}. The number is the other half."),
        ("no, 93 GB", "Right: {}."),
        ("yes, 93 GB", "In part: {}. It is no."),
        # 186 / 93 = 2, 31 / 93 = 1 / 3.
        ("yes, 186 GB", "In part: {}. It is no. Yours is too high by a factor of 2."),
        ("no, 31 GB", "In part: {}. Yours is too low by a factor of 3."),
    ],
)
def test_a_yes_or_no_is_answered_whole(fits_problem, typed, feedback):
    assert grade(fits_problem, typed).feedback == feedback.format(fits_problem.answer.said)


@pytest.mark.parametrize(
    ("typed", "reading"),
    [("yes", "yes, without a number"), ("no", "no, without a number"), ("no 93 GB", "no, 93 GB")],
)
def test_a_yes_or_no_is_read_with_its_number(fits_problem, typed, reading):
    assert grade(fits_problem, typed).reading.startswith(reading)


@pytest.mark.parametrize(("typed", "held"), [("no, 80-100 GB", True), ("no, 1-2 GB", False)])
def test_a_range_behind_a_verdict_holds_its_number_or_misses_it(fits_problem, typed, held):
    assert grade(fits_problem, typed).held is held


@pytest.mark.parametrize("shown", [True, False])
def test_a_question_passed_over_earns_nothing_and_tells_the_answer(states_problem, shown):
    verdict = skipped(states_problem, shown=shown)
    word = "The answer" if shown else "Skipped"
    assert (verdict.answer, verdict.score) == ("", 0)
    assert verdict.verdict == ("shown" if shown else "skipped")
    assert verdict.feedback == f"{word}: 25.27 GB = 23.53 GiB."


def test_a_line_that_is_too_long_is_told_its_limit_and_where_it_is(fits_problem):
    refused = grade(fits_problem, "9" * 10_000)
    assert refused.reason == f"type at most {refused.offset} characters"


@pytest.mark.parametrize(("keys", "noun"), [("ab", "letter"), ("12", "number")])
def test_a_choice_is_asked_for_by_the_kind_of_its_keys(keys, noun):
    rows = zip(keys, ("", "dearer"), strict=True)
    answer = ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(key=key, name=f"item {key}", aliases=(), value=Fraction(1)),
                mistake=mistake,
                feedback="",
            )
            for key, mistake in rows
        )
    )
    request = request_of(answer)
    assert request.items == (f"{keys[0]}  item {keys[0]}", f"{keys[1]}  item {keys[1]}")
    assert request.wants == f"Type its {noun} or name."


def test_a_right_count_is_no_mistake_however_near_one_is(make_problem):
    verdict = grade(make_problem(CountAnswer(value=100), [("GiB typed as GB", 101)]), "100")
    assert (verdict.mistake, verdict.score, verdict.feedback) == (None, 1, "Right: 100.")


@pytest.mark.parametrize(
    ("noun", "typed"), [("GPUs", "8 tokens"), ("tokens", "8 GPUs"), ("GPUs", "8 GB"), ("", "8 s")]
)
def test_a_count_of_other_things_is_no_answer(make_problem, noun, typed):
    assert isinstance(grade(make_problem(CountAnswer(value=8, noun=noun)), typed), Unreadable)


@pytest.mark.parametrize("unit", ["B", "bytes"])
@pytest.mark.parametrize("typed", ["16", "16 bytes per parameter", "16 B/param", "16 B"])
def test_bytes_a_parameter_may_be_said_so_where_they_are_asked_for(make_problem, unit, typed):
    problem = make_problem(QuantityAnswer(value=Fraction(16), default_unit=unit))
    assert grade(problem, typed).score == 1


@pytest.mark.parametrize(
    ("typed", "score"), [("90", 1), ("1.5 min", 1), ("90 s", 1), ("90000 ms", 1), ("92 s", 0)]
)
def test_seconds_are_read_as_times(make_problem, typed, score):
    problem = make_problem(QuantityAnswer(value=Fraction(90), unit="s", default_unit="s"))
    assert grade(problem, typed).score == score


def test_a_plain_number_takes_no_unit(make_problem):
    problem = make_problem(QuantityAnswer(value=Fraction(93), unit="1", default_unit=None))
    assert grade(problem, "93").score == 1
    assert isinstance(grade(problem, "93 GB"), Unreadable)


def test_what_was_assumed_in_reading_a_number_is_remarked(states_problem, fits_problem):
    remarks = ("read as a decimal point; a thousands point would be 93 TB",)
    assert grade(states_problem, "93.000 GB").remarks == remarks
    assert grade(fits_problem, "no, 93.000 GB").remarks == remarks
