"""The parts of a scenario, each a frozen value."""

from dataclasses import dataclass, field

from engine.accelerator import Accelerator
from engine.architecture import Architecture


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

    @property
    def ranks(self) -> int:
        """All ranks: expert parallelism lies inside `data`."""
        return self.data * self.tensor * self.pipeline * self.context

    @property
    def sharing(self) -> int:
        """Ranks that hold the same weights, and share what ZeRO shards: data x context."""
        return self.data * self.context


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
class Settings:
    """Everything that decides the memory of a step, unchecked."""

    model: Model
    implementation: str = "fused"
    workload: Workload
    recipe: Recipe = field(default_factory=Recipe)
    parallel: Parallel = field(default_factory=Parallel)
    offload: Offload = field(default_factory=Offload)
    hardware: Hardware

    @property
    def architecture(self) -> Architecture:
        """The model's architecture."""
        return self.model.architecture
