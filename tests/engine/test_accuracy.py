"""The ledger beside traced steps of drawn scenarios: a small part of `make accuracy`.

More drawn steps, traced once, are rows of traced_steps.toml.
"""

import sys
from pathlib import Path
from statistics import median

import pytest
from long_rows import first

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from accuracy import KINDS, compared

SAMPLE = {"fused": 4, "adapters": 2, "fsdp2": 2, "zero": 2, "offload": 2, "hf": 6, "hf-fsdp2": 2}


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("part", first({0}, range(2)))
def test_peak_and_phases_of_drawn_scenarios_meet_their_traces(name, part):
    if name.startswith("hf"):
        pytest.importorskip("transformers")
    kind, half = KINDS[name], SAMPLE[name] // 2
    found = list(compared(kind, range(1000 + part * half, 1000 + (part + 1) * half)))
    assert median(abs(one.peak) for one in found) < kind.median
    for one in found:
        assert abs(one.peak) < kind.largest, one.seed
        assert max(map(abs, one.phases.values())) < kind.largest, (one.seed, one.phases)
        assert max(map(abs, one.first.values())) < kind.largest, (one.seed, one.first)
