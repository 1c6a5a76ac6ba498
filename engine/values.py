"""What the symbols of a ledger stand for on one rank of a scenario."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from sympy import Symbol

from engine import symbols
from engine.architecture import Tensor
from engine.partition import flat_of, fullest
from engine.rank import Part, Stage, part_of
from engine.recipe import PRECISIONS
from engine.reducing import BUCKET, Emptied, at_the_end, scattered
from engine.scenario import Scenario
from engine.units import KIB, MIB

CONTEXT_MIB = (300, 600)
# A cuBLAS handle belongs to a thread, and the backward pass runs in a thread of its own.
HANDLES = 2


def values_of(scenario: Scenario, stage: Stage) -> Mapping[Symbol, int]:
    """Return what each symbol stands for on a rank of `stage`."""
    work, parallel, gpu = scenario.workload, scenario.parallel, scenario.hardware.gpu
    low, high = (gpu.context_mib, gpu.context_mib) if gpu.context_mib else CONTEXT_MIB
    tokens = work.sequence // parallel.context
    return {
        **_parameters(part_of(scenario, stage), parallel.sharing),
        **_reducing(scenario),
        symbols.b: work.micro_batch,
        symbols.s: tokens,
        symbols.s_t: tokens // (parallel.tensor if parallel.sequence_parallel else 1),
        symbols.c: parallel.context,
        symbols.m: stage.in_flight,
        symbols.N: parallel.sharing,
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
def _parameters(part: Part, ranks: int) -> Mapping[Symbol, int]:
    a, tensors = part.architecture, part.tensors
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
