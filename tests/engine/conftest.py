"""A scenario factory: sizes and switches by keyword, everything else plain."""

from dataclasses import fields

import pytest

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.catalog import accelerator, model
from engine.scenario import Hardware, Model, Parallel, Recipe, Scenario, Workload

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


def _scenario(name: str | Architecture = "", *, gpu: str = "h100-80gb", **values) -> Scenario:
    if isinstance(name, Architecture):
        chosen = Model(name="own", title="own", architecture=name)
    elif name:
        row = model(name)
        chosen = Model(name=row.name, title=row.title, architecture=row.architecture)
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
        hardware=Hardware(gpu=card, gpus=values.pop("gpus", gpus)),
    )
    assert not values, f"unused: {values}"
    return made


@pytest.fixture
def scenario():
    """Build a scenario from keywords."""
    return _scenario


@pytest.fixture
def gpt():
    """Switches of a GPT-2 block."""
    return dict(GPT)
