"""Recomputation without effect: what two runs measured shows one reason."""

import re

from engine.estimate import ledger
from engine.ledger import Category, Phase
from problems.registry import build

SEEDS = range(16)


def rows(problem):
    """The rows of the table, without and with recomputation, in GiB."""
    found = re.findall(r"([\d,.]+) GiB +([\d,.]+) GiB", problem.exhibit)
    return [tuple(float(size.replace(",", "")) for size in row) for row in found]


def seen(problem):
    """The reason that the table shows."""
    forward, backward, step, _, top = rows(problem)
    if forward[0] == forward[1]:
        return "it is not applied to the layers"
    if top[1] > 1.01 * max(backward[1], step[1]):
        return "the maximum is of the time before"
    if step[1] >= backward[1]:
        return "another moment is the peak"
    return "all layers are one segment"


def test_the_table_shows_the_reason():
    for seed in SEEDS:
        problem = build("recompute-idle", seed)
        assert seen(problem) == problem.answer.right.item.name, problem.id


def test_the_maximum_has_hardly_moved():
    for seed in SEEDS:
        *_, (without, with_it) = rows(build("recompute-idle", seed))
        assert 0.92 * without <= with_it <= without


def test_the_run_without_it_is_the_ledgers():
    for seed in SEEDS:
        problem = build("recompute-idle", seed)
        book = ledger(problem.scenario)
        _, backward, step, gradients, top = (row[0] for row in rows(problem))
        assert abs(step - book.phases[Phase.STEP] / 2**30) < 0.01
        assert abs(top - max(backward, step)) < 0.01
        assert top <= book.peak / 2**30 + 0.01
        # Of two bytes a parameter, or four.
        each = gradients * 2**30 / problem.scenario.architecture.parameters
        assert abs(each - round(each)) < 0.05


def test_one_segment_keeps_one_input():
    seen = 0
    for seed in SEEDS:
        problem = build("recompute-idle", seed)
        if problem.answer.right.item.name != "all layers are one segment":
            continue
        run, (without, with_it) = problem.scenario, rows(problem)[0]
        saved = ledger(run).total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)
        each = 4 if run.recipe.precision == "fp32" else 2
        kept = run.tokens * run.architecture.hidden * each
        assert abs(without - with_it - (saved - kept) / 2**30) < 0.02, problem.id
        seen += 1
    assert seen
