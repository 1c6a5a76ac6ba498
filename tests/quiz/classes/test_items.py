"""Difficulty, discrimination, mistakes and spread, held to values worked out apart."""

import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quiz.classes.histogram import drawn, histogram
from quiz.classes.items import best_and_last, correlation, items
from quiz.output.figures import Box

quarters = st.integers(0, 4).map(lambda n: Fraction(n, 4))
pairs = st.lists(st.tuples(quarters, quarters), min_size=4, max_size=30)


@given(pairs)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_correlation_is_that_of_numpy_and_of_the_standard_library(rows):
    one, other = zip(*rows, strict=True)
    found = correlation(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
        return
    floats = [*map(float, one)], [*map(float, other)]
    assert found == pytest.approx(statistics.correlation(*floats), abs=1e-9)
    assert found == pytest.approx(np.corrcoef(*floats)[0, 1], abs=1e-9)


def test_of_fewer_than_four_students_no_discrimination_is_said():
    scores = [Fraction(0), Fraction(1), Fraction(1)]
    assert correlation(scores, scores) is None
    assert best_and_last(scores, scores) is None


@pytest.mark.parametrize(
    ("scores", "totals", "wanted"),
    [
        # Of ten 27% are three: 1, 1, 0 above and 0, 1, 0 below.
        ("1101001010", range(10, 0, -1), Fraction(2, 3) - Fraction(1, 3)),
        # Of four one: the best has 1, the last 0.
        ("1100", (4, 3, 2, 1), Fraction(1)),
        # Two share the best total, each counts half; two share the last, each half.
        ("1001", (4, 4, 1, 1), Fraction(1, 2) - Fraction(1, 2)),
        ("1100", (4, 4, 1, 1), Fraction(1)),
        ("1010", (2, 2, 2, 2), Fraction(0)),
    ],
)
def test_the_best_and_the_last_27_percent_are_set_apart(scores, totals, wanted):
    scores = [Fraction(int(one)) for one in scores]
    assert best_and_last(scores, [Fraction(one) for one in totals]) == wanted


@given(st.permutations(range(8)))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_the_order_of_the_class_decides_nothing(order):
    rows = [(Fraction(at % 2), Fraction(at // 3)) for at in order]
    one, other = zip(*rows, strict=True)
    assert best_and_last(one, other) == best_and_last(
        *zip(*[(Fraction(at % 2), Fraction(at // 3)) for at in range(8)], strict=True)
    )


def said(problem):
    return problem.answer.said.split(" = ")[0]


@pytest.fixture(scope="module")
def two(draw):
    return draw([{"kinds": ["zero-states"]}, {"kinds": ["model-states"], "points": 3}])


def test_a_question_has_its_mean_score_and_its_correlation_with_the_rest(two, class_of):
    one, other = map(said, two.variants[0].problems)
    texts = {"a": [one, other], "b": [one, other], "c": [one, ""], "d": ["", "what?"]}
    first, second = items(class_of(two, texts))
    assert (first.difficulty, second.difficulty) == (Fraction(3, 4), Fraction(1, 2))
    # Scores 1, 1, 1, 0 against the other question's points 3, 3, 0, 0: 0.75 / sqrt(0.75 * 9).
    assert first.rest == pytest.approx(statistics.correlation([1, 1, 1, 0], [3, 3, 0, 0]))
    assert second.rest == pytest.approx(statistics.correlation([1, 1, 0, 0], [1, 1, 1, 0]))
    assert second.words == {"correct": 2, "not answered": 1, "unreadable": 1}


def test_a_question_that_all_have_right_is_to_be_looked_at(two, class_of):
    one, other = map(said, two.variants[0].problems)
    first, second = items(class_of(two, {"a": [one, ""], "b": [one, other]}))
    assert first.concerns == ("easy: the mean score is 1.00, above 0.95",)
    assert second.concerns == ()


def test_a_question_that_the_best_have_wrong_is_to_be_looked_at(two, class_of):
    one, other = map(said, two.variants[0].problems)
    texts = {"a": ["", other], "b": ["", other], "c": [one, ""], "d": [one, ""]}
    assert "at -1.00" in items(class_of(two, texts))[0].concerns[0]


def test_a_question_that_does_not_count_is_not_to_be_looked_at(draw, class_of):
    problems = draw([{"kinds": ["zero-states"], "points": 0}, {"kinds": ["model-states"]}])
    first, second = items(class_of(problems, {"a": ["", ""]}))
    assert (first.concerns, len(second.concerns)) == ((), 1)


def test_mistakes_are_counted_among_the_answers_that_could_be_read(two, class_of):
    problem = two.variants[0].problems[0]
    one, other = [x for x in problem.mistakes if not x.also][:2]
    wrong, else_wrong = (f"{float(x.value) / 10**9:.6f} GB" for x in (one, other))
    texts = {"a": [wrong], "b": [wrong], "c": [else_wrong], "d": ["what?"], "e": [""]}
    found = items(class_of(two, texts))[0].slips
    assert [(x.name, x.times, x.of) for x in found] == [(one.name, 2, 3), (other.name, 1, 3)]


def test_the_histogram_has_each_share_once():
    shares = [Fraction(0), Fraction(1, 10), Fraction(99, 1000), Fraction(9, 10), Fraction(1)]
    bars = histogram(shares)
    assert [bar.students for bar in bars] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert (bars[0].said, bars[9].said) == ("0 to below 10%", "90 to 100%")


def test_bars_stand_on_the_line_and_the_tallest_is_as_tall_as_the_picture():
    bars = histogram([Fraction(0), Fraction(1, 2), Fraction(1, 2)])
    shown = [one for one in drawn(bars, "").shapes if isinstance(one, Box)]
    assert {one.y + one.height for one in shown} == {180}
    assert (shown[5].height, shown[0].height, shown[1].height) == (180, 90, 0)
