"""The bank linted: every kind keeps the rules of `memquiz check` over many seeds.

`make check` has more seeds. What each rule is for, tests/quiz/check/test_rules.py plants.
"""

import pytest

from problems.registry import build, kinds
from quiz.check.checking import check

SEEDS = 60


@pytest.mark.parametrize("kind", kinds())
def test_a_kind_keeps_every_rule(kind):
    (checked,) = check([kinds()[kind]], SEEDS, bank=False)
    assert [str(finding) for finding in checked.findings] == []
    assert checked.problems == SEEDS


@pytest.mark.parametrize("kind", kinds())
def test_a_problem_is_the_same_each_time(kind):
    assert build(kind, 5) == build(kind, 5)


def test_key_value_heads_are_no_symbol_where_only_the_vocabulary_counts():
    for seed in range(SEEDS):
        assert set(build("logits-spike", seed).answer.symbols) == {"b", "s", "V", "h"}
