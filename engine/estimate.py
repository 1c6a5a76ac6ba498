"""From a scenario to its ledger, and from the ledger to the answer: does it fit?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sympy import Symbol

from engine import symbols
from engine.architecture import Architecture, Tensor
from engine.ledger import OUTSIDE, Ledger, Line
from engine.lines import activations, communication, outside, states, step, working_set
from engine.partition import flat_of, fullest
from engine.recipe import OPTIMIZERS, PRECISIONS
from engine.reducing import BUCKET, Emptied, at_the_end, scattered
from engine.scenario import Scenario
from engine.structure import Sharing, Structure, structure_of
from engine.symbols import Evaluate, compiled
from engine.units import KIB, MIB

Fits = Literal["yes", "tight", "no"]
PARTS = (
    states.lines,
    activations.lines,
    activations.weight_casts,
    working_set.lines,
    step.lines,
    communication.lines,
    outside.lines,
)
CONTEXT_MIB = (300, 600)
# A cuBLAS handle belongs to a thread, and the backward pass runs in a thread of its own.
HANDLES = 2


def ledger(scenario: Scenario) -> Ledger:
    """Return every line of `scenario` with its bytes on one rank (the fullest where they differ).

    Lines are built once for each set of switches; a further scenario with the same switches only
    puts its numbers in.
    """
    rows = _rows(structure_of(scenario))
    values = dict(values_of(scenario))
    inner = _book([row for row in rows if row.line.category not in OUTSIDE], values)
    values[symbols.M] = inner.peak
    outer = _book([row for row in rows if row.line.category in OUTSIDE], values)
    return Ledger(
        lines=inner.lines + outer.lines,
        sizes=inner.sizes + outer.sizes,
        lows=inner.lows + outer.lows,
        values=values,
    )


def _book(rows: Sequence["_Row"], values: Mapping[Symbol, int]) -> Ledger:
    sizes = tuple(row.size(values) for row in rows)
    return Ledger(
        lines=tuple(row.line for row in rows),
        sizes=sizes,
        lows=tuple(
            size if row.low is None else row.low(values)
            for row, size in zip(rows, sizes, strict=True)
        ),
        values=values,
    )


def model_states(
    parameters: int, *, precision: str, optimizer: str = "adamw", zero: int = 0, ranks: int = 1
) -> Mapping[str, int]:
    """Return the model states of one rank in bytes, by line, for any number of parameters.

    Args:
        parameters: P; no architecture is needed, so FSDP2's shards are not padded to whole rows.
        precision: a name of `engine.recipe.PRECISIONS`.
        optimizer: a name of `engine.recipe.OPTIMIZERS`.
        zero: the ZeRO stage.
        ranks: N, data-parallel ranks.

    Source: arXiv 1910.02054 (ZeRO), section 5.
    """
    sharing = Sharing(
        precision=PRECISIONS[precision],
        optimizer=OPTIMIZERS[optimizer],
        zero=zero if ranks > 1 else 0,
        many=ranks > 1,
    )
    values = {symbols.P: parameters, symbols.N: ranks, symbols.P_shard: -(-parameters // ranks)}
    return {line.name: compiled(line.size)(values) for line in states.model_states(sharing)}


def capacity(scenario: Scenario) -> int:
    """Return the bytes of one GPU as its driver reports them."""
    return scenario.hardware.gpu.memory_mib * MIB


def fits(scenario: Scenario, of: Ledger | None = None) -> Fits:
    """Say whether the step fits on one GPU.

    "yes" if the upper estimate of what nvidia-smi would show is within the card, "no" if the
    allocated peak alone exceeds it, "tight" between the two. `of` is the ledger, where it is
    at hand already.
    """
    book = of or ledger(scenario)
    if book.peak > capacity(scenario):
        return "no"
    return "yes" if book.nvidia_smi[1] <= capacity(scenario) else "tight"


@dataclass(frozen=True, kw_only=True)
class _Row:
    line: Line
    size: Evaluate
    low: Evaluate | None


@lru_cache(maxsize=4096)
def _rows(structure: Structure) -> tuple[_Row, ...]:
    return tuple(
        _Row(line=line, size=compiled(line.size), low=compiled(line.low) if line.low else None)
        for part in PARTS
        for line in part(structure)
    )


def values_of(scenario: Scenario) -> Mapping[Symbol, int]:
    """Return what each symbol stands for in `scenario`."""
    a, work, gpu = scenario.architecture, scenario.workload, scenario.hardware.gpu
    low, high = (gpu.context_mib, gpu.context_mib) if gpu.context_mib else CONTEXT_MIB
    return {
        **_parameters(a, scenario.parallel.data),
        **_reducing(scenario),
        symbols.b: work.micro_batch,
        symbols.s: work.sequence,
        symbols.N: scenario.parallel.data,
        symbols.W: HANDLES * gpu.workspace_kib * KIB,
        symbols.C_low: low * MIB,
        symbols.C_high: high * MIB,
    }


def _reducing(scenario: Scenario) -> Mapping[Symbol, int]:
    """Return what the symbols of ZeRO-1 and 2 stand for."""
    a, parallel = scenario.architecture, scenario.parallel
    if parallel.zero not in {1, 2} or parallel.data == 1:
        return {}
    flat = flat_of(scenario)
    part = fullest(flat)
    own = {symbols.P_touched: part.touched, symbols.P_piece: part.piece}
    waiting = a.vocab * a.hidden if a.tied else 0
    if parallel.zero == 1:
        top = sum(t.size for t in a.tensors if t.place in {"final", "head"})
        return own | {
            symbols.R_loss: BUCKET + top + waiting if top else 0,
            symbols.R_norm: 0 if a.tied else BUCKET + a.vocab * a.hidden,
            symbols.R_end: at_the_end(flat),
        }
    row = PRECISIONS[scenario.recipe.precision]
    found = scattered(flat, keeps=row.gradients <= row.weights)
    layers, bottom = found.layers, found.bottom
    return own | {
        symbols.G_first: layers.kept,
        symbols.J_own: layers.own.below,
        symbols.R_own: layers.own.more,
        **_emptied(layers.full, symbols.FULL),
        **_emptied(layers.both, symbols.BOTH),
        symbols.G_last: bottom.kept,
        symbols.G_heads: bottom.attention,
        symbols.G_table: bottom.embedding,
        symbols.R_loss: 0 if found.top is None else BUCKET + found.top + waiting,
        symbols.R_norm: 0 if found.norm is None else BUCKET + found.norm + waiting,
        symbols.R_last: bottom.copied,
        symbols.R_table: bottom.table,
        symbols.R_end: found.end,
    }


def _emptied(found: Emptied, early_and_late: tuple[Symbol, ...]) -> Mapping[Symbol, int]:
    """Return what the symbols of one moment stand for: two that are early, and two late."""
    values = (found.below, found.more)
    return dict(
        zip(early_and_late, (0, 0, *values) if found.late else (*values, 0, 0), strict=True)
    )


@lru_cache(maxsize=4096)
def _parameters(a: Architecture, ranks: int) -> Mapping[Symbol, int]:
    tensors = a.tensors
    in_layers = [t for t in tensors if t.place not in {"embedding", "final", "head"}]
    ends = [t for t in tensors if t.place in {"embedding", "final", "head"}]
    matrices = [t for t in in_layers if t.matmul]
    return {
        symbols.h: a.hidden,
        symbols.f: a.experts.ffn if a.experts else a.ffn,
        symbols.V: a.vocab,
        symbols.L: a.layers,
        symbols.a: a.heads,
        symbols.k: a.kv_heads,
        symbols.d: a.head_dim,
        symbols.positions: a.positions,
        symbols.r: a.rotary_dim,
        symbols.E: a.experts.routed if a.experts else 0,
        symbols.K: a.experts.per_token if a.experts else 0,
        symbols.P: _elements(tensors),
        symbols.P_layer: _elements(in_layers) // a.layers,
        symbols.P_layer_matmul: _elements(matrices) // a.layers,
        symbols.P_ends: _elements(ends),
        symbols.P_shard: _rows_held(tensors, ranks),
        symbols.P_layer_shard: _rows_held(in_layers, ranks) // a.layers,
        symbols.P_ends_shard: _rows_held(ends, ranks),
        symbols.P_largest: max(t.size for t in tensors),
    }


def _rows_held(tensors: Iterable[Tensor], ranks: int) -> int:
    """Return the elements on the fullest rank where each tensor is sharded by whole rows."""
    return sum(-(-t.rows // ranks) * t.columns * t.copies for t in tensors)


def _elements(tensors: Iterable[Tensor]) -> int:
    return sum(t.size * t.copies for t in tensors)
