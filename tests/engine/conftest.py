"""A scenario factory: sizes and switches by keyword, everything else plain."""

import sys
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path

import pytest

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.catalog import accelerator, model
from engine.estimate import ledger
from engine.scenario import (
    Adapters,
    Hardware,
    Model,
    Offload,
    Parallel,
    Recipe,
    Scenario,
    Serving,
    Workload,
)

sys.path.insert(0, str(Path(__file__).parent))  # for what tests share, such as long_rows

SMALL = {"layers": 3, "hidden": 256, "heads": 8, "ffn": 704, "vocab": 1000}
GPT = {
    "gated": False,
    "norm": "layernorm",
    "activation": "gelu-tanh",
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
}


def _of(kind: type, values: dict) -> dict:
    return {f.name: values.pop(f.name) for f in fields(kind) if f.name in values}


def _offload(optimizer: str, parameters: str) -> Offload:
    """The optimizer is where the parameters are."""
    return Offload(
        optimizer=optimizer if parameters == "none" else parameters, parameters=parameters
    )


def _scenario(name: str | Architecture = "", *, gpu: str = "h100-80gb", **values) -> Scenario:
    if isinstance(name, Architecture):
        chosen = Model(name="own", title="own", architecture=name)
    elif name:
        row = model(name)
        chosen = Model(
            name=row.name,
            title=row.title,
            architecture=row.architecture,
            max_sequence=row.max_sequence,
        )
    else:
        shape = SMALL | values.pop("shape", {})
        chosen = Model(name="small", title="small", architecture=Architecture(**shape))
    parallel = Parallel(**_of(Parallel, values))
    gpus = parallel.data * parallel.tensor * parallel.pipeline * parallel.context
    card: Accelerator = accelerator(gpu)
    made = Scenario(
        model=chosen,
        implementation=values.pop("implementation", "fused"),
        workload=Workload(**({"sequence": 128} | _of(Workload, values))),
        recipe=Recipe(**_of(Recipe, values)),
        parallel=parallel,
        offload=_offload(values.pop("offload", "none"), values.pop("parameters_on", "none")),
        serving=Serving(**_of(Serving, values)),
        hardware=Hardware(gpu=card, gpus=values.pop("gpus", gpus)),
    )
    assert not values, f"unused: {values}"
    return made


@pytest.fixture
def scenario():
    """Build a scenario from keywords."""
    return _scenario


@pytest.fixture
def adapted():
    """Build a scenario with adapters from keywords; `adapter_dropout` is theirs."""

    def build(name="", *, rank=8, targets="all", base="16-bit", adapter_dropout=0.0, **values):
        adapters = Adapters(rank=rank, targets=targets, base=base, dropout=adapter_dropout)
        return replace(_scenario(name, **values), adapters=adapters)

    return build


@pytest.fixture
def gpt():
    """Switches of a GPT-2 block."""
    return dict(GPT)


@pytest.fixture
def gaps():
    """Return predicted over measured bytes, less 1, by phase; traced where nothing is given."""
    return _gaps


def _gaps(made, timeline=None):
    pytest.importorskip("torch")
    traced = import_module("engine.verify.trace").traced
    timeline = timeline or traced(made)
    book = ledger(made)
    peaks = timeline.peaks(timeline.last_step)
    outside_torch = book.size("cuBLAS workspace")
    return {
        phase.value: (book.phases[phase] - outside_torch) / peak.size - 1
        for phase, peak in peaks.items()
    }
