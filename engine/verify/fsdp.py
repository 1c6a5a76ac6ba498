"""ZeRO-3 as FSDP2: `fully_shard` on every layer and on the root."""

from collections.abc import Callable

import torch
from torch import distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
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
    with _disable_current_modes(), torch.device("meta"):
        model = _cut(make(), mesh, policy, reshard=reshard)
    _make_shards(model)
    return model


def _cut(model: Model, mesh: DeviceMesh, policy: MixedPrecisionPolicy, *, reshard: bool) -> Model:
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


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
