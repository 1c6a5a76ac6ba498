"""Logs of runs that die late: each shows one cause, told by the columns."""

import re

from engine.estimate import ledger
from problems.registry import build

SEEDS = range(24)
ROW = re.compile(
    r"^ *([\d,]+|eval|save) +([\d,]+|-) +([\d.]+) GiB +([\d.]+) GiB +([\d.]+) GiB$", re.MULTILINE
)


def rows(problem):
    """What ran, tokens, live, peak and reserved of each row, in GiB."""
    for what, tokens, *sizes in ROW.findall(problem.exhibit):
        length = 0 if tokens == "-" else int(tokens.replace(",", ""))
        yield what, length, *map(float, sizes)


def seen(problem):
    """The cause that the columns show."""
    found = list(rows(problem))
    *before, last = found
    if last[0] in {"eval", "save"}:
        return {"eval": "the evaluation between two steps", "save": "the save between two steps"}[
            last[0]
        ]
    if last[1] > max(row[1] for row in before):
        return "a batch with longer sequences than any before"
    if last[2] > found[0][2]:
        return "tensors that each step leaves behind"
    return "a cache in more and more pieces"


def test_the_columns_show_the_cause():
    for seed in SEEDS:
        problem = build("dies-late", seed)
        assert seen(problem) == problem.answer.right.item.name, problem.id


def test_only_the_last_row_does_not_fit():
    for seed in SEEDS:
        problem = build("dies-late", seed)
        room = problem.scenario.hardware.gpu.memory / 2**30
        found = list(rows(problem))
        assert len(found) >= 7
        assert all(row[3] < room and row[4] <= room for row in found[:-1]), problem.id


def test_a_leak_grows_with_the_steps():
    leaks = 0
    for seed in SEEDS:
        problem = build("dies-late", seed)
        if problem.answer.right.item.name != "tensors that each step leaves behind":
            continue
        first, middle, last = (list(rows(problem))[place] for place in (0, 3, -1))
        one, other = (
            (row[2] - first[2]) / (int(row[0].replace(",", "")) - int(first[0].replace(",", "")))
            for row in (middle, last)
        )
        assert abs(one / other - 1) < 0.1
        leaks += 1
    assert leaks > 0


def test_peaks_are_those_of_the_ledger_where_nothing_leaks():
    longest = 0
    for seed in SEEDS:
        problem = build("dies-late", seed)
        if problem.answer.right.item.name != "a batch with longer sequences than any before":
            continue
        last = list(rows(problem))[-1]
        assert last[1] == problem.scenario.workload.sequence
        assert abs(last[3] * 2**30 / ledger(problem.scenario).peak - 1) < 0.01
        longest += 1
    assert longest > 0
