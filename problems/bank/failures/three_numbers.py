"""Topic H, real failures: what lies between allocated, reserved and the driver's figure."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from engine.estimate import ledger
from engine.scenario import Scenario
from engine.units import MB, MIB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.artefacts.failing import outside
from problems.artefacts.message import OutOfMemory
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import gb, gib, number, paper
from problems.wrong_sizes import wrong_size

Asked = Literal["cache", "outside"]
# Of what is allocated, in thousandths: an orderly cache, and one in pieces.
CACHED = ((4, 40), (40, 350))
OTHERS = (200, 9000)
# Less could not be told from what is printed within 2%.
LEAST = 200 * MB
ASKS = {
    "cache": "How much has PyTorch reserved that no tensor uses",
    "outside": "How much of this process lies outside PyTorch's allocator",
}
IS = {
    "cache": "reserved less allocated: blocks in the cache, and what rounding took",
    "outside": "the process less reserved: context, kernels, libraries and communicators",
}


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A process at its peak, and which of the two gaps is asked for."""

    process: OutOfMemory
    asked: Asked

    @property
    def gap(self) -> int:
        """Bytes of the gap that is asked for."""
        return self.process.cached if self.asked == "cache" else self.process.outside

    @property
    def other(self) -> int:
        """Bytes of the other one."""
        return self.process.cached + self.process.outside - self.gap

    @property
    def ends(self) -> tuple[int, int]:
        """The two numbers that it lies between, the larger first."""
        x = self.process
        return (x.reserved, x.allocated) if self.asked == "cache" else (x.in_use, x.reserved)


@kind_at_levels(
    name="three-numbers",
    topic="H",
    levels=("junior", "mid"),
    title="Between allocated, reserved and nvidia-smi",
    sources=(
        "PyTorch documentation, CUDA semantics: memory management",
        "pytorch/pytorch#40989",
    ),
)
def three_numbers(draw: Draw, level: Level) -> Draft | None:
    """Ask for one of the two gaps between what three programs say."""
    run = scenarios.run(draw, low=15, high=85)
    if run is None or run.hardware.gpu.vendor != "NVIDIA":
        return None
    figures = _figures(draw, run, level)
    if figures is None:
        return None
    size, process = figures.gap, figures.process
    high, low = figures.ends
    return Draft(
        prompt=render(
            "three-numbers",
            x=run,
            others=process.others,
            bytes=level == "mid",
            asks=ASKS[figures.asked],
        ),
        exhibit="\n".join(_lines(process, level)),
        answer=QuantityAnswer(value=Fraction(size)),
        hints=(
            "Put the numbers in order: live tensors, what PyTorch got of the driver, the process.",
            f"It is {IS[figures.asked]}.",
            f"{number(high // MIB)} MiB less {number(low // MIB)} MiB; a MiB is 1.0486 MB.",
        ),
        solution=tuple(_steps(figures)),
        mistakes=tuple(no_unit_slip(size, _mistakes(figures))),
        scenario=run,
    )


def _figures(draw: Draw, run: Scenario, level: Level) -> Figures | None:
    """Return what the three programs say; None where it is more than the card."""
    allocated, total = ledger(run).peak, run.hardware.gpu.memory
    cached = allocated * draw.between(*draw.choice(CACHED)) // 1000
    process = OutOfMemory(
        tensor=1,
        total=total,
        allocated=allocated,
        reserved=(allocated + cached) // (2 * MIB) * 2 * MIB,
        outside=outside(draw, run.hardware.gpus),
        others=draw.between(*OTHERS) * MIB if level == "mid" and draw.chance(60) else 0,
    )
    if process.free < 0 or process.cached < LEAST:
        return None
    asked: Asked = "outside" if draw.chance(35) else "cache"
    return Figures(process=process, asked=asked)


def _lines(process: OutOfMemory, level: Level) -> Iterator[str]:
    for name, size in (
        ("memory_allocated", process.allocated),
        ("memory_reserved", process.reserved),
    ):
        said = number(size) if level == "mid" else f"{number(size // MIB)} MiB"
        yield f"torch.cuda.{name + '()':<20} {said:>16}"
    yield "$ nvidia-smi --query-gpu=memory.used,memory.total --format=csv"
    yield "memory.used [MiB], memory.total [MiB]"
    used = process.in_use + process.others
    yield f"{used // MIB} MiB, {process.total // MIB} MiB"
    yield "$ nvidia-smi --query-compute-apps=pid,used_memory --format=csv"
    yield "pid, used_gpu_memory [MiB]"
    yield f"2741, {process.in_use // MIB} MiB"
    if process.others:
        yield f"41713, {process.others // MIB} MiB"


def _steps(figures: Figures) -> Iterator[Step]:
    process, (high, low) = figures.process, figures.ends
    yield Step(text=f"it is {IS[figures.asked]}", depth="whiteboard")
    yield Step(
        text=f"{number(high // MIB)} MiB − {number(low // MIB)} MiB ≈ {paper(high - low)}",
        depth="whiteboard",
    )
    yield Step(text=f"allocated: {gb(process.allocated)} = {gib(process.allocated)}")
    yield Step(text=f"reserved: {gb(process.reserved)} = {gib(process.reserved)}")
    yield Step(text=f"the process: {gb(process.in_use)} = {gib(process.in_use)}")
    yield Step(text=f"so that the gap is {gib(figures.gap)}, or {gb(figures.gap)}")


def _mistakes(figures: Figures) -> Iterator[Mistake]:
    process, size = figures.process, figures.gap
    other = "outside PyTorch" if figures.asked == "cache" else "in PyTorch's cache"
    yield wrong_size(
        size + figures.other,
        size,
        "both gaps counted",
        f"is the process less allocated; {{off}} of it are {other}.",
    )
    yield wrong_size(
        figures.other, size, "the other gap", f"is {other}; the gap asked for is {{off}} away."
    )
    if process.others:
        yield wrong_size(
            size + process.others,
            size,
            "another process counted",
            "has the other process in it, {off}.",
        )
        yield wrong_size(
            size + figures.other + process.others,
            size,
            "all that is used less allocated",
            f"is all that is used on the card less allocated: {{off}} of it are {other} or of "
            "another process.",
        )
    yield wrong_size(
        process.total - process.allocated,
        size,
        "the rest of the card",
        "is the card less allocated; {off} of it are no part of this gap.",
    )
