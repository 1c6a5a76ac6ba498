"""What many scenarios take, at once: their ledgers over arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from sympy import Expr, Symbol

from engine import symbols
from engine.estimate import lines_of
from engine.ledger import ALL_PHASES, OUTSIDE, Phase
from engine.levers.arrays import Array, magnitude, over_arrays
from engine.scenario import Scenario
from engine.stages import differing
from engine.structure import Structure, structure_of
from engine.values import values_of

# Of all numbers in numpy's integers; the slack of the allocator is 10 of 100 parts of the peak.
LARGEST = (2**63 - 1) // 10
ENDS = (symbols.C_low, symbols.C_high, symbols.P_paged)
Key = tuple[object, ...]
Values = Mapping[Symbol, int]


@dataclass(frozen=True, kw_only=True)
class Need:
    """Bytes of each scenario on its fullest rank, exact, aligned with the scenarios.

    Attributes:
        peak: allocated.
        shown: what nvidia-smi would show, at the upper estimate.
    """

    peak: tuple[int, ...]
    shown: tuple[int, ...]


def need(scenarios: Sequence[Scenario]) -> Need:
    """Return what each of `scenarios`, which have one model and one GPU, needs."""
    peak, shown = [0] * len(scenarios), [0] * len(scenarios)
    groups, numbers = _groups(scenarios)
    table = _Table.of(groups, numbers)
    for group in groups.values():
        for index, allocated, all_of_it in zip(group.indices, *table.sizes(group), strict=True):
            if allocated > peak[index]:
                peak[index], shown[index] = allocated, all_of_it
    return Need(peak=tuple(peak), shown=tuple(shown))


@dataclass(kw_only=True)
class _Group:
    """Ranks whose ledgers have the same lines.

    Attributes:
        indices: which scenario each is of.
        rows: what its symbols stand for, as a place in a list of such.
    """

    sums: "_Sums"
    indices: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)


def _groups(scenarios: Sequence[Scenario]) -> tuple[Mapping[Structure, _Group], list[Values]]:
    """Return the ranks of all scenarios, and what symbols stand for, each such once."""
    found: dict[Structure, _Group] = {}
    groups: dict[Key, _Group] = {}
    rows: dict[Key, int] = {}
    values: list[Values] = []
    for index, scenario in enumerate(scenarios):
        work, recipe = scenario.workload, scenario.recipe
        split = (scenario.implementation, scenario.parallel, scenario.offload)
        switches = (*split, recipe, work.gradient_accumulation > 1, work.micro_batch == 1)
        # Neither attention nor recomputation changes what a symbol stands for.
        numbers = (*split, work, recipe.precision, recipe.optimizer, recipe.loss)
        for stage in differing(scenario):
            if (stage, switches) not in groups:
                structure = structure_of(scenario, stage)
                group = found.setdefault(structure, _Group(sums=_sums(structure)))
                groups[stage, switches] = group
            if (stage, numbers) not in rows:
                rows[stage, numbers] = len(values)
                values.append(values_of(scenario, stage))
            groups[stage, switches].indices.append(index)
            groups[stage, switches].rows.append(rows[stage, numbers])
    return found, values


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """The expressions of a structure.

    Attributes:
        lines: the sizes of the lines, each once.
        phases: of each line, how often it counts in each phase.
        outside: what nvidia-smi shows beyond the peak, over the peak M.
    """

    lines: tuple[Expr, ...]
    phases: tuple[tuple[int, ...], ...]
    outside: tuple[Expr, ...]


@cache
def _sums(structure: Structure) -> _Sums:
    inside = [line for line in lines_of(structure) if line.category not in OUTSIDE]
    counted: dict[Expr, list[int]] = {}
    for line in inside:
        row = counted.setdefault(line.size, [0] * len(ALL_PHASES))
        for place, phase in enumerate(ALL_PHASES):
            gone = phase is Phase.LOSS and not structure.last
            row[place] += phase in line.phases and not gone
    return _Sums(
        lines=tuple(counted),
        phases=tuple(zip(*counted.values(), strict=True)),
        outside=tuple(line.size for line in lines_of(structure) if line.category in OUTSIDE),
    )


@dataclass(frozen=True, kw_only=True)
class _Table:
    """What every expression of all groups comes to, for everything its symbols stand for."""

    columns: Mapping[Symbol, Array]
    sizes_of: Mapping[Expr, Array]
    kind: type

    @classmethod
    def of(cls, groups: Mapping[Structure, _Group], values: Sequence[Values]) -> "_Table":
        """Evaluate each expression once, in 64 bits if no number in it is too large."""
        sums = [group.sums for group in groups.values()]
        lines = list(dict.fromkeys(line for one in sums for line in one.lines))
        everything = (*lines, *(line for one in sums for line in one.outside))
        used = {one for line in everything for one in line.atoms(Symbol)}
        # What a row lacks its ranks do not need; 1 can be divided by.
        plain = {s: [row.get(s, 1) for row in values] for s in (used | {symbols.N}) - {symbols.M}}
        most = {one: max(column) for one, column in plain.items()}
        bounds = {line: magnitude(line)(most) for line in lines}
        exact = all(
            sum(bounds[line] for line in one.lines) * len(ALL_PHASES) <= LARGEST for one in sums
        )
        kind = np.int64 if exact else object
        columns = {one: np.array(column, dtype=kind) for one, column in plain.items()}
        zero = np.zeros(len(values), dtype=kind)
        return cls(
            columns=columns,
            sizes_of={line: zero + over_arrays(line)(columns) for line in lines},
            kind=kind,
        )

    def sizes(self, group: _Group) -> tuple[list[int], list[int]]:
        """Return allocated bytes at the peak and all that nvidia-smi shows, of each rank."""
        sums, rows = group.sums, np.array(group.rows)
        each = np.stack([self.sizes_of[line][rows] for line in sums.lines])
        phases = np.array(sums.phases, dtype=self.kind) @ each
        one_rank = self.columns[symbols.N][rows] == 1
        phases[ALL_PHASES.index(Phase.REDUCE), one_rank] = 0  # it has none
        peak = phases.max(axis=0)
        values = {one: column[rows] for one, column in self.columns.items() if one in ENDS}
        beyond = sum(over_arrays(size)(values | {symbols.M: peak}) for size in sums.outside)
        return peak.tolist(), (peak + beyond).tolist()
