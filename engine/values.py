"""What the symbols of a ledger stand for on one rank of a scenario."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from sympy import Symbol

from engine import symbols
from engine.adapters import four_bit, trained
from engine.architecture import Place, Tensor
from engine.optimizers import optimizers
from engine.partition import flat_of, fullest
from engine.precisions import PRECISIONS
from engine.rank import Part, part_of
from engine.reducing import BUCKET, Emptied, at_the_end, scattered
from engine.scenario import Scenario
from engine.shapes import elements_of_shapes
from engine.stacks.losses import chunk_rows
from engine.stages import Stage
from engine.state_forms import form_of, in_pages
from engine.stepped import hidden, shapes
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
        **of_part(part_of(scenario, stage), parallel.shards),
        **_adapters(scenario, stage),
        **_reducing(scenario),
        **_loss(scenario),
        **_stepped(scenario, stage),
        **_hidden(scenario, stage),
        **uneven(scenario, stage),
        symbols.b: work.micro_batch,
        symbols.s: tokens,
        symbols.s_t: tokens // (parallel.tensor if parallel.sequence_parallel else 1),
        symbols.c: parallel.context,
        symbols.m: stage.in_flight,
        symbols.N: parallel.shards,
        symbols.W: HANDLES * gpu.workspace_kib * KIB,
        symbols.C_low: low * MIB,
        symbols.C_high: high * MIB,
    }


def uneven(scenario: Scenario, stage: Stage) -> Mapping[Symbol, int]:
    """Return what the symbols of experts and of latent attention stand for."""
    part, parallel = part_of(scenario, stage), scenario.parallel
    a, experts, latent = part.architecture, part.architecture.experts, part.architecture.latent
    own = {symbols.P_shapes: elements_of_shapes(a, head=part.last)}
    if experts:
        pairs = scenario.tokens // parallel.context * experts.per_token
        own |= {
            symbols.D: experts.dense_layers,
            symbols.f_d: a.ffn,
            symbols.f_s: experts.shared_ffn,
            symbols.T_e: experts.routed * -(-pairs // experts.routed),
            symbols.P_experts: _elements(t for t in part.tensors if t.routed),
            symbols.N_experts: parallel.sharing // parallel.expert,
        }
    if latent:
        own |= {
            symbols.r_q: latent.query_rank,
            symbols.r_kv: latent.kv_rank,
            symbols.d_n: latent.nope_head_dim,
            symbols.d_r: latent.rope_head_dim,
            symbols.d_v: latent.value_head_dim,
        }
    return own


def _loss(scenario: Scenario) -> Mapping[Symbol, int]:
    """Return what the symbol of the chunked loss stands for."""
    if scenario.recipe.loss != "chunked":
        return {}
    a = scenario.architecture
    return {symbols.R_chunk: chunk_rows(scenario.tokens, vocab=a.vocab, hidden=a.hidden)}


def _adapters(scenario: Scenario, stage: Stage) -> Mapping[Symbol, int]:
    """Return what the symbols of adapters and of the matrices beside them stand for."""
    adapters, part = scenario.adapters, part_of(scenario, stage)
    if not adapters.rank:
        return {}
    own = trained(part.tensors, adapters)
    frozen = four_bit(part.tensors, adapters)
    return {
        symbols.r_a: adapters.rank,
        symbols.P_a: _elements(own),
        symbols.P_a_layer: _elements(own) // part.architecture.layers,
        symbols.P_largest: max(t.size for t in own),
        symbols.P_4: frozen.elements,
        symbols.Q_64: frozen.scales,
        symbols.Q_256: frozen.factors,
    }


def _stepped(scenario: Scenario, stage: Stage) -> Mapping[Symbol, int]:
    """Return what the symbols of the optimizer's states stand for."""
    part, parallel = part_of(scenario, stage), scenario.parallel
    row = optimizers()[scenario.recipe.optimizer]
    stepped = tuple(
        shapes(
            trained(part.tensors, scenario.adapters),
            hidden=part.architecture.hidden,
            zero=parallel.zero,
            ranks=parallel.sharing,
        )
    )
    return {**form_of(row).counts(stepped), **(in_pages(stepped) if row.paged else {})}


def _hidden(scenario: Scenario, stage: Stage) -> Mapping[Symbol, int]:
    """Return what the symbols of the layers' matrices stand for, where Muon steps them."""
    if not optimizers()[scenario.recipe.optimizer].orthogonalizes:
        return {}
    matrices = hidden(part_of(scenario, stage).tensors)
    largest = max(matrices, key=lambda t: (t.size, min(t.rows, t.columns)))
    return {
        symbols.P_hidden: _elements(matrices),
        symbols.P_matrix: largest.size,
        symbols.d_matrix: min(largest.rows, largest.columns),
    }


def _reducing(scenario: Scenario) -> Mapping[Symbol, int]:
    """Return what the symbols of ZeRO-1 and 2 stand for."""
    a, parallel = scenario.architecture, scenario.parallel
    offloaded = scenario.offload.optimizer != "none"
    if parallel.data == 1 and offloaded:
        parallel = replace(parallel, zero=2)
    elif parallel.zero not in {1, 2} or parallel.data == 1:
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
    keeps = row.gradients <= row.weights and not offloaded
    found = scattered(flat, keeps=keeps, normed=offloaded)
    layers, bottom = found.layers, found.bottom
    return own | {
        symbols.G_first: layers.kept,
        symbols.J_own: layers.own.below,
        symbols.R_own: layers.own.more,
        **_emptied(layers.full, symbols.FULL, a.layers),
        **_emptied(layers.both, symbols.BOTH, a.layers),
        symbols.G_last: bottom.kept,
        symbols.G_heads: bottom.attention,
        symbols.G_table: bottom.embedding,
        symbols.R_loss: 0 if found.top is None else BUCKET + found.top + waiting,
        symbols.R_norm: 0 if found.norm is None else BUCKET + found.norm + waiting,
        symbols.R_last: bottom.copied,
        symbols.R_table: bottom.table,
        symbols.R_end: found.end,
    }


def _emptied(
    found: Emptied, early_and_late: tuple[Symbol, ...], layers: int
) -> Mapping[Symbol, int]:
    """Return what the symbols of one moment stand for: two that are early, and two late.

    A late one that does not come is put behind all layers, where nothing is left of them.
    """
    none = Emptied()
    early, late = (none, found) if found.late else (found, replace(none, below=layers))
    values = (early.below, early.more, late.below, late.more)
    return dict(zip(early_and_late, values, strict=True))


@lru_cache(maxsize=4096)
def of_part(part: Part, ranks: int) -> Mapping[Symbol, int]:
    """Return what the symbols of sizes and parameters stand for on a rank."""
    a, tensors = part.architecture, part.tensors
    in_layers = [t for t in tensors if t.place not in {"embedding", "final", "head"}]
    ends = [t for t in tensors if t.place in {"embedding", "final", "head"}]
    matrices = [t for t in in_layers if t.matmul]
    dense, other = (_of_one(tensors, place) for place in ("dense-layer", "moe-layer"))
    first = dense if a.experts and a.experts.dense_layers else other
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
        symbols.P_layer: _elements(first),
        symbols.P_layer_matmul: _elements(matrices) // a.layers,
        symbols.P_ends: _elements(ends),
        symbols.P_shard: _rows_held(tensors, ranks),
        symbols.P_layer_shard: _rows_held(other, ranks),
        symbols.P_dense_shard: _rows_held(dense, ranks),
        symbols.P_ends_shard: _rows_held(ends, ranks),
        symbols.P_largest: max(t.size for t in tensors),
    }


def _of_one(tensors: Iterable[Tensor], place: Place) -> tuple[Tensor, ...]:
    """Return the tensors of one layer, with those of `place` where layers differ."""
    return tuple(replace(t, copies=1) for t in tensors if t.place in {"layer", place})


def _rows_held(tensors: Iterable[Tensor], ranks: int) -> int:
    """Return the elements on the fullest rank where each tensor is sharded by whole rows."""
    return sum(-(-t.rows // ranks) * t.columns * t.copies for t in tensors)


def _elements(tensors: Iterable[Tensor]) -> int:
    return sum(t.size * t.copies for t in tensors)
