"""The claims, their points and their false statements, as the tables have them."""

import re

import pytest

from engine.errors import InputError
from problems.claims import (
    Claim,
    FalseStatement,
    Point,
    claim,
    claims,
    falsehoods,
    with_reasons,
)

CLAIMS = list(claims().values())
ALL = list(with_reasons().values())
POINT = Point(id="own", says="Each rank has its own.", core=True)
MISTAKE = FalseStatement(id="shared", says="They share.", why="They do not.", misconception=True)
SOUND = {
    "id": "made",
    "claim": "Ranks share activations.",
    "truth": False,
    "core": "Each rank has its own.",
    "hint": "Whose are they?",
    "points": (POINT,),
    "errors": (MISTAKE,),
    "source": "a paper",
}


def test_there_are_true_claims_and_false_ones():
    assert len(CLAIMS) >= 41
    assert sum(asked.truth for asked in CLAIMS) >= 15
    assert sum(not asked.truth for asked in CLAIMS) >= 15


@pytest.mark.parametrize("asked", ALL, ids=lambda asked: asked.id)
def test_core_points_stand_first(asked):
    cores = [point.core for point in asked.points]
    assert cores[0]
    assert cores == sorted(cores, reverse=True)


@pytest.mark.parametrize("asked", ALL, ids=lambda asked: asked.id)
def test_ids_are_lower_case_words_with_hyphens_and_none_stands_twice(asked):
    names = [part.id for part in (*asked.points, *asked.errors)]
    assert len({*names}) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*", name) for name in (asked.id, *names))


@pytest.mark.parametrize("asked", ALL, ids=lambda asked: asked.id)
def test_sentences_end_with_a_full_stop(asked):
    sentences = [asked.claim, asked.core, *(point.says for point in asked.points)]
    sentences += [sentence for error in asked.errors for sentence in (error.says, error.why)]
    assert [sentence for sentence in sentences if not sentence.endswith(".")] == []


@pytest.mark.parametrize("asked", ALL, ids=lambda asked: asked.id)
def test_a_hint_asks_and_tells_neither_the_verdict_nor_a_reason(asked):
    assert asked.hint.endswith(("?", "."))
    assert not re.search(r"\b(true|false|right|wrong)\b", asked.hint, re.IGNORECASE)
    assert not any(part.says.rstrip(".").lower() in asked.hint.lower() for part in asked.points)


@pytest.mark.parametrize("error", falsehoods(), ids=lambda error: error.id)
def test_a_general_falsehood_is_kept_from_claims_that_exist(error):
    assert {*error.unless} <= {*claims()}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"core": " "}, "core: says nothing"),
        ({"source": ""}, "source: says nothing"),
        ({"points": ()}, "points: has no core point"),
        ({"errors": ()}, "errors: has no misconception"),
    ],
)
def test_a_claim_that_lacks_a_part_is_refused(changes, what):
    with pytest.raises(InputError, match=what):
        Claim(**SOUND | changes)


def test_every_fault_of_a_claim_is_listed():
    with pytest.raises(InputError) as refused:
        Claim(**SOUND | {"core": "", "source": "", "points": (), "errors": ()})
    assert len(refused.value.faults) == 4


def test_a_part_that_says_nothing_is_refused():
    silent = Point(id="own", says=" ", core=True)
    with pytest.raises(InputError, match="own: says nothing"):
        Claim(**SOUND | {"points": (silent,)})


def test_an_unknown_claim_is_refused_with_near_names():
    with pytest.raises(InputError, match="zero3-activations"):
        claim("zero3-activation")
