"""The step in several real processes, one a rank: all are measured, and the worst is known.

The processes are torchrun's: `torchrun --nproc-per-node N -m quiz verify …` starts N of them with
the same command. Nothing here starts one, and none outlives another: where a rank dies, torchrun
ends the others, and a rank that waits for it gives up by itself; where torchrun dies, all end.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import final

import torch
from torch import distributed as dist

from engine.errors import Fault, InputError
from engine.ledger import Phase
from engine.scenario import Scenario
from engine.verify.cuda import Cuda, on_gpu
from engine.verify.live import LiveBytes
from engine.verify.ranks import Strategy, mesh_of, parts_of
from engine.verify.steps import Progress, Watch, run, silent
from engine.verify.timeline import Timeline

# Ranks run in step, so one that waits this long for another waits for ever.
PATIENCE = timedelta(seconds=60)
# DistributedDataParallel makes its buckets anew in the second step, so the third is a steady one.
STEPS = 3
# A thread of gloo's holds what it has sent until it comes to let go of it, which is later than the
# end of the sending is told, and late where the cores are busy. Seconds.
LETTING_GO = 0.1
ENVIRONMENT = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True, kw_only=True)
class Rank:
    """What one process took: bytes at the peak of each step's phases.

    `reserved` is the most that a GPU's allocator held; 0 on a CPU, which has none.
    """

    rank: int
    steps: tuple[Mapping[Phase, int], ...]
    reserved: int = 0

    @property
    def peak(self) -> int:
        """Most bytes of the last step, a steady one."""
        return max(self.steps[-1].values())


@dataclass(frozen=True, kw_only=True)
class Everyone:
    """What all ranks took, by rank, and every allocation of the worst."""

    ranks: tuple[Rank, ...]
    timeline: Timeline

    @property
    def worst(self) -> Rank:
        """The rank with the highest peak; the first of several."""
        return max(self.ranks, key=lambda rank: rank.peak)


def started_by_torchrun() -> bool:
    """Say whether this process is one of several that torchrun has started."""
    return all(name in os.environ for name in ENVIRONMENT)


def every_rank(
    scenario: Scenario,
    device: str = "cpu",
    *,
    steps: int = STEPS,
    progress: Progress = silent,
    strategy: Strategy = parts_of,
) -> Everyone | None:
    """Execute the step in this process and in all others of its group, and gather what they took.

    Args:
        scenario: what to run.
        device: "cpu", or "cuda" for the GPU of this process's LOCAL_RANK.
        steps: optimizer steps, of which the last one is a steady one.
        progress: called with the number of layers that have run forward.
        strategy: makes the step of a rank.

    Returns:
        All ranks on rank 0, None on the others.

    Raises:
        InputError: there are not as many processes as ranks; says how to start them.
    """
    _check(scenario)
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    with _joined("nccl" if device == "cuda" else "gloo"):
        run_here = _on_cuda if device == "cuda" else _on_cpu
        told = _while_torchrun_lives(progress)
        return _gathered(*run_here(scenario, strategy, steps, told))


def _check(scenario: Scenario) -> None:
    ranks = scenario.parallel.data
    start = f"start torchrun --nproc-per-node {ranks} -m quiz verify …"
    if not started_by_torchrun():
        missing = ", ".join(name for name in ENVIRONMENT if name not in os.environ)
        what = f"{ranks} ranks need as many processes, and torchrun has set no {missing} here"
        raise InputError(Fault("parallel.data", what, start))
    there = int(os.environ["WORLD_SIZE"])
    if there != ranks:
        what = f"{ranks} ranks, but torchrun has started {there} processes"
        raise InputError(Fault("parallel.data", what, f"{start}, or give data = {there}"))


@contextmanager
def _joined(backend: str) -> Iterator[None]:
    """Join the group of all processes; an interrupt ends this one at once, wherever it waits."""
    before = None
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    dist.init_process_group(backend, timeout=PATIENCE)
    try:
        yield
        # A thread of gloo's that still holds the group when it is destroyed would end the process.
        dist.barrier()
        time.sleep(LETTING_GO)
    finally:
        dist.destroy_process_group()
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _while_torchrun_lives(progress: Progress) -> Progress:
    """Return `progress`, which also ends the process when the one that started it has ended."""
    parent = os.getppid()

    def tell(layers: int) -> None:
        if os.getppid() != parent:
            raise SystemExit("torchrun has ended, so this rank ends too")
        progress(layers)

    return tell


@final
class _Settled:
    """A watch that counts what follows a backward pass once gloo's threads have let go."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.mark, self.name = watch.mark, watch.name

    def enter(self, phase: Phase | None, step: int) -> None:
        """Hear that `phase` of `step` begins; None is between phases."""
        if phase is Phase.REDUCE:
            time.sleep(LETTING_GO)
        self._watch.enter(phase, step)


def _on_cuda(
    scenario: Scenario, strategy: Strategy, steps: int, progress: Progress
) -> tuple[Rank, Timeline]:
    """Execute on the GPU of this process, and read its allocator's figures."""
    mesh = mesh_of(scenario, "cuda")
    found = on_gpu(scenario, Cuda(), progress, steps=steps, parts=lambda: strategy(scenario, mesh))
    own = Rank(rank=dist.get_rank(), steps=found.phases, reserved=found.reserved)
    return own, found.timeline


def _on_cpu(
    scenario: Scenario, strategy: Strategy, steps: int, progress: Progress
) -> tuple[Rank, Timeline]:
    """Execute on the CPU and count."""
    live = LiveBytes(scenario.architecture.vocab)
    mesh = mesh_of(scenario, "cpu")
    with live.counting():
        parts = strategy(scenario, mesh)
        live.where.name(parts.model)
        run(scenario, parts, _Settled(live), steps=steps, progress=progress)
    timeline = live.timeline()
    sizes = tuple(
        {phase: moment.size for phase, moment in timeline.peaks(step).items()}
        for step in range(timeline.last_step + 1)
    )
    return Rank(rank=dist.get_rank(), steps=sizes), timeline


def _gathered(own: Rank, timeline: Timeline) -> Everyone | None:
    """Return what all ranks took on rank 0, with the timeline of the worst."""
    ranks: list[Rank | None] = [None] * dist.get_world_size()
    dist.all_gather_object(ranks, own)
    found = tuple(rank for rank in ranks if rank is not None)
    worst = max(found, key=lambda rank: rank.peak).rank
    sent: list[Timeline | None] = [timeline if own.rank == worst else None]
    dist.broadcast_object_list(sent, src=worst)
    if own.rank or sent[0] is None:
        return None
    return Everyone(ranks=found, timeline=sent[0])
