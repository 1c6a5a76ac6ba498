"""What the ledger has lines for: everything else is refused by name, never guessed."""

from collections.abc import Iterator

from engine.architecture import Architecture
from engine.errors import Fault
from engine.families import FAMILIES, family_of
from engine.recipe import OPTIMIZERS
from engine.settings import Settings

# Blocks of Llama's shape, whose classes in Transformers run other operators.
OTHER_CLASSES = ("gemma", "phi-3")
SPLITS = ("tensor", "pipeline", "context", "expert")


def gaps(settings: Settings) -> Iterator[Fault]:
    """Yield every part of `settings` that the ledger has no lines for, with what it has."""
    if settings.workload.mode != "training":
        yield _no_lines("workload.mode", settings.workload.mode, "training")
    if settings.recipe.optimizer not in OPTIMIZERS:
        yield _no_lines("recipe.optimizer", settings.recipe.optimizer, ", ".join(OPTIMIZERS))
    if settings.offload.optimizer != "none":
        yield _no_lines("offload.optimizer", settings.offload.optimizer, "none")
    if settings.implementation == "megatron":
        yield from _megatron(settings)
    else:
        yield from _torch(settings)


def _torch(settings: Settings) -> Iterator[Fault]:
    """Yield what torch-native modules and those of Transformers have no lines for."""
    if settings.implementation == "hf":
        yield from _transformers(settings)
    if settings.recipe.loss != "eager":
        yield _no_lines("recipe.loss", settings.recipe.loss, "eager")
    yield from _splits(settings)
    yield from _fsdp(settings)
    yield from _experts(settings)
    yield from _blocks(settings.architecture)


def _transformers(settings: Settings) -> Iterator[Fault]:
    if settings.recipe.recompute == "selective":
        yield _no_lines("recipe.recompute", "selective with hf", "none, full")
    other = settings.model.name.startswith(OTHER_CLASSES)
    if other or family_of(settings.architecture) is None:
        what = "no class of Transformers that is modelled has these blocks"
        yield Fault("model", what, f"modelled: {', '.join(FAMILIES)}; or the fused stack")


def _splits(settings: Settings) -> Iterator[Fault]:
    parallel, stack = settings.parallel, settings.implementation
    for name in SPLITS:
        if getattr(parallel, name) > 1:
            what = f"{getattr(parallel, name)} with {stack}"
            yield _no_lines(f"parallel.{name}", what, "1, or the megatron stack")
    if parallel.sequence_parallel:
        what = f"true with {stack}"
        yield _no_lines("parallel.sequence_parallel", what, "false, or the megatron stack")


def _fsdp(settings: Settings) -> Iterator[Fault]:
    if settings.parallel.zero != 3:
        return
    for precision, instead in (
        ("autocast", "mixed, whose FSDP2 shards are fp32"),
        ("mixed-fp32-grad", "mixed, which FSDP2 reduces in fp32 already"),
    ):
        if settings.recipe.precision == precision:
            yield _no_lines("recipe.precision", f"{precision} with ZeRO-3", instead)


def _experts(settings: Settings) -> Iterator[Fault]:
    if settings.architecture.experts is None:
        return
    if settings.recipe.precision in {"autocast", "fp32"}:
        what = f"{settings.recipe.precision} with experts"
        yield _no_lines("recipe.precision", what, "mixed: grouped products are 16-bit ones")
    if not settings.architecture.gated:
        yield _no_lines("model.gated", "false with experts", "true")


def _blocks(architecture: Architecture) -> Iterator[Fault]:
    for name, present in (
        ("shared experts or dense layers beside experts", _is_uneven(architecture)),
        ("latent attention", architecture.latent is not None),
        ("soft-capped attention and logits", architecture.soft_cap),
        ("norms behind attention and MLP", architecture.norm_outputs),
        ("query and key norms over all heads", architecture.qk_norm == "full"),
    ):
        if present:
            yield Fault("model", f"activations of {name} are not modelled", "parameters are exact")


def _is_uneven(architecture: Architecture) -> bool:
    experts = architecture.experts
    return experts is not None and bool(
        experts.shared_ffn or experts.dense_layers or experts.router_bias
    )


def _megatron(settings: Settings) -> Iterator[Fault]:
    """Yield what Megatron-LM with Transformer Engine has no lines for."""
    yield _no_lines("model.implementation", settings.implementation, "fused, hf")


def _no_lines(where: str, value: str, modelled: str) -> Fault:
    return Fault(where, f"{value} is not modelled", f"modelled: {modelled}")
