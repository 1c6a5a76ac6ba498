#!/usr/bin/env python3
"""Plans beside trying every setting one by one, and how long 10,000 settings take.

    make plans
    python3 bootstrap.py python benchmarks/plans.py [NUMBER] [SEED]

Each scenario is drawn from a seed. `brute_force` makes the whole ledger and the whole step time of
every setting and compares each with each; plans must be the same, and so must every peak.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, islice

from engine.catalog import CatalogModel, accelerator, model
from engine.costs.step_time import step_time
from engine.errors import InputError
from engine.estimate import capacity, ledger
from engine.levers.memory import need
from engine.levers.plans import changed, invasiveness, plans
from engine.levers.space import Setting, settings
from engine.levers.splits import megatrons
from engine.levers.ties import TIE, tied
from engine.scenario import Hardware, Model, Offload, Parallel, Recipe, Scenario, Workload
from problems.draw import Draw

NUMBER = 300
MANY = 10_000
MODELS = ("gpt2", "gpt2-xl", "llama-3.2-1b", "llama-3-8b", "qwen2.5-7b", "mixtral-8x7b")
GPUS = ("rtx-4090", "a100-40gb", "h100-80gb", "b200")


def drawn(seed: int) -> Scenario | None:
    """Return the scenario of a seed; None where the ledger has no lines for it."""
    draw = Draw("plans", seed)
    row, data = model(draw.choice(MODELS)), draw.choice((1, 2, 4, 6, 8))
    try:
        if draw.choice((False, False, False, True)):
            return _on_megatron(draw, row, data)
        return Scenario(
            model=Model(name=row.name, title=row.title, architecture=row.architecture),
            implementation=draw.choice(("fused", "fused", "hf")),
            workload=Workload(
                sequence=draw.choice((512, 1024)),
                micro_batch=draw.choice((1, 2, 3, 8)),
                gradient_accumulation=draw.choice((1, 2, 4)),
            ),
            recipe=Recipe(
                precision=draw.choice(("mixed", "mixed", "mixed-fp32-grad", "autocast")),
                optimizer=draw.choice(("adamw", "adamw-fused", "sgd-momentum")),
                attention=draw.choice(("flash", "flash", "eager")),
                recompute=draw.choice(("none", "full")),
                loss=draw.choice(("eager", "fused", "chunked")),
            ),
            parallel=Parallel(data=data, zero=draw.choice((0, 1, 2, 3))),
            offload=Offload(optimizer=draw.choice(("none", "none", "none", "cpu", "nvme"))),
            hardware=Hardware(gpu=accelerator(draw.choice(GPUS)), gpus=data),
        )
    except InputError:
        return None


def _on_megatron(draw: Draw, row: CatalogModel, data: int) -> Scenario:
    parallel = Parallel(
        data=data,
        zero=draw.choice((0, 1)),
        tensor=draw.choice((1, 2, 4)),
        sequence_parallel=draw.choice((True, False)),
        pipeline=draw.choice((1, 2)),
        context=draw.choice((1, 1, 2)),
    )
    return Scenario(
        model=Model(name=row.name, title=row.title, architecture=row.architecture),
        implementation="megatron",
        workload=Workload(
            sequence=draw.choice((512, 1024)),
            micro_batch=draw.choice((1, 2)),
            gradient_accumulation=draw.choice((1, 4)),
        ),
        recipe=megatrons(Recipe(recompute=draw.choice(("none", "full")))),
        parallel=parallel,
        hardware=Hardware(gpu=accelerator(draw.choice(GPUS)), gpus=parallel.ranks),
    )


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A setting that fits, by its own ledger and its own step time."""

    setting: Setting
    peak: int
    overhead: float
    price: float


Told = tuple[tuple[str, ...], Scenario, int, float]


def brute_force(scenario: Scenario, *, headroom: int = 0) -> tuple[Told, ...]:
    """Return levers, scenario, peak and overhead of the plans, found by trying every setting."""
    room = capacity(scenario) * (100 - headroom) // 100
    for numerics in (False, True):
        fitting = _fitting(scenario, list(settings(scenario, numerics=numerics)), room)
        if fitting:
            break
    return _plans(fitting)


def _fitting(scenario: Scenario, every: Sequence[Setting], room: int) -> list[Tried]:
    found = []
    before = step_time(scenario).seconds
    for setting in every:
        book = ledger(setting.scenario)
        if book.nvidia_smi[1] > room:
            continue
        overhead = step_time(setting.scenario).seconds / before - 1
        moves = setting.scenario.implementation != scenario.implementation
        price = max(0.0, overhead) if moves else overhead
        found.append(Tried(setting=setting, peak=book.peak, overhead=overhead, price=price))
    return found


def _plans(fitting: Sequence[Tried]) -> tuple[Told, ...]:
    front = [
        one
        for one in fitting
        if not any(
            _pulls_less(other, one)
            and (other.overhead, changed(other.setting)) < (one.overhead, changed(one.setting))
            for other in fitting
        )
    ]
    kept: list[Tried] = []
    for one in sorted(front, key=lambda tried: changed(tried.setting)):
        hidden = any(
            _pulls_less(other, one) and other.overhead <= one.overhead + TIE for other in kept
        )
        if not hidden:
            kept.append(one)
    as_it_is = any(not one.setting.levers for one in kept)
    kept = [one for one in kept if one.setting.levers and (not as_it_is or one.price < -TIE)]
    ordered = [
        one
        for group in tied(kept, lambda one: one.price)
        for one in sorted(
            group,
            key=lambda one: (
                sum(map(invasiveness, one.setting.levers)),
                one.overhead,
            ),
        )
    ]
    told: list[Told] = []
    for one in ordered:
        if one.setting.levers not in [levers_of for levers_of, *_ in told]:
            told.append((one.setting.levers, one.setting.scenario, one.peak, one.overhead))
    return tuple(told[:5])


def _pulls_less(other: Tried, one: Tried) -> bool:
    pairs = zip(other.setting.degrees, one.setting.degrees, strict=True)
    return other is not one and all(
        abs(less) <= abs(more) and less * more >= 0 for less, more in pairs
    )


def compared(scenario: Scenario, *, headroom: int = 0) -> bool:
    """Say whether the plans of `scenario` are those of brute force."""
    found = plans(scenario, headroom=headroom).plans
    told = tuple((plan.levers, plan.scenario, plan.peak, plan.overhead) for plan in found)
    return told == brute_force(scenario, headroom=headroom)


def large() -> Scenario:
    """Return a scenario that has about 10,000 settings."""
    row = model("llama-3-8b")
    return Scenario(
        model=Model(name=row.name, title=row.title, architecture=row.architecture),
        workload=Workload(sequence=8192, micro_batch=16),
        recipe=Recipe(attention="eager"),
        parallel=Parallel(data=512),
        hardware=Hardware(gpu=accelerator("h100-80gb"), gpus=512),
    )


def main(number: int, seed: int) -> int:
    """Compare `number` drawn scenarios, time 10,000 settings, and return an exit code."""
    made = ((at, drawn(at)) for at in count(seed))
    sample = islice(((at, scenario) for at, scenario in made if scenario is not None), number)
    wrong = [at for at, scenario in sample if not compared(scenario)]
    sys.stdout.write(f"{number} scenarios compared, {len(wrong)} differ {wrong[:10]}\n")
    every = [setting.scenario for setting in settings(large())]
    need(every)  # the lines of each set of switches are built once
    started = time.perf_counter()
    need(every)
    seconds = time.perf_counter() - started
    sys.stdout.write(
        f"the peaks of {len(every):,} settings: {seconds:.2f} s, aim 1 s a {MANY:,}\n"
    )
    started = time.perf_counter()
    found = plans(large())
    seconds = time.perf_counter() - started
    sys.stdout.write(f"plans among {found.tried:,} settings: {seconds:.2f} s\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    numbers = [int(typed) for typed in sys.argv[1:3]]
    sys.exit(main(*numbers, *(NUMBER, 0)[len(numbers) :]))
