"""Why a request failed: figures that show one cause, read off what was printed."""

import re

import pytest

from engine.estimate import ledger
from engine.units import GIB, MIB
from problems.artefacts.causes import causes
from problems.artefacts.message import OutOfMemory
from problems.artefacts.summary import Row, summary
from problems.registry import build

SEEDS = range(24)
NUMBER = r"([\d.]+) (MiB|GiB)"


def failed(**figures):
    base = {"tensor": 4, "total": 80, "allocated": 60, "reserved": 61, "outside": 1, "others": 0}
    limit = figures.pop("limit", None)
    sizes = {name: int(size * GIB) for name, size in (base | figures).items()}
    return OutOfMemory(**sizes, limit=None if limit is None else limit * GIB)


@pytest.mark.parametrize(
    ("figures", "cause"),
    [
        ({"allocated": 74, "reserved": 75}, "capacity"),
        ({"allocated": 61, "reserved": 76}, "fragments"),
        ({"others": 17}, "others"),
        ({"outside": 18}, "outside"),
        ({"limit": 62}, "limit"),
        ({"tensor": 96}, "alone"),
        # A small request may be the last one too, pytorch/pytorch#70431.
        ({"tensor": 0.005, "allocated": 78, "reserved": 78.01}, "capacity"),
    ],
)
def test_figures_show_their_cause(figures, cause):
    assert causes(failed(**figures)) == (cause,)


def printed(problem):
    """Request, card, live tensors, reserved and the process, in GiB, off a message."""
    text = problem.exhibit.replace("\n", " ")
    asked, total, _, *rest = (
        float(number) / (1 if unit == "GiB" else 1024) for number, unit in re.findall(NUMBER, text)
    )
    live, cached = rest[-2:]
    return asked, total, live, cached


def test_a_message_names_its_cause():
    for seed in SEEDS:
        problem = build("oom-cause", seed)
        if problem.level != "mid":
            continue
        asked, total, live, cached = printed(problem)
        right = problem.answer.right.item.name
        assert (right == "a tensor larger than the card") == (asked > total)
        assert (right == "a limit that was set for PyTorch") == ("allowed" in problem.exhibit)
        assert (right == "free memory in pieces") == (cached >= asked)
        assert (right == "another process on the card") == ("Process 41713" in problem.exhibit)
        if right == "too many live tensors":
            assert live + cached + asked + 2 > total


def test_only_a_step_that_is_too_large_has_too_many_live_tensors():
    for seed in SEEDS:
        problem = build("oom-cause", seed)
        x = problem.scenario
        full = problem.answer.right.item.name == "too many live tensors"
        assert (ledger(x).peak > x.hardware.gpu.memory) == full


def test_the_summary_and_the_driver_agree():
    for seed in SEEDS:
        problem = build("oom-cause", seed)
        if problem.level != "senior":
            continue
        reserved = int(re.search(r"GPU reserved memory +\| +(\d+) MiB", problem.exhibit)[1])
        process = int(re.search(r"^2741, (\d+) MiB", problem.exhibit, re.MULTILINE)[1])
        others = re.search(r"^41713, (\d+) MiB", problem.exhibit, re.MULTILINE)
        used = int(re.search(r"^(\d+) MiB, ", problem.exhibit, re.MULTILINE)[1])
        assert reserved < process
        assert abs(used - process - (int(others[1]) if others else 0)) <= 1


def test_a_summary_is_as_pytorch_writes_it():
    # Of torch.cuda.memory_summary(abbreviated=True) in PyTorch 2.13, with these figures.
    rows = (Row(name="Allocated memory", now=40 * GIB, peak=52 * GIB, given=9000 * GIB),)
    assert summary(rows, failed=1, retries=3).splitlines() == [
        "|===========================================================================|",
        "|                  PyTorch CUDA memory summary, device ID 0                 |",
        "|---------------------------------------------------------------------------|",
        "|            CUDA OOMs: 1            |        cudaMalloc retries: 3         |",
        "|===========================================================================|",
        "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |",
        "|---------------------------------------------------------------------------|",
        "| Allocated memory      |  40960 MiB |  53248 MiB |   9000 GiB |   8960 GiB |",
        "|===========================================================================|",
    ]


@pytest.mark.parametrize(
    ("size", "asked"),
    [(1, 2 * MIB), (MIB + 1, 20 * MIB), (9 * MIB, 20 * MIB), (31 * MIB, 32 * MIB)],
)
def test_a_request_is_rounded_as_the_allocator_does(size, asked):
    message = OutOfMemory(tensor=size, total=GIB, allocated=0, reserved=0, outside=0)
    assert message.request == asked
