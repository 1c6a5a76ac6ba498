"""What 200 seeds come to: all of the catalogue, and no verdict that pays off unread."""

from functools import cache

import pytest

from engine.catalog import accelerators, models
from problems.registry import build, kinds
from problems.wording import card

SEEDS = range(200)
# Yes or no, true or false; a row that takes seconds is left to `make check` and `make long`.
VERDICTS = (
    pytest.param("fits", marks=pytest.mark.long),
    "hybrid-sharding",
    pytest.param("which-fits", marks=pytest.mark.long),
    "sharded-base",
    "sharding-throughput",
    "engine-starts",
    "serve-fits",
    "windows-in-log",
    pytest.param("collective-fits", marks=pytest.mark.long),
    "claim",
    "claim-in-run",
)
# Quick ones; `make check` looks at all of the bank.
NAMING = ("model-states", "zero-states", "fewest-gpus", "units", "matmul-operands")


@cache
def drawn(kind):
    return tuple(build(kind, seed) for seed in SEEDS)


def said():
    return "\n".join(problem.prompt for kind in NAMING for problem in drawn(kind))


def verdicts(kind, level):
    answers = [problem.answer for problem in drawn(kind) if problem.level == level]
    of_type = {"yes-no": "value", "claim": "truth"}
    return [getattr(x, of_type[x.type]) for x in answers if x.type in of_type]


def test_every_model_is_asked_about():
    text = said()
    assert [model.name for model in models().values() if model.title not in text] == []


def test_every_card_is_asked_about():
    text = said()
    assert [gpu.name for gpu in accelerators().values() if card(gpu) not in text] == []


@pytest.mark.parametrize("kind", VERDICTS)
def test_at_each_level_40_to_60_of_100_verdicts_are_yes_or_true(kind):
    for level in kinds()[kind].levels:
        found = verdicts(kind, level)
        if found:
            assert 0.4 <= sum(found) / len(found) <= 0.6, level


@pytest.mark.long
def test_every_kind_with_a_verdict_is_looked_at():
    of_verdicts = {"yes-no", "claim"}
    asked = {name for name in kinds() if _types(name) & of_verdicts}
    assert asked == {getattr(row, "values", (row,))[0] for row in VERDICTS}


def _types(kind):
    """The types of answer of the first problem at each level."""
    return {build(kind, seed).answer.type for seed in range(len(kinds()[kind].levels))}
