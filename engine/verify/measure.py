"""Run the step of a scenario on a device and measure it: fake tensors, the CPU, or a GPU."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from engine.caching.replay import replay
from engine.errors import Fault, InputError
from engine.estimate import ledger
from engine.ledger import Phase
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from engine.units import KIB, both
from engine.verify.cuda import Cuda, on_gpu
from engine.verify.processes import STEPS as STEPS_OF_SEVERAL
from engine.verify.processes import every_rank, started_by_torchrun
from engine.verify.steps import Progress, silent
from engine.verify.timeline import Timeline
from engine.verify.trace import executed, traced

Device = Literal["fake", "cpu", "cuda"]
MOST_LAYERS = 2_000
# The first compute capability with products in float8.
ADA = (8, 9)
# Optimizer steps that run on a device until one is a steady one.
STEPS: Mapping[Device, int] = {"fake": 2, "cpu": 3, "cuda": 2}
DEVICES: Mapping[Device, str] = {
    "fake": "fake tensors: the operators of the step without their data",
    "cpu": "the step itself, executed on the CPU",
    "cuda": "the step itself, executed on a GPU",
}


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What a run took.

    Attributes:
        device: where it ran.
        torch: PyTorch's version.
        timeline: every allocation.
        first: bytes at the peak of each phase of the first step.
        steady: the same of the last one.
        reserved: most bytes that the caching allocator held: replayed, or on a GPU as it reports.
        ranks: the peak of each process, by rank, where torchrun started several; all else is
            of the worst of them.
    """

    device: Device
    torch: str
    timeline: Timeline
    first: Mapping[Phase, int]
    steady: Mapping[Phase, int]
    reserved: int
    ranks: tuple[int, ...] = ()


def measure(scenario: Scenario, device: Device, progress: Progress = silent) -> Measurement | None:
    """Run the first step and a steady one of `scenario` on `device`.

    Where torchrun has started a process for each rank, rank 0 has what the worst of them took and
    the others have None.

    Raises:
        InputError: the device cannot run it; says why, and what can.
    """
    faults = _faults(scenario, device)
    if faults:
        raise InputError(*faults)
    if _in_several_processes(scenario, device):
        return _of_everyone(scenario, device, progress)
    steps = steps_of(scenario, device)
    if device == "cuda":
        gpu = on_gpu(scenario, Cuda(), progress, steps=steps)
        return Measurement(
            device=device,
            torch=torch.__version__,
            timeline=gpu.timeline,
            first=gpu.phases[0],
            steady=gpu.phases[-1],
            reserved=gpu.reserved,
        )
    run: Callable[..., Timeline] = traced if device == "fake" else executed
    timeline = run(scenario, steps=steps, progress=progress)
    return Measurement(
        device=device,
        torch=torch.__version__,
        timeline=timeline,
        first=_sizes(timeline, 0),
        steady=_sizes(timeline, timeline.last_step),
        reserved=replay(timeline.requests).peak_reserved,
    )


def steps_of(scenario: Scenario, device: Device) -> int:
    """Return how many optimizer steps `measure` runs; the last one is a steady one."""
    return STEPS_OF_SEVERAL if _in_several_processes(scenario, device) else STEPS[device]


def _in_several_processes(scenario: Scenario, device: Device) -> bool:
    return scenario.parallel.data > 1 and device != "fake" and started_by_torchrun()


def _of_everyone(scenario: Scenario, device: Device, progress: Progress) -> Measurement | None:
    steps = steps_of(scenario, device)
    everyone = every_rank(scenario, device, steps=steps, progress=progress)
    if everyone is None:
        return None
    worst, timeline = everyone.worst, everyone.timeline
    return Measurement(
        device=device,
        torch=torch.__version__,
        timeline=timeline,
        first=worst.steps[0],
        steady=worst.steps[-1],
        reserved=worst.reserved or replay(timeline.requests).peak_reserved,
        ranks=tuple(rank.peak for rank in everyone.ranks),
    )


def chosen(device: str) -> Device:
    """Return the device that `device` names; `auto` is a GPU where there is one.

    Raises:
        InputError: there is no such device.
    """
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "fake"
    for known in DEVICES:
        if device == known:
            return known
    raise InputError(
        Fault("--device", f"no device {device!r}", f"one of auto, {', '.join(DEVICES)}")
    )


def _sizes(timeline: Timeline, step: int) -> Mapping[Phase, int]:
    return {phase: peak.size for phase, peak in timeline.peaks(step).items()}


def _faults(scenario: Scenario, device: Device) -> list[Fault]:
    layers = scenario.architecture.layers
    if layers > MOST_LAYERS:
        what = f"{layers:,} layers would run one after another, for hours"
        return [Fault("model.layers", what, f"give {MOST_LAYERS:,} at most; each costs the same")]
    if device == "cuda":
        return _faults_on_gpu(scenario)
    if device == "cpu":
        return _faults_on_cpu(scenario)
    return []


def _faults_on_cpu(scenario: Scenario) -> list[Fault]:
    needed, free = ledger(scenario).peak, _free_memory()
    if needed > free:
        what = f"the step takes {both(needed)}, and {both(free)} of memory are free here"
        return [Fault("--device cpu", what, "--device fake traces it without its data")]
    return []


def _faults_on_gpu(scenario: Scenario) -> list[Fault]:
    if not torch.cuda.is_available():
        what = "PyTorch finds no GPU here"
        return [Fault("--device cuda", what, _without_gpu(scenario))]
    faults = [*_without_kernel(scenario)]
    if scenario.parallel.data > 1 and not started_by_torchrun():
        what = f"{scenario.parallel.data} ranks need as many processes"
        start = f"torchrun --nproc-per-node {scenario.parallel.data} -m quiz verify …"
        faults.append(Fault("parallel.data", what, f"start {start}, or --device fake"))
    needed, room = ledger(scenario).peak, torch.cuda.mem_get_info()[0]
    if needed > room:
        what = f"the step takes {both(needed)}, and {both(room)} of this GPU are free"
        faults.append(Fault("--device cuda", what, "--device fake traces it without its data"))
    return faults


def _without_kernel(scenario: Scenario) -> Iterator[Fault]:
    """Yield what this GPU has no kernel for."""
    where, precision = "recipe.precision", PRECISIONS[scenario.recipe.precision]
    if scenario.recipe.attention == "flash" and precision.compute == 4:
        what = "flash attention has no fp32 kernel on a GPU"
        yield Fault(where, what, "give a 16-bit one, or --device fake")
    if precision.float8 and (torch.version.hip or torch.cuda.get_device_capability() < ADA):
        what = f"{precision.name} runs on NVIDIA's GPUs since Ada, and this is another"
        yield Fault(where, what, "give mixed, or --device fake")


def _without_gpu(scenario: Scenario) -> str:
    """Return what can run the step of `scenario` on this machine."""
    fake = "--device fake traces the step without one"
    return fake if _faults_on_cpu(scenario) else f"{fake}, --device cpu executes it"


def _free_memory() -> int:
    """Return the bytes that can be had without swapping."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, kib = line.partition(":")
            if name == "MemAvailable":
                return int(kib.split()[0]) * KIB
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
