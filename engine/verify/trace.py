"""A training step of which every byte is counted: traced under fake tensors, or executed.

Fake tensors on the CPU stand for those of a GPU, so a model of any size is traced in seconds and
nothing is allocated. One rank is traced: alone, or as the first of several under FSDP2 with a
fake process group. Plain data parallelism is executed, since its buckets are made in C++.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor
from torch import distributed as dist
from torch._C._distributed_c10d import HashStore
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile
from torch.testing._internal.distributed.fake_pg import FakeStore

from engine.ledger import Phase
from engine.recipe import PRECISIONS
from engine.scenario import Scenario
from engine.verify.live import LiveBytes, Peak
from engine.verify.reference import DTYPES, Transformer, build
from engine.verify.stepper import Stepper, optimizer


def peaks(scenario: Scenario, *, steps: int = 2, details: bool = False) -> dict[Phase, Peak]:
    """Trace `steps` optimizer steps of one rank and return the last one's peak of each phase.

    ZeRO-3 is traced as FSDP2; under plain data parallelism and ZeRO-1 and 2 the rank is traced
    as if it were alone.

    Args:
        scenario: what to run.
        steps: 1 for the first step, which creates the optimizer states; 2 for a steady one.
        details: keep what was alive at each peak.
    """
    sharded = scenario.parallel.zero == 3 and scenario.parallel.data > 1
    ranks = scenario.parallel.data if sharded else 1
    with (
        _fake_ranks(ranks) as mesh,
        FakeTensorMode(allow_non_fake_inputs=True),
        LiveBytes(details=details) as live,
    ):
        model, step = _sharded(scenario, mesh) if mesh else _alone(scenario)
        _mark_backward(model, live, layers=2 if mesh else 1)
        _run(scenario, _Parts(model=model, forward=model, step=step), live, steps)
    return dict(live.peaks)


def executed(scenario: Scenario, *, steps: int = 3) -> dict[Phase, Peak]:
    """Execute optimizer steps on the CPU and return the last one's peak of each phase.

    With more than one data-parallel rank the model runs under DistributedDataParallel, whose
    buckets are those of any number of ranks; the process is the only one of its group. The
    second step's backward makes the buckets anew, so the third is the first steady one. Eager
    attention only: a CPU has no kernel for the other.
    """
    with _one_process(), LiveBytes() as live:
        model, step = _alone(scenario)
        _mark_backward(model, live, layers=1)
        wrapped = DistributedDataParallel(model) if scenario.parallel.data > 1 else model
        _run(scenario, _Parts(model=model, forward=wrapped, step=step), live, steps)
    return dict(live.peaks)


def reported(scenario: Scenario, *, steps: int = 3) -> int:
    """Execute optimizer steps on the CPU and return the peak that PyTorch's allocator reports.

    No dispatch mode is on and nothing is counted here, so this is independent of `LiveBytes`:
    the profiler lists every allocation and every release. Eager attention only.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        model, step = _alone(scenario)
        parts = _Parts(model=model, forward=model, step=step)
        _run(scenario, parts, LiveBytes(), steps)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    changes = sorted((e["ts"], e["args"]["Bytes"]) for e in events if e["name"] == "[memory]")
    peak: int = max(accumulate(change for _, change in changes))
    return peak


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What runs: `forward` is the model or what wraps it."""

    model: Transformer
    forward: Callable[..., Tensor]
    step: Callable[[], None]


def _run(scenario: Scenario, parts: _Parts, live: LiveBytes, steps: int) -> None:
    work = scenario.workload
    shape = (work.micro_batch, work.sequence)
    tables = parts.model.tables(work.sequence)
    tokens, targets = (torch.zeros(shape, dtype=torch.long) for _ in range(2))
    casts = scenario.recipe.precision == "autocast"
    for _ in range(steps):
        live.peaks.clear()
        for _ in range(work.gradient_accumulation):
            live.enter(Phase.FORWARD)
            with torch.autocast("cpu", DTYPES[2], enabled=casts):
                loss = parts.forward(tokens, targets, tables)
            live.enter(Phase.LOSS)
            loss.backward()
            live.enter(None)
            del loss
        live.enter(Phase.STEP)
        parts.step()
        live.enter(None)


@contextmanager
def _one_process() -> Iterator[None]:
    dist.init_process_group("gloo", rank=0, world_size=1, store=HashStore())
    try:
        yield
    finally:
        dist.destroy_process_group()


@contextmanager
def _fake_ranks(ranks: int) -> Iterator[DeviceMesh | None]:
    if ranks == 1:
        yield None
        return
    dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())
    try:
        yield init_device_mesh("cpu", (ranks,))
    finally:
        dist.destroy_process_group()


def _alone(scenario: Scenario) -> tuple[Transformer, Callable[[], None]]:
    model = build(scenario.architecture, scenario.recipe)
    return model, Stepper(model, scenario.recipe).step


def _sharded(scenario: Scenario, mesh: DeviceMesh) -> tuple[Transformer, Callable[[], None]]:
    recipe = scenario.recipe
    precision = PRECISIONS[recipe.precision]
    stored = "fp32" if precision.stepped == 4 else "pure-bf16"
    model = build(scenario.architecture, replace(recipe, precision=stored))
    model.recipe = recipe
    policy = MixedPrecisionPolicy(
        param_dtype=DTYPES[precision.compute], reduce_dtype=DTYPES[precision.stepped]
    )
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    stepper = optimizer(recipe.optimizer, list(model.parameters()))

    def step() -> None:
        stepper.step()
        stepper.zero_grad()

    return model, step


def _mark_backward(model: Transformer, live: LiveBytes, *, layers: int) -> None:
    """Enter a phase when the backward pass reaches a layer.

    `layers` are those at the top that count as `backward-first`, and those at the bottom that
    count as `backward-last`: with FSDP2 two, because the gradients of one are reduced while the
    next one runs, and a layer is gathered while the one above it runs.
    """
    top = len(model.blocks) - 1
    phases: dict[int, Phase | None] = {layers - 1: Phase.BACKWARD_LAST}
    if top - layers >= layers:
        phases[top - layers] = None
    phases[top] = Phase.BACKWARD_FIRST
    for index, phase in phases.items():
        model.blocks[index].register_forward_hook(_when_reached(live, phase))


def _when_reached(
    live: LiveBytes, phase: Phase | None
) -> Callable[[object, object, Tensor], None]:
    def hook(_module: object, _inputs: object, out: Tensor) -> None:
        out.register_hook(lambda _gradient: live.enter(phase))

    return hook
