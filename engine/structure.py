"""The switches that decide which lines a ledger has; scenarios with the same share the lines."""

from dataclasses import dataclass, replace
from typing import TypedDict

from sympy import Expr
from sympy.polys.rings import PolyElement

from engine.adapters import targets
from engine.architecture import Architecture
from engine.optimizers import Optimizer, optimizers
from engine.precisions import PRECISIONS, Precision
from engine.rank import part_of
from engine.scenario import Scenario
from engine.stacks.block import Block
from engine.stacks.registry import stack
from engine.stacks.tapes import without_experts
from engine.stages import Stage
from engine.symbols import RING, D, L, P, P_a

_one, _layers, _dense = RING(1), RING(L), RING(D)

# Layers of a kind beyond these run as the others of it do, with the same around them.
MOST_DENSE, MOST_WITH_EXPERTS = 3, 4


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """The switches that decide the model states.

    Attributes:
        zero: the ZeRO stage, 0 where there is one rank only.
        many: whether there is more than one rank.
        accumulates: whether gradients are added up over several micro-batches.
        offloaded: whether master copy, states and reduced gradients are on the host. One rank
            alone is then as it is under ZeRO-2.
        weights_on_host: whether the shards of the weights are there too.
        experts_apart: whether other ranks share the experts than share all else.
        adapters: whether adapters alone are trained.
        four_bit: whether the matrices beside them are in 4 bits.
        ema: what an average of the trained weights is kept in, "none" where there is none.
    """

    precision: Precision
    optimizer: Optimizer
    zero: int
    many: bool
    accumulates: bool = False
    replicated: bool = False
    offloaded: bool = False
    weights_on_host: bool = False
    experts_apart: bool = False
    adapters: bool = False
    four_bit: bool = False
    ema: str = "none"

    @property
    def trained(self) -> Expr:
        """Parameters that have gradients and optimizer states."""
        return P_a if self.adapters else P

    @property
    def sharded(self) -> bool:
        """Whether weights are sharded too: ZeRO-3, which is FSDP2 here."""
        return self.zero == 3

    @property
    def main_gradients(self) -> bool:
        """Whether gradients are added into buffers of a wider dtype that are never freed."""
        return self.precision.gradients > self.precision.weights and not self.sharded

    @property
    def lasting_gradients(self) -> bool:
        """Whether gradients are alive from the first phase on."""
        return self.accumulates or self.main_gradients

    @property
    def keeps_gradients(self) -> bool:
        """Whether a parameter gradient stays as it was made, until its layer is done at least."""
        return self.sharded or not (self.lasting_gradients or self.zero == 2)

    @property
    def bucketed(self) -> bool:
        """Whether gradients go through a bucket to be reduced: ZeRO-1 and 2, as a rule."""
        return self.zero == 2 or (self.zero == 1 and not self.main_gradients)


@dataclass(frozen=True, kw_only=True)
class Structure(Sharing):
    """All switches of one rank.

    Attributes:
        block: says what the layers run, those with experts where there are some.
        dense: layers of the stage that have one MLP in a model whose others have experts, or
            MOST_DENSE where there are more; they are the first.
        with_experts: the layers behind these, or MOST_WITH_EXPERTS where there are more; so too
            where the layers are all of one kind.
        first: whether the rank's stage of the pipeline has the embedding.
        last: whether it has final norm, head and loss.
        pipelined: whether it holds the activations of several micro-batches at once.
        saves_on_host: whether what the layers save waits on the host.
    """

    block: Block
    dense: int = 0
    with_experts: int = MOST_WITH_EXPERTS
    first: bool = True
    last: bool = True
    pipelined: bool = False
    saves_on_host: bool = False

    @property
    def kinds(self) -> tuple[tuple[Block, PolyElement], ...]:
        """What the layers run from the first to the last, and how many there are of each kind."""
        if self.adapters:
            return (replace(self.block, bottom=True), _one), (self.block, _layers - 1)
        if not self.dense:
            return ((self.block, _layers),)
        dense = without_experts(self.block)
        if not self.with_experts:
            return ((dense, _layers),)
        return (dense, _dense), (self.block, _layers - _dense)

    @property
    def uneven(self) -> bool:
        """Whether some layers have experts and others have none."""
        return bool(self.dense and self.with_experts)

    @property
    def first_layer(self) -> Block:
        """What the stage's first layer runs, the last one in the backward pass."""
        return self.kinds[0][0]

    @property
    def last_layer(self) -> Block:
        """What the stage's last layer runs."""
        return self.kinds[-1][0]

    def from_bottom(self, below: int) -> Block:
        """Return what the layer runs that has so many `below` it, fewer than MOST_DENSE."""
        return self.kinds[0 if below < self.dense else -1][0]

    def from_top(self, above: int) -> Block:
        """Return what the layer runs that has so many `above` it, fewer than MOST_WITH_EXPERTS."""
        return self.kinds[-1 if above < self.with_experts else 0][0]


class Counts(TypedDict):
    """How many layers of each kind there are, as far as it matters."""

    dense: int
    with_experts: int


class OnDevice(TypedDict):
    """What of a recipe decides the model states on the device."""

    precision: Precision
    zero: int
    offloaded: bool
    weights_on_host: bool


def on_device(
    precision: str, zero: int, *, offloaded: bool, weights_on_host: bool = False
) -> OnDevice:
    """Return the switches of the device, where the host may have a part.

    Args:
        precision: a name of `engine.precisions.PRECISIONS`.
        zero: the stage, 0 where there is one rank.
        offloaded: whether the optimizer steps on the host.
        weights_on_host: whether the shards of ZeRO-3 are there too; they are what it steps then.
    """
    row = PRECISIONS[precision]
    if offloaded and zero == 3 and not weights_on_host:
        row = replace(row, master=0)  # the shards stay in 16 bits, and are not stepped here
    return OnDevice(
        precision=row,
        zero=zero or 2 * offloaded,
        offloaded=offloaded,
        weights_on_host=weights_on_host,
    )


def structure_of(scenario: Scenario, stage: Stage) -> Structure:
    """Return the switches of a rank of `stage`."""
    many = scenario.parallel.sharing > 1
    offloaded = scenario.offload.optimizer != "none"
    return Structure(
        block=block_of(scenario),
        **on_device(
            scenario.recipe.precision,
            scenario.parallel.zero if many else 0,
            offloaded=offloaded,
            weights_on_host=scenario.offload.parameters != "none",
        ),
        optimizer=optimizers()[scenario.recipe.optimizer],
        many=many,
        accumulates=scenario.workload.gradient_accumulation > 1,
        experts_apart=scenario.parallel.expert > 1,
        **_counts(part_of(scenario, stage).architecture),
        replicated=scenario.parallel.shards < scenario.parallel.sharing,
        adapters=bool(scenario.adapters.rank),
        four_bit=scenario.adapters.base == "4-bit",
        ema=scenario.recipe.ema,
        first=stage.first,
        last=stage.last,
        pipelined=stage.in_flight > 1,
        saves_on_host=scenario.offload.activations != "none",
    )


def _counts(of_rank: Architecture) -> Counts:
    dense = of_rank.experts.dense_layers if of_rank.experts else 0
    if not dense:
        return Counts(dense=0, with_experts=MOST_WITH_EXPERTS)
    others = min(of_rank.layers - dense, MOST_WITH_EXPERTS)
    return Counts(dense=min(dense, MOST_DENSE), with_experts=others)


def block_of(scenario: Scenario) -> Block:
    """Return what the layers of `scenario` run, those with experts where there are some."""
    a, recipe, parallel = scenario.architecture, scenario.recipe, scenario.parallel
    return Block(
        stack=scenario.implementation,
        norm=a.norm,
        activation=a.activation,
        gated=a.gated,
        experts=a.experts is not None,
        rotary=not a.positions,
        partly_rotary=a.rotary_dim < a.head_dim and a.latent is None,
        grouped=a.kv_heads < a.heads and a.latent is None,
        norm_inputs=a.norm_inputs,
        norm_outputs=a.norm_outputs,
        qk_norm=a.qk_norm,
        parallel_residual=a.parallel_residual,
        shared_norm=a.shared_norm,
        qkv_bias=a.qkv_bias,
        output_bias=a.output_bias,
        mlp_bias=a.mlp_bias,
        head_bias=a.head_bias,
        tied=a.tied,
        precision=PRECISIONS[recipe.precision],
        attention=recipe.attention,
        recompute=recipe.recompute,
        loss=recipe.loss,
        dropout=recipe.dropout > 0,
        one_sequence=scenario.workload.micro_batch == 1
        and stack(scenario.implementation).one_sequence,
        sequence_parallel=parallel.sequence_parallel,
        exchange=parallel.exchange if parallel.context > 1 else "none",
        soft_cap=a.soft_cap,
        some_windows=a.window > 0 and 0 < a.window_layers < a.layers,
        latent=a.latent is not None,
        latent_queries=bool(a.latent and a.latent.query_rank),
        shared_experts=bool(a.experts and a.experts.shared_ffn),
        expert_ranks=parallel.expert > 1,
        local_experts=a.experts is not None and a.experts.routed > parallel.expert,
        adapted=targets(scenario.adapters),
        adapter_dropout=scenario.adapters.dropout > 0,
        four_bit=scenario.adapters.base == "4-bit",
    )
