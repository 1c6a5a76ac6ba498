"""The ledger beside steps that were traced once; traced_steps.toml names the command."""

import re
import tomllib
from pathlib import Path

import pytest

from engine.estimate import ledger
from engine.ledger import Phase
from engine.scenario_file import from_mapping

STEPS = tomllib.loads((Path(__file__).parent / "traced_steps.toml").read_text("utf-8"))["steps"]
MODEL = Path(__file__).parents[2] / "docs" / "model.md"
ENTRIES = set(re.findall(r"^### (.+)$", MODEL.read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("step", STEPS, ids=range(len(STEPS)))
def test_every_phase_meets_its_trace_and_every_line_has_an_entry_on_its_page(step):
    book = ledger(from_mapping(step["scenario"]))
    outside_torch = book.size("cuBLAS workspace")
    for traced, phases in ((step["steady"], book.phases), (step["first"], book.first_step)):
        beyond = {name: phases[name] - outside_torch - size for name, size in traced.items()}
        assert all(-step["left_out"] <= size <= 0 for size in beyond.values()), beyond
        assert set(phases) - {Phase.BACKWARD_LAST} <= set(traced) <= set(phases)
    assert {line.name for line in book.lines} <= ENTRIES
