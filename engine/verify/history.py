"""A timeline from the memory history that PyTorch's caching allocator keeps on a GPU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import PurePath
from typing import Any

from engine.allocator import block
from engine.ledger import Category, Phase
from engine.verify.timeline import Allocation, Mark, Timeline

Trace = Sequence[Mapping[str, Any]]
BACKWARD = (Phase.LOSS, Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST, Phase.REDUCE, None)
FROM_TORCH = "torch"


@dataclass(frozen=True, kw_only=True)
class Begun:
    """At `time_us` microseconds of the clock `phase` of `step` began."""

    time_us: int
    step: int
    phase: Phase | None


def timeline_of(trace: Trace, begun: Sequence[Begun]) -> Timeline:
    """Return the timeline of a history.

    The history has addresses and stacks, not what a tensor is for. So kinds are told by when an
    allocation lives: before the first step weights, across steps optimizer states, from the
    forward pass to the backward activations, from the backward to the step gradients.

    Args:
        trace: the device's entries of `torch.cuda.memory._snapshot()`.
        begun: when each phase began.
    """
    book = _Book()
    later = list(reversed(begun))
    for entry in trace:
        while later and later[-1].time_us <= entry["time_us"]:
            book.begin(later.pop())
        if entry["action"] == "alloc":
            book.open(entry)
        elif entry["action"] == "free_requested":
            book.close(entry)
    while later:
        book.begin(later.pop())
    return Timeline(
        allocations=tuple(_allocation(life, book.marks) for life in book.lives),
        events=tuple(book.events),
        marks=tuple(book.marks),
    )


@dataclass(kw_only=True)
class _Life:
    entry: Mapping[str, Any]
    begins: int
    ends: float = inf


class _Book:
    """Allocations and releases in their order, numbered."""

    def __init__(self) -> None:
        self.lives: list[_Life] = []
        self.events: list[tuple[int, int]] = []
        self.marks: list[Mark] = []
        self._open: dict[int, int] = {}

    def begin(self, one: Begun) -> None:
        self.marks.append(Mark(at=len(self.events), step=one.step, phase=one.phase))

    def open(self, entry: Mapping[str, Any]) -> None:
        number = len(self.lives)
        self._open[entry["addr"]] = number
        self.lives.append(_Life(entry=entry, begins=len(self.events)))
        self.events.append((number, block(entry["size"])))

    def close(self, entry: Mapping[str, Any]) -> None:
        number = self._open.pop(entry["addr"], None)
        if number is None:  # it was there before the history began
            return
        life = self.lives[number]
        life.ends = len(self.events)
        self.events.append((number, -block(life.entry["size"])))


def _allocation(life: _Life, marks: Sequence[Mark]) -> Allocation:
    frames = life.entry.get("frames", ())
    model = next((f for f in frames if FROM_TORCH not in PurePath(f["filename"]).parts), None)
    began = _phase_at(life.begins, marks)
    return Allocation(
        size=block(life.entry["size"]),
        requested=life.entry["size"],
        shape=(),
        dtype="",
        operator=frames[0]["name"] if frames else "",
        module=f"{PurePath(model['filename']).stem}.{model['name']}" if model else "",
        backward=began in BACKWARD,
        category=_category(life, began, marks),
    )


def _category(life: _Life, began: Phase | None, marks: Sequence[Mark]) -> Category:
    if not marks or life.begins < marks[0].at:
        return Category.WEIGHTS
    following = (mark for mark in marks if mark.at > life.begins and mark.at <= life.ends)
    lives_into = {mark.phase for mark in following}
    if began is Phase.STEP and None in lives_into:
        return Category.OPTIMIZER_STATE
    if began is Phase.FORWARD and Phase.LOSS in lives_into:
        return Category.ACTIVATIONS
    if began in BACKWARD and Phase.STEP in lives_into:
        return Category.GRADIENTS
    return Category.TEMPORARY


def _phase_at(event: int, marks: Sequence[Mark]) -> Phase | None:
    passed = [mark for mark in marks if mark.at <= event]
    return passed[-1].phase if passed else None
