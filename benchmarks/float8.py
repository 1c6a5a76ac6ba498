#!/usr/bin/env python3
"""How far a traced step in float8 is from one of torchao's own linear layers, and from bf16.

    pip install torchao==0.18.0
    python3 bootstrap.py python benchmarks/float8.py

The same step is traced three times: as `mixed`, with `engine.verify.float8`, and with the layers
converted by torchao in its recipe "tensorwise". A line has what each holds at most in the backward
pass of the last layer, the largest difference of the last two over all phases, in bytes, and how
far the ledger is from `engine.verify.float8` in the phase where it is furthest off.
"""

import sys
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any
from unittest.mock import patch

import torch

from engine.architecture import Architecture
from engine.estimate import ledger
from engine.ledger import Phase
from engine.scenario import Recipe, Scenario
from engine.scenario_file import from_mapping
from engine.units import GIB
from engine.verify import live, reference, trace

Make = Callable[[torch.nn.Module], torch.nn.Module]
HEADS = ("mixed", "fp8", "torchao", "apart", "ledger")
LLAMA = {"name": "llama-3-8b"}
SMALL = {"layers": 4, "hidden": 512, "heads": 8, "kv_heads": 2, "ffn": 1408, "vocab": 5000}
GPT = SMALL | {
    "kv_heads": 8,
    "gated": False,
    "norm": "layernorm",
    "activation": "gelu-tanh",
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
    "positions": 4096,
    "tied": True,
}
STEPS: dict[str, dict[str, Any]] = {
    "Llama 3 8B, 4,096 tokens": {"model": LLAMA, "workload": {"sequence": 4096}},
    "the same, full recomputation": {
        "model": LLAMA,
        "workload": {"sequence": 4096},
        "recipe": {"recompute": "full"},
    },
    "the same, FSDP2 over 8, 8,192 tokens": {
        "model": LLAMA,
        "workload": {"sequence": 8192},
        "recipe": {"recompute": "full"},
        "parallel": {"data": 8, "zero": 3},
    },
    "a small Llama, 2 x 1,024": {
        "model": SMALL,
        "workload": {"sequence": 1024, "micro_batch": 2},
    },
    "a small GPT, eager, dropout": {
        "model": GPT,
        "workload": {"sequence": 320, "micro_batch": 2, "gradient_accumulation": 2},
        "recipe": {"attention": "eager", "dropout": 0.1, "recompute": "selective"},
    },
    "a small GPT, ZeRO-2 over 8": {
        "model": GPT,
        "workload": {"sequence": 1024},
        "parallel": {"data": 8, "zero": 2},
    },
}


def main() -> None:
    """Print a line for each step."""
    convert = import_module("torchao.float8").convert_to_float8_training
    wrapped = import_module("torchao.float8.float8_training_tensor").Float8TrainingTensor
    heads = " ".join(f"{head:>9}" for head in HEADS)
    sys.stdout.write(f"{'GiB in backward-first':38} {heads}\n")
    for name, tables in STEPS.items():
        wide, narrow = (scenario(tables, precision) for precision in ("mixed", "fp8"))
        plain, own, library = traced(wide), traced(narrow), traced(wide, convert, wrapped)
        apart = max(abs(own[phase] - size) for phase, size in library.items())
        found = (sizes[Phase.BACKWARD_FIRST] / GIB for sizes in (plain, own, library))
        row = " ".join(f"{size:9.3f}" for size in found)
        sys.stdout.write(f"{name:38} {row} {apart:7,} B {furthest(narrow, own):9.4%}\n")


def scenario(tables: dict[str, Any], precision: str) -> Scenario:
    """Return the step of `tables` in that precision, on an H100."""
    gpus = tables.get("parallel", {}).get("data", 1)
    recipe = tables.get("recipe", {}) | {"precision": precision}
    hardware = {"gpu": "h100-80gb", "gpus": gpus}
    return from_mapping(tables | {"recipe": recipe, "hardware": hardware})


def furthest(made: Scenario, sizes: dict[Phase, int]) -> float:
    """Return how far the ledger is from `sizes` in the phase where it is furthest off."""
    book = ledger(made)
    outside = book.size("cuBLAS workspace")
    return max(abs((book.phases[phase] - outside) / size - 1) for phase, size in sizes.items())


def traced(
    made: Scenario, convert: Make = lambda layer: layer, wrapped: type | None = None
) -> dict[Phase, int]:
    """Return the peak of each phase, with every layer of the model converted.

    Operators on `wrapped` tensors are left to these, which run others that are counted.
    """
    block = reference.Block
    dispatch: Callable[..., object] = live.LiveBytes.__torch_dispatch__

    def converted(architecture: Architecture, recipe: Recipe) -> torch.nn.Module:
        return convert(block(architecture, recipe))

    def counted(
        watch: live.LiveBytes, func: object, types: Collection[type], *rest: object
    ) -> object:
        return NotImplemented if wrapped in types else dispatch(watch, func, types, *rest)

    with (
        patch.object(reference, "Block", converted),
        patch.object(live.LiveBytes, "__torch_dispatch__", counted),
    ):
        timeline = trace.traced(made)
    return {phase: peak.size for phase, peak in timeline.peaks(timeline.last_step).items()}


if __name__ == "__main__":
    main()
