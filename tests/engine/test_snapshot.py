"""The snapshot, read back by PyTorch's own tools."""

import base64
import json
import pickle
import pickletools
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from torch.cuda import _memory_viz as viz

from engine.caching.replay import replay
from engine.units import MIB
from engine.verify.snapshot import Description, snapshot, write

# A small pool of 2 MiB with two blocks; 20 MiB with one of 2; 30 MiB free; 32 MiB with one of 31.
EVENTS = (
    (0, 1000),
    (1, 3 * MIB),
    (2, 30 * MIB),
    (1, -3 * MIB),
    (3, 2 * MIB),
    (4, 600),
    (2, 0),
    (5, 31 * MIB),
)
DESCRIPTIONS = tuple(
    Description(module=f"layers.{number}.mlp", operator="aten.mm.default", category=category)
    for number, category in enumerate(
        ("weights", "activations", "logits", "gradients", "weights", "temporary")
    )
)

# c10/core/AllocatorConfig.h and c10/cuda/CUDAAllocatorConfig.h, as memory_snapshot.cpp names them.
DEFAULTS = {
    "max_split_size": -1,
    "garbage_collection_threshold": 0.0,
    "pinned_num_register_threads": 1,
    "release_lock_on_cudamalloc": False,
    "pinned_use_cuda_host_register": False,
    "graph_capture_record_stream_reuse": False,
    "roundup_power2_divisions": {str(2**power): 0 for power in range(16)},
}

# The opcodes of the viewer's reader: pytorch/pytorch torch/utils/viz/MemoryViz.js, unpickle.
READ_BY_THE_VIEWER = {
    "PROTO", "FRAME", "STOP", "MARK", "MEMOIZE", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT",
    "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS", "EMPTY_LIST", "LIST", "APPEND", "APPENDS",
    "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "BININT", "BININT1", "BININT2", "LONG1",
    "BINFLOAT", "NEWTRUE", "NEWFALSE", "NONE", "SHORT_BINUNICODE", "BINUNICODE",
}  # fmt: skip


@pytest.fixture
def taken():
    return snapshot(EVENTS, DESCRIPTIONS)


def read(path):
    return pickle.loads(path.read_bytes())  # noqa: S301 - the test wrote the file


def trace_of(taken):
    return taken["device_traces"][0]


def actions(taken):
    return [entry["action"] for entry in trace_of(taken)]


def plain(lines):
    """Stand in for the flame graph's drawing, which is a download."""
    return lines


def test_the_statistics_name_the_sums(taken):
    lines = viz.segsum(taken).splitlines()
    assert lines[1:8] == [
        "[a] 20.0MiB allocated, 18.0MiB (0.0% internal) free",
        "[  ] 30.0MiB allocated, 30.0MiB (0.0% internal) free",
        "[aa] 32.0MiB allocated, 1.0MiB (100.0% internal) free",
        "segments: 4",
        "total_reserved: 84.0MiB",
        "total_allocated: 33.0MiB",
        "total_free: 51.0MiB (2.0% internal)",
    ]


def test_the_statistics_of_an_expandable_run_name_its_pages():
    lines = viz.segsum(snapshot(EVENTS, DESCRIPTIONS, expandable=True)).splitlines()
    assert lines[1:5] == [
        "[*b] 40.0MiB allocated, 7.0MiB (0.0% internal) free",
        "segments: 2",
        "total_reserved: 42.0MiB",
        "total_allocated: 33.0MiB",
    ]


def test_the_trace_tells_the_run_in_order(taken):
    lines = viz.trace(taken).splitlines()
    small, large, larger, last = (seg["address"] for seg in taken["segments"])
    assert lines == [
        "Device 0 ----------------",
        "14 entries",
        f"a = cudaMalloc({small}, 2.0MiB)",
        "b = a[0:1000.0B]",
        f"c = cudaMalloc({large}, 20.0MiB)",
        "d = c[0:3.0MiB]",
        f"e = cudaMalloc({larger}, 30.0MiB)",
        "f = e[0:30.0MiB]",
        "del d # 3.0MiB",
        "# free completed for d 3.0MiB",
        "g = c[0:2.0MiB]",
        "h = a[1024:600.0B]",
        "del f # 30.0MiB",
        "# free completed for f 30.0MiB",
        f"i = cudaMalloc({last}, 32.0MiB)",
        "j = i[0:31.0MiB]",
        "TOTAL MEM: 31.0MiB",
    ]


def test_the_flame_graph_is_over_modules_and_operators(taken):
    lines = viz.memory(taken, format_flamegraph=plain).splitlines()
    assert lines[:4] == [
        "stream_0;active_allocated;layers.0.mlp:0:aten.mm.default 1000",
        "stream_0;active_allocated;<gaps> 24",
        "stream_0;active_allocated;layers.4.mlp:0:aten.mm.default 600",
        "stream_0;active_allocated;<gaps> 424",
    ]
    assert sum(int(line.split()[-1]) for line in lines) == 84 * MIB
    assert f"seg_{taken['segments'][3]['address']}" in viz.segments(taken, plain)


@pytest.mark.parametrize("plot", [viz.trace_plot, viz.segment_plot])
def test_a_plot_carries_the_snapshot(taken, plot):
    page = plot(taken)
    carried = json.loads(page.partition("local_files = ")[2].partition("\n")[0])
    assert pickle.loads(base64.b64decode(carried[0]["base64"])) == taken  # noqa: S301 - made here


def test_a_plot_can_leave_out_what_was_freed(taken):
    viz.trace_plot(taken, filter_freed=True)
    assert actions(taken).count("alloc") == 4
    assert "free_requested" not in actions(taken)
    assert "free_completed" not in actions(taken)


def test_a_snapshot_has_the_parts_of_pytorchs(taken):
    assert set(taken) == {
        "segments",
        "device_traces",
        "allocator_settings",
        "external_annotations",
    }


def test_segments_say_what_they_are_and_hold(taken):
    small, large, *_ = taken["segments"]
    keys = ("segment_type", "total_size", "allocated_size", "active_size", "requested_size")
    assert [small[key] for key in keys] == ["small", 2 * MIB, 2048, 2048, 1600]
    assert [large[key] for key in keys] == ["large", 20 * MIB, 2 * MIB, 2 * MIB, 2 * MIB]
    assert (small["device"], small["stream"], small["segment_pool_id"]) == (0, 0, (0, 0))


def test_blocks_follow_one_another_with_their_state(taken):
    first, second, rest = taken["segments"][0]["blocks"]
    begin = taken["segments"][0]["address"]
    assert first == {
        "address": begin,
        "size": 1024,
        "requested_size": 1000,
        "state": "active_allocated",
        "frames": [{"filename": "layers.0.mlp", "line": 0, "name": "aten.mm.default"}],
    }
    assert (second["address"], second["requested_size"]) == (begin + 1024, 600)
    assert rest == {
        "address": begin + 2048,
        "size": 2 * MIB - 2048,
        "requested_size": 0,
        "state": "inactive",
        "frames": [],
    }
    assert taken["segments"][2]["blocks"][0]["requested_size"] == 0


@pytest.mark.parametrize("expandable", [False, True])
def test_the_settings_and_the_segments_say_whether_segments_expand(expandable):
    taken = snapshot(EVENTS, DESCRIPTIONS, expandable=expandable)
    assert taken["allocator_settings"] == DEFAULTS | {
        "expandable_segments": expandable,
        "PYTORCH_CUDA_ALLOC_CONF": f"expandable_segments:{expandable}",
    }
    assert {segment["is_expandable"] for segment in taken["segments"]} == {expandable}
    assert ("segment_map" in actions(taken)) is expandable
    assert ("segment_alloc" in actions(taken)) is not expandable


def test_an_entry_has_its_event_as_time_and_its_allocation_as_frame(taken):
    freed = trace_of(taken)[6]
    assert freed == {
        "action": "free_requested",
        "addr": taken["segments"][1]["address"],
        "size": 3 * MIB,
        "stream": 0,
        "time_us": 3,
        "category": "activations",
        "user_metadata": "activations",
        "pool_id": (0, 0),
        "compile_context": "N/A",
        "frames": [{"filename": "layers.1.mlp", "line": 0, "name": "aten.mm.default"}],
    }
    assert trace_of(taken)[7] == freed | {"action": "free_completed"}


def test_there_is_a_category_unknown_for_the_viewer_to_find(taken):
    """torch/utils/viz/MemoryViz.js, `annotate_snapshot`: it misspells what would add one."""
    assert {entry["category"] for entry in trace_of(taken)} == {
        "unknown",
        *(described.category for described in DESCRIPTIONS),
    }


def test_memory_given_back_and_memory_run_out_are_in_the_trace():
    events = [(0, 30 * MIB), (0, 0), (1, 40 * MIB), (2, 19 * MIB), (1, 0)]
    taken = snapshot(events, DESCRIPTIONS, capacity=50 * MIB)
    expected = ["segment_alloc", "alloc", "free_requested", "free_completed"]
    expected += ["segment_free", "segment_alloc", "alloc", "oom"]
    assert actions(taken) == expected
    failed = trace_of(taken)[-1]
    assert (failed["size"], failed["device_free"], failed["time_us"]) == (19 * MIB, 10 * MIB, 3)
    assert failed["frames"][0]["filename"] == "layers.2.mlp"
    assert "OutOfMemoryError # 19.0MiB requested, 10.0MiB free" in viz.trace(taken)
    assert [segment["total_size"] for segment in taken["segments"]] == [40 * MIB]


def test_unmapped_pages_are_in_the_trace():
    events = [(0, 30 * MIB), (0, 0), (1, 1)]
    taken = snapshot(events, DESCRIPTIONS, expandable=True, capacity=40 * MIB)
    unmapped = next(entry for entry in trace_of(taken) if entry["action"] == "segment_unmap")
    assert (unmapped["size"], unmapped["time_us"]) == (40 * MIB, 2)
    assert [segment["total_size"] for segment in taken["segments"]] == [2 * MIB]


def test_events_that_end_at_the_peak_show_the_segments_at_the_peak():
    events = (*EVENTS, (5, 0), (3, 0))
    replayed = replay(events)
    taken = snapshot(events[: replayed.peak_index + 1], DESCRIPTIONS)
    held = sum(segment["allocated_size"] for segment in taken["segments"])
    assert held == replayed.peak_allocated == 34 * MIB + 2048


def test_descriptions_may_be_a_mapping(taken):
    assert snapshot(EVENTS, dict(enumerate(DESCRIPTIONS))) == taken


def test_an_allocation_without_a_description_is_refused():
    with pytest.raises(LookupError):
        snapshot(EVENTS, {})


def test_what_is_written_is_what_was_taken(taken, tmp_path):
    path = tmp_path / "run.pickle"
    write(path, taken)
    assert read(path) == taken
    assert list(tmp_path.iterdir()) == [path]


def test_pytorchs_command_reads_the_file(taken, tmp_path):
    path = tmp_path / "run.pickle"
    write(path, taken)
    command = [sys.executable, viz.__file__, "stats", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "total_reserved: 84.0MiB\ntotal_allocated: 33.0MiB\n" in printed


def test_the_viewer_knows_every_opcode_of_the_file(taken, tmp_path):
    path = tmp_path / "run.pickle"
    write(path, taken)
    operations = list(pickletools.genops(path.read_bytes()))
    assert {operation.name for operation, _, _ in operations} <= READ_BY_THE_VIEWER
    assert operations[0][1] in {2, 3, 4}


def test_an_interrupted_writing_leaves_the_older_file_alone(taken, tmp_path):
    path = tmp_path / "run.pickle"
    write(path, taken)
    with pytest.raises(TypeError, match="generator"):
        write(path, {"segments": ["x" * MIB, (number for number in ())]})
    assert read(path) == taken
    assert list(tmp_path.iterdir()) == [path]
