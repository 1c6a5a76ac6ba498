"""A training step of which every byte is counted: traced under fake tensors, or executed.

Fake tensors on the CPU stand for those of a GPU, so a model of any size is traced in seconds and
nothing is allocated. One rank is traced: alone, or as one of several in a fake process group,
which sends nothing.
"""

import json
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from torch._subclasses.fake_tensor import FakeTensorMode
from torch.profiler import ProfilerActivity, profile

from engine.scenario import Scenario
from engine.verify.live import LiveBytes
from engine.verify.ranks import Strategy, alone, fake_ranks, one_process, parts_of
from engine.verify.steps import Parts, Progress, run, silent
from engine.verify.timeline import Timeline


def traced(
    scenario: Scenario,
    *,
    steps: int = 2,
    progress: Progress = silent,
    strategy: Strategy = parts_of,
    rank: int | None = None,
) -> Timeline:
    """Trace `steps` optimizer steps of one rank under fake tensors.

    Args:
        scenario: what to run.
        steps: 1 for the first step, which creates the optimizer states; 2 for a steady one too.
        progress: called with the number of layers that have run forward.
        strategy: makes the step of a rank.
        rank: which one; where it is not given, the one that holds most.
    """
    live = LiveBytes(scenario.architecture.vocab)
    with (
        fake_ranks(scenario, rank=rank) as mesh,
        FakeTensorMode(allow_non_fake_inputs=True),
        live.counting(),
    ):
        parts = strategy(scenario, mesh)
        return _counted(scenario, parts, live, steps, progress)


def executed(
    scenario: Scenario,
    *,
    steps: int = 3,
    progress: Progress = silent,
    strategy: Strategy = parts_of,
) -> Timeline:
    """Execute optimizer steps on the CPU and count.

    Where there are several ranks and each holds everything, the process is the only one of its
    group: the buckets of DistributedDataParallel are those of any number of ranks. They are made
    anew in the second step, so the third is the first steady one. Under ZeRO the process is one of
    a fake group: what it holds is real, what it receives is not. Eager attention only: a CPU has
    no kernel for the other.
    """
    live = LiveBytes(scenario.architecture.vocab)
    ranks = fake_ranks(scenario) if scenario.parallel.zero else one_process()
    with ranks as mesh, live.counting():
        parts = strategy(scenario, mesh)
        return _counted(scenario, parts, live, steps, progress)


def _counted(
    scenario: Scenario, parts: Parts, live: LiveBytes, steps: int, progress: Progress
) -> Timeline:
    live.where.name(parts.model)
    run(scenario, parts, live, steps=steps, progress=progress)
    return live.timeline()


def reported(scenario: Scenario, *, steps: int = 3) -> int:
    """Execute optimizer steps on the CPU and return the peak that PyTorch's allocator reports.

    No dispatch mode is on and nothing is counted here, so this is independent of `LiveBytes`:
    the profiler lists every allocation and every release. Eager attention only.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        parts = alone(scenario)
        run(scenario, parts, LiveBytes(), steps=steps)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    changes = sorted((e["ts"], e["args"]["Bytes"]) for e in events if e["name"] == "[memory]")
    peak: int = max(accumulate(change for _, change in changes))
    return peak
