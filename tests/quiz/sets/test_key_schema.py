"""The published schema of a key takes every key that is written, and few others."""

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from problems.registry import as_json, build, kinds
from quiz.sets.key import key_of
from quiz.sets.schema import schema_text


@pytest.fixture(scope="module")
def schema():
    return json.loads(schema_text())


@pytest.fixture(scope="module")
def faults(schema):
    validator = Draft202012Validator(schema)
    return lambda plain: [error.json_path for error in validator.iter_errors(plain)]


@pytest.fixture
def plain(for_each):
    return json.loads(json.dumps(key_of(for_each)))


def test_the_schema_is_one(schema):
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_is_the_file_of_the_package():
    assert files("quiz").joinpath("data/key.schema.json").read_text(encoding="utf-8") == (
        schema_text()
    )


def test_the_keys_of_drawn_sets_are_valid(faults, for_all, for_each):
    assert not faults(json.loads(json.dumps(key_of(for_all))))
    assert not faults(json.loads(json.dumps(key_of(for_each))))


@pytest.mark.parametrize("kind", kinds())
def test_a_problem_of_every_kind_is_valid(schema, kind):
    validator = Draft202012Validator({"$ref": "#/$defs/problem", "$defs": schema["$defs"]})
    assert not [*validator.iter_errors(json.loads(json.dumps(as_json(build(kind, 1)))))]


@pytest.mark.parametrize(
    "change",
    [
        lambda key: key["slots"][0].update(points=0),
        lambda key: key["slots"][0].update(points=0.5),
        lambda key: key["slots"][0].update(points="1/3"),
        lambda key: key["variants"][0]["problems"][0]["answer"].update(value=5_000_000_000),
        lambda key: key["variants"][0]["problems"][0].update(mistakes=[]),
        lambda key: key["variants"][0]["problems"][0]["mistakes"][0].update(share="1/3"),
    ],
)
def test_what_an_instructor_may_change_is_valid(faults, plain, change):
    change(plain)
    assert not faults(plain)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda key: key.pop("slots"), "$"),
        (lambda key: key.update(shape=2), "$.shape"),
        (lambda key: key.update(remark="x"), "$"),
        (lambda key: key.update(variants=[]), "$.variants"),
        (lambda key: key["slots"][0].update(points=-1), "$.slots[0].points"),
        (lambda key: key["slots"][0].update(points="1/0"), "$.slots[0].points"),
        (lambda key: key["slots"][0].update(level="expert"), "$.slots[0].level"),
        (lambda key: key["variants"][0]["student"].pop("id"), "$.variants[0].student"),
        (
            lambda key: key["variants"][1]["problems"][0]["answer"].update(type="riddle"),
            "$.variants[1].problems[0].answer",
        ),
        (
            lambda key: key["variants"][1]["problems"][0]["answer"].update(value="5 GB"),
            "$.variants[1].problems[0].answer",
        ),
        (
            lambda key: key["variants"][1]["problems"][0]["answer"].pop("band"),
            "$.variants[1].problems[0].answer",
        ),
        (
            lambda key: key["variants"][1]["problems"][0]["mistakes"][0].update(share=1),
            "$.variants[1].problems[0].mistakes[0].share",
        ),
        (
            lambda key: key["variants"][1]["problems"][0].pop("prompt"),
            "$.variants[1].problems[0]",
        ),
    ],
)
def test_a_key_of_another_shape_is_not_valid(faults, plain, change, where):
    change(plain)
    found = faults(plain)
    assert any(path.startswith(where) or where.startswith(path) for path in found), found
