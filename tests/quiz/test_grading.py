import json
from fractions import Fraction
from pathlib import Path

import pytest

from problems.answers.count import CountAnswer
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.registry import build
from quiz.grading import Unreadable, grade

GB = 10**9


def marked(problem, typed):
    verdict = grade(problem, typed)
    assert not isinstance(verdict, Unreadable), verdict
    return verdict


@pytest.mark.parametrize(
    ("typed", "score", "mistake"),
    [
        ("25.27 GB", 1, None),
        ("25.27", 1, None),
        ("23.53 GiB", 1, None),
        ("3.75 P bytes", 1, None),
        ("26 GB", 0, None),
        ("37 GB", 0, "gradients left whole"),
        ("21.9 GB", "1/4", "master copy forgotten"),
        ("23.53 GB", "1/2", "GiB typed as GB"),
        ("25.27 GiB", "1/2", "GB typed as GiB"),
        ("25-25.6 GB", 1, None),
        ("22-29 GB", "1/2", None),
        ("20-30 GB", "1/4", None),
        ("20-60 GB", 0, None),
        ("10-20 GB", 0, None),
        ("500 GB", 0, None),
    ],
)
def test_a_count_is_full_within_2_percent_and_else_its_mistake(
    states_problem, typed, score, mistake
):
    verdict = marked(states_problem, typed)
    assert (verdict.score, verdict.mistake) == (Fraction(score), mistake)


@pytest.mark.parametrize(("typed", "word"), [("20-60 GB", "holds"), ("50-60 GB", "misses")])
def test_a_range_is_told_whether_it_holds_the_reference(states_problem, typed, word):
    verdict = marked(states_problem, typed)
    assert f"Your range {word} it" in verdict.feedback
    assert verdict.held is (word == "holds")


@pytest.mark.parametrize(
    ("typed", "score"),
    [
        # As wide as a band, wherever in it the reference lies.
        ("90-110 GB", 1),
        ("100-135 GB", 1),
        ("74-100 GB", 1),
        ("80-120 GB", "1/2"),
        ("50-190 GB", "1/4"),
        ("20-190 GB", 0),
        ("0-100 GB", 0),
        # Missed, and near: what its nearer end earns, but no more than half.
        ("101-110 GB", "1/2"),
        ("130-150 GB", "1/2"),
        ("60-70 GB", "1/2"),
        ("150-160 GB", "1/4"),
        ("300-400 GB", 0),
    ],
)
def test_a_range_for_an_estimate_is_scored_by_its_width_if_it_holds(make_problem, typed, score):
    problem = make_problem(QuantityAnswer(value=Fraction(100 * GB), band="estimate"))
    assert marked(problem, typed).score == Fraction(score)


def test_a_number_that_is_no_range_holds_nothing(states_problem):
    assert marked(states_problem, "about 25 GB").held is None


def test_a_gb_for_gib_slip_inside_the_estimate_band_is_said_and_costs_nothing(make_problem):
    problem = make_problem(QuantityAnswer(value=Fraction(100 * GB), band="estimate"))
    verdict = marked(problem, "93.13 GB")
    assert (verdict.score, verdict.mistake) == (1, None)
    assert "GiB typed as GB" in verdict.feedback


def test_a_slip_that_the_problem_knows_takes_the_problems_words(make_problem):
    problem = make_problem(
        QuantityAnswer(value=Fraction(100 * GB)),
        [("GiB typed as GB", Fraction(100 * GB * GB, 2**30))],
    )
    verdict = marked(problem, "93.13 GB")
    assert (verdict.score, verdict.mistake) == (Fraction(1, 2), "GiB typed as GB")
    assert "This is GiB typed as GB." in verdict.feedback


def test_a_wrong_number_is_answered_with_the_right_one_first(states_problem):
    feedback = marked(states_problem, "37 GB").feedback
    assert feedback == "Not quite: 25.27 GB = 23.53 GiB. This is gradients left whole."


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("26 GB", "3% too high"),
        ("12 GB", "too low by a factor of 2.11."),
        ("260 TB", "too high by a factor of 10,300."),
        ("6317265 GB", "too high by a factor of 250,000."),
        ("1 byte", "too low by a factor of more than 1,000,000,000."),
        ("0", "Not quite"),
    ],
)
def test_a_wrong_number_without_a_name_is_told_its_distance(states_problem, typed, says):
    assert says in marked(states_problem, typed).feedback


@pytest.mark.parametrize(
    ("typed", "score"), [("8", 1), ("8 GPUs", 1), ("eight", 1), ("9", 0), ("7 GPUs", 0)]
)
def test_a_count_of_things_is_right_or_wrong(make_problem, typed, score):
    assert marked(make_problem(CountAnswer(value=8, noun="GPUs")), typed).score == score


@pytest.mark.parametrize(
    ("typed", "says"), [("0", "Yours is too low."), ("9", "Yours is too high."), ("8", "8 GPUs.")]
)
def test_a_wrong_count_of_things_is_told_its_side(make_problem, typed, says):
    assert marked(make_problem(CountAnswer(value=8, noun="GPUs")), typed).feedback.endswith(says)


@pytest.mark.parametrize(("typed", "reading"), [("1", "1 GPU"), ("2", "2 GPUs")])
def test_one_thing_is_read_as_one(make_problem, typed, reading):
    verdict = marked(make_problem(CountAnswer(value=1, noun="GPUs")), typed)
    assert verdict.reading == reading
    assert "1 GPU." in verdict.feedback


@pytest.mark.parametrize("typed", ["7-8", "7.5", "8 GB"])
def test_a_count_of_things_is_one_whole_number(make_problem, typed):
    assert isinstance(grade(make_problem(CountAnswer(value=8, noun="GPUs")), typed), Unreadable)


@pytest.mark.parametrize(
    ("typed", "score", "mistake"),
    [
        ("4x", 1, None),
        ("4", 1, None),
        ("4.05 times", 1, None),
        ("1/4", 0, "upside down"),
        ("25%", 0, "upside down"),
        ("2x", 0, None),
    ],
)
def test_a_factor_is_full_within_2_percent(make_problem, typed, score, mistake):
    verdict = marked(make_problem(FactorAnswer(value=Fraction(4))), typed)
    assert (verdict.score, verdict.mistake) == (score, mistake)


@pytest.mark.parametrize(
    ("typed", "score", "mistake"),
    [
        ("no, 93 GB", 1, None),
        ("doesn't fit: 100 GB", 1, None),
        ("no, 120 GB", "3/4", None),
        ("no, 60 GB", "5/8", "logits and loss forgotten"),
        ("no, 5 GB", "1/2", None),
        ("yes, 93 GB", "1/2", None),
        ("yes, 5 GB", 0, None),
        ("93 GB, no", 1, None),
    ],
)
def test_yes_or_no_is_half_and_its_number_the_other(fits_problem, typed, score, mistake):
    verdict = marked(fits_problem, typed)
    assert (verdict.score, verdict.mistake) == (Fraction(score), mistake)


@pytest.mark.parametrize(("typed", "score"), [("no", "1/2"), ("fits", 0)])
def test_a_verdict_alone_can_be_marked_and_lacks_its_number(fits_problem, typed, score):
    verdict = marked(fits_problem, typed)
    assert verdict.score == Fraction(score)
    assert verdict.parsed == {"yes": typed == "fits", "number": None}


def test_a_number_alone_does_not_answer_yes_or_no(fits_problem):
    assert isinstance(grade(fits_problem, "93 GB"), Unreadable)


@pytest.mark.parametrize("typed", ["no, foo", "no, 93 foos", "yes 5 parsecs"])
def test_an_unreadable_number_behind_a_verdict_is_pointed_at_in_the_whole_line(
    fits_problem, typed
):
    found = grade(fits_problem, typed)
    assert isinstance(found, Unreadable)
    assert 3 <= found.offset <= len(typed)


@pytest.mark.parametrize(
    "typed", ["", "?", "idk", "{{7*7}} GB", "__import__('os')", "9" * 10_000, "\x1b[2J", "-5 GB"]
)
def test_what_cannot_be_read_is_a_value(states_problem, typed):
    found = grade(states_problem, typed)
    assert isinstance(found, Unreadable)
    assert 0 <= found.offset <= len(typed)
    assert found.reason


def test_the_reading_shows_both_units(states_problem):
    assert marked(states_problem, "16 gb").reading == "16 GB = 16.0e9 bytes = 14.9 GiB"


def test_a_verdict_as_json_has_the_stable_keys(states_problem):
    verdict = marked(states_problem, "37 GB").as_json
    assert json.loads(json.dumps(verdict)) == {
        "problem": "made@7",
        "answer": "37 GB",
        "parsed": 37 * GB,
        "score": 0.0,
        "verdict": "wrong",
        "mistake": "gradients left whole",
        "feedback": "Not quite: 25.27 GB = 23.53 GiB. This is gradients left whole.",
    }


def test_the_parsed_form_of_a_yes_or_no_has_both_halves(fits_problem):
    parsed = marked(fits_problem, "no, 93 GB").as_json["parsed"]
    assert parsed == {"yes": False, "number": 93 * GB}


@pytest.mark.parametrize(
    ("typed", "right"), [("9k", True), ("9 K", True), ("9216", True), ("9000", False)]
)
def test_a_k_of_tokens_is_1024(make_problem, typed, right):
    problem = make_problem(CountAnswer(value=9216, noun="tokens"))
    assert (marked(problem, typed).score == 1) is right


def test_percent_without_its_sign_is_named(make_problem):
    problem = make_problem(FactorAnswer(value=Fraction(8, 10)))
    verdict = marked(problem, "80")
    assert (verdict.mistake, verdict.score) == ("percent without its sign", Fraction(1, 2))


@pytest.mark.parametrize(
    ("problem", "typed"),
    [
        ("states-ledger@0", "weights 14, gradients 14, master 28, moments 56"),
        ("states-formula@0", "16P/N"),
        ("repair-sum@0", "3, 28 GB"),
    ],
)
def test_what_the_readme_types_is_read(problem, typed):
    kind, _, seed = problem.partition("@")
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    assert f"`{typed}`" in " ".join(readme.split())
    assert not isinstance(grade(build(kind, int(seed)), typed), Unreadable)
