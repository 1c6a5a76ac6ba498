"""A step on a GPU: what PyTorch's caching allocator reports of each phase, and its history."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.errors import Fault, InputError
from engine.ledger import Category, Phase
from engine.scenario import Scenario
from engine.verify.history import Begun, Trace, timeline_of
from engine.verify.ranks import alone
from engine.verify.steps import Parts, Progress, run, silent
from engine.verify.timeline import Timeline

MOST_ENTRIES = 10_000_000


class Cuda:
    """PyTorch's own figures of the current GPU."""

    device = "cuda"

    def begin(self) -> None:
        """Forget what was before, and write down every allocation from now on."""
        torch.cuda.empty_cache()
        torch.cuda.memory._record_memory_history(max_entries=MOST_ENTRIES, stacks="python")  # noqa: SLF001 - the documented way to a snapshot
        torch.cuda.reset_peak_memory_stats()

    def peak(self) -> int:
        """Return the most bytes allocated since the last call."""
        torch.cuda.synchronize()
        most = torch.cuda.max_memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        return most

    def reserved(self) -> int:
        """Return the bytes reserved now."""
        return torch.cuda.memory_reserved()

    def end(self) -> Trace:
        """Return every allocation and release since `begin`."""
        snapshot = torch.cuda.memory._snapshot()  # noqa: SLF001 - the documented way to a snapshot
        torch.cuda.memory._record_memory_history(enabled=None)  # noqa: SLF001 - the documented way to a snapshot
        trace: Trace = snapshot["device_traces"][torch.cuda.current_device()]
        return trace


@dataclass(frozen=True, kw_only=True)
class OnGpu:
    """What a run on a GPU took: bytes at the peak of each step's phases, and most reserved."""

    phases: tuple[Mapping[Phase, int], ...]
    reserved: int
    timeline: Timeline


class Counters:
    """Reads the GPU's counters at the end of each phase."""

    def __init__(self, gpu: Cuda) -> None:
        self.gpu = gpu
        self.begun: list[Begun] = []
        self.phases: list[dict[Phase, int]] = []
        self.most_reserved = 0

    def enter(self, phase: Phase | None, step: int) -> None:
        """Book the peak so far to the phase that ends."""
        peak = self.gpu.peak()
        self.most_reserved = max(self.most_reserved, self.gpu.reserved())
        if self.begun and (ended := self.begun[-1]).phase is not None:
            totals = self.phases[ended.step]
            totals[ended.phase] = max(peak, totals.get(ended.phase, 0))
        if len(self.phases) <= step:
            self.phases.append({})
        self.begun.append(Begun(time_us=time.time_ns() // 1000, step=step, phase=phase))

    def name(self, tensors: Iterable[tuple[str, Tensor]]) -> None:
        """Hear whose tensors are, and leave it."""

    def mark(self, tensors: Iterable[Tensor], category: Category) -> None:
        """Hear what kind of memory tensors are, and leave it: the history tells kinds apart."""


def on_gpu(
    scenario: Scenario,
    gpu: Cuda,
    progress: Progress = silent,
    *,
    steps: int = 2,
    parts: Callable[[], Parts] | None = None,
) -> OnGpu:
    """Execute `steps` optimizer steps on the current GPU.

    Args:
        scenario: what to run.
        gpu: its counters.
        progress: called with the number of layers that have run forward.
        steps: the first one creates the optimizer states.
        parts: makes the step; where it is not given, that of a rank that shares nothing.

    Raises:
        InputError: the GPU ran out of memory; says what PyTorch said.
    """
    gpu.begin()
    counters = Counters(gpu)
    try:
        with torch.device(gpu.device):
            made = parts() if parts else alone(scenario)
            run(scenario, made, counters, steps=steps, progress=progress)
    except torch.OutOfMemoryError as error:
        said = str(error).partition("\n")[0]
        raise InputError(Fault("--device cuda", said, "--device fake traces it whole")) from None
    finally:
        trace = gpu.end()
    return OnGpu(
        phases=tuple(counters.phases),
        reserved=counters.most_reserved,
        timeline=timeline_of(trace, counters.begun),
    )
