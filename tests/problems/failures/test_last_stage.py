"""The last stage of a pipeline: head and logits, by hand and by the ledger of its neighbour."""

import re

from engine.estimate import ledgers
from problems.registry import build

SEEDS = range(20)


def test_head_and_logits_by_hand():
    for seed in SEEDS:
        problem = build("last-stage", seed)
        x = problem.scenario
        padded = int(re.search(r"V = ([\d,]+)", problem.prompt)[1].replace(",", ""))
        assert padded % (128 * x.parallel.tensor) == 0
        assert 0 <= padded - x.architecture.vocab < 128 * x.parallel.tensor
        entries = padded // x.parallel.tensor
        by_hand = entries * (18 * x.architecture.hidden + 2 * x.tokens)
        assert 0 <= problem.answer.value - by_hand <= 2 * 18 * x.architecture.hidden


def test_the_last_stage_has_the_highest_peak():
    for seed in SEEDS:
        *others, last = ledgers(build("last-stage", seed).scenario)
        assert last.stage.last
        assert last.peak > max(book.peak for book in others)
