"""A scenario: one training step on given GPUs, as frozen values that are checked at birth."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.errors import Fault, InputError, UnmodelledError, unknown
from engine.families import FAMILIES, family_of
from engine.recipe import OPTIMIZERS, PRECISIONS

IMPLEMENTATIONS = ("fused", "hf", "megatron")
MODES = ("training", "inference")
ATTENTIONS = ("flash", "eager")
RECOMPUTES = ("none", "selective", "full")
LOSSES = ("eager", "fused", "chunked")
OFFLOADS = ("none", "cpu", "nvme")
LATER_OPTIMIZERS = ("adamw-8bit", "adafactor", "muon", "lion")
LARGEST = 10**9
# Blocks of Llama's shape, whose classes in Transformers run other operators.
OTHER_CLASSES = ("gemma", "phi-3")


@dataclass(frozen=True, kw_only=True)
class Model:
    """A named architecture. `max_sequence` is 0 where nothing is known."""

    name: str
    title: str
    architecture: Architecture
    max_sequence: int = 0


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What one optimizer step processes on one rank.

    Args:
        micro_batch: b, sequences in one forward pass.
        sequence: s, tokens of a sequence.
        gradient_accumulation: forward and backward passes before the optimizer steps.
    """

    mode: str = "training"
    micro_batch: int = 1
    sequence: int
    gradient_accumulation: int = 1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How the step is computed. `dropout` is the probability; 0.0 means no dropout at all."""

    precision: str = "mixed"
    optimizer: str = "adamw"
    attention: str = "flash"
    recompute: str = "none"
    loss: str = "eager"
    dropout: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """How many ranks share what. `data` counts the ranks that hold the same tensors."""

    data: int = 1
    zero: int = 0
    tensor: int = 1
    sequence_parallel: bool = False
    pipeline: int = 1
    context: int = 1
    expert: int = 1


@dataclass(frozen=True, kw_only=True)
class Offload:
    """Where the optimizer states live: `none` is the GPU."""

    optimizer: str = "none"


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """The accelerator and how many of them there are."""

    gpu: Accelerator
    gpus: int = 1


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Everything that decides the memory of a step.

    Raises:
        InputError: listing every value that is out of range and every pair that disagrees.
        UnmodelledError: the scenario is sound, but the ledger has no lines for a part of it.
    """

    model: Model
    implementation: str = "fused"
    workload: Workload
    recipe: Recipe = field(default_factory=Recipe)
    parallel: Parallel = field(default_factory=Parallel)
    offload: Offload = field(default_factory=Offload)
    hardware: Hardware

    def __post_init__(self) -> None:
        faults = [*self._choice_faults(), *self._number_faults(), *self._disagreements()]
        if faults:
            raise InputError(*faults)
        gaps = list(self._unmodelled())
        if gaps:
            raise UnmodelledError(*gaps)

    @property
    def architecture(self) -> Architecture:
        """The model's architecture."""
        return self.model.architecture

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
        ranks = parallel.data * parallel.tensor * parallel.pipeline * parallel.context
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

    def _unmodelled(self) -> Iterator[Fault]:
        yield from self._unmodelled_recipe()
        yield from self._unmodelled_parallel()
        yield from self._unmodelled_experts()
        yield from self._unmodelled_blocks()

    def _unmodelled_recipe(self) -> Iterator[Fault]:
        recipe = self.recipe
        if self.workload.mode != "training":
            yield _no_lines("workload.mode", self.workload.mode, "training")
        if self.implementation == "hf":
            yield from self._unmodelled_transformers()
        elif self.implementation != "fused":
            yield _no_lines("model.implementation", self.implementation, "fused, hf")
        if recipe.optimizer not in OPTIMIZERS:
            yield _no_lines("recipe.optimizer", recipe.optimizer, ", ".join(OPTIMIZERS))
        if recipe.loss != "eager":
            yield _no_lines("recipe.loss", recipe.loss, "eager")
        if self.offload.optimizer != "none":
            yield _no_lines("offload.optimizer", self.offload.optimizer, "none")

    def _unmodelled_transformers(self) -> Iterator[Fault]:
        if self.recipe.recompute == "selective":
            yield _no_lines("recipe.recompute", "selective with hf", "none, full")
        if self.model.name.startswith(OTHER_CLASSES) or family_of(self.architecture) is None:
            what = "no class of Transformers that is modelled has these blocks"
            yield Fault("model", what, f"modelled: {', '.join(FAMILIES)}; or the fused stack")

    def _unmodelled_parallel(self) -> Iterator[Fault]:
        parallel = self.parallel
        for name in ("tensor", "pipeline", "context", "expert"):
            if getattr(parallel, name) > 1:
                yield _no_lines(f"parallel.{name}", str(getattr(parallel, name)), "1")
        if parallel.sequence_parallel:
            yield _no_lines("parallel.sequence_parallel", "true", "false")
        if parallel.zero == 3 and self.recipe.precision == "autocast":
            yield _no_lines(
                "recipe.precision", "autocast with ZeRO-3", "mixed, whose FSDP2 shards are fp32"
            )
        if parallel.zero == 3 and self.recipe.precision == "mixed-fp32-grad":
            yield _no_lines(
                "recipe.precision",
                "mixed-fp32-grad with ZeRO-3",
                "mixed, which FSDP2 reduces in fp32 already",
            )

    def _unmodelled_experts(self) -> Iterator[Fault]:
        if self.architecture.experts is None:
            return
        if self.recipe.precision in {"autocast", "fp32"}:
            what = f"{self.recipe.precision} with experts"
            yield _no_lines("recipe.precision", what, "mixed: grouped products are 16-bit ones")
        if not self.architecture.gated:
            yield _no_lines("model.gated", "false with experts", "true")

    def _unmodelled_blocks(self) -> Iterator[Fault]:
        architecture = self.architecture
        for name, present in (
            ("shared experts or dense layers beside experts", _is_uneven(architecture)),
            ("latent attention", architecture.latent is not None),
            ("soft-capped attention and logits", architecture.soft_cap),
            ("norms behind attention and MLP", architecture.norm_outputs),
            ("query and key norms over all heads", architecture.qk_norm == "full"),
        ):
            if present:
                yield Fault(
                    "model", f"activations of {name} are not modelled", "parameters are exact"
                )


def _is_uneven(architecture: Architecture) -> bool:
    experts = architecture.experts
    return experts is not None and bool(
        experts.shared_ffn or experts.dense_layers or experts.router_bias
    )


def _no_lines(where: str, value: str, modelled: str) -> Fault:
    return Fault(where, f"{value} is not modelled", f"modelled: {modelled}")
