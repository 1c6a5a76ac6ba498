"""A problem as JSON has the stable shape and loses no digit."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from engine.scenario_file import from_mapping
from problems.answers.factor import FactorAnswer
from problems.answers.quantity import QuantityAnswer
from problems.json_form import from_json
from problems.registry import as_json, build, kinds

KEYS = {
    "id", "kind", "topic", "level", "seed", "scenario", "prompt", "exhibit", "answer", "hints",
    "solution", "mistakes",
}  # fmt: skip


@pytest.mark.parametrize("kind", kinds())
def test_a_problem_has_these_keys(kind):
    assert set(as_json(build(kind, 1))) == KEYS


@pytest.mark.parametrize("kind", kinds())
def test_a_problem_survives_json(kind):
    problem = as_json(build(kind, 2))
    assert json.loads(json.dumps(problem, allow_nan=False)) == problem


@pytest.mark.parametrize("kind", kinds())
def test_the_scenario_of_a_problem_can_be_read_again(kind):
    problem = build(kind, 3)
    written = as_json(problem)["scenario"]
    assert (written and from_mapping(written)) == problem.scenario


@pytest.mark.parametrize("kind", kinds())
def test_a_problem_is_read_back_as_it_was(kind):
    for seed in range(4, 7):
        problem = build(kind, seed)
        assert from_json(json.loads(json.dumps(as_json(problem)))) == problem


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("first-lever", {"value": "z"}, "value is z"),
        ("repair-sum", {"step": 9}, "step or proof says other"),
        ("frozen-formula", {"value": "2·P"}, "value is 2·P"),
    ],
)
def test_values_that_contradict_each_other_are_no_answer(kind, change, says):
    written = as_json(build(kind, 1))
    with pytest.raises(ValueError, match=says):
        from_json(written | {"answer": written["answer"] | change})


def test_whole_numbers_are_integers():
    assert as_json(build("model-states", 1))["answer"]["value"] == int(
        build("model-states", 1).answer.value
    )


def test_other_numbers_are_exact_fractions_as_text():
    third = replace(build("model-states", 1), answer=FactorAnswer(value=Fraction(1, 3)))
    assert Fraction(as_json(third)["answer"]["value"]) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        ("zero-states", "quantity"),
        ("parameter-count", "quantity"),
        ("fewest-gpus", "count"),
        ("activation-scaling", "factor"),
        ("fits", "yes-no"),
        ("largest-micro-batch", "count"),
        ("rank-levers", "ranking"),
        ("first-lever", "choice"),
        ("smallest-change", "count"),
        ("repair-sum", "repair"),
    ],
)
def test_an_answer_says_its_type(kind, type_):
    assert as_json(build(kind, 1))["answer"]["type"] == type_


def test_a_quantity_says_what_a_bare_number_means():
    answer = as_json(build("zero-states", 1))["answer"]
    assert (answer["unit"], answer["default_unit"], answer["band"]) == ("bytes", "GB", "count")


def test_a_count_of_parameters_is_a_plain_number():
    answer = build("parameter-count", 1).answer
    assert isinstance(answer, QuantityAnswer)
    assert (answer.unit, answer.default_unit) == ("1", None)
