"""Optimizer states on the host: what of gradients and weights is on the device, and when.

With ZeRO-2, or one rank alone, read from deepspeedai/DeepSpeed deepspeed/runtime/zero/
stage_1_and_2.py (0.19.6) with `offload_optimizer`: a reduced gradient goes from the bucket to an
fp32 buffer of the host, past a norm in double precision, and the weights that the host has stepped
come back in 16 bits. With ZeRO-3, FSDP2's shards stay in 16 bits and each reduced gradient goes to
the host when it has come, as in ZeRO-Offload (arXiv 2101.06840 section 4). Where the shards are on
the host too (CPUOffloadPolicy), those themselves are stepped.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from engine.ledger import Category
from engine.reducing import BUCKET
from engine.scenario import Recipe
from engine.verify.flat import Partition
from engine.verify.host import HOST, on_host
from engine.verify.stepper import optimizer
from engine.verify.zero import Bucketed, gather


class ShareOnHost(Bucketed):
    """Gradients that go to the host, to an fp32 buffer of the rank's part.

    Args:
        partition: who owns what.
        capacity: elements of the bucket.
    """

    def __init__(self, partition: Partition, *, capacity: int = BUCKET) -> None:
        super().__init__(partition, scatter=True, capacity=capacity)
        largest = max(weight.numel() for weight in partition.weights)
        # Gradients of earlier micro-batches come back through it, one at a time.
        self._room = partition.flat.new_zeros(largest)
        with on_host():
            self.share = torch.zeros(partition.size, dtype=torch.float32, device=HOST)

    def _keep(self, number: int, gradient: Tensor) -> None:
        cut = self.partition.held(number)
        if cut is None:
            return
        part = gradient.narrow(0, cut.start, cut.count)
        torch.linalg.vector_norm(part.double())
        wide = part.float()
        with on_host():
            self.share[self.partition.place(number)].add_(wide.to(HOST))

    def held(self) -> Iterator[tuple[Tensor, Category]]:
        """Yield the bucket and the room for one gradient."""
        yield from super().held()
        yield self._room, Category.COMMUNICATION


class _OnHost:
    """Steps copies of the weights on the host, as a rule in fp32; the device has none of it."""

    def __init__(
        self, copies: Iterable[Tensor], recipe: Recipe, dtype: torch.dtype = torch.float32
    ) -> None:
        self.masters: list[nn.Parameter] = []
        self.main_gradients: list[Tensor] = []
        with on_host():
            self._stepped = [nn.Parameter(copy.to(HOST, dtype)) for copy in copies]
            self._optimizer = optimizer(recipe.optimizer, self._stepped)

    @property
    def states(self) -> Iterator[tuple[int | None, Tensor]]:
        """Nothing: all of it is on the host."""
        return iter(())

    def _step(self, gradients: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """Step once, empty `gradients`, and return the weights in `dtype`."""
        with on_host():
            for copy, gradient in zip(self._stepped, gradients, strict=True):
                copy.grad = gradient
            self._optimizer.step()
            for copy, gradient in zip(self._stepped, gradients, strict=True):
                copy.grad = None
                gradient.zero_()
            return [copy.detach().to(dtype) for copy in self._stepped]


class PartOnHost(_OnHost):
    """Steps a rank's flat part of the weights on the host.

    Args:
        partition: who owns what.
        gradients: where they come from.
        recipe: names the optimizer.
    """

    def __init__(self, partition: Partition, gradients: ShareOnHost, recipe: Recipe) -> None:
        super().__init__([partition.own.detach()], recipe)
        self._partition, self._gradients = partition, gradients
        self.weights = list(partition.weights)

    def step(self) -> None:
        """Step once, and gather the weights."""
        flat = self._partition.flat
        (stepped,) = self._step([self._gradients.share], flat.dtype)
        self._partition.own.copy_(stepped)
        gather(self._partition)


class ShardsOnHost(_OnHost):
    """Steps FSDP2's shards on the host, and takes each gradient when it has been reduced.

    Shards that are there already, in the dtype that is stepped, are stepped in place.

    Args:
        weights: sharded parameters.
        recipe: names the optimizer.
        dtype: of what is stepped.
    """

    def __init__(
        self,
        weights: Iterable[nn.Parameter],
        recipe: Recipe,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.weights = list(weights)
        super().__init__([_local(weight).detach() for weight in self.weights], recipe, dtype)
        with on_host():
            self._gradients = [torch.zeros_like(copy) for copy in self._stepped]
        for weight, gradient in zip(self.weights, self._gradients, strict=True):
            weight.register_post_accumulate_grad_hook(_taken(gradient))

    def step(self) -> None:
        """Step once, and bring the shards back to where they are."""
        dtype = _local(self.weights[0]).dtype
        for weight, stepped in zip(self.weights, self._step(self._gradients, dtype), strict=True):
            _local(weight).detach().copy_(stepped)
            weight.grad = None


def _taken(kept: Tensor) -> Callable[[Tensor], None]:
    def hook(weight: Tensor) -> None:
        if weight.grad is None:
            raise RuntimeError("a weight has no gradient")
        with on_host():
            kept.add_(_local(weight.grad).to(HOST))
        weight.grad = None

    return hook


def _local(tensor: Tensor) -> Tensor:
    if not isinstance(tensor, DTensor):
        raise TypeError(type(tensor))
    return tensor._local_tensor  # noqa: SLF001 - to_local would make a new tensor
