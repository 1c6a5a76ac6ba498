"""The bytes of all live tensors, counted operator by operator."""

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest.mock import patch

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.allocator import block
from engine.ledger import MODEL_STATES, Category, Phase
from engine.verify.host import is_on_host
from engine.verify.timeline import Allocation, Mark, Timeline
from engine.verify.where import Where

COMMUNICATION = frozenset({"fsdp", "c10d", "_c10d_functional"})


@dataclass(slots=True)
class _Life:
    """A storage's record, until the timeline freezes it."""

    size: int
    largest: int
    requested: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    operator: torch._ops.OpOverload
    module: str
    backward: bool
    category: Category | None = None


class LiveBytes(TorchDispatchMode):
    """A dispatch mode that writes down each new storage, rounded up to 512 bytes, and its end.

    A sharded tensor counts with its local part. Storages that are emptied and filled again, as
    FSDP2 does with gathered parameters, count while they are filled.

    Args:
        vocabulary: entries of the vocabulary, by which logits are told from other tensors.
    """

    def __init__(self, vocabulary: int = 0) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # torch leaves it untyped
        self.where = Where()
        self._vocabulary = vocabulary
        self._lives: list[_Life] = []
        self._events: list[tuple[int, int]] = []
        self._marks: list[Mark] = []
        self._numbers: dict[int, int] = {}
        self._ends: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._on_host: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204 - torch calls it with its own types
        """Run the operator, then count what it made."""
        out = func(*args, **(kwargs or {}))
        if func is torch.ops.prim.device.default:  # every third call, and it makes nothing
            return out
        if func is torch.ops.aten.add.Tensor and not torch.is_grad_enabled():
            self._add_in_place(args[0], out)
        made = (out,) if isinstance(out, Tensor) else tree_leaves(out)
        if is_on_host():
            self._leave(leaf for leaf in made if isinstance(leaf, Tensor))
            return out
        module, backward = self.where.now()
        for leaf in made:
            if isinstance(leaf, Tensor):
                self._add(leaf, func, module, backward=backward)
        if func.namespace in COMMUNICATION:
            leaves = tree_leaves((args, kwargs))
            self.mark(
                (leaf for leaf in leaves if isinstance(leaf, Tensor)), Category.COMMUNICATION
            )
        elif func is torch.ops.aten._to_copy.default:  # noqa: SLF001 - no public name
            self._cast(args[0], out)
        return out

    def size(self, storage: torch.UntypedStorage) -> int:
        """Return the bytes that `storage` takes in an allocator of 512-byte blocks."""
        return block(storage.nbytes()) if storage.nbytes() else 0

    def _leave(self, tensors: Iterable[Tensor]) -> None:
        """Have the storages of `tensors` not be counted when they are met again elsewhere."""
        for storage in map(_storage, tensors):
            key = id(storage)
            if key not in self._numbers and key not in self._on_host:
                self._on_host[key] = weakref.ref(storage, self._forget(key))

    def _forget(self, key: int) -> Callable[[object], None]:
        def forget(_end: object) -> None:
            del self._on_host[key]

        return forget

    def _add(
        self, tensor: Tensor, operator: torch._ops.OpOverload, module: str, *, backward: bool
    ) -> None:
        storage = _storage(tensor)
        key = id(storage)
        if key in self._numbers or key in self._on_host:
            return
        number, size = len(self._lives), self.size(storage)
        life = _Life(
            size=size,
            largest=size,
            requested=storage.nbytes(),
            shape=tuple(_local(tensor).shape),
            dtype=tensor.dtype,
            operator=operator,
            module=module,
            backward=backward,
        )
        self._lives.append(life)
        self._numbers[key] = number
        self._ends[key] = weakref.ref(storage, lambda _end: self._remove(key))
        if size:
            self._events.append((number, size))

    def _remove(self, key: int) -> None:
        del self._ends[key]
        number = self._numbers.pop(key)
        size = self._lives[number].size
        if size:
            self._events.append((number, -size))

    def _add_in_place(self, older: Tensor, total: Tensor) -> None:
        """Let the sum of two gradients take the place of the older one, as a real run does.

        Where gradients meet the autograd engine adds in place (torch/csrc/autograd/
        input_buffer.cpp), but not under a dispatch mode, and not where the older one is a view,
        such as a linear layer's: a view's base holds its storage too.
        """
        if older._is_view() or isinstance(older, DTensor):  # noqa: SLF001 - no public name
            return
        key, new = id(_storage(older)), id(_storage(total))
        if new in self._numbers:
            return
        self._numbers[new] = self._numbers[key]
        self._ends[new] = weakref.ref(_storage(total), lambda _end: self._remove(new))
        life = self._lives[self._numbers[key]]
        # The older storage goes on to live as nothing.
        self._numbers[key] = len(self._lives)
        self._lives.append(replace(life, size=0, largest=0, requested=0))

    def _cast(self, source: Tensor, cast: Tensor) -> None:
        """Count the 16-bit copy of a weight as temporary."""
        life = self._life(source)
        if life and life.category is Category.WEIGHTS:
            self.mark((cast,), Category.TEMPORARY)

    def _resized(self, storage: torch.UntypedStorage) -> None:
        """Count a storage that was emptied or filled just now."""
        number = self._numbers.get(id(storage))
        if number is None:
            return
        life, size = self._lives[number], self.size(storage)
        if size != life.size:
            self._events.append((number, size - life.size))
            life.size, life.largest = size, max(size, life.largest)
            life.requested = max(life.requested, storage.nbytes())
        life.category = Category.COMMUNICATION

    def mark(self, tensors: Iterable[Tensor], category: Category) -> None:
        """Say what kind of memory `tensors` are; those that are model states stay it."""
        for tensor in tensors:
            life = self._life(tensor)
            if life and life.category not in MODEL_STATES:
                life.category = category

    def name(self, tensors: Iterable[tuple[str, Tensor]]) -> None:
        """Say which parameter tensors belong to, where no module has made them."""
        for name, tensor in tensors:
            life = self._life(tensor)
            if life and not life.module:
                life.module = name

    def _life(self, tensor: Tensor) -> _Life | None:
        number = self._numbers.get(id(_storage(tensor)))
        return None if number is None else self._lives[number]

    def enter(self, phase: Phase | None, step: int) -> None:
        """Say that `phase` of `step` begins now."""
        self._marks.append(Mark(at=len(self._events), step=step, phase=phase))
        if phase is Phase.LOSS:
            self._forward_is_over()

    def _forward_is_over(self) -> None:
        for number in self._numbers.values():
            life = self._lives[number]
            if life.category is None:
                life.category = Category.LOGITS if self._is_logits(life) else Category.ACTIVATIONS

    def _is_logits(self, life: _Life) -> bool:
        return bool(life.shape) and life.shape[-1] == self._vocabulary and len(life.shape) > 1

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count until the block is left."""
        with (
            _followed_resizing(self._resized),
            self.where.following(),
            self,
        ):
            yield

    def timeline(self) -> Timeline:
        """Return all that was counted so far."""
        return Timeline(
            allocations=tuple(self._frozen(life) for life in self._lives),
            events=tuple(self._events),
            marks=tuple(self._marks),
        )

    def _frozen(self, life: _Life) -> Allocation:
        category = life.category
        if category is None:
            category = Category.LOGITS if self._is_logits(life) else Category.TEMPORARY
        return Allocation(
            size=life.largest,
            requested=life.requested,
            shape=life.shape,
            dtype=str(life.dtype).removeprefix("torch."),
            operator=str(life.operator),
            module=life.module,
            backward=life.backward,
            category=category,
        )


def _local(tensor: Tensor) -> Tensor:
    """Return the part of a sharded tensor that this rank holds."""
    if isinstance(tensor, DTensor):
        return tensor._local_tensor  # noqa: SLF001 - to_local would make a new tensor
    return tensor


def _storage(tensor: Tensor) -> torch.UntypedStorage:
    return _local(tensor).untyped_storage()


@contextmanager
def _followed_resizing(note: Callable[[torch.UntypedStorage], None]) -> Iterator[None]:
    """Have `note` called whenever a storage is resized, which works below the dispatcher."""
    resize = torch.UntypedStorage.resize_

    def followed(storage: torch.UntypedStorage, size: int) -> object:
        resized = resize(storage, size)
        note(storage)
        return resized

    with patch.object(torch.UntypedStorage, "resize_", followed):
        yield
