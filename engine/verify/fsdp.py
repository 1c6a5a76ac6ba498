"""ZeRO-3 as FSDP2: `fully_shard` on every layer and on the root."""

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    MixedPrecisionPolicy,
    OffloadPolicy,
    fully_shard,
)
from torch.distributed.fsdp._fully_shard import _fsdp_param, _fsdp_param_group
from torch.utils._python_dispatch import _disable_current_modes

from engine.verify.ddp import among_fakes
from engine.verify.gloo import as_nccl
from engine.verify.host import on_host
from engine.verify.models import Model


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What `fully_shard` is told.

    Attributes:
        dtypes: in which layers are gathered and gradients reduced.
        reshard: whether a layer's gathered weights are let go when its forward pass is over, to
            be gathered again in the backward pass.
        on_host: whether the shards live on the host, and reduced gradients go there.
    """

    dtypes: MixedPrecisionPolicy
    reshard: bool = True
    on_host: bool = False


def sharded(make: Callable[[], Model], mesh: DeviceMesh, policy: Policy) -> Model:
    """Return a model of which this rank holds its rows of every tensor.

    Among fake ranks the model is made on the meta device, out of sight of whoever counts, and only
    the shards are made there: otherwise each tensor would be cut into one fake tensor a rank.

    Args:
        make: makes the model; its layers are `model.layers`.
        mesh: the ranks.
        policy: what `fully_shard` is told.
    """
    if not among_fakes():
        return _among_processes(make, mesh, policy)
    # One tensor a rank would be made for each parameter, twice. Where PyTorch calls it otherwise
    # nothing is replaced, and it takes longer.
    once = patch.object(_fsdp_param, "_chunk_with_empty", _Chunks, create=True)
    with _disable_current_modes(), torch.device("meta"), once:
        model = _cut(make(), mesh, policy)
    _make_shards(model, on_the_host=policy.on_host)
    return model


def _among_processes(make: Callable[[], Model], mesh: DeviceMesh, policy: Policy) -> Model:
    with ExitStack() as where:
        apart = policy.on_host and mesh.device_type == "cpu"
        if apart:
            where.enter_context(on_host())
        model = _cut(make(), mesh, policy)
    if apart:
        _bring_buffers(model)
    if str(dist.get_backend()) == "gloo":
        as_nccl(model)
    return model


def _cut(model: Model, mesh: DeviceMesh, policy: Policy) -> Model:
    on_gpu = mesh.device_type == "cuda"
    offload = CPUOffloadPolicy(pin_memory=on_gpu) if policy.on_host else OffloadPolicy()
    with ExitStack() as replaced:
        if policy.on_host and not on_gpu:
            replaced.enter_context(patch.object(_fsdp_param_group, "FSDPParam", _FromHost))
        for layer in model.layers:
            fully_shard(
                layer,
                mesh=mesh,
                mp_policy=policy.dtypes,
                reshard_after_forward=policy.reshard,
                offload_policy=offload,
            )
        fully_shard(model, mesh=mesh, mp_policy=policy.dtypes, offload_policy=offload)
    return model


class _FromHost(_fsdp_param.FSDPParam):
    """A parameter whose shard is copied before it is gathered, though the device is a CPU too."""

    @property
    def all_gather_inputs(self) -> list[Tensor]:
        """What is gathered, of a copy of the shard."""
        kept = self._sharded_param_data
        self._sharded_param_data = kept.clone()
        try:
            return super().all_gather_inputs
        finally:
            self._sharded_param_data = kept


class _Chunks:
    """The parts into which `torch.chunk` cuts a tensor, empty ones behind them, made when read.

    PyTorch reads two of them: the first one and the rank's own.
    """

    def __init__(self, tensor: Tensor, number: int, dim: int) -> None:
        self._tensor = tensor
        self._dim = dim
        self._length = -(-tensor.size(dim) // number)

    def __getitem__(self, place: int) -> Tensor:
        begin = place * self._length
        length = min(self._length, self._tensor.size(self._dim) - begin)
        if length <= 0:
            return self._tensor.new_empty(0)
        return self._tensor.narrow(self._dim, begin, length)


def _make_shards(model: nn.Module, *, on_the_host: bool) -> None:
    """Make each parameter's shard, and buffers; modules that share a parameter go on to.

    `nn.Module.to_empty` would make two of it.
    """
    made: dict[nn.Parameter, nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in made:
                with on_host() if on_the_host else nullcontext():
                    made[parameter] = nn.Parameter(torch.empty_like(parameter, device="cpu"))
            setattr(module, name, made[parameter])
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, torch.empty_like(buffer, device="cpu"))


def _bring_buffers(model: nn.Module) -> None:
    """Have the device hold all buffers of a model that was made on the host."""
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, buffer.clone())
