"""A verification as values and as JSON: phases, gap, peak, what is alive then, the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.estimate import Fits, capacity, fits
from engine.ledger import Category, Phase
from engine.scenario import Scenario
from engine.scenario_file import to_mapping
from engine.verify.timeline import Allocation
from engine.verify.verification import LEFT_OUT, Gap, NoRoom, Row, Verification
from problems.problem import Problem
from problems.registry import kinds
from quiz.exits import Exit
from quiz.solve.report import CODES
from quiz.verify.groups import Group, grouped
from quiz.verify.strips import Strip, stretches, strips

GROUPS = 10
STRIPS = 20


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """What the trace has and the ledger counts otherwise: bytes over b and s, and why."""

    name: str
    size: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A phase's bytes over b and s, as traced and as the ledger has them.

    Attributes:
        difference: what no leftover explains; "0" where the two are equal.
        rounding: bytes that blocks of 512 bytes add, at the scenario's own b and s.
    """

    phase: Phase
    traced: str
    predicted: str
    leftovers: tuple[Leftover, ...]
    difference: str
    rounding: int


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question whose scenario was run.

    Attributes:
        id: the problem's.
        title: what its kind asks for.
        answer: the right one, as it is said.
        size: the bytes in it; None where it has none.
        own: whether the step is the question's own; options may have changed it.
    """

    id: str
    title: str
    answer: str
    size: int | None
    own: bool


def question_of(problem: Problem, scenario: Scenario) -> Question:
    """Return the question that `problem` is, where `scenario` was run for it."""
    asked = problem.answer.number
    return Question(
        id=problem.id,
        title=kinds()[problem.kind].title,
        answer=problem.answer.said,
        size=round(asked.value) if asked is not None and asked.unit == "bytes" else None,
        own=problem.scenario == scenario,
    )


@dataclass(frozen=True, kw_only=True)
class Report:
    """A verification and what is told of it.

    Attributes:
        of: the verification.
        formulas: the phases over b and s, where they were asked for.
        question: the question that was named, if one was.
    """

    of: Verification
    formulas: tuple[Formula, ...] | None = None
    question: Question | None = None

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return self.of.scenario

    @property
    def capacity(self) -> int:
        """Bytes of the scenario's card."""
        return capacity(self.scenario)

    @cached_property
    def predicted_fits(self) -> Fits:
        """What the ledger alone says, as `memquiz solve` does."""
        return fits(self.scenario, self.of.ledger)

    @property
    def peak_is_asked(self) -> bool:
        """Whether the question asks for the peak of this very step."""
        asked = self.question
        return asked is not None and asked.own and asked.size == self.of.ledger.peak

    @cached_property
    def categories(self) -> Mapping[Category, int]:
        """Bytes alive at the peak in each category that has any, largest first."""
        sizes = self.of.timeline.by_category(self.of.moment.events)
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """What is alive at the peak, like with like, largest first."""
        return grouped(self.of.alive)

    @property
    def shown(self) -> tuple[Group, ...]:
        """The largest of the groups."""
        return self.groups[:GROUPS]

    @cached_property
    def strips(self) -> tuple[Strip, ...]:
        """The steady step in about as many strips as a screen has lines."""
        timeline = self.of.timeline
        return strips(timeline, stretches(timeline), STRIPS)

    @property
    def making(self) -> Allocation:
        """What was being made at the moment of the peak."""
        return self.of.timeline.allocations[self.of.moment.last]

    @property
    def code(self) -> Exit:
        """The exit code that says whether it fits."""
        return CODES[self.of.fits]

    @property
    def short(self) -> int:
        """Bytes that the whole run is beyond the card, at the lower estimate."""
        return self.of.nvidia_smi[0] - self.capacity


def as_json(report: Report) -> dict[str, Any]:
    """Return the stable object that `memquiz verify --json` prints. Sizes are bytes."""
    found = report.of
    low, high = found.nvidia_smi
    book = found.ledger
    return {
        "device": found.measurement.device,
        "torch": found.measurement.torch,
        "predicted_peak_bytes": found.predicted_peak,
        "measured_peak_bytes": found.peak.measured,
        "relative_error": found.relative_error,
        "phases": _rows(found.steady),
        "gap": [_gap(part) for part in found.gap],
        "reserved_bytes": found.measurement.reserved,
        "first_step": _rows(found.first),
        "left_out": [
            {"name": name, "bytes": size, "why": LEFT_OUT[name]}
            for name, size in found.left_out.items()
        ],
        "peak": _peak(report),
        "largest": [{"bytes": size, **_tensor(one)} for one, size in found.largest],
        "groups": [_together(group) for group in report.shown],
        "timeline": [_strip(strip) for strip in report.strips],
        "rank_peak_bytes": list(found.measurement.ranks),
        "no_room": None if found.no_room is None else _ended(found.no_room),
        "expandable_reserved_bytes": found.expandable,
        "nvidia_smi_low_bytes": low,
        "nvidia_smi_bytes": high,
        "predicted_reserved_bytes": list(book.reserved),
        "predicted_nvidia_smi_bytes": list(book.nvidia_smi),
        "capacity_bytes": report.capacity,
        "fits": found.fits,
        "predicted_fits": report.predicted_fits,
        "scenario": to_mapping(report.scenario),
        "question": None if report.question is None else _question(report, report.question),
        **({} if report.formulas is None else {"symbolic": _formulas(report.formulas)}),
    }


def _rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {
            "name": str(row.phase),
            "predicted_bytes": row.predicted,
            "measured_bytes": row.measured,
        }
        for row in rows
    ]


def _gap(part: Gap) -> dict[str, Any]:
    return {"name": part.name, "bytes": part.size, "why": part.why}


def _peak(report: Report) -> dict[str, Any]:
    found = report.of
    return {
        "phase": str(found.peak.phase),
        "bytes": found.peak.measured,
        "categories": {str(name): size for name, size in report.categories.items()},
        "made_bytes": report.making.size,
        **_tensor(report.making),
    }


def _question(report: Report, asked: Question) -> dict[str, Any]:
    return {
        "id": asked.id,
        "title": asked.title,
        "answer": asked.answer,
        "answer_bytes": asked.size,
        "asks_for_peak": report.peak_is_asked,
    }


def _tensor(one: Allocation) -> dict[str, Any]:
    return {
        "operator": one.operator,
        "module": one.module,
        "backward": one.backward,
        "shape": list(one.shape),
        "dtype": one.dtype,
        "category": str(one.category),
    }


def _together(group: Group) -> dict[str, Any]:
    return {
        "bytes": group.size,
        "count": group.count,
        "each_bytes": group.each,
        "category": str(group.category),
        "dtype": group.dtype,
        "shape": list(group.shape),
        "module": group.module,
        "operators": list(group.operators),
    }


def _strip(strip: Strip) -> dict[str, Any]:
    stretch = strip.stretch
    return {
        "phase": stretch.label,
        "micro_batch": stretch.micro_batch or None,
        "bytes": strip.sample.moment.size,
        "categories": {str(name): size for name, size in strip.sample.categories.items()},
    }


def _ended(ended: NoRoom) -> dict[str, Any]:
    failed = ended.failed
    return {
        "step": None if ended.step is None else ended.step + 1,
        "phase": None if ended.phase is None else str(ended.phase),
        **_tensor(ended.making),
        "requested_bytes": failed.requested,
        "tried_to_allocate_bytes": failed.driver_request,
        "free_bytes": failed.free,
        "reserved_bytes": failed.reserved,
        "allocated_bytes": failed.allocated,
        "missing_bytes": ended.missing,
        "levers": list(ended.levers),
    }


def _formulas(formulas: Sequence[Formula]) -> list[dict[str, Any]]:
    return [
        {
            "phase": str(one.phase),
            "traced": one.traced,
            "predicted": one.predicted,
            "leftovers": [
                {"name": part.name, "bytes": part.size, "why": part.why} for part in one.leftovers
            ],
            "difference": one.difference,
            "rounding_bytes": one.rounding,
        }
        for one in formulas
    ]
