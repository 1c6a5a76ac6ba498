"""The bank linted: every kind keeps the rules of `memquiz check` over many seeds.

`make check` has more seeds. What each rule is for, tests/quiz/check/test_rules.py plants.
"""

import pytest

from problems.check.drawing import series_of
from problems.registry import build, kinds
from quiz.check.checking import judged

SEEDS = 60
OLD, PAIRS = ("p100", "v100", "t4"), ("a30", "a40", "rtx", "pcie", "nvl")


# One test, since each of the two would draw the problems anew.
@pytest.mark.parametrize("kind", kinds())
def test_a_kind_keeps_every_rule_and_asks_no_card_for_what_it_does_not_have(kind):
    series, failures = series_of(kinds()[kind], range(SEEDS))
    checked = judged(series, failures)
    assert [str(finding) for finding in checked.findings] == []
    assert checked.problems == SEEDS
    for made in (one.scenario for one in series.problems if one.scenario is not None):
        card = made.hardware.gpu.name
        if card.startswith(OLD):
            assert (made.recipe.attention, made.recipe.precision != "pure-bf16") == ("eager", True)
        if made.hardware.gpus > 8:
            assert not any(part in card for part in PAIRS), card


@pytest.mark.parametrize("kind", kinds())
def test_a_problem_is_the_same_each_time(kind):
    assert build(kind, 5) == build(kind, 5)


def test_key_value_heads_are_no_symbol_where_only_the_vocabulary_counts():
    for seed in range(SEEDS):
        assert set(build("logits-spike", seed).answer.symbols) == {"b", "s", "V", "h"}
