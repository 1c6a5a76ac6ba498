"""The switches that decide which lines a ledger has; scenarios with the same share the lines."""

from dataclasses import dataclass

from engine.rank import Stage
from engine.recipe import OPTIMIZERS, PRECISIONS, Optimizer, Precision
from engine.scenario import Scenario
from engine.stacks.block import Block


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """The switches that decide the model states.

    Attributes:
        zero: the ZeRO stage, 0 where there is one rank only.
        many: whether there is more than one rank.
        accumulates: whether gradients are added up over several micro-batches.
    """

    precision: Precision
    optimizer: Optimizer
    zero: int
    many: bool
    accumulates: bool = False

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
        block: says what the layers run.
        first: whether the rank's stage of the pipeline has the embedding.
        last: whether it has final norm, head and loss.
        pipelined: whether it holds the activations of several micro-batches at once.
    """

    block: Block
    first: bool = True
    last: bool = True
    pipelined: bool = False


def structure_of(scenario: Scenario, stage: Stage) -> Structure:
    """Return the switches of a rank of `stage`."""
    many = scenario.parallel.sharing > 1
    return Structure(
        block=_block(scenario),
        precision=PRECISIONS[scenario.recipe.precision],
        optimizer=OPTIMIZERS[scenario.recipe.optimizer],
        zero=scenario.parallel.zero if many else 0,
        many=many,
        accumulates=scenario.workload.gradient_accumulation > 1,
        first=stage.first,
        last=stage.last,
        pipelined=stage.in_flight > 1,
    )


def _block(scenario: Scenario) -> Block:
    a, recipe = scenario.architecture, scenario.recipe
    return Block(
        stack=scenario.implementation,
        norm=a.norm,
        activation=a.activation,
        gated=a.gated,
        experts=a.experts is not None,
        rotary=not a.positions,
        partly_rotary=a.rotary_dim < a.head_dim,
        grouped=a.kv_heads < a.heads,
        head_norms=a.qk_norm == "head",
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
        dropout=recipe.dropout > 0,
        one_sequence=scenario.workload.micro_batch == 1 and scenario.implementation == "hf",
    )
