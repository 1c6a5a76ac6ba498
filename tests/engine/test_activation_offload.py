"""Layer inputs that wait on the host, against traced and executed steps."""

from dataclasses import replace

import pytest
from long_rows import first

from engine.errors import UnmodelledError
from engine.estimate import ledger
from engine.ledger import Category, Phase
from engine.scenario import Adapters, Offload
from engine.scenario_file import from_mapping, to_mapping

torch = pytest.importorskip("torch")

from engine.verify.symbolic import peaks
from engine.verify.trace import executed, traced

HOST = Offload(activations="cpu")
ROWS = {
    "llama": {},
    "fp32, few words": {"precision": "fp32", "attention": "eager", "shape": {"vocab": 300}},
    "autocast": {"precision": "autocast", "loss": "fused", "optimizer": "adamw-fused"},
    "tied, added up": {"shape": {"tied": True}, "gradient_accumulation": 2, "dropout": 0.1},
}


@pytest.fixture
def offloaded(scenario):
    """Build a scenario whose layers' inputs wait on the host, and the same without."""

    def build(name="", **values):
        made = scenario(name, recompute="full", **values)
        return replace(made, offload=HOST), made

    return build


@pytest.mark.parametrize("name", first({"llama", "autocast"}, ROWS))
def test_the_formula_of_every_phase_is_the_traced_polynomial(offloaded, name):
    made, _ = offloaded(micro_batch=3, sequence=176, **ROWS[name])
    book = ledger(made)
    assert {peak.against(book).difference for peak in peaks(made)} == {0}


def test_every_phase_meets_an_executed_step(offloaded):
    made, _ = offloaded(micro_batch=4, attention="eager", shape={"hidden": 512, "vocab": 4000})
    timeline = executed(made)
    assert _gap(ledger(made), timeline.peaks(timeline.last_step)) < 0.002


def test_the_peak_beside_adapters_meets_the_traced_step(offloaded):
    shape = {"hidden": 2048, "heads": 32, "kv_heads": 8, "ffn": 8192, "vocab": 128_256}
    made, _ = offloaded(shape=shape | {"layers": 4, "tied": True}, sequence=4096)
    made = replace(made, adapters=Adapters(rank=16, base="4-bit"))
    peaks_of = traced(made).peaks(1)
    predicted = ledger(made).peak - ledger(made).size("cuBLAS workspace")
    assert predicted == pytest.approx(max(one.size for one in peaks_of.values()), rel=0.002)


def _gap(book, peaks_of):
    ours = {phase: book.phases[phase] - book.size("cuBLAS workspace") for phase in peaks_of}
    return max(abs(ours[phase] / peak.size - 1) for phase, peak in peaks_of.items())


def test_what_is_saved_is_two_bytes_a_token_layer_and_hidden_element(offloaded):
    made, before = offloaded("llama-3-8b", sequence=8192)
    saved = ledger(before).phases[Phase.LOSS] - ledger(made).phases[Phase.LOSS]
    assert saved == 2 * 8192 * 4096 * 32
    assert ledger(made).total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST) == 2 * 8192 * 4096


def test_a_scenario_file_gives_it_again(offloaded):
    made, before = offloaded()
    assert from_mapping(to_mapping(made)).offload == HOST
    assert "activations" not in to_mapping(before)["offload"]


@pytest.mark.parametrize(
    "values",
    [
        {"recompute": "none"},
        {"recompute": "full", "data": 4, "zero": 2},
        {"recompute": "full", "data": 4, "zero": 3},
        {"recompute": "full", "implementation": "hf"},
    ],
)
def test_where_it_has_no_lines_it_is_refused_by_name(scenario, values):
    with pytest.raises(UnmodelledError, match=r"offload\.activations"):
        replace(scenario(**values), offload=HOST)
