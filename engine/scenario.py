"""A scenario: one training step on given GPUs, as frozen values that are checked at birth."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.adapters import BASES, GROUPS, MATRICES, targets
from engine.errors import Fault, InputError, UnmodelledError, unknown
from engine.modelled import gaps
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.settings import (
    Adapters,
    Hardware,
    Model,
    Offload,
    Parallel,
    Recipe,
    Serving,
    Settings,
    Workload,
)
from engine.stacks.registry import names

__all__ = [
    "Adapters",
    "Hardware",
    "Model",
    "Offload",
    "Parallel",
    "Recipe",
    "Scenario",
    "Serving",
    "Workload",
]

MODES = ("training", "inference")
ATTENTIONS = ("flash", "eager")
RECOMPUTES = ("none", "selective", "full")
LOSSES = ("eager", "fused", "chunked")
EMAS = ("none", "weights", "fp32")
EXCHANGES = ("p2p", "a2a")
OFFLOADS = ("none", "cpu", "nvme")
ACTIVATIONS_ON = ("none", "cpu")
WEIGHTS = ("auto", "bf16", "fp8", "int8", "nf4", "nf4-double", "int4-g128")
CACHES = ("auto", "bf16", "fp8", "int8", "int4-g64")
WINDOWS = ("capped", "whole")
NAMES = (*GROUPS, *MATRICES)
LARGEST = 10**9


@dataclass(frozen=True, kw_only=True)
class Scenario(Settings):
    """Everything that decides the memory of a step, checked.

    Raises:
        InputError: listing every value that is out of range and every pair that disagrees.
        UnmodelledError: the scenario is sound, but the ledger has no lines for a part of it.
    """

    def __post_init__(self) -> None:
        faults = [
            *self._choice_faults(),
            *self._number_faults(),
            *_faults_of_adapters(self.adapters),
            *_faults_of_serving(self),
            *self._disagreements(),
        ]
        if faults:
            raise InputError(*faults)
        unmodelled = list(gaps(self))
        if unmodelled:
            raise UnmodelledError(*unmodelled)

    @property
    def tokens(self) -> int:
        """Tokens of one micro-batch on one rank."""
        return self.workload.micro_batch * self.workload.sequence

    def _choice_faults(self) -> Iterator[Fault]:
        recipe = self.recipe
        for where, value, known in (
            ("model.implementation", self.implementation, names()),
            ("workload.mode", self.workload.mode, MODES),
            ("recipe.precision", recipe.precision, tuple(PRECISIONS)),
            ("recipe.optimizer", recipe.optimizer, tuple(optimizers())),
            ("recipe.attention", recipe.attention, ATTENTIONS),
            ("recipe.recompute", recipe.recompute, RECOMPUTES),
            ("recipe.loss", recipe.loss, LOSSES),
            ("recipe.ema", recipe.ema, EMAS),
            ("parallel.exchange", self.parallel.exchange, EXCHANGES),
            ("offload.optimizer", self.offload.optimizer, OFFLOADS),
            ("offload.activations", self.offload.activations, ACTIVATIONS_ON),
            ("offload.parameters", self.offload.parameters, OFFLOADS),
            ("adapters.base", self.adapters.base, BASES),
            ("serving.weights", self.serving.weights, WEIGHTS),
            ("serving.cache", self.serving.cache, CACHES),
            ("serving.windows", self.serving.windows, WINDOWS),
            *(("adapters.targets", name, NAMES) for name in sorted(targets(self.adapters))),
        ):
            if value not in known:
                yield unknown(where, str(value), known)

    def _number_faults(self) -> Iterator[Fault]:
        work, parallel = self.workload, self.parallel
        for where, value in (
            ("workload.micro_batch", work.micro_batch),
            ("workload.sequence", work.sequence),
            ("workload.gradient_accumulation", work.gradient_accumulation),
            ("parallel.data", parallel.data),
            ("parallel.tensor", parallel.tensor),
            ("parallel.pipeline", parallel.pipeline),
            ("parallel.context", parallel.context),
            ("parallel.expert", parallel.expert),
            ("hardware.gpus", self.hardware.gpus),
        ):
            if value < 1:
                yield Fault(where, f"{value:,} is less than 1")
            elif value > LARGEST:
                yield Fault(where, f"{value:,} is more than {LARGEST:,}")
        if not 0 <= parallel.shard <= LARGEST or parallel.shard == 1:
            yield Fault(
                "parallel.shard", f"{parallel.shard:,} ranks share nothing", "give 2 or more"
            )
        if not 0 <= parallel.zero <= 3:
            yield Fault(
                "parallel.zero", f"{parallel.zero} is not a ZeRO stage", "give 0, 1, 2 or 3"
            )
        if not 0 <= self.hardware.network_gb_s <= LARGEST:
            network = self.hardware.network_gb_s
            yield Fault("hardware.network_gb_s", f"{network} is no rate", "give GB/s of one GPU")
        if not 0 <= self.recipe.dropout < 1:
            yield Fault("recipe.dropout", f"{self.recipe.dropout} is not in [0, 1)")

    def _disagreements(self) -> Iterator[Fault]:
        parallel, gpus = self.parallel, self.hardware.gpus
        ranks = parallel.ranks
        if ranks != gpus and min(ranks, gpus) >= 1:
            yield Fault(
                "hardware.gpus",
                f"{gpus:,} GPUs, but data x tensor x pipeline x context = {ranks:,}",
                f"give data = {gpus:,}" if gpus > ranks == parallel.data else "make them equal",
            )
        positions = self.architecture.positions
        if positions and self.workload.sequence > positions:
            yield Fault(
                "workload.sequence",
                f"{self.workload.sequence:,} tokens, but the position table ends at {positions:,}",
            )
        if parallel.shard and (parallel.zero != 3 or parallel.data % parallel.shard):
            what = f"{parallel.shard:,} ranks in a group"
            yield Fault(
                "parallel.shard",
                f"{what}, of {parallel.data:,} under ZeRO-{parallel.zero}",
                "give zero = 3 and a divisor of data",
            )
        offload = self.offload
        if offload.parameters not in {"none", offload.optimizer}:
            where, other = offload.parameters, offload.optimizer
            yield Fault(
                "offload.parameters",
                f"{where}, but the optimizer, which steps them there, is on {other}",
                f'give offload.optimizer = "{where}"',
            )
        yield from self._uneven_parts()

    def _uneven_parts(self) -> Iterator[Fault]:
        """Yield each split that would not give all ranks the same."""
        a, parallel = self.architecture, self.parallel
        whole = [
            ("tensor", parallel.tensor, "query heads", a.heads),
            ("tensor", parallel.tensor, "columns of the MLP", a.ffn),
            ("pipeline", parallel.pipeline, "layers", a.layers),
            ("context", parallel.context, "tokens of a sequence", self.workload.sequence),
            ("expert", parallel.expert, "data-parallel ranks", parallel.data),
        ]
        if a.experts:
            whole.append(("expert", parallel.expert, "experts", a.experts.routed))
        if parallel.exchange == "a2a":
            heads = a.kv_heads // max(1, parallel.tensor)
            whole.append(("context", parallel.context, "key-value heads of a rank", heads))
        if parallel.sequence_parallel:
            tokens = self.workload.sequence // max(1, parallel.context)
            whole.append(("tensor", parallel.tensor, "tokens of a context rank", tokens))
        for name, ranks, noun, number in whole:
            if ranks > 1 and number % ranks:
                what = f"{ranks:,} ranks cannot share {number:,} {noun} evenly"
                yield Fault(f"parallel.{name}", what, "give a divisor")
        kv_heads, tensor = a.kv_heads, parallel.tensor
        if tensor > 0 and kv_heads % tensor and tensor % kv_heads:
            what = f"{tensor:,} ranks cannot share {kv_heads:,} key-value heads evenly"
            yield Fault("parallel.tensor", what, "give a divisor or a multiple")
        if parallel.sequence_parallel and tensor == 1:
            yield Fault("parallel.sequence_parallel", "has no tensor ranks", "give tensor > 1")


def _faults_of_adapters(adapters: Adapters) -> Iterator[Fault]:
    if not 0 <= adapters.dropout < 1:
        yield Fault("adapters.dropout", f"{adapters.dropout} is not in [0, 1)")
    if not 0 <= adapters.rank <= LARGEST:
        what = f"{adapters.rank:,} is not a rank"
        yield Fault("adapters.rank", what, "give 1 or more, or 0 to train the whole model")
    if not adapters.rank and adapters != Adapters():
        yield Fault("adapters.rank", "is 0, so there are no adapters", "give a rank, such as 16")


def _faults_of_serving(settings: Settings) -> Iterator[Fault]:
    serving = settings.serving
    for name, value in (("block", serving.block), ("chunk", serving.chunk)):
        if not 0 <= value <= LARGEST:
            what = f"{value:,} is not a number of tokens"
            yield Fault(f"serving.{name}", what, "give 1 or more, or 0 for the stack's own")
    share = serving.utilization
    if not 0 <= share <= 1:
        what = f"{share} is not a share of the card"
        yield Fault("serving.utilization", what, "give 0.9, or another number from 0 to 1")
    if not settings.served and serving != Serving():
        what = f"is of inference, but workload.mode is {settings.workload.mode}"
        yield Fault("serving", what, 'give workload.mode = "inference"')
