"""A training step of which every byte is counted: traced under fake tensors, or executed.

Fake tensors on the CPU stand for those of a GPU, so a model of any size is traced in seconds and
nothing is allocated. One rank is traced: alone, or as the first of several under FSDP2 with a
fake process group. Plain data parallelism is executed, since its buckets are made in C++.
"""

import json
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from torch._subclasses.fake_tensor import FakeTensorMode
from torch.profiler import ProfilerActivity, profile

from engine.scenario import Scenario
from engine.verify.live import LiveBytes
from engine.verify.ranks import alone, ddp, fake_ranks, fsdp2, one_process
from engine.verify.steps import Parts, Progress, run
from engine.verify.timeline import Timeline


def _silent(_layers: int) -> None:
    """Report no progress."""


def traced(scenario: Scenario, *, steps: int = 2, progress: Progress = _silent) -> Timeline:
    """Trace `steps` optimizer steps of one rank under fake tensors.

    ZeRO-3 is traced as FSDP2; under plain data parallelism and ZeRO-1 and 2 the rank is traced
    as if it were alone.

    Args:
        scenario: what to run.
        steps: 1 for the first step, which creates the optimizer states; 2 for a steady one too.
        progress: called with the number of layers that have run forward.
    """
    live = LiveBytes(scenario.architecture.vocab)
    with (
        fake_ranks(scenario) as mesh,
        FakeTensorMode(allow_non_fake_inputs=True),
        live.counting(),
    ):
        parts = fsdp2(scenario, mesh) if mesh else alone(scenario)
        return _counted(scenario, parts, live, steps, progress)


def executed(scenario: Scenario, *, steps: int = 3, progress: Progress = _silent) -> Timeline:
    """Execute optimizer steps on the CPU and count.

    With more than one data-parallel rank the model runs under DistributedDataParallel, whose
    buckets are those of any number of ranks; the process is the only one of its group. The
    second step's backward makes the buckets anew, so the third is the first steady one. Eager
    attention only: a CPU has no kernel for the other.
    """
    live = LiveBytes(scenario.architecture.vocab)
    with one_process(), live.counting():
        parts = ddp(scenario) if scenario.parallel.data > 1 else alone(scenario)
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
