"""Allocated, reserved and what the driver says: in order, and the gaps between them."""

import re

from engine.units import GIB, MIB
from problems.artefacts.message import OutOfMemory
from problems.registry import build

SEEDS = range(24)


def figures(problem):
    """Allocated, reserved and the process in bytes, as they are printed."""
    unit = MIB if problem.level == "junior" else 1
    pattern = r"torch\.cuda\.memory_\w+\(\) +([\d,]+)"
    allocated, reserved = (
        int(found.replace(",", "")) * unit for found in re.findall(pattern, problem.exhibit)
    )
    return allocated, reserved, int(re.search(r"2741, (\d+) MiB", problem.exhibit)[1]) * MIB


def test_the_three_numbers_are_in_order():
    for seed in SEEDS:
        allocated, reserved, process = figures(build("three-numbers", seed))
        assert allocated < reserved < process


def test_the_gap_is_the_difference_of_two_printed_numbers():
    for seed in SEEDS:
        problem = build("three-numbers", seed)
        allocated, reserved, process = figures(problem)
        cache = "no tensor uses" in problem.prompt
        by_hand = reserved - allocated if cache else process - reserved
        assert abs(by_hand / problem.answer.value - 1) < 0.01


def test_the_other_process_is_what_the_card_has_more_in_use():
    seen = 0
    for seed in SEEDS:
        problem = build("three-numbers", seed)
        used = int(re.search(r"^(\d+) MiB, \d+ MiB", problem.exhibit, re.MULTILINE)[1])
        rows = [int(row) for row in re.findall(r"^\d+, (\d+) MiB", problem.exhibit, re.MULTILINE)]
        assert used == sum(rows)
        seen += len(rows) > 1
    assert seen > 3


def test_a_gap_between_61_and_74_gib_is_cache_and_context():
    process = OutOfMemory(
        tensor=GIB, total=80 * GIB, allocated=61 * GIB, reserved=73 * GIB, outside=GIB
    )
    assert (process.cached, process.in_use) == (12 * GIB, 74 * GIB)
