"""A settings factory: sizes and switches by keyword, unchecked, everything else plain."""

from dataclasses import fields

import pytest

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.catalog import accelerator, model
from engine.settings import (
    Hardware,
    Model,
    Offload,
    Parallel,
    Recipe,
    Settings,
    Workload,
)

SMALL = {"layers": 4, "hidden": 256, "heads": 8, "ffn": 1024, "vocab": 1024}
GPT = {
    "gated": False,
    "norm": "layernorm",
    "activation": "gelu-tanh",
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
    "tied": True,
}


def _of(kind: type, values: dict) -> dict:
    return {f.name: values.pop(f.name) for f in fields(kind) if f.name in values}


def _settings(shape: str | dict | Architecture = "", **values) -> Settings:
    gpu = values.pop("gpu", "h100-80gb")
    card = gpu if isinstance(gpu, Accelerator) else accelerator(gpu)
    if isinstance(shape, str) and shape:
        architecture = model(shape).architecture
    elif isinstance(shape, Architecture):
        architecture = shape
    else:
        architecture = Architecture(**(SMALL | (shape or {})))
    parameters_on = values.pop("parameters_on", "none")
    offload = Offload(optimizer=values.pop("offload", parameters_on), parameters=parameters_on)
    parallel = Parallel(**_of(Parallel, values))
    passes = values.pop("passes", 1)
    made = Settings(
        model=Model(name="own", title="own", architecture=architecture),
        implementation=values.pop("implementation", "megatron"),
        workload=Workload(
            **({"sequence": 128, "gradient_accumulation": passes} | _of(Workload, values))
        ),
        recipe=Recipe(**_of(Recipe, values)),
        parallel=parallel,
        offload=offload,
        hardware=Hardware(gpu=card, gpus=parallel.ranks),
    )
    assert not values, f"unused: {values}"
    return made


@pytest.fixture(scope="session")
def settings():
    """Build settings from keywords; `passes` is short for gradient_accumulation."""
    return _settings


@pytest.fixture
def gpt():
    """Switches of a GPT with a tied head."""
    return dict(GPT)
