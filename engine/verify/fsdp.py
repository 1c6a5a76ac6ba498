"""ZeRO-3 as FSDP2: `fully_shard` on every layer and on the root."""

from collections.abc import Callable
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp._fully_shard import _fsdp_param
from torch.utils._python_dispatch import _disable_current_modes

from engine.verify.ddp import among_fakes
from engine.verify.gloo import as_nccl
from engine.verify.models import Model


def sharded(
    make: Callable[[], Model], mesh: DeviceMesh, policy: MixedPrecisionPolicy, *, reshard: bool
) -> Model:
    """Return a model of which this rank holds its rows of every tensor.

    Among fake ranks the model is made on the meta device, out of sight of whoever counts, and only
    the shards are made there: otherwise each tensor would be cut into one fake tensor a rank.

    Args:
        make: makes the model; its layers are `model.layers`.
        mesh: the ranks.
        policy: the dtypes in which layers are gathered and gradients reduced.
        reshard: whether a layer's gathered weights are let go when its forward pass is over, to
            be gathered again in the backward pass.
    """
    if not among_fakes():
        model = _cut(make(), mesh, policy, reshard=reshard)
        if str(dist.get_backend()) == "gloo":
            as_nccl(model)
        return model
    # One tensor a rank would be made for each parameter, twice. Where PyTorch calls it otherwise
    # nothing is replaced, and it takes longer.
    once = patch.object(_fsdp_param, "_chunk_with_empty", _Chunks, create=True)
    with _disable_current_modes(), torch.device("meta"), once:
        model = _cut(make(), mesh, policy, reshard=reshard)
    _make_shards(model)
    return model


def _cut(model: Model, mesh: DeviceMesh, policy: MixedPrecisionPolicy, *, reshard: bool) -> Model:
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


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


def _make_shards(model: nn.Module) -> None:
    """Make each parameter's shard, and buffers; modules that share a parameter go on to.

    `nn.Module.to_empty` would make two of it.
    """
    made: dict[nn.Parameter, nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in made:
                made[parameter] = nn.Parameter(torch.empty_like(parameter, device="cpu"))
            setattr(module, name, made[parameter])
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, torch.empty_like(buffer, device="cpu"))
