"""A key is held to its schema as another reader of JSON Schema holds it."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from engine.errors import InputError
from problems.answers.registry import types
from quiz.sets.key import key_of, read_key
from quiz.sets.schema import schema_text
from quiz.sets.shape import Shape

SHARE = 'Of the credit, from 0 to below 1: 0.5, or "1/2"'
AMOUNT = 'A number that is not negative: 2, 0.5, or "1/3"'
VALUES = (None, True, -1, 0, 5, 1.5, "", "x", "1/0", "-1/2", [], {}, ["x"], {"a": 1})


@pytest.fixture(scope="module")
def schema():
    return json.loads(schema_text())


@pytest.fixture(scope="module")
def fault(schema):
    return Shape(schema).fault


@pytest.fixture
def plain(for_each):
    return json.loads(json.dumps(key_of(for_each)))


def places(value, path=()):
    """Yield the way to each value in plain JSON."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inside:
        yield (*path, key)
        if isinstance(one, dict | list):
            yield from places(one, (*path, key))


@pytest.fixture(scope="module")
def cases(schema, fault, for_all):
    """The key, its places, both readers; behind a function, which is short to print."""
    key = json.loads(json.dumps(key_of(for_all)))
    found = key, [*places(key)], Draft202012Validator(schema).is_valid, fault
    return lambda: found


@given(data=st.data())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_a_changed_key_fits_where_another_reader_of_the_schema_says_so(cases, data):
    key, everywhere, is_valid, fault = cases()
    *way, last = data.draw(st.sampled_from(everywhere))
    changed = copy.deepcopy(key)
    part = changed
    for step in way:
        part = part[step]
    if isinstance(part, dict) and data.draw(st.booleans()):
        last = data.draw(st.sampled_from(("point", "remark", last)))
    part[last] = data.draw(st.sampled_from(VALUES))
    assert (fault(changed) == "") == is_valid(changed)


def test_every_property_is_required(schema):
    for one in (schema, *schema["$defs"].values()):
        assert [*one.get("properties", {})] == one.get("required", [])


def test_every_type_of_answer_is_in_the_schema(schema):
    named = {one["$ref"].removeprefix("#/$defs/") for one in schema["$defs"]["answer"]["oneOf"]}
    assert named == set(types())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda key: key.update(title=5), "title: 5 does not fit there"),
        (lambda key: key["slots"][1].pop("topic"), "slots[1]: has no 'topic'"),
        (
            lambda key: key["slots"][1].update(points=-1),
            f"slots[1].points: -1 does not fit there: {AMOUNT}",
        ),
        (
            lambda key: key["variants"][2]["problems"][0]["answer"].update(band="near"),
            "variants[2].problems[0].answer.band: 'near' does not fit there",
        ),
        (lambda key: key.update(variants=5), "variants: 5 does not fit there"),
        (
            lambda key: key["slots"][0].update(points="two"),
            f"slots[0].points: 'two' does not fit there: {AMOUNT}",
        ),
        (
            lambda key: key["slots"][0].update(points=10**500),
            f"slots[0].points: a number of more than 15 digits does not fit there: {AMOUNT}",
        ),
        (
            lambda key: key["slots"][0].update(point=0),
            "slots[0]: 'point' is not known; did you mean points?",
        ),
        (
            lambda key: key["slots"][0].update(point=key["slots"][0].pop("points")),
            "slots[0]: 'point' is not known; did you mean points?",
        ),
        (
            lambda key: key["variants"][0]["problems"][1]["mistakes"][0].update(share=1),
            f"variants[0].problems[1].mistakes[0].share: 1 does not fit there: {SHARE}",
        ),
    ],
)
def test_the_place_that_does_not_fit_is_told(fault, plain, change, says):
    change(plain)
    assert fault(plain) == says


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda key: key["slots"][0].update(points="1/0"), r"slots\[0\].points: '1/0' does not"),
        (lambda key: key["slots"][0].update(points=True), r"slots\[0\].points: true does not fit"),
        (lambda key: key["slots"][0].update(points=-2), r"slots\[0\].points: -2 does not fit"),
        (lambda key: key["slots"][1].update(number=1), "2 slots have the number 1"),
        (
            lambda key: key["slots"][1].update(number=[]),
            r"slots\[1\].number: an empty list",
        ),
        (lambda key: key["variants"][1]["student"].update(id="s0"), "2 variants are of .* 's0'"),
        (lambda key: key["variants"][1].update(student=None), "for everyone and others"),
        (lambda key: key.update(variants=5), "variants: 5 does not fit"),
    ],
)
def test_a_key_that_was_changed_so_that_it_does_not_fit_is_refused(tmp_path, plain, change, says):
    change(plain)
    (tmp_path / "key.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_key(tmp_path / "key.json")


@pytest.mark.parametrize(("points", "exact"), [(0.1, "1/10"), (2, "2"), ("1/3", "1/3")])
def test_points_are_read_exactly_as_they_are_written(tmp_path, plain, points, exact):
    plain["slots"][0]["points"] = points
    (tmp_path / "key.json").write_text(json.dumps(plain), encoding="utf-8")
    assert str(read_key(tmp_path / "key.json").slots[0].points) == exact
