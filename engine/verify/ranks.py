"""One rank of a run, through PyTorch's own parts: which step it runs, chosen in one place.

A strategy is a function from a scenario to `Parts`. It finds its rank, and how many there are, in
the process group that this process has joined: one of fake ranks, of this process alone, or of
several processes (`engine.verify.processes`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore

from engine.partition import flat_of, fullest
from engine.precisions import PRECISIONS
from engine.reducing import BUCKET
from engine.scenario import Scenario
from engine.verify.adapters import trained
from engine.verify.averages import averages
from engine.verify.ddp import FakeReplica, SummedInPlace, among_fakes
from engine.verify.flat import Partition
from engine.verify.fsdp import Policy, sharded
from engine.verify.models import Model, build
from engine.verify.offload import PartOnHost, ShardsOnHost, ShareOnHost
from engine.verify.reference import DTYPES
from engine.verify.stepper import Stepper
from engine.verify.steps import Parts, Steps
from engine.verify.zero import Gradients, ZeroStepper, gradients_of

Strategy = Callable[[Scenario, DeviceMesh | None], Parts]


def parts_of(scenario: Scenario, mesh: DeviceMesh | None) -> Parts:
    """Return the step of one rank of `scenario`.

    Args:
        scenario: its `parallel` chooses the strategy.
        mesh: the ranks, where the strategy places tensors on them.
    """
    if scenario.parallel.data == 1:
        return alone(scenario)
    return STRATEGIES[scenario.parallel.zero](scenario, mesh)


@contextmanager
def fake_ranks(scenario: Scenario, *, rank: int | None = None) -> Iterator[DeviceMesh | None]:
    """Join a group of as many ranks as the scenario has; no other process is needed.

    It must be there before fake tensors are: a mesh holds a real one.

    Args:
        scenario: says how many ranks there are.
        rank: which of them this process is; where it is not given, the one that holds most.
    """
    parallel = scenario.parallel
    if parallel.data == 1:
        yield None
        return
    chosen = fullest_rank(scenario) if rank is None else rank
    dist.init_process_group("fake", rank=chosen, world_size=parallel.data, store=FakeStore())
    try:
        yield mesh_of(scenario, "cpu")
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


def fullest_rank(scenario: Scenario) -> int:
    """Return the rank that holds most; the first one has the longest shards under ZeRO-3."""
    if scenario.parallel.zero in {1, 2}:
        return fullest(flat_of(scenario)).rank
    return 0


def mesh_of(scenario: Scenario, device: str) -> DeviceMesh | None:
    """Return the mesh that tensors are placed on; None where each rank has whole ones."""
    parallel = scenario.parallel
    if parallel.zero != 3:
        return None
    if parallel.shard:
        shape = parallel.data // parallel.shard, parallel.shard
        return init_device_mesh(device, shape, mesh_dim_names=("replicas", "shards"))
    return init_device_mesh(device, (parallel.data,))


def alone(scenario: Scenario) -> Parts:
    """Return the step of a rank that shares nothing."""
    if is_offloaded(scenario):
        return zero(scenario)
    model = build(scenario, _dtype(scenario))
    weights = (weight for _, weight in trained(model))
    hidden = (weight for layer in model.layers for weight in layer.parameters())
    return _parts(scenario, model, Stepper(weights, scenario.recipe, hidden=hidden))


def ddp(scenario: Scenario) -> Parts:
    """Return the step of a rank that holds everything and sums up gradients with the others.

    Gradients in wider buffers are summed up there; all others by DistributedDataParallel.
    """
    bare = alone(scenario)
    if bare.stepper.main_gradients:
        return replace(bare, exchange=SummedInPlace(bare.stepper.main_gradients))
    replica = FakeReplica(bare.model) if among_fakes() else DistributedDataParallel(bare.model)
    exchange = replica if isinstance(replica, FakeReplica) else bare.exchange
    return replace(bare, forward=replica, exchange=exchange)


def zero(scenario: Scenario, *, bucket: int = BUCKET) -> Parts:
    """Return the step of a rank under ZeRO-1 or 2.

    Args:
        scenario: has the stage.
        bucket: elements of the bucket in which gradients are reduced.
    """
    model = build(scenario, _dtype(scenario))
    stage = scenario.parallel.zero
    weights = list(model.parameters())
    many = scenario.parallel.data > 1
    rank, ranks = (dist.get_rank(), dist.get_world_size()) if many else (0, 1)
    partition = Partition(weights, rank=rank, ranks=ranks)
    if is_offloaded(scenario):
        return _offloaded(scenario, model, ShareOnHost(partition, capacity=bucket))
    precision = PRECISIONS[scenario.recipe.precision]
    gradients = gradients_of(partition, precision, stage=stage, bucket=bucket)
    _send(weights, gradients)
    stepper = ZeroStepper(partition, gradients, scenario.recipe)
    made = _parts(scenario, model, stepper)
    return replace(made, exchange=gradients, between=stage == 1 and made.between)


def _offloaded(scenario: Scenario, model: Model, gradients: ShareOnHost) -> Parts:
    """Return the step of a rank that steps its part on the host (ZeRO-2)."""
    partition = gradients.partition
    _send(partition.weights, gradients)
    made = _parts(scenario, model, PartOnHost(partition, gradients, scenario.recipe))
    return replace(made, exchange=gradients, between=False)


def fsdp2(scenario: Scenario, mesh: DeviceMesh, *, reshard: bool = True) -> Parts:
    """Return the step of a rank under `fully_shard`, on every layer and on the root.

    Args:
        scenario: what runs.
        mesh: the ranks.
        reshard: whether a layer's gathered weights are let go between its forward and backward.
    """
    precision = PRECISIONS[scenario.recipe.precision]
    offloaded = is_offloaded(scenario)
    weights_on_host = scenario.offload.parameters != "none"
    in_16_bits = offloaded and not weights_on_host
    stepped = DTYPES[precision.weights if in_16_bits else precision.stepped]
    dtypes = MixedPrecisionPolicy(param_dtype=DTYPES[precision.compute], reduce_dtype=stepped)
    policy = Policy(dtypes=dtypes, reshard=reshard, on_host=weights_on_host)
    model = sharded(lambda: build(scenario, stepped), mesh, policy)
    own: Steps
    if offloaded:
        kept = stepped if weights_on_host else torch.float32
        own = ShardsOnHost(model.parameters(), scenario.recipe, kept)
    else:
        own = Stepper(model.parameters(), scenario.recipe, sharded=True)
    return replace(_parts(scenario, model, own), ends=2)


def _sharded(scenario: Scenario, mesh: DeviceMesh | None) -> Parts:
    if mesh is None:
        raise ValueError(scenario)
    return fsdp2(scenario, mesh)


# By ZeRO stage, where there are several ranks.
STRATEGIES: Mapping[int, Strategy] = {
    0: lambda scenario, _mesh: ddp(scenario),
    1: lambda scenario, _mesh: zero(scenario),
    2: lambda scenario, _mesh: zero(scenario),
    3: _sharded,
}


def _dtype(scenario: Scenario) -> torch.dtype:
    return DTYPES[PRECISIONS[scenario.recipe.precision].weights]


def _parts(scenario: Scenario, model: Model, stepper: Steps) -> Parts:
    work = scenario.workload
    return Parts(
        model=model,
        layers=tuple(model.layers),
        forward=model,
        batch=model.batch(work.micro_batch, work.sequence),
        stepper=stepper,
        averages=tuple(averages(stepper, scenario.recipe.ema)),
        between=not _layers_differ(scenario),
    )


def _layers_differ(scenario: Scenario) -> bool:
    """Say whether some layers have experts and others have none."""
    experts = scenario.architecture.experts
    return experts is not None and 0 < experts.dense_layers < scenario.architecture.layers


def is_offloaded(scenario: Scenario) -> bool:
    """Say whether the optimizer steps on the host."""
    return scenario.offload.optimizer != "none"


def _send(weights: Sequence[nn.Parameter], gradients: Gradients) -> None:
    for number, weight in enumerate(weights):
        weight.register_post_accumulate_grad_hook(_arrival(gradients, number))


def _arrival(gradients: Gradients, number: int) -> Callable[[Tensor], None]:
    def hook(_weight: Tensor) -> None:
        gradients.arrive(number)

    return hook
