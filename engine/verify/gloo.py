"""Collectives over gloo, with the memory that NCCL's take.

Gloo copies what it reduces and scatters, and its threads refer to what they send for a moment
after they are done. NCCL does neither.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.distributed.fsdp import FSDPModule
from torch.distributed.fsdp._fully_shard._fsdp_api import AllGather, ReduceScatter

Operation = dist.ReduceOp | dist.ReduceOp.RedOpType
Group = dist.ProcessGroup | None
LONGEST = 1.0  # seconds


def as_nccl(model: nn.Module) -> None:
    """Have the collectives of a model under `fully_shard` take what NCCL's take."""
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.set_custom_all_gather(Gather())
            module.set_custom_reduce_scatter(Scatter())


def sum_up(tensor: Tensor, op: Operation = dist.ReduceOp.SUM, group: Group = None) -> None:
    """Sum `tensor` up over the ranks, in place."""
    if dist.get_backend(group) == "gloo":
        with _let_go(tensor):
            dist.all_reduce(tensor, op, group)
    else:
        dist.all_reduce(tensor, op, group)


class Gather(AllGather):
    """Gathers, and waits until gloo has let go."""

    def allocate(
        self, size: Sequence[int | torch.SymInt], *, dtype: torch.dtype, device: torch.device
    ) -> Tensor:
        """Make a tensor to send or to receive."""
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: dist.ProcessGroup,
        async_op: bool = False,  # noqa: FBT001, FBT002 - the signature is PyTorch's
    ) -> None:
        """Gather all ranks' inputs."""
        del async_op
        with _let_go(output_tensor, input_tensor):
            dist.all_gather(list(output_tensor.chunk(group.size())), input_tensor, group)


class Scatter(ReduceScatter):
    """Reduces in place: the input, which is not needed any more, takes the sums."""

    def allocate(
        self, size: Sequence[int | torch.SymInt], *, dtype: torch.dtype, device: torch.device
    ) -> Tensor:
        """Make a tensor to send or to receive."""
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: dist.ProcessGroup,
        op: Operation,
        async_op: bool = False,  # noqa: FBT001, FBT002 - the signature is PyTorch's
    ) -> None:
        """Sum up over the ranks and keep this rank's part."""
        del async_op
        sum_up(input_tensor, op, group)
        own = group.rank() * output_tensor.numel()
        output_tensor.copy_(input_tensor[own : own + output_tensor.numel()])


@contextmanager
def _let_go(*tensors: Tensor) -> Iterator[None]:
    """Wait at the end until nobody has come to refer to the tensors or their storages."""
    before = [_users(tensor) for tensor in tensors]
    yield
    given_up = time.monotonic() + LONGEST
    while time.monotonic() < given_up:
        if [_users(tensor) for tensor in tensors] == before:
            return
        time.sleep(0)


def _users(tensor: Tensor) -> tuple[int, int]:
    counted: int = tensor._use_count()  # type: ignore[attr-defined] # noqa: SLF001 - no public name
    storage = tensor.untyped_storage()._cdata  # noqa: SLF001 - no public name
    return counted, torch._C._storage_Use_Count(storage)  # noqa: SLF001 - no public name
