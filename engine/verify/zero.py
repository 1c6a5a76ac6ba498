"""ZeRO-1 and ZeRO-2 from PyTorch's collectives, with the memory that DeepSpeed's take.

What is allocated, and when, is read from deepspeedai/DeepSpeed
deepspeed/runtime/zero/stage_1_and_2.py with its default settings: flat weights cut into N equal
parts, contiguous_gradients, reduce_bucket_size of 5e8 elements, reduce_scatter with
use_multi_rank_bucket_allreduce, no overlap_comm, no offload, no check for overflow (bf16).

Where a recipe has no master copy, the rank's part of the weights is stepped in place; DeepSpeed
would keep an fp32 copy of it. Gradients in fp32 beside 16-bit weights are no setting of
DeepSpeed's optimizer: under ZeRO-1 they have one buffer of all weights, as in Megatron-LM's
distributed optimizer (megatron/core/distributed/param_and_grad_buffer.py), under ZeRO-2 one of
the rank's part.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch import distributed as dist

from engine.ledger import Category
from engine.precisions import PRECISIONS, Precision
from engine.reducing import BUCKET
from engine.scenario import Recipe
from engine.verify.flat import Partition
from engine.verify.gloo import sum_up
from engine.verify.stepper import optimizer


class Gradients(Protocol):
    """The gradients of a rank's part, on their way from the backward pass to the step."""

    def arrive(self, number: int) -> None:
        """Take the gradient of a weight, which the backward pass has just made."""

    def finish(self, *, last: bool) -> None:
        """End a micro-batch; `last` before the optimizer steps."""

    def held(self) -> Iterator[tuple[Tensor, Category]]:
        """Yield the buffers alive now, with their kind."""

    def own(self) -> list[Tensor]:
        """Return the reduced gradients of the rank's part, flat, piece by piece."""

    def release(self) -> None:
        """Let go what the step does not need any more."""


class Bucketed:
    """Gradients that are copied into a bucket, which is reduced when it is full.

    Args:
        partition: who owns what.
        scatter: whether each gradient goes to the bucket as it is made (ZeRO-2), or all go when
            the last micro-batch is over (ZeRO-1).
        capacity: elements of the bucket.
    """

    def __init__(self, partition: Partition, *, scatter: bool, capacity: int = BUCKET) -> None:
        self.partition, self.scatter, self.capacity = partition, scatter, capacity
        self._bucket: Tensor | None = None
        self._taken: list[int] = []
        self._elements = 0
        self._home: Tensor | None = None
        self._fresh: dict[int, Tensor] = {}
        self._reduced: dict[int, Tensor] = {}

    def arrive(self, number: int) -> None:
        """Make the bucket if there is none, and under ZeRO-2 put the gradient in."""
        if self._bucket is None:
            self._bucket = self.partition.flat.new_empty(self.capacity)
        if self.scatter:
            self._take(number, self._bucket)

    def _take(self, number: int, bucket: Tensor) -> None:
        weight = self.partition.weights[number]
        size = weight.numel()
        if self._elements + size > self.capacity:
            self._reduce(bucket)
        if size <= self.capacity:
            bucket.narrow(0, self._elements, size).copy_(_gradient(weight).flatten())
            weight.grad = None
        self._taken.append(number)
        self._elements += size

    def _reduce(self, bucket: Tensor) -> None:
        """Reduce what was taken, and keep the gradients of this rank's weights."""
        whole = bucket[: self._elements]
        if self._elements > self.capacity:  # one weight that is larger than the bucket
            whole = _gradient(self.partition.weights[self._taken[0]]).flatten()
        whole.div_(self.partition.ranks)
        if self.partition.ranks > 1:
            for batch in self._batches():
                _average(whole, batch, self.partition.rank)
        at = 0
        for number in self._taken:
            weight = self.partition.weights[number]
            if self.partition.held(number):
                self._keep(number, whole[at : at + weight.numel()])
                weight.grad = None
            elif self.scatter:
                weight.grad = None
            at += weight.numel()
        self._taken, self._elements = [], 0

    def _batches(self) -> Iterator[list[tuple[int, int, int]]]:
        """Yield owner, place and elements of what is reduced at once."""
        runs: list[tuple[int, int, int]] = []
        at = 0
        for number in self._taken:
            for cut in self.partition.cuts(number):
                if runs and runs[-1][0] == cut.owner:
                    runs[-1] = (cut.owner, runs[-1][1], runs[-1][2] + cut.count)
                else:
                    runs.append((cut.owner, at, cut.count))
                at += cut.count
        batch: list[tuple[int, int, int]] = []
        elements = 0
        for run in runs:
            batch.append(run)
            elements += run[2]
            if elements > self.capacity:
                yield batch
                batch, elements = [], 0
        if batch:
            yield batch

    def _keep(self, number: int, gradient: Tensor) -> None:
        """Copy a reduced gradient out of the bucket: the weight's, not only this rank's part."""
        if self._home is None:
            weights = self.partition.weights
            room = sum(weights[n].numel() for n in self.partition.numbers())
            self._home = self.partition.flat.new_empty(room)
        used = sum(one.numel() for one in self._fresh.values())
        place = self._home.narrow(0, used, gradient.numel())
        place.copy_(gradient)
        self._fresh[number] = place

    def finish(self, *, last: bool) -> None:
        """Reduce what is left, and add it to what earlier micro-batches have left."""
        if self._bucket is None or not (self.scatter or last):
            return
        if not self.scatter:
            for number in range(len(self.partition.weights)):
                self._take(number, self._bucket)
        self._reduce(self._bucket)
        for number, fresh in self._fresh.items():
            if number in self._reduced:
                self._reduced[number].add_(fresh)
            else:
                self._reduced[number] = fresh
        self._bucket, self._home, self._fresh = None, None, {}
        for weight in self.partition.weights:
            weight.grad = None

    def held(self) -> Iterator[tuple[Tensor, Category]]:
        """Yield the bucket, and the gradients that it was emptied into."""
        if self._bucket is not None:
            yield self._bucket, Category.COMMUNICATION
        if self._home is not None:
            yield self._home, Category.GRADIENTS
        for gradient in self._reduced.values():
            yield gradient, Category.GRADIENTS

    def own(self) -> list[Tensor]:
        """Return this rank's parts of the weights' gradients, and what pads the last rank's."""
        parts = []
        for number in sorted(self._reduced):
            cut = self.partition.held(number)
            if cut:
                parts.append(self._reduced[number].narrow(0, cut.start, cut.count))
        missing = self.partition.size - sum(part.numel() for part in parts)
        return [*parts, self.partition.flat.new_zeros(missing)] if missing else parts

    def release(self) -> None:
        """Let the gradients go."""
        self._reduced = {}


def _norms(parts: Sequence[Tensor]) -> list[Tensor]:
    """Return the norm of each part, taken in double precision."""
    return [torch.linalg.vector_norm(part.double()) for part in parts]


def _gradient(weight: nn.Parameter) -> Tensor:
    if weight.grad is None:
        raise RuntimeError("a weight has no gradient")
    return weight.grad


def _average(whole: Tensor, batch: Sequence[tuple[int, int, int]], rank: int) -> None:
    """Sum up parts of `whole` over all ranks, and take in what is this rank's."""
    flat = _flat([whole[at : at + count] for _, at, count in batch])
    sum_up(flat)
    begin = 0
    for owner, at, count in batch:
        if owner == rank:
            whole[at : at + count].copy_(flat[begin : begin + count])
        begin += count


# PyTorch 2.13 has a new name for it, and warns of the older one.
_gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor


def gather(partition: Partition) -> None:
    """Fill in the parts of the flat weights that other ranks have stepped."""
    if partition.ranks > 1:
        _gather(partition.flat, partition.own)


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    """Return one flat tensor; a single one is not copied."""
    return tensors[0].flatten() if len(tensors) == 1 else torch.cat([t.flatten() for t in tensors])


class WholeInFp32:
    """Gradients added into one flat fp32 buffer of all weights, and reduced in it (ZeRO-1)."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self._flat = torch.zeros(partition.flat.shape, dtype=torch.float32)
        offset = 0
        self._views: list[Tensor] = []
        for weight in partition.weights:
            self._views.append(self._flat[offset : offset + weight.numel()].view_as(weight))
            offset += weight.numel()

    def arrive(self, number: int) -> None:
        """Add the gradient to the buffer and drop it."""
        weight = self.partition.weights[number]
        self._views[number].add_(_gradient(weight))
        weight.grad = None

    def finish(self, *, last: bool) -> None:
        """Reduce in place: this rank's part of the buffer is the result."""
        if last:
            self._flat.div_(self.partition.ranks)
            sum_up(self._flat)

    def held(self) -> Iterator[tuple[Tensor, Category]]:
        """Yield the buffer."""
        yield self._flat, Category.GRADIENTS

    def own(self) -> list[Tensor]:
        """Return this rank's part of the buffer."""
        return [
            self._flat.narrow(0, self.partition.rank * self.partition.size, self.partition.size)
        ]

    def release(self) -> None:
        """Empty the buffer for the next step; it stays."""


class ShareInFp32(Bucketed):
    """Gradients added to an fp32 buffer of the rank's part as buckets are reduced (ZeRO-2)."""

    def __init__(self, partition: Partition, *, capacity: int = BUCKET) -> None:
        super().__init__(partition, scatter=True, capacity=capacity)
        self._share = torch.zeros(partition.size, dtype=torch.float32)

    def _keep(self, number: int, gradient: Tensor) -> None:
        cut = self.partition.held(number)
        if cut:
            part = gradient.narrow(0, cut.start, cut.count)
            self._share[self.partition.place(number)].add_(part)

    def held(self) -> Iterator[tuple[Tensor, Category]]:
        """Yield the bucket and the fp32 part."""
        yield from super().held()
        yield self._share, Category.GRADIENTS

    def own(self) -> list[Tensor]:
        """Return the fp32 part."""
        return [self._share]


class ZeroStepper:
    """Steps a rank's part of the weights, and gathers what the other ranks have stepped.

    Args:
        partition: who owns what.
        gradients: where they come from.
        recipe: names precision and optimizer.
    """

    def __init__(self, partition: Partition, gradients: Gradients, recipe: Recipe) -> None:
        self._precision = PRECISIONS[recipe.precision]
        self.partition, self.gradients = partition, gradients
        self.weights = list(partition.weights)
        own = partition.own.detach()
        stepped = nn.Parameter(own.float() if self._precision.master else own)
        self.masters = [stepped] if self._precision.master else []
        self.main_gradients = [tensor for tensor, _ in gradients.held()]
        self._stepped = stepped
        self.optimizer = optimizer(recipe.optimizer, [stepped])

    @property
    def states(self) -> Iterator[tuple[int | None, Tensor]]:
        """What the optimizer keeps from step to step; it is of no single weight."""
        for kept in self.optimizer.state.get(self._stepped, {}).values():
            if isinstance(kept, Tensor):
                yield None, kept

    def step(self) -> None:
        """Step once, drop the gradients and gather the weights."""
        parts = self.gradients.own()
        if not self.main_gradients:
            _norms(parts)
        flat = _flat(parts)
        self._stepped.grad = flat.to(self._stepped.dtype)
        del parts, flat
        self.gradients.release()
        self.optimizer.step()
        self._stepped.grad = None
        for main in self.main_gradients:
            main.zero_()
        if self.masters:
            self.partition.own.copy_(self._stepped.detach())
        gather(self.partition)


def gradients_of(
    partition: Partition, precision: Precision, *, stage: int, bucket: int
) -> Gradients:
    """Return where the gradients of that precision and stage go."""
    if precision.gradients > precision.weights:
        if stage == 1:
            return WholeInFp32(partition)
        return ShareInFp32(partition, capacity=bucket)
    return Bucketed(partition, scatter=stage == 2, capacity=bucket)
