"""The events of a step: replayed by hand and on the allocator, and the ledger's peak nearby."""

import re

import pytest

from engine.estimate import ledger
from engine.units import MIB
from problems.artefacts.events import Event, alive
from problems.registry import build

SEEDS = range(16)
ROW = re.compile(r"^ *\d+  (alloc|free )  +([\d,]+) MiB  (.+)$", re.MULTILINE)


def events(problem):
    for kind, size, what in ROW.findall(problem.exhibit):
        yield kind.strip(), int(size.replace(",", "")) * MIB, what


def test_the_highest_sum_of_the_lines_is_the_answer():
    for seed in SEEDS:
        problem = build("timeline-peak", seed)
        live = most = 0
        for kind, size, _ in events(problem):
            live += size if kind == "alloc" else -size
            most = max(most, live)
        assert most == problem.answer.value


def test_what_is_released_was_allocated_with_the_same_size():
    for seed in SEEDS:
        held = {}
        for kind, size, what in events(build("timeline-peak", seed)):
            if kind == "alloc":
                assert what not in held
                held[what] = size
            else:
                assert held.pop(what) == size
        assert set(held) == {"weights and optimizer states"}


def test_the_peak_is_near_that_of_the_ledger():
    # Left out are a layer's temporaries, the workspace and what the head keeps.
    for seed in SEEDS:
        problem = build("timeline-peak", seed)
        assert 0.85 <= problem.answer.value / ledger(problem.scenario).peak <= 1.05, problem.id


@pytest.mark.parametrize(
    ("steps", "after"),
    [
        ((("a", 3), ("b", 4), ("-a", 3)), (3, 7, 4)),
        ((("a", 3), ("-a", 3), ("b", 2)), (3, 0, 2)),
    ],
)
def test_what_is_alive_after_each_event(steps, after):
    made = tuple(
        Event(what=name.removeprefix("-"), size=size * MIB, released=name.startswith("-"))
        for name, size in steps
    )
    assert alive(made) == tuple(size * MIB for size in after)
