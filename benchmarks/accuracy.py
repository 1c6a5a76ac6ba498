#!/usr/bin/env python3
"""How near the ledger is to a traced step, over random scenarios of all that it covers.

    make accuracy
    python3 bootstrap.py python benchmarks/accuracy.py [KIND] [NUMBER] [SEED]

Each scenario is drawn from a seed, traced under fake tensors, and compared phase by phase, the
peak too. What a CPU does not have, the cuBLAS workspace, is left out on both sides. The peak is
compared as the allocator counts it, in blocks of 512 bytes. Phases are compared in bytes of
tensors: a tiny model over many ranks is mostly rounding, which `memquiz verify` counts apart.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from engine.architecture import Architecture, Experts
from engine.catalog import accelerator
from engine.modelled import SIXTEEN_BIT
from engine.scenario import (
    LOSSES,
    Adapters,
    Hardware,
    Model,
    Offload,
    Parallel,
    Recipe,
    Scenario,
    Workload,
)
from engine.units import both
from engine.verify.verification import Row, Verification, verify
from problems.draw import Draw

NUMBER = 300
FIRST_STEP = 0
WORST = 10
GPT: Mapping[str, Any] = {
    "gated": False,
    "norm": "layernorm",
    "activation": "gelu-tanh",
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
}
ROTARY_GPT = GPT | {"parallel_residual": True, "activation": "gelu"}
EXPERTS = Experts(routed=8, per_token=2, ffn=512)

# Blocks that have a class in Transformers, then those that only the reference modules have.
WITH_CLASS: tuple[Mapping[str, Any], ...] = (
    {},
    {"kv_heads": 2},
    {"kv_heads": 4, "head_dim": 64, "tied": True},
    {"kv_heads": 2, "qkv_bias": True, "tied": True},
    {"kv_heads": 1, "qkv_bias": True, "output_bias": True, "mlp_bias": True},
    GPT | {"positions": 4096, "tied": True},
    GPT | {"positions": 4096, "activation": "relu"},
    ROTARY_GPT | {"rotary_dim": 8},
    ROTARY_GPT | {"parallel_residual": False},
    {"kv_heads": 2, "experts": EXPERTS},
)
WITHOUT_CLASS: tuple[Mapping[str, Any], ...] = (
    ROTARY_GPT | {"shared_norm": True, "head_bias": True, "rotary_dim": 12},
    {"kv_heads": 4, "head_dim": 64, "qk_norm": "head"},
    {"activation": "gelu-tanh", "kv_heads": 1, "head_dim": 96, "tied": True},
    {"norm": "layernorm-no-weight"},
    {"gated": False, "activation": "relu"},
    GPT | {"norm": "rmsnorm", "positions": 4096},
)
# Those that every kind has; what has come since is held to rows of its own, and changes no draw.
OPTIMIZERS = ("adamw", "adamw-fused", "adamw-8bit", "adafactor", "lion", "sgd", "sgd-momentum")
PRECISIONS = ("fp32", "mixed", "mixed-fp32-grad", "autocast", "pure-bf16")
SHARDED = ("fp32", "mixed", "pure-bf16")
GROUPED = ("mixed", "mixed-fp32-grad", "pure-bf16")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A part of what the ledger covers, and the aims for it: median and largest error."""

    says: str
    draws: Callable[[Draw], Scenario]
    median: float
    largest: float


def one_rank(draw: Draw, implementation: str) -> Scenario:
    """Draw a step of one rank."""
    return _scenario(draw, implementation, Parallel(), PRECISIONS)


def sharded(draw: Draw, implementation: str) -> Scenario:
    """Draw a step of one rank of several under FSDP2."""
    ranks = draw.choice((2, 3, 8, 16, 64))
    return _scenario(draw, implementation, Parallel(data=ranks, zero=3), SHARDED)


def replicated(draw: Draw) -> Scenario:
    """Draw a step of one rank of several that all have the weights: DDP, ZeRO-1 or 2."""
    parallel = Parallel(data=draw.choice((2, 3, 8, 16, 64)), zero=draw.choice((0, 1, 2)))
    return _scenario(draw, "fused", parallel, PRECISIONS)


def offloaded(draw: Draw) -> Scenario:
    """Draw a step of a rank whose optimizer is on the host: alone, under ZeRO-2 or FSDP2."""
    parallel = Parallel(data=draw.choice((1, 2, 8, 64)), zero=draw.choice((2, 3)))
    made = _scenario(draw, "fused", parallel, ("mixed",))
    return replace(made, offload=Offload(optimizer="cpu"))


def adapted(draw: Draw) -> Scenario:
    """Draw a step of one rank that trains adapters beside a frozen model."""
    made = _scenario(draw, "fused", Parallel(), SIXTEEN_BIT)
    while made.architecture.experts:
        made = _scenario(draw, "fused", Parallel(), SIXTEEN_BIT)
    adapters = Adapters(
        rank=draw.choice((4, 16, 64)),
        targets=draw.choice(("all", "attention", "mlp", "query,value", "down")),
        base=draw.choice(("16-bit", "4-bit")),
        dropout=draw.choice((0.0, 0.05)),
    )
    return replace(made, adapters=adapters)


def _scenario(
    draw: Draw, implementation: str, parallel: Parallel, precisions: tuple[str, ...]
) -> Scenario:
    of_hf = implementation == "hf"
    block = draw.choice(WITH_CLASS if of_hf else (*WITH_CLASS, *WITHOUT_CLASS))
    if "experts" in block:
        precisions = tuple(name for name in precisions if name in GROUPED)
    architecture = Architecture(
        **{
            "layers": draw.between(4, 6),
            "hidden": draw.choice((256, 512, 768, 1024)),
            "heads": 8,
            "ffn": draw.choice((512, 1408, 3072, 4096)),
            "vocab": draw.choice((1000, 5000, 32000, 50257)),
        }
        | block
    )
    made = Scenario(
        model=Model(name="drawn", title="Drawn", architecture=architecture),
        implementation=implementation,
        workload=Workload(
            micro_batch=draw.between(1, 4),
            sequence=draw.choice((128, 320, 1000, 2048)),
            gradient_accumulation=draw.between(1, 2),
        ),
        recipe=Recipe(
            precision=draw.choice(precisions),
            optimizer=draw.choice(OPTIMIZERS),
            attention=draw.choice(("flash", "eager")),
            recompute=draw.choice(("none", "full") if of_hf else ("none", "selective", "full")),
            dropout=draw.choice((0.0, 0.1)),
        ),
        parallel=parallel,
        hardware=Hardware(gpu=accelerator("h100-80gb"), gpus=parallel.data),
    )
    return made if of_hf else _with_loss(draw, made)


def _with_loss(draw: Draw, made: Scenario) -> Scenario:
    """Draw the loss last, so that all else of a seed is what it would be without it."""
    losses = ("eager", "fused") if made.recipe.precision == "autocast" else LOSSES
    return replace(made, recipe=replace(made.recipe, loss=draw.choice(losses)))


KINDS: Mapping[str, Kind] = {
    "fused": Kind(
        says="fused, one rank",
        draws=lambda draw: one_rank(draw, "fused"),
        median=0.002,
        largest=0.01,
    ),
    "adapters": Kind(
        says="fused, adapters beside a model frozen in 16 or 4 bits",
        draws=adapted,
        median=0.002,
        largest=0.01,
    ),
    "fsdp2": Kind(
        says="fused, FSDP2 over 2 to 64 ranks",
        draws=lambda draw: sharded(draw, "fused"),
        median=0.002,
        largest=0.01,
    ),
    "zero": Kind(
        says="fused, DDP, ZeRO-1 or ZeRO-2 over 2 to 64 ranks",
        draws=replicated,
        median=0.002,
        largest=0.01,
    ),
    "offload": Kind(
        says="fused, the optimizer on the host, 1 to 64 ranks",
        draws=offloaded,
        median=0.002,
        largest=0.01,
    ),
    "hf": Kind(
        says="hf, one rank",
        draws=lambda draw: one_rank(draw, "hf"),
        median=0.005,
        largest=0.02,
    ),
    "hf-fsdp2": Kind(
        says="hf, FSDP2 over 2 to 64 ranks",
        draws=lambda draw: sharded(draw, "hf"),
        median=0.005,
        largest=0.02,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A drawn scenario beside its trace: predicted over traced bytes, less 1, by phase."""

    seed: int
    verification: Verification

    @property
    def peak(self) -> float:
        """The error of the peak."""
        return self.verification.relative_error

    @property
    def phases(self) -> Mapping[str, float]:
        """The error of each phase of a steady step, in bytes of tensors."""
        return self._errors(self.verification.steady, self.verification.timeline.last_step)

    @property
    def first(self) -> Mapping[str, float]:
        """The error of each phase of the first step, in bytes of tensors."""
        return self._errors(self.verification.first, FIRST_STEP)

    def _errors(self, rows: Iterable[Row], step: int) -> Mapping[str, float]:
        return {
            row.phase: row.predicted / self.verification.tensors(row.phase, step) - 1
            for row in rows
        }


def compared(kind: Kind, seeds: range) -> Iterator[Compared]:
    """Draw, trace and compare."""
    for seed in seeds:
        scenario = kind.draws(Draw(kind.says, seed))
        yield Compared(seed=seed, verification=verify(scenario, "fake"))


def report(kind: Kind, seeds: range) -> bool:
    """Print a line of figures and the worst; return whether the aims are met."""
    found = list(compared(kind, seeds))
    peaks = [abs(one.peak) for one in found]
    phases = [abs(error) for one in found for error in one.phases.values()]
    lines, met = [f"{kind.says}: {len(found)} scenarios"], True
    first = [abs(error) for one in found for error in one.first.values()]
    for name, errors in (("peak", peaks), ("each phase", phases), ("first step", first)):
        met &= median(errors) <= kind.median and max(errors) <= kind.largest
        lines.append(
            f"  {name:10}  median {median(errors):.4%} (aim {kind.median:.1%})"
            f"  largest {max(errors):.3%} (aim {kind.largest:.0%})"
        )
    worst = sorted(found, key=lambda one: -max(map(abs, one.phases.values())))[:WORST]
    lines.extend(f"  {_line(one)}" for one in worst)
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    return met


def _line(one: Compared) -> str:
    scenario = one.verification.scenario
    phase, error = max(one.phases.items(), key=lambda row: abs(row[1]))
    recipe, work = scenario.recipe, scenario.workload
    gap = one.verification.peak.measured - one.verification.predicted_peak
    return (
        f"seed {one.seed:4}  {phase:21} {error:+.3%}  peak {one.peak:+.4%} = {both(gap)}  "
        f"{recipe.precision}, {recipe.optimizer}, {recipe.attention}, {recipe.recompute}, "
        f"b {work.micro_batch} s {work.sequence}, {scenario.parallel.data} ranks"
    )


def main(arguments: list[str]) -> int:
    """Report on all kinds, or on the one named; return 1 where an aim is missed."""
    names = [name for name in arguments[:1] if name in KINDS] or list(KINDS)
    numbers = [int(text) for text in arguments if text.isdigit()]
    number, first = (*numbers, NUMBER, 0)[:2] if len(numbers) != 1 else (numbers[0], 0)
    met = [report(KINDS[name], range(first, first + number)) for name in names]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
