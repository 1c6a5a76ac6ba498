"""A scenario's answer as values and as JSON: lines, phases, peak, and whether it fits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.estimate import Fits, capacity, fits, fullest, ledgers, room_of
from engine.ledger import Ledger, Phase
from engine.room import Room, room
from engine.scenario import Scenario
from engine.scenario_file import to_mapping
from engine.whiteboard import whiteboard
from quiz.exits import Exit

CODES: Mapping[Fits, Exit] = {"yes": Exit.DONE, "no": Exit.NO, "tight": Exit.TIGHT}


@dataclass(frozen=True, kw_only=True)
class Solved:
    """A scenario with its exact ledger, the one of the whiteboard, and the verdict.

    `stages` has the ledger of each kind of pipeline stage, `exact` is the fullest of them.
    `share` is what may be taken of the card, and `room` what that holds; None in training.
    """

    scenario: Scenario
    stages: tuple[Ledger, ...]
    exact: Ledger
    paper: Ledger
    capacity: int
    share: int
    room: Room | None
    fits: Fits

    @property
    def code(self) -> Exit:
        """The exit code that says whether it fits."""
        return CODES[self.fits]

    @property
    def spare(self) -> tuple[int, int]:
        """Bytes left by the allocated peak and by the most that nvidia-smi shows.

        They are those of the card, or of the share of it that may be taken; blocks that no
        sequence has are left too.
        """
        free = 0 if self.room is None else self.room.free
        return free + self.share - self.exact.peak, free + self.share - self.exact.nvidia_smi[1]


def solve(scenario: Scenario) -> Solved:
    """Return what is to be told of `scenario`."""
    stages = ledgers(scenario)
    exact = fullest(stages)
    return Solved(
        scenario=scenario,
        stages=stages,
        exact=exact,
        paper=whiteboard(scenario, exact),
        capacity=capacity(scenario),
        share=room_of(scenario),
        room=room(scenario, exact) if scenario.served else None,
        fits=fits(scenario, exact),
    )


def as_json(solved: Solved) -> dict[str, Any]:
    """Return the stable object that `memquiz solve --json` prints. Sizes are bytes."""
    exact = solved.exact
    reserved, shown = exact.reserved, exact.nvidia_smi
    return {
        "scenario": to_mapping(solved.scenario),
        "parameters": solved.scenario.architecture.parameters,
        "ledger": _lines(exact),
        "phases": _phases(exact.phases),
        "first_step": _phases(exact.first_step),
        "peak": {"phase": str(exact.peak_phase), "bytes": exact.peak},
        "stages": [{"name": book.stage.name, "bytes": book.peak} for book in solved.stages],
        "reserved_bytes": reserved[1],
        "reserved_low_bytes": reserved[0],
        "nvidia_smi_bytes": shown[1],
        "nvidia_smi_low_bytes": shown[0],
        "capacity_bytes": solved.capacity,
        "fits": solved.fits,
        **({} if solved.room is None else {"room": _room(solved.room)}),
        "whiteboard": {"peak_bytes": solved.paper.peak, "ledger": _lines(solved.paper)},
    }


def _room(found: Room) -> dict[str, int]:
    return {
        "sequences": found.sequences,
        "longest_sequence": found.longest,
        "model_longest_sequence": found.limit,
        "pool_bytes": found.pool,
        "free_bytes": found.free,
        "pool_tokens": found.tokens,
        "bytes_per_token": found.per_token,
        "bytes_per_sequence": found.per_sequence,
    }


def _lines(ledger: Ledger) -> list[dict[str, Any]]:
    rows = sorted(zip(ledger.sizes, ledger.lines, strict=True), key=lambda row: -row[0])
    return [
        {
            "name": line.name,
            "category": str(line.category),
            "bytes": size,
            "formula": str(line.size),
            "why": line.why,
            "source": line.source,
            "phases": [str(phase) for phase in line.phases if phase in ledger.phases],
            "evidence": str(line.evidence),
        }
        for size, line in rows
    ]


def _phases(sizes: Mapping[Phase, int]) -> list[dict[str, Any]]:
    return [{"name": str(phase), "bytes": size} for phase, size in sizes.items()]
