"""Plain data parallelism: PyTorch's DistributedDataParallel, under fake tensors too.

Its reducer is C++ and makes its buckets itself, in torch/csrc/distributed/c10d/reducer.cpp:
persistent, the first of 1 MiB, then of 25 MiB, made anew in the second step in the order in which
gradients came. Under fake tensors it works but for two things: a fake process group hands back no
result, and the order of the buckets is written into a tensor of numbers, which must be real.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch._C._distributed_c10d import GradBucket
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

from engine.ledger import Category
from engine.verify.gloo import sum_up


class FakeReplica(DistributedDataParallel):
    """A replica among fake ranks: nothing is sent, everything is allocated."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model, init_sync=False)
        self._buckets: list[Tensor] = []
        self.register_comm_hook(self._buckets, _sent)

    def forward(self, *inputs: Tensor) -> Tensor:
        """Run the model; before the second step this makes the buckets anew."""
        with _RealNumbers():
            self.reducer._rebuild_buckets()  # noqa: SLF001 - as DistributedDataParallel.forward does
        loss: Tensor = super().forward(*inputs)  # type: ignore[no-untyped-call] # torch leaves it untyped
        return loss

    def will_sync_module_buffers(self) -> bool:
        """Say no: buffers are the same on every rank already."""
        return False

    def finish(self, *, last: bool) -> None:
        """Do nothing: the backward pass has reduced the gradients."""

    def held(self) -> Iterator[tuple[Tensor, Category]]:
        """Yield the buckets of the backward pass that is over, once."""
        buckets = list(self._buckets)
        self._buckets.clear()
        return ((bucket, Category.COMMUNICATION) for bucket in buckets)


def _sent(buckets: list[Tensor], bucket: GradBucket) -> Future[Tensor]:
    """Return the bucket as it is, as if it had been sent and summed up."""
    buckets.append(bucket.buffer())
    done: Future[Tensor] = Future()
    done.set_result(bucket.buffer())
    return done


class _RealNumbers(TorchDispatchMode):
    """Lets tensors of 32-bit integers be real ones where others are fake."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # torch leaves it untyped

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204 - torch calls it with its own types
        """Run the operator, with fake tensors off where it is about such numbers."""
        kwargs = kwargs or {}
        dtypes = [kwargs.get("dtype"), *(x.dtype for x in args if isinstance(x, Tensor))]
        if torch.int32 not in dtypes:
            return func(*args, **kwargs)
        with unset_fake_temporarily():
            return func(*args, **kwargs)


class SummedInPlace:
    """Gradient buffers that live for good and are summed up as they are, without a bucket.

    Args:
        buffers: the fp32 buffers that 16-bit gradients were added to.

    Source: NVIDIA/Megatron-LM megatron/core/distributed/param_and_grad_buffer.py.
    """

    def __init__(self, buffers: Sequence[Tensor]) -> None:
        self._buffers = buffers

    def finish(self, *, last: bool) -> None:
        """Sum up over the ranks before the optimizer steps."""
        if last:
            for buffer in self._buffers:
                sum_up(buffer)

    def held(self) -> Iterator[tuple[Tensor, Category]]:
        """Yield the buffers."""
        return ((buffer, Category.GRADIENTS) for buffer in self._buffers)


def among_fakes() -> bool:
    """Say whether this process has joined a group of fake ranks."""
    return str(dist.get_backend()) == "fake"
