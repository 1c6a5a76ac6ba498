"""The large requests of a step in their order, as a snapshot of the allocator has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from engine.allocator import ROUNDING
from engine.caching.cache import CachingAllocator
from engine.ledger import Category, Ledger, Phase

WIDE = "log-softmax"


@dataclass(frozen=True, kw_only=True)
class Event:
    """Tensors that are allocated, or released.

    Args:
        what: the tensors.
        size: bytes, as the allocator rounds them.
        released: whether they are given back.
    """

    what: str
    size: int
    released: bool = False

    @property
    def change(self) -> int:
        """By how much more is allocated."""
        return -self.size if self.released else self.size


def step(book: Ledger, *, layers: int, parts: int) -> tuple[Event, ...]:
    """Return the events of a steady step, its layers in so many parts; the first is what stays.

    Left out is what is small or short-lived: a layer's temporaries and the workspace.
    """
    return tuple(event for event in _events(book, layers, parts) if event.size)


def alive(events: tuple[Event, ...]) -> tuple[int, ...]:
    """Return the bytes allocated after each event, replayed on PyTorch's allocator."""
    allocator, found = CachingAllocator(), []
    keys: dict[str, int] = {}
    for key, event in enumerate(events):
        if event.released:
            allocator.free(keys.pop(event.what))
        else:
            allocator.allocate(key, event.size)
            keys[event.what] = key
        found.append(allocator.allocated)
    return tuple(found)


def _events(book: Ledger, layers: int, parts: int) -> Iterator[Event]:
    kept = (Category.WEIGHTS, Category.MASTER_WEIGHTS, Category.OPTIMIZER_STATE)
    yield _event("weights and optimizer states", book.total(*kept))
    saved = _shares(book.total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST), layers, parts)
    for name, size in saved:
        yield _event(f"saved activations, {name}", size)
    yield from _of_loss(book)
    head = book.size("gradients of the head") if "gradients of the head" in _names(book) else 0
    yield _event("gradient of the head", head)
    rest = book.total(Category.GRADIENTS, phase=Phase.STEP) - head
    given = dict(_shares(rest, layers, parts))
    for name, size in reversed(saved):
        yield _event(f"gradients, {name}", given[name])
        yield _event(f"saved activations, {name}", size, released=True)
    passing = sum(
        size
        for line, size in zip(book.lines, book.sizes, strict=True)
        if line.category is Category.TEMPORARY and line.phases == (Phase.STEP,)
    )
    yield _event("the optimizer's temporaries", passing)
    yield _event("the optimizer's temporaries", passing, released=True)
    for name, _ in reversed(saved):
        yield _event(f"gradients, {name}", given[name], released=True)
    yield _event("gradient of the head", head, released=True)


def _of_loss(book: Ledger) -> Iterator[Event]:
    kept = book.size(WIDE)
    logits = book.total(Category.LOGITS, phase=Phase.FORWARD) - kept
    gradients = book.total(Category.LOGITS, phase=Phase.LOSS) - kept
    yield _event("logits, in 16 bits and cast to fp32", logits)
    yield _event("log-probabilities", kept)
    yield _event("logits, in 16 bits and cast to fp32", logits, released=True)
    yield _event("gradients in the loss", gradients)
    yield _event("log-probabilities", kept, released=True)
    yield _event("gradients in the loss", gradients, released=True)


def _event(what: str, size: int, *, released: bool = False) -> Event:
    return Event(what=what, size=size // ROUNDING * ROUNDING, released=released)


def _names(book: Ledger) -> set[str]:
    return {line.name for line in book.lines}


def _shares(size: int, layers: int, parts: int) -> list[tuple[str, int]]:
    """Return so many parts of the layers by name, each with its share of the bytes."""
    ends = [layers * part // parts for part in range(parts + 1)]
    return [
        (f"layers {begin + 1} to {end}", size * (end - begin) // layers)
        for begin, end in pairwise(ends)
    ]
