"""The bytes of all live tensors, counted operator by operator."""

import weakref
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.allocator import block
from engine.ledger import Phase


@dataclass(frozen=True, kw_only=True)
class Peak:
    """The most bytes alive within a phase, and what was alive at that moment."""

    size: int = 0
    operator: str = ""
    alive: tuple[tuple[int, str], ...] = ()


class LiveBytes(TorchDispatchMode):
    """A dispatch mode that adds each new storage, rounded up to 512 bytes, until it dies.

    A sharded tensor counts with its local part. Storages that are emptied and filled again, as
    FSDP2 does with gathered parameters, count as they are at each moment. `peaks` holds the
    maximum for each phase; `enter` says which phase runs. With `details` each peak keeps what
    was alive.
    """

    def __init__(self, *, details: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # torch leaves it untyped
        self.details = details
        self.phase: Phase | None = None
        self.current = 0
        self.peaks: dict[Phase, Peak] = {}
        self.blocks: dict[int, tuple[int, str]] = {}
        self._resized: weakref.WeakValueDictionary[int, torch.UntypedStorage] = (
            weakref.WeakValueDictionary()
        )

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204 - torch calls it with its own types
        """Run the operator, then count what it made."""
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, Tensor):
                self._add(leaf, func)
        if func is torch.ops.aten.add.Tensor and not torch.is_grad_enabled():
            self._in_place(args[0])
        self.note(str(func))
        return out

    def _add(self, tensor: Tensor, operator: torch._ops.OpOverload) -> None:
        if isinstance(tensor, DTensor):
            tensor = tensor._local_tensor  # noqa: SLF001 - to_local would make a new tensor
        storage = tensor.untyped_storage()
        key = id(storage)
        if key in self.blocks:
            return
        size = _rounded(storage)
        self.blocks[key] = (size, f"{operator} {tuple(tensor.shape)} {tensor.dtype}")
        self.current += size
        weakref.finalize(storage, self._remove, key)
        if operator is torch.ops.aten.empty.memory_format:
            self._resized[key] = storage

    def _remove(self, key: int) -> None:
        self.current -= self.blocks.pop(key)[0]

    def _resize(self) -> None:
        for key, storage in self._resized.items():
            size, name = self.blocks[key]
            now = _rounded(storage)
            if now != size:
                self.blocks[key] = (now, name)
                self.current += now - size

    def _in_place(self, older: Tensor) -> None:
        """Let the sum of two gradients take the place of the older one, as a real run does.

        Where gradients meet the autograd engine adds in place (torch/csrc/autograd/
        input_buffer.cpp), but not under a dispatch mode, and not where the older one is a view,
        such as a linear layer's: a view's base holds its storage too.
        """
        if older._is_view():  # noqa: SLF001 - no public name
            return
        key = id(older.untyped_storage())
        size, name = self.blocks[key]
        self.blocks[key] = (0, name)
        self.current -= size

    def note(self, operator: str) -> None:
        """Keep this moment if it is the peak of its phase."""
        if self.phase is None:
            return
        self._resize()
        if self.current > self.peaks.setdefault(self.phase, Peak()).size:
            alive = tuple(self.blocks.values()) if self.details else ()
            self.peaks[self.phase] = Peak(size=self.current, operator=operator, alive=alive)

    def enter(self, phase: Phase | None) -> None:
        """Say that `phase` begins now."""
        self.phase = phase
        self.note("begin")


def _rounded(storage: torch.UntypedStorage) -> int:
    return block(storage.nbytes()) if storage.nbytes() else 0
