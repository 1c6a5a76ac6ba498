"""A snapshot of the replayed allocator, in the form that PyTorch's own memory viewer reads.

The form is that of `torch.cuda.memory._snapshot()`: torch/csrc/cuda/memory_snapshot.cpp and
Module.cpp write it, torch/cuda/_memory_viz.py and torch/utils/viz/MemoryViz.js read it.
"""

import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import allocator
from engine.caching.blocks import Block
from engine.caching.cache import CachingAllocator
from engine.caching.driver import Action
from engine.caching.replay import Event, OutOfMemory, run

DEVICE = STREAM = 0
NO_POOL = (0, 0)
# The newest that the viewer knows.
PROTOCOL = 4
# The viewer stops with an error where there are categories and none is called so.
UNKNOWN = "unknown"
NEVER_COMPILED = "N/A"
ROUNDING_STEPS = 16

Frames = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Description:
    """What an allocation is.

    Args:
        module: dotted path of the module that made it; empty outside the model.
        operator: the operator that made it.
        category: the kind of memory.
    """

    module: str
    operator: str
    category: str


Descriptions = Mapping[int, Description] | Sequence[Description]


def snapshot(
    events: Iterable[Event],
    descriptions: Descriptions,
    *,
    expandable: bool = False,
    capacity: int | None = None,
) -> dict[str, Any]:
    """Replay `events` as `engine.caching.replay.replay` does and return the snapshot.

    The segments are those after the last event, or when memory ran out: the viewer goes back
    from them through the trace to draw an earlier moment, so that they must be the trace's end.
    For the segments at a peak, end the events there. Time is the number of the event.

    Args:
        events: a key and its change in bytes each.
        descriptions: of each key.
        expandable: as with `expandable_segments:True`.
        capacity: bytes that the driver can give to the allocator; None for no end.

    Raises:
        ValueError: a key is allocated while it is, freed while it is not, or freed in part.
        LookupError: a key has no description.
    """
    trace = _Trace(descriptions)
    cache = CachingAllocator(expandable=expandable, capacity=capacity, note=trace.note)
    failed = run(cache, trace.followed(events)).out_of_memory
    if failed is not None:
        trace.out_of_memory(failed)
    return {
        "segments": [trace.segment(blocks, expandable=expandable) for blocks in cache.segments()],
        "device_traces": [trace.entries],
        "allocator_settings": _settings(expandable=expandable),
        "external_annotations": [],
    }


def write(path: Path, taken: Mapping[str, Any]) -> None:
    """Write a snapshot to `path`, whole or not at all.

    Raises:
        OSError: it cannot be written there.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as file:
            pickle.dump(taken, file, protocol=PROTOCOL)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


class _Trace:
    """Writes the entries while the events go by."""

    def __init__(self, descriptions: Descriptions) -> None:
        self.entries: list[dict[str, Any]] = []
        self._descriptions = descriptions
        self._frames: dict[Description, Frames] = {}
        self._key = self._time = 0

    def followed(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events, each noted as the one that happens now."""
        for self._time, event in enumerate(events):
            self._key = event[0]
            yield event

    def note(self, action: Action, address: int, size: int) -> None:
        """Write what the allocator did, with the frames of the allocation that it is about."""
        of_a_segment = action.startswith("segment")
        category = UNKNOWN if of_a_segment else self._descriptions[self._key].category
        self._write(action, {"addr": address, "size": size, "category": category})

    def out_of_memory(self, failed: OutOfMemory) -> None:
        """Write the end of a run that was too large."""
        size = allocator.block(failed.requested)
        self._write(Action.OOM, {"device_free": failed.free, "size": size})

    def segment(self, blocks: Sequence[Block], *, expandable: bool) -> dict[str, Any]:
        """Return a segment as it is now."""
        active = sum(block.size for block in blocks if block.key is not None)
        return {
            "device": DEVICE,
            "address": blocks[0].address,
            "total_size": sum(block.size for block in blocks),
            "allocated_size": active,
            "active_size": active,
            "requested_size": sum(block.requested for block in blocks),
            "stream": STREAM,
            "segment_type": "small" if blocks[0].pool.small else "large",
            "segment_pool_id": NO_POOL,
            "is_expandable": expandable,
            "frames": [],
            "blocks": [self._block(block) for block in blocks],
        }

    def _block(self, block: Block) -> dict[str, Any]:
        return {
            "address": block.address,
            "size": block.size,
            "requested_size": block.requested,
            "state": "inactive" if block.key is None else "active_allocated",
            "frames": [] if block.key is None else self._made_by(block.key),
        }

    def _write(self, action: Action, entry: dict[str, Any]) -> None:
        self.entries.append(
            {
                "action": action.value,
                **entry,
                "stream": STREAM,
                "time_us": self._time,
                "pool_id": NO_POOL,
                "compile_context": NEVER_COMPILED,
                "user_metadata": self._descriptions[self._key].category,
                "frames": self._made_by(self._key),
            }
        )

    def _made_by(self, key: int) -> Frames:
        made = self._descriptions[key]
        if made not in self._frames:
            # One list for all that are alike: the file then holds it once.
            frame = {"filename": made.module, "line": 0, "name": made.operator}
            self._frames[made] = [frame]
        return self._frames[made]


def _settings(*, expandable: bool) -> dict[str, Any]:
    return {
        "PYTORCH_CUDA_ALLOC_CONF": f"expandable_segments:{expandable}",
        "max_split_size": -1,
        "garbage_collection_threshold": 0.0,
        "expandable_segments": expandable,
        "pinned_num_register_threads": 1,
        "release_lock_on_cudamalloc": False,
        "pinned_use_cuda_host_register": False,
        "graph_capture_record_stream_reuse": False,
        "roundup_power2_divisions": {str(1 << step): 0 for step in range(ROUNDING_STEPS)},
    }
