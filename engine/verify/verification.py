"""What was predicted beside what was measured, phase by phase, and the gap with its reasons."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.caching.replay import OutOfMemory, replay
from engine.estimate import Fits, capacity, ledger
from engine.ledger import BESIDE_PYTORCH, Ledger, Phase
from engine.levers.fitting import fitting
from engine.scenario import Scenario
from engine.verify.measure import Device, Measurement, measure
from engine.verify.steps import Progress, silent
from engine.verify.timeline import Allocation, Moment, Timeline

ON_A_GPU_ONLY = "cuBLAS workspace"
NOT_TRACED = "DDP buckets"
LEFT_OUT: Mapping[str, str] = {
    ON_A_GPU_ONLY: "only a GPU has it",
    NOT_TRACED: "made in C++, out of sight of fake tensors",
}
LARGEST = 10
EXPANDABLE = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A phase: bytes that the ledger predicts for this device, and bytes that were measured."""

    phase: Phase
    predicted: int
    measured: int

    @property
    def difference(self) -> int:
        """Measured less predicted bytes."""
        return self.measured - self.predicted


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A part of the difference at the peak: measured less predicted bytes, and why."""

    name: str
    size: int
    why: str


@dataclass(frozen=True, kw_only=True)
class NoRoom:
    """A run that does not fit on the scenario's card.

    Attributes:
        failed: what the allocator was asked for when it had no more.
        making: the tensor that this was for.
        phase: when; None between phases.
        step: the number of the step, from 0; None while the model was built.
        missing: bytes that the request was beyond what was free.
        levers: changes that make the run fit, the first to make first; single ones if any does.
    """

    failed: OutOfMemory
    making: Allocation
    phase: Phase | None
    step: int | None
    missing: int
    levers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Verification:
    """A scenario's ledger beside the measured step."""

    scenario: Scenario
    ledger: Ledger
    measurement: Measurement

    @property
    def timeline(self) -> Timeline:
        """Every allocation of the run."""
        return self.measurement.timeline

    @cached_property
    def left_out(self) -> Mapping[str, int]:
        """Lines of the ledger that this device does not have, with their bytes."""
        if self.measurement.device == "cuda":
            return {}
        return {ON_A_GPU_ONLY: self.ledger.size(ON_A_GPU_ONLY)}

    @cached_property
    def outside(self) -> tuple[int, int]:
        """Lower and upper estimate of the bytes on the card that no allocator of PyTorch has."""
        book = self.ledger
        rows = [
            (low, high)
            for line, low, high in zip(book.lines, book.lows, book.sizes, strict=True)
            if line.category in BESIDE_PYTORCH
        ]
        return sum(low for low, _ in rows), sum(high for _, high in rows)

    @property
    def room(self) -> int:
        """Most bytes of the scenario's card that PyTorch's allocator can have for this run."""
        return capacity(self.scenario) - self.outside[0] - sum(self.left_out.values())

    @property
    def nvidia_smi(self) -> tuple[int, int]:
        """Lower and upper estimate of what nvidia-smi shows: reserved, left out and outside."""
        held = self.measurement.reserved + sum(self.left_out.values())
        low, high = self.outside
        return held + low, held + high

    @cached_property
    def expandable(self) -> int:
        """Most bytes that the allocator would hold under `expandable_segments:True`."""
        return replay(self.timeline.requests, expandable=True).peak_reserved

    @property
    def fits(self) -> Fits:
        """Say whether the run fits on one of the scenario's GPUs.

        As `engine.estimate.fits` does, from what was measured: "yes" if the upper estimate of
        what nvidia-smi shows is within the card, "no" if the run ends for want of memory,
        "tight" between the two.
        """
        if self.no_room is not None:
            return "no"
        return "yes" if self.nvidia_smi[1] <= capacity(self.scenario) else "tight"

    @cached_property
    def steady(self) -> tuple[Row, ...]:
        """The phases of a steady step."""
        return self._rows(self.ledger.phases, self.measurement.steady)

    @cached_property
    def first(self) -> tuple[Row, ...]:
        """The phases of the first step, which creates the optimizer states."""
        return self._rows(self.ledger.first_step, self.measurement.first)

    def _rows(
        self, predicted: Mapping[Phase, int], measured: Mapping[Phase, int]
    ) -> tuple[Row, ...]:
        absent = sum(self.left_out.values())
        return tuple(
            Row(phase=phase, predicted=predicted[phase] - absent, measured=size)
            for phase, size in measured.items()
            if phase in predicted
        )

    @property
    def predicted_peak(self) -> int:
        """Bytes at the ledger's peak, without what the device does not have."""
        return max(row.predicted for row in self.steady)

    @cached_property
    def peak(self) -> Row:
        """The phase of the measured peak of a steady step."""
        return max(self.steady, key=lambda row: row.measured)

    @property
    def relative_error(self) -> float:
        """Predicted peak over measured peak, less 1."""
        return self.predicted_peak / self.peak.measured - 1

    @cached_property
    def moment(self) -> Moment:
        """The moment of the measured peak."""
        return self.timeline.peaks(self.timeline.last_step)[self.peak.phase]

    @cached_property
    def alive(self) -> tuple[tuple[Allocation, int], ...]:
        """What is alive at the moment of the peak with its bytes, largest first."""
        alive = self.timeline.alive(self.moment.events)
        rows = ((self.timeline.allocations[number], size) for number, size in alive.items())
        return tuple(sorted(rows, key=lambda row: -row[1]))

    @property
    def largest(self) -> tuple[tuple[Allocation, int], ...]:
        """The ten largest tensors alive at the moment of the peak."""
        return self.alive[:LARGEST]

    @cached_property
    def gap(self) -> tuple[Gap, ...]:
        """The measured less the predicted peak as parts; they add up to it."""
        parts = tuple(part for part in self._reasons() if part.size)
        rest = self.peak.measured - self.predicted_peak - sum(part.size for part in parts)
        why = "lines of the ledger that are a little too large or too small; see the phases"
        return (*parts, Gap(name="the rest", size=rest, why=why))

    def _reasons(self) -> Iterator[Gap]:
        scalars, rounding = _blocks(self.alive)
        yield Gap(
            name="scalars",
            size=scalars,
            why="a block of 512 bytes for each number by itself, such as the optimizer's counters",
        )
        yield Gap(
            name="rounding",
            size=rounding,
            why="the allocator rounds each tensor up to 512 bytes; the ledger counts tensors",
        )

    def tensors(self, phase: Phase, step: int | None = None) -> int:
        """Return the measured bytes of `phase` without those two, of a steady step by default."""
        moment = self.timeline.peaks(self.timeline.last_step if step is None else step)[phase]
        alive = self.timeline.alive(moment.events)
        rows = [(self.timeline.allocations[number], size) for number, size in alive.items()]
        return moment.size - sum(_blocks(rows))

    @cached_property
    def no_room(self) -> NoRoom | None:
        """Where the run would end on the scenario's card, at best; None where it does not."""
        failed = replay(self.timeline.requests, capacity=self.room).out_of_memory
        if failed is None:
            return None
        event = self.timeline.asked[failed.index]
        number = self.timeline.events[event][0]
        passed = [mark for mark in self.timeline.marks if mark.at <= event]
        return NoRoom(
            failed=failed,
            making=self.timeline.allocations[number],
            phase=passed[-1].phase if passed else None,
            step=passed[-1].step if passed else None,
            missing=failed.driver_request - failed.free,
            levers=(*self._settings(), *fitting(self.scenario)),
        )

    def _settings(self) -> Iterator[str]:
        """Yield the allocator's setting, if memory is out only because it is in pieces."""
        tried = replay(self.timeline.requests, expandable=True, capacity=self.room)
        if tried.out_of_memory is None:
            yield EXPANDABLE


def verify(scenario: Scenario, device: Device, progress: Progress = silent) -> Verification | None:
    """Measure `scenario` on `device` and put its ledger beside it.

    None in a process of torchrun's that is not the one to tell.

    Raises:
        InputError: the device cannot run it; says why, and what can.
    """
    measured = measure(scenario, device, progress)
    if measured is None:
        return None
    return Verification(scenario=scenario, ledger=ledger(scenario), measurement=measured)


def _blocks(alive: Iterable[tuple[Allocation, int]]) -> tuple[int, int]:
    """Return the bytes of blocks with one number, and what blocks add to larger tensors."""
    rows = [(_is_scalar(one), size, one.requested) for one, size in alive]
    scalars = sum(size for is_scalar, size, _ in rows if is_scalar)
    rounding = sum(max(0, size - wanted) for is_scalar, size, wanted in rows if not is_scalar)
    return scalars, rounding


def _is_scalar(allocation: Allocation) -> bool:
    return allocation.shape in {(), (1,)} and allocation.requested <= 8
