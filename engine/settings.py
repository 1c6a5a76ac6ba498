"""The parts of a scenario, each a frozen value."""

from dataclasses import dataclass, field, replace

from engine.accelerator import Accelerator
from engine.architecture import Architecture

DEFAULT_STACK = "fused"


@dataclass(frozen=True, kw_only=True)
class Model:
    """A named architecture.

    Args:
        name: what it is called.
        title: the name as it is printed.
        architecture: its sizes and switches.
        max_sequence: tokens of the longest sequence; 0 where nothing is known.
        model_type: what its config.json calls its class in Transformers; empty without one.
    """

    name: str
    title: str
    architecture: Architecture
    max_sequence: int = 0
    model_type: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What one optimizer step processes on one rank, or what is served at once.

    Args:
        mode: "training" or "inference".
        micro_batch: b, sequences in one forward pass; in inference n, all that are alive at once.
        sequence: s, tokens of a sequence; in inference T, those of prompt and answer together.
        gradient_accumulation: forward and backward passes before the optimizer steps.
    """

    mode: str = "training"
    micro_batch: int = 1
    sequence: int
    gradient_accumulation: int = 1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How the step is computed.

    Args:
        dropout: the probability; 0.0 means no dropout at all.
        ema: what an exponential moving average of the trained weights is kept in: "none" keeps
            none, "weights" is as wide as they are, "fp32" is that.
    """

    precision: str = "mixed"
    optimizer: str = "adamw"
    attention: str = "flash"
    recompute: str = "none"
    loss: str = "eager"
    dropout: float = 0.0
    ema: str = "none"


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """How many ranks share what.

    Args:
        data: ranks that hold the same tensors.
        shard: ranks, of those of `data`, that ZeRO-3 shards over, where not over all: each such
            group has a whole model (HSDP).
        sequence_parallel: whether tensor ranks share the tokens outside attention and MLP.
        exchange: how context ranks see each other's keys and values: "p2p", around a ring, or
            "a2a", all heads of some tokens for some heads of all tokens.
        expert: ranks, of those of `data`, that share the experts of a layer.
    """

    data: int = 1
    zero: int = 0
    shard: int = 0
    tensor: int = 1
    sequence_parallel: bool = False
    pipeline: int = 1
    context: int = 1
    exchange: str = "p2p"
    expert: int = 1

    @property
    def ranks(self) -> int:
        """All ranks: expert parallelism lies inside `data`."""
        return self.data * self.tensor * self.pipeline * self.context

    @property
    def sharing(self) -> int:
        """Ranks that would hold the same weights without ZeRO: data x context."""
        return self.data * self.context

    @property
    def shards(self) -> int:
        """Ranks that share what ZeRO shards: all of those, or a group of them."""
        return self.shard or self.sharing


@dataclass(frozen=True, kw_only=True)
class Offload:
    """What lives on the host: `none` is the GPU.

    Args:
        optimizer: where its states live.
        activations: where what the layers save waits for the backward pass.
        parameters: where the shards of ZeRO-3 live, with gradients and optimizer states.
    """

    optimizer: str = "none"
    activations: str = "none"
    parameters: str = "none"


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """Low-rank adapters (LoRA) that are trained in place of the model, which is frozen.

    Args:
        rank: r; beside an adapted matrix of (out, in) are two of (r, in) and (out, r). 0 means no
            adapters: the whole model is trained.
        targets: the adapted matrices of a layer: "all", "attention", "mlp", or some of query, key,
            value, output, gate, up and down with commas between.
        base: what the layers' matrices are kept in: "16-bit", or "4-bit" (QLoRA).
        dropout: probability on the adapters' inputs.
    """

    rank: int = 0
    targets: str = "all"
    base: str = "16-bit"
    dropout: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Serving:
    """How inference keeps its weights and its cache of keys and values.

    Args:
        weights: the format of the layers' matrices; "auto" is what the precision computes in.
        cache: the format of keys and values; "auto" is the same.
        block: tokens of a block of the cache, of which each sequence has whole ones. 0 is the
            stack's own: 16 tokens, or none where a cache is one tensor a layer.
        utilization: share of the card that is taken when the engine starts, with what weights and
            all else leave as a pool for the cache; 0 means that no pool is taken.
        chunk: most tokens of one forward pass of the prefill. 0 is the stack's own: 8,192, or all
            prompts at once.
        windows: "capped": windowed layers keep their window alone; "whole": all tokens, as
            where all layers have the same memory.
    """

    weights: str = "auto"
    cache: str = "auto"
    block: int = 0
    utilization: float = 0.0
    chunk: int = 0
    windows: str = "capped"


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """The accelerator, how many of them there are, and what joins their nodes.

    Args:
        gpu: the accelerator.
        gpus: how many.
        network_gb_s: GB/s in each direction from one GPU to other nodes; 0 means what the
            catalogue has for the GPU.
    """

    gpu: Accelerator
    gpus: int = 1
    network_gb_s: float = 0.0

    @property
    def linked(self) -> Accelerator:
        """The accelerator with the network that it has here."""
        if not self.network_gb_s:
            return self.gpu
        return replace(self.gpu, network_gb_s=self.network_gb_s)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides the memory of a step, unchecked."""

    model: Model
    implementation: str = DEFAULT_STACK
    workload: Workload
    recipe: Recipe = field(default_factory=Recipe)
    parallel: Parallel = field(default_factory=Parallel)
    offload: Offload = field(default_factory=Offload)
    adapters: Adapters = field(default_factory=Adapters)
    serving: Serving = field(default_factory=Serving)
    hardware: Hardware

    @property
    def architecture(self) -> Architecture:
        """The model's architecture."""
        return self.model.architecture

    @property
    def served(self) -> bool:
        """Whether the model is served, not trained."""
        return self.workload.mode == "inference"
