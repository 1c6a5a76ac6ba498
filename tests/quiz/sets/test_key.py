"""A key holds all of a set, and what cannot be read in one is named."""

import json

import pytest

from engine.errors import InputError
from quiz.grading import grade
from quiz.sets.key import key_of, key_text, read_key


@pytest.fixture
def plain(for_each):
    return json.loads(key_text(for_each))


@pytest.fixture
def read(tmp_path):
    def read(plain):
        text = plain if isinstance(plain, str) else json.dumps(plain)
        (tmp_path / "key.json").write_text(text, encoding="utf-8")
        return read_key(tmp_path / "key.json")

    return read


def test_a_key_is_read_back_as_the_set_that_it_was(for_each, for_all, read):
    assert read(key_text(for_each)) == for_each
    assert read(key_text(for_all)) == for_all


def test_a_key_says_what_it_was_drawn_by(for_each):
    key = key_of(for_each)
    assert (key["seed"], key["memquiz"], key["points"]) == (7, for_each.version, 4)


def test_a_key_marks_by_what_it_holds_and_not_by_what_is_drawn_today(plain, read):
    problem = plain["variants"][0]["problems"][0]
    problem["answer"]["value"] = 5 * 10**9
    changed = read(plain).variants[0].problems[0]
    assert grade(changed, "5 GB").score == 1


def test_a_share_of_a_mistake_that_was_changed_counts(plain, read):
    problem = plain["variants"][0]["problems"][0]
    mistake = next(one for one in problem["mistakes"] if one["name"] == "GB typed as GiB")
    mistake["share"] = "9/10"
    changed = read(plain).variants[0].problems[0]
    marked = grade(changed, f"{float(changed.answer.value) / 10**9:.6f} GiB")
    assert (marked.mistake, float(marked.score)) == ("GB typed as GiB", 0.9)


def test_a_problem_of_an_unknown_kind_is_read_from_the_key(plain, read):
    for one in (plain["slots"][0], *(each["problems"][0] for each in plain["variants"])):
        one["kind"] = "a-kind-that-went-away"
    assert read(plain).variants[0].problems[0].kind == "a-kind-that-went-away"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not JSON"),
        ("[]", "is no key"),
        ('{"x": 1}', "is no key"),
        ('{"variants": [], "shape": 9, "memquiz": "7.0"}', "use memquiz 7.0 or newer"),
        ('{"variants": [], "shape": 1}', "variants: an empty list does not fit there"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_key_is_told(read, text, says):
    with pytest.raises(InputError, match=says):
        read(text)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda problem: problem.pop("answer"), "zero-states@.*has no 'answer'"),
        (
            lambda problem: problem["answer"].update(type="riddle"),
            "'riddle' is no type that is known",
        ),
        (lambda problem: problem["answer"].update(value="5 GB"), "answer.value: '5 GB' does not"),
        (lambda problem: problem.update(mistakes=[{}]), "has no 'name'"),
        (lambda problem: problem.update(scenario={"model": {}}), "zero-states@"),
        (lambda problem: problem.update(mistakes=None), "zero-states@.*mistakes: null does not"),
        (
            lambda problem: problem["mistakes"][0].update(share="3/2"),
            "zero-states@.* is 3/2, and goes",
        ),
        (
            lambda problem: problem["mistakes"][0].update(share="1/1"),
            "zero-states@.* is 1/1, and goes",
        ),
        (
            lambda problem: problem["mistakes"][0].update(share=-0.5),
            "zero-states@.*share: -0.5 does",
        ),
    ],
)
def test_a_problem_that_cannot_be_read_is_named_with_its_variant(plain, read, change, says):
    change(plain["variants"][1]["problems"][0])
    with pytest.raises(InputError, match=f"variant 2, {says}|variant 2, .*{says}"):
        read(plain)


def test_variants_have_a_problem_for_each_slot(plain, read):
    plain["variants"][2]["problems"].pop()
    with pytest.raises(InputError, match=r"Student 2 \(s2\): 2 problems for 3 slots"):
        read(plain)


def test_a_key_without_variants_is_none(plain, read):
    plain["variants"] = []
    with pytest.raises(InputError, match="has no variant"):
        read(plain)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda variant: variant["problems"].reverse(),
            "question 1, claim@.* of the kind 'claim'",
        ),
        (lambda variant: variant["problems"][0].update(level="senior"), "of the level 'senior'"),
        (lambda variant: variant["problems"][0]["answer"].update(value=-5), "value is '-5'"),
        (lambda variant: variant["problems"][0]["answer"].update(value=0), "value is '0'"),
    ],
)
def test_a_problem_that_does_not_fit_its_slot_or_a_size_that_none_has_is_refused(
    plain, read, change, says
):
    change(plain["variants"][1])
    with pytest.raises(InputError, match=f"Student 1 .*{says}"):
        read(plain)


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ('1, "points": 0', "an object has 'points' twice, that with the number 1"),
        ("NaN", "NaN is no number of JSON"),
        ("1e999", "1e999 is too large a number"),
        ("9" * 5_000, "a number in it has thousands of digits"),
    ],
)
def test_what_json_lets_pass_and_no_key_may_have_is_told(for_each, read, points, says):
    with pytest.raises(InputError, match=says):
        read(key_text(for_each).replace('"points": 1', f'"points": {points}', 1))
