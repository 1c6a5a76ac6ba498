"""One rank of a run, through PyTorch's own parts: alone, under DDP, or under FSDP2."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import distributed as dist
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore

from engine.recipe import PRECISIONS
from engine.scenario import Scenario
from engine.verify.reference import DTYPES, build
from engine.verify.stepper import Stepper
from engine.verify.steps import Parts


@contextmanager
def fake_ranks(scenario: Scenario) -> Iterator[DeviceMesh | None]:
    """Join a group of as many ranks as ZeRO-3 shards over; no other process is needed.

    It must be there before fake tensors are: the mesh holds a real one.
    """
    parallel = scenario.parallel
    if parallel.zero != 3 or parallel.data == 1:
        yield None
        return
    dist.init_process_group("fake", rank=0, world_size=parallel.data, store=FakeStore())
    try:
        yield init_device_mesh("cpu", (parallel.data,))
    finally:
        dist.destroy_process_group()


@contextmanager
def one_process() -> Iterator[None]:
    """Join a group of this process alone."""
    dist.init_process_group("gloo", rank=0, world_size=1, store=HashStore())
    try:
        yield
    finally:
        dist.destroy_process_group()


def alone(scenario: Scenario) -> Parts:
    """Return the step of a rank that shares nothing."""
    model = build(scenario, DTYPES[PRECISIONS[scenario.recipe.precision].weights])
    return Parts(
        model=model,
        layers=tuple(model.layers),
        forward=model,
        batch=model.batch(scenario.workload.micro_batch, scenario.workload.sequence),
        stepper=Stepper(model.parameters(), scenario.recipe),
    )


def ddp(scenario: Scenario) -> Parts:
    """Return the step of a rank under DistributedDataParallel."""
    bare = alone(scenario)
    return Parts(
        model=bare.model,
        layers=bare.layers,
        forward=DistributedDataParallel(bare.model),
        batch=bare.batch,
        stepper=bare.stepper,
    )


def fsdp2(scenario: Scenario, mesh: DeviceMesh) -> Parts:
    """Return the step of a rank under `fully_shard`, on every layer and on the root."""
    precision = PRECISIONS[scenario.recipe.precision]
    model = build(scenario, DTYPES[precision.stepped])
    policy = MixedPrecisionPolicy(
        param_dtype=DTYPES[precision.compute], reduce_dtype=DTYPES[precision.stepped]
    )
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return Parts(
        model=model,
        layers=tuple(model.layers),
        forward=model,
        batch=model.batch(scenario.workload.micro_batch, scenario.workload.sequence),
        stepper=Stepper(model.parameters(), scenario.recipe, sharded=True),
        ends=2,
    )
