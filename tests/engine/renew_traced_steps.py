"""Traces drawn steps into traced_steps.toml: python tests/engine/renew_traced_steps.py.

Sizes are small and uneven, so that each product of them is told from every other one, and far
apart, so that now one moment of a phase is its peak and now another. Models whose gradients fill
DeepSeek's bucket of 500 million elements are wide and have few layers.

A step is kept where the ledger meets every phase to a few bytes: the file says which those are.
How far it is from all that can be drawn is for `make accuracy` to say.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from accuracy import GPT, OPTIMIZERS, PRECISIONS, ROTARY_GPT, WITH_CLASS, WITHOUT_CLASS

from engine.errors import InputError
from engine.scenario import Adapters, Parallel, Recipe, Workload
from engine.scenario_file import from_mapping, to_mapping
from engine.stacks.registry import stack
from engine.verify.verification import verify
from problems.draw import Draw

FILE = Path(__file__).with_name("traced_steps.toml")
DEFAULTS = {"workload": Workload, "recipe": Recipe, "adapters": Adapters, "parallel": Parallel}
# The most bytes that the ledger may leave out of a phase.
LEFT_OUT = 1500
NUMBER = {
    "one rank": 60,
    "one rank, tied": 5,
    "adapters": 25,
    "sharded": 28,
    "sharded, few tokens": 14,
    "replicated": 20,
    "replicated, wide": 45,
    "offloaded": 16,
    "hf": 26,
    "hf, sharded": 5,
}
OWN = (
    GPT | {"positions": 512, "head_bias": True, "tied": True},
    ROTARY_GPT | {"shared_norm": True, "rotary_dim": 4},
    {"kv_heads": 2, "head_dim": 40, "qk_norm": "head", "norm": "layernorm"},
)
OWN_BLOCKS = {
    "sharded, few tokens": (
        {},
        {"tied": True},
        {"head_bias": True},
        {"tied": True, "head_bias": True},
    ),
    "one rank, tied": ({"tied": True}, {"tied": True, "experts": True}, OWN[0]),
}
# Sizes and switches of the kinds called odd are far apart, so that now this tensor is the largest
# of a step and now that one. A seed is here because a change of the formulas showed in no other
# row: benchmarks/mutants.py makes such changes.
CHOSEN: Mapping[str, tuple[int, ...]] = {
    "adapters, odd": (
        2,
        35,
        173,
        287,
        310,
    ),
    "sharded, odd": (
        167,
        238,
        250,
    ),
    "replicated, odd": (
        8,
        9,
        41,
        76,
    ),
    "offloaded, odd": (47,),
    "hf, odd": (
        19,
        52,
        60,
        203,
        262,
        289,
        421,
        450,
        479,
        662,
        684,
        708,
        838,
        841,
        945,
    ),
    "hf, sharded, odd": (
        31,
        43,
        95,
    ),
}


def drawn(draw: Draw, kind: str) -> Mapping[str, Any]:
    """Return the tables of a scenario file."""
    of_hf, is_odd = kind.startswith("hf"), kind.endswith("odd")
    blocks = WITH_CLASS if of_hf else (*WITH_CLASS, *WITHOUT_CLASS, *OWN)
    block = dict(draw.choice(OWN_BLOCKS.get(kind, blocks)))
    if is_odd and not of_hf:
        block |= _switched(draw)
    if block.pop("experts", None):
        block["experts"] = _experts(draw, is_odd=is_odd)
    sizes = _wide(draw) if kind.endswith("wide") else _odd(draw) if is_odd else _small(draw)
    tables = {
        "model": sizes | block | {"implementation": "hf" if of_hf else "fused"},
        "workload": {
            "micro_batch": draw.between(1, 3),
            "sequence": draw.choice((11, 80, 333)),
            "gradient_accumulation": draw.between(1, 2),
        },
        "recipe": {
            "precision": draw.choice(PRECISIONS),
            "optimizer": draw.choice(OPTIMIZERS),
            "attention": draw.choice(("flash", "eager")),
            "recompute": draw.choice(("none", "selective", "full")),
            "loss": draw.choice(("eager", "fused", "chunked")),
            "dropout": draw.choice((0.0, 0.0, 0.1)),
        },
        "parallel": {"data": 1},
        "hardware": {"gpu": "h200"},
    }
    if is_odd:
        tables["workload"] |= {
            "micro_batch": draw.choice((1, 1, 2, 5)),
            "sequence": draw.choice((3, 5, 32, 150, 700)),
        }
        tables["recipe"]["dropout"] = draw.choice((0.0, 0.1))
    _divide(draw, kind, tables)
    return tables


def _divide(draw: Draw, kind: str, tables: dict[str, Any]) -> None:
    """Draw what else a kind has: adapters, ranks, the host."""
    if "adapters" in kind:
        tables["adapters"] = {
            "rank": draw.choice((3, 16, 64)),
            "targets": draw.choice(("all", "attention", "mlp", "query,value", "down", "key,up")),
            "base": draw.choice(("16-bit", "4-bit")),
            "dropout": draw.choice((0.0, 0.05)),
        }
        tables["parallel"] = {"data": draw.choice((1, 1, 3)), "zero": 0}
    if "sharded" in kind:
        _shard(draw, kind, tables)
    if "replicated" in kind:
        tables["parallel"] = {
            "data": draw.choice((2, 3, 8, 24)),
            "zero": draw.choice((0, 1, 2, 2)),
        }
    if "offloaded" in kind:
        tables["parallel"] = {"data": draw.choice((1, 2, 7)), "zero": draw.choice((2, 2, 3))}
        tables["recipe"]["precision"] = "mixed"
        tables["offload"] = {"optimizer": "cpu"}
    if kind.endswith("tied"):
        recipe = {"precision": "mixed", "optimizer": draw.choice(("adamw-fused", "adamw-8bit"))}
        tables["recipe"] |= recipe
    if kind in {"one rank", "one rank, odd"} and draw.below(8) == 0:
        tables["recipe"]["recompute"] = "full"
        tables["offload"] = {"activations": "cpu"}


def _experts(draw: Draw, *, is_odd: bool) -> dict[str, int]:
    return {
        "routed": draw.choice((2, 8, 300) if is_odd else (3, 5, 8)),
        "per_token": draw.between(1, 2 if is_odd else 3),
        "ffn": draw.choice((8, 40, 2000) if is_odd else (56, 344)),
    }


def _shard(draw: Draw, kind: str, tables: dict[str, Any]) -> None:
    data = draw.choice((2, 3, 8, 24))
    shard = draw.choice((0, 0, data // 2 if data % 2 == 0 else 0))
    tables["parallel"] = {"data": data, "zero": 3, "shard": shard if shard > 1 else 0}
    tables["offload"] = {"parameters": draw.choice(("none", "none", "cpu"))}
    if "few tokens" in kind:
        tables["parallel"] |= {"data": draw.choice((2, 3)), "shard": 0}
        tables["workload"] |= {"micro_batch": 1, "sequence": draw.choice((3, 11))}


def _small(draw: Draw) -> dict[str, Any]:
    return {
        "layers": draw.between(2, 4),
        "hidden": draw.choice((64, 96, 192)),
        "heads": draw.choice((4, 8)),
        "ffn": draw.choice((40, 328, 1408)),
        "vocab": draw.choice((70, 1003, 12001)),
    }


def _odd(draw: Draw) -> dict[str, Any]:
    return {
        "layers": draw.choice((2, 2, 3, 6)),
        "hidden": draw.choice((32, 64, 192, 1024)),
        "heads": draw.choice((4, 8)),
        "ffn": draw.choice((8, 40, 328, 4000)),
        "vocab": draw.choice((8, 70, 1003, 30011)),
    }


def _switched(draw: Draw) -> dict[str, Any]:
    """Draw switches of a block, some of which no published model has together."""
    switches: dict[str, tuple[Any, ...]] = {
        "kv_heads": (0, 1, 4),
        "head_dim": (0, 0, 8, 40, 128),
        "norm": ("rmsnorm", "layernorm", "layernorm-no-weight"),
        "activation": ("silu", "gelu", "relu"),
        "gated": (True, False),
        "rotary_dim": (0, 0, 2),
        "positions": (0, 0, 1024),
        "qk_norm": ("none", "none", "head"),
        "tied": (False, True),
        "parallel_residual": (False, True),
        "shared_norm": (False, False, True),
        "qkv_bias": (False, True),
        "output_bias": (False, True),
        "mlp_bias": (False, True),
        "head_bias": (False, True),
        "experts": (False, False, True),
    }
    return {name: draw.choice(values) for name, values in switches.items() if draw.below(2)}


def _wide(draw: Draw) -> dict[str, Any]:
    return {
        "layers": draw.choice((2, 3, 5, 7)),
        "hidden": draw.choice((2048, 4096, 6144)),
        "heads": 32,
        "ffn": draw.choice((1408, 14336, 24576)),
        "vocab": draw.choice((5000, 50257, 128256)),
    }


def traced(tables: Mapping[str, Any]) -> str | None:
    """Return the row of a step; None where it cannot run or is not met to a few bytes."""
    try:
        scenario = from_mapping(tables)
        found = verify(scenario, "fake")
    except (InputError, ValueError, RuntimeError, NotImplementedError) as error:
        sys.stderr.write(f"  {type(error).__name__} {str(error)[:90]}\n")
        return None
    rows = {
        "steady": {
            row.phase.value: (found.tensors(row.phase), row.predicted) for row in found.steady
        },
        "first": {
            row.phase.value: (found.tensors(row.phase, 0), row.predicted) for row in found.first
        },
    }
    gaps = [ours - theirs for phases in rows.values() for theirs, ours in phases.values()]
    if not -LEFT_OUT <= min(gaps) <= max(gaps) <= 0:
        sys.stderr.write(f"  not met: {gaps}\n")
        return None
    sizes = {
        name: {phase: theirs for phase, (theirs, _) in phases.items()}
        for name, phases in rows.items()
    }
    lines = [
        "[[steps]]",
        f"scenario = {_toml(_short(to_mapping(scenario)))}",
        f"left_out = {-min(gaps)}",
    ]
    return "\n".join([*lines, *(f"{name} = {_toml(size)}" for name, size in sizes.items())])


def _short(tables: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return a scenario's tables without what is as it would be if nothing were said."""
    brought = stack(tables["model"]["implementation"]).brings
    kept = {
        name: {key: value for key, value in table.items() if value != _unsaid(name, key, brought)}
        for name, table in tables.items()
        if name != "offload" or set(table.values()) != {"none"}
    }
    return {name: table for name, table in kept.items() if table}


def _unsaid(table: str, key: str, brought: Mapping[str, Any]) -> object:
    if table == "recipe" and key in brought:
        return brought[key]
    if table == "model":
        return {"name": "own model", "implementation": "fused"}.get(key)
    if table not in DEFAULTS:
        return None
    return next(field.default for field in fields(DEFAULTS[table]) if field.name == key)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value)


HEADER = f"""\
# Steps traced with PyTorch {torch.__version__} on fake tensors: bytes of tensors at the peak of
# each phase, of a steady step and of the first one.
# Renewed by tests/engine/renew_traced_steps.py.
#
# The allocator's rounding and numbers that stand alone are not in them: `memquiz verify` counts
# these apart. `left_out` is the most bytes that the ledger was below a phase when the row was
# traced: two seeds of 8 bytes that a flash kernel keeps in each layer, a few bytes a token that
# are held for a moment, the tables of 4-bit blocks. It was never above.
"""


def main() -> None:
    torch.set_num_threads(1)
    with FILE.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for kind, seeds in CHOSEN.items():
            for seed in seeds:
                row = traced(drawn(Draw(f"traced step, {kind}", seed), kind))
                file.write(f"\n{row}\n")
        for kind, number in NUMBER.items():
            kept = seed = 0
            while kept < number:
                row = traced(drawn(Draw(f"traced step, {kind}", seed), kind))
                sys.stderr.write(f"{kind} {seed}: {'kept' if row else 'left out'}\n")
                seed += 1
                if row:
                    kept += 1
                    file.write(f"\n{row}\n")
                    file.flush()


if __name__ == "__main__":
    main()
