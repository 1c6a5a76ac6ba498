"""A scenario: one training step on given GPUs, as frozen values that are checked at birth."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.errors import Fault, InputError, UnmodelledError, unknown
from engine.modelled import gaps
from engine.recipe import OPTIMIZERS, PRECISIONS
from engine.settings import Hardware, Model, Offload, Parallel, Recipe, Settings, Workload

__all__ = ["Hardware", "Model", "Offload", "Parallel", "Recipe", "Scenario", "Workload"]

IMPLEMENTATIONS = ("fused", "hf", "megatron")
MODES = ("training", "inference")
ATTENTIONS = ("flash", "eager")
RECOMPUTES = ("none", "selective", "full")
LOSSES = ("eager", "fused", "chunked")
OFFLOADS = ("none", "cpu", "nvme")
LATER_OPTIMIZERS = ("adamw-8bit", "adafactor", "muon", "lion")
LARGEST = 10**9


@dataclass(frozen=True, kw_only=True)
class Scenario(Settings):
    """Everything that decides the memory of a step, checked.

    Raises:
        InputError: listing every value that is out of range and every pair that disagrees.
        UnmodelledError: the scenario is sound, but the ledger has no lines for a part of it.
    """

    def __post_init__(self) -> None:
        faults = [*self._choice_faults(), *self._number_faults(), *self._disagreements()]
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
            ("model.implementation", self.implementation, IMPLEMENTATIONS),
            ("workload.mode", self.workload.mode, MODES),
            ("recipe.precision", recipe.precision, tuple(PRECISIONS)),
            ("recipe.optimizer", recipe.optimizer, (*OPTIMIZERS, *LATER_OPTIMIZERS)),
            ("recipe.attention", recipe.attention, ATTENTIONS),
            ("recipe.recompute", recipe.recompute, RECOMPUTES),
            ("recipe.loss", recipe.loss, LOSSES),
            ("offload.optimizer", self.offload.optimizer, OFFLOADS),
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
        if not 0 <= parallel.zero <= 3:
            yield Fault(
                "parallel.zero", f"{parallel.zero} is not a ZeRO stage", "give 0, 1, 2 or 3"
            )
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
        if parallel.expert > 1 and parallel.data % parallel.expert:
            yield Fault("parallel.expert", f"{parallel.expert} does not divide data")
