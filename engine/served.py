"""The switches that decide which lines inference has; scenarios with the same share the lines."""

from dataclasses import dataclass, replace

from engine.inference.cache import KVCache
from engine.inference.stored import BF16, FORMATS, FP32, Stored
from engine.precisions import PRECISIONS
from engine.rank import Part, part_of
from engine.scenario import Scenario
from engine.stacks.block import Block
from engine.stacks.registry import stack
from engine.stages import Stage
from engine.structure import block_of

AUTO = "auto"
# vLLM's own: tokens of a block, and tokens of a forward pass behind its API server.
BLOCK, CHUNK = 16, 8192
# Formats whose kernels put a matrix into 16 bits before they multiply with it (bitsandbytes).
PUT_BACK = frozenset({"nf4", "nf4-double"})


@dataclass(frozen=True, kw_only=True)
class Served:
    """All switches of one rank that serves.

    Attributes:
        block: says what the layers run.
        weights: the format of the layers' matrices, where it is another than that of the rest.
        windowed: whether some layers keep a window alone.
        paged: whether the cache is in blocks.
        pooled: whether a pool is taken for it when the engine starts.
        dense_layers: whether some layers have one MLP beside others that have experts.
        many: whether ranks split layers or heads.
        last: whether the rank's stage of the pipeline has final norm and head.
    """

    block: Block
    weights: Stored | None
    windowed: bool
    paged: bool
    pooled: bool
    dense_layers: bool
    many: bool
    last: bool = True

    @property
    def compute(self) -> int:
        """Bytes of an element of what a layer computes, and of the weights in their own dtype."""
        return self.block.precision.compute

    @property
    def grows(self) -> bool:
        """Whether the cache is one tensor a layer, made anew with each token."""
        return not stack(self.block.stack).pages_cache


def served_of(scenario: Scenario, stage: Stage) -> Served:
    """Return the switches of a rank of `stage`."""
    serving, parallel = scenario.serving, scenario.parallel
    part = part_of(scenario, stage)
    experts = part.architecture.experts
    compute = _computed(scenario)
    weights = compute if serving.weights == AUTO else FORMATS[serving.weights]
    block = block_of(scenario)
    return Served(
        block=replace(block, served=True, dropout=False, loss="eager", recompute="none"),
        weights=None if weights.bits == compute.bits else weights,
        windowed=cache_of(scenario, part).windowed_layers > 0,
        paged=tokens_of_a_block(scenario) > 1,
        pooled=serving.utilization > 0,
        dense_layers=experts is not None and experts.dense_layers > 0,
        many=parallel.tensor * parallel.pipeline > 1,
        last=stage.last,
    )


def _computed(scenario: Scenario) -> Stored:
    """Return the format that the layers compute in."""
    return FP32 if PRECISIONS[scenario.recipe.precision].compute == 4 else BF16


def tokens_of_a_block(scenario: Scenario) -> int:
    """Return the tokens of a block of the cache; 1 where it has none."""
    own = BLOCK if stack(scenario.implementation).pages_cache else 1
    return scenario.serving.block or own


def cache_of(scenario: Scenario, part: Part) -> KVCache:
    """Return the cache of the layers and heads of `part`."""
    serving = scenario.serving
    format_ = _computed(scenario) if serving.cache == AUTO else FORMATS[serving.cache]
    return KVCache(
        architecture=part.architecture,
        stored=format_,
        block=tokens_of_a_block(scenario),
        windows=serving.windows == "capped",
    )


def of_a_pass(scenario: Scenario) -> tuple[int, int]:
    """Return the sequences in one forward pass of the prefill, and the tokens of each in it.

    Where a pass is a chunk of whatever prompts wait, it counts as one sequence.
    """
    work = scenario.workload
    if not stack(scenario.implementation).pages_cache:
        return work.micro_batch, work.sequence
    return 1, min(scenario.serving.chunk or CHUNK, work.micro_batch * work.sequence)
