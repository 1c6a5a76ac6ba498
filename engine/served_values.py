"""What the symbols of inference stand for on one rank of a scenario."""

from collections.abc import Iterable, Mapping

from sympy import Symbol

from engine import symbols
from engine.architecture import Tensor
from engine.inference.weights import in_layers
from engine.rank import part_of
from engine.scenario import Scenario
from engine.served import cache_of, of_a_pass, served_of
from engine.stages import Stage
from engine.units import KIB, MIB
from engine.values import CONTEXT_MIB, of_part, uneven


def served_values(scenario: Scenario, stage: Stage) -> Mapping[Symbol, int]:
    """Return what each symbol stands for on a rank of `stage`."""
    gpu, part = scenario.hardware.gpu, part_of(scenario, stage)
    low, high = (gpu.context_mib, gpu.context_mib) if gpu.context_mib else CONTEXT_MIB
    sequences, tokens = of_a_pass(scenario)
    longest = scenario.model.max_sequence
    return {
        **of_part(part, 1),
        **uneven(scenario, stage),
        **_cache(scenario, stage),
        **_weights(scenario, stage, part.tensors),
        symbols.b: sequences,
        symbols.s: tokens,
        symbols.N: 1,
        symbols.V_all: scenario.architecture.vocab,
        symbols.R_rotary: max(longest, scenario.workload.sequence),
        # One handle: no backward pass has a thread of its own.
        symbols.W: gpu.workspace_kib * KIB,
        symbols.C_low: low * MIB,
        symbols.C_high: high * MIB,
    }


def _cache(scenario: Scenario, stage: Stage) -> Mapping[Symbol, int]:
    work, cache = scenario.workload, cache_of(scenario, part_of(scenario, stage))
    inside = min(work.sequence, cache.architecture.window)
    return {
        symbols.n: work.micro_batch,
        symbols.T: work.sequence,
        symbols.T_w: inside,
        symbols.T_most: work.sequence if cache.full_layers else inside,
        symbols.T_blocks: cache.blocks(work.sequence) * cache.block,
        symbols.T_w_blocks: cache.blocks(inside) * cache.block,
        symbols.L_w: cache.windowed_layers,
        symbols.B_kv: cache.per_layer,
        symbols.B_block: cache.block * cache.per_token,
    }


def _weights(scenario: Scenario, stage: Stage, tensors: Iterable[Tensor]) -> Mapping[Symbol, int]:
    stored = served_of(scenario, stage).weights
    if stored is None:
        return {}
    matrices = [t for t in tensors if in_layers(t)]
    elements = sum(t.copies * t.size for t in matrices)
    whole = sum(t.copies * -(-t.size * stored.bits // 8) for t in matrices)
    return {
        symbols.P_q: elements,
        symbols.Q_scales: sum(t.copies * stored.size(t.size) for t in matrices) - whole,
        symbols.P_q_largest: max(t.size // (t.rows if t.routed else 1) for t in matrices),
    }
