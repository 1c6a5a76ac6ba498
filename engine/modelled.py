"""What the ledger has lines for: everything else is refused by name, never guessed."""

from collections.abc import Iterator, Mapping

from engine.adapters import missing
from engine.architecture import Architecture
from engine.errors import Fault
from engine.families.registry import family_of, modelled_types
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.settings import Settings

# Catalogued models of Llama's shape, whose classes in Transformers run other operators.
OTHER_CLASSES = ("gemma", "phi-3")
SIXTEEN_BIT = tuple(name for name, row in PRECISIONS.items() if row.weights == 2)
SPLITS = ("tensor", "pipeline", "context", "expert")


def gaps(settings: Settings) -> Iterator[Fault]:
    """Yield every part of `settings` that the ledger has no lines for, with what it has."""
    if settings.workload.mode != "training":
        yield _no_lines("workload.mode", settings.workload.mode, "training")
    if settings.recipe.optimizer not in optimizers():
        yield _no_lines("recipe.optimizer", settings.recipe.optimizer, ", ".join(optimizers()))
    if settings.offload.optimizer != "none":
        yield from _offload(settings)
    if settings.offload.parameters != "none":
        yield from _parameters_on_host(settings)
    if settings.offload.activations != "none":
        yield from _activations_on_host(settings)
    if settings.adapters.rank:
        yield from _adapters(settings)
    if settings.implementation == "megatron":
        yield from _megatron(settings)
    else:
        yield from _torch(settings)


def _torch(settings: Settings) -> Iterator[Fault]:
    """Yield what torch-native modules and those of Transformers have no lines for."""
    if settings.implementation == "hf":
        yield from _transformers(settings)
    yield from _loss(settings)
    yield from _splits(settings)
    yield from _fsdp(settings)
    yield from _experts(settings)
    yield from _uneven(settings.architecture)
    yield from _blocks(settings.architecture)


def _transformers(settings: Settings) -> Iterator[Fault]:
    if settings.recipe.recompute == "selective":
        yield _no_lines("recipe.recompute", "selective with hf", "none, full")
    model, ways = settings.model, f"modelled: {', '.join(modelled_types())}; or the fused stack"
    if model.model_type and model.model_type not in modelled_types():
        what = f"the class of {model.model_type} in Transformers is not modelled"
        yield Fault("model.config", what, ways)
        return
    other = not model.model_type and model.name.startswith(OTHER_CLASSES)
    if other or family_of(settings.architecture) is None:
        what = "no class of Transformers that is modelled has these blocks"
        yield Fault("model", what, ways)


def _activations_on_host(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where saved activations wait on the host."""
    where, parallel = settings.offload.activations, settings.parallel
    for what, modelled, instead in (
        (settings.implementation, "fused", "the fused stack"),
        (f"recompute = {settings.recipe.recompute}", "recompute = full", "recompute = full"),
        (f"optimizer = {settings.offload.optimizer}", "optimizer = none", "one of the two"),
    ):
        if what != modelled:
            yield _no_lines("offload.activations", f"{where} with {what}", instead)
    if parallel.sharing > 1 and parallel.zero:
        what = f"{where} with ZeRO-{parallel.zero}"
        yield _no_lines("offload.activations", what, "one GPU, or DDP")


def _adapters(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where adapters alone are trained."""
    precision, zero = settings.recipe.precision, settings.parallel.zero
    if settings.implementation != "fused":
        what = f"adapters with {settings.implementation}"
        yield _no_lines("adapters.rank", what, "the fused stack")
    if precision not in SIXTEEN_BIT:
        what = f"{precision} with adapters"
        yield _no_lines("recipe.precision", what, f"{', '.join(SIXTEEN_BIT)}: the base is frozen")
    if settings.parallel.sharing > 1 and zero:
        what = f"{zero} with adapters"
        yield _no_lines("parallel.zero", what, "0: each rank has the whole frozen model")
    if settings.offload.optimizer != "none":
        what = f"{settings.offload.optimizer} with adapters"
        yield _no_lines("offload.optimizer", what, "none: adapters have small states")
    if settings.architecture.experts is not None:
        yield _no_lines("adapters.rank", "adapters with experts", "models with one MLP")
    elif absent := sorted(missing(settings.architecture, settings.adapters)):
        yield Fault("adapters.targets", f"the layers have no {', '.join(absent)}", "name others")


def _offload(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where the optimizer steps on the host."""
    where, parallel = settings.offload.optimizer, settings.parallel
    if settings.implementation == "megatron":
        yield _no_lines("offload.optimizer", f"{where} with megatron", "none; or another stack")
    if settings.recipe.precision != "mixed" and settings.offload.parameters == "none":
        what = f"{where} with {settings.recipe.precision}"
        yield _no_lines("offload.optimizer", what, "mixed, whose fp32 master copy goes too")
    if parallel.sharing > 1 and parallel.zero < 2:
        what = f"{where} with {f'ZeRO-{parallel.zero}' if parallel.zero else 'DDP'}"
        yield _no_lines("offload.optimizer", what, "ZeRO-2, ZeRO-3, or one GPU")


def _parameters_on_host(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where the shards of the weights are on the host."""
    where, parallel = settings.offload.parameters, settings.parallel
    if settings.implementation == "megatron":
        yield _no_lines("offload.parameters", f"{where} with megatron", "none; or another stack")
    elif parallel.sharing == 1:
        yield _no_lines("offload.parameters", f"{where} on one GPU", "ZeRO-3 on two or more")
    elif parallel.zero != 3:
        what = f"{where} with {f'ZeRO-{parallel.zero}' if parallel.zero else 'DDP'}"
        yield _no_lines("offload.parameters", what, "ZeRO-3, which gathers them layer by layer")


def _loss(settings: Settings) -> Iterator[Fault]:
    loss = settings.recipe.loss
    if settings.implementation == "hf" and loss != "eager":
        yield _no_lines("recipe.loss", f"{loss} with hf", "eager; or the fused stack")
    elif loss == "chunked" and PRECISIONS[settings.recipe.precision].autocast:
        what = f"chunked with {settings.recipe.precision}"
        yield _no_lines("recipe.loss", what, "eager, fused")


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
    row = PRECISIONS[settings.recipe.precision]
    for present, instead in (
        (row.autocast, "mixed, whose FSDP2 shards are fp32"),
        (row.gradients > row.weights, "mixed, which FSDP2 reduces in fp32 already"),
    ):
        if present:
            yield _no_lines("recipe.precision", f"{row.name} with ZeRO-3", instead)


def _experts(settings: Settings) -> Iterator[Fault]:
    if settings.architecture.experts is None:
        return
    if PRECISIONS[settings.recipe.precision].weights == 4:
        what = f"{settings.recipe.precision} with experts"
        yield _no_lines("recipe.precision", what, "mixed: grouped products are 16-bit ones")
    if not settings.architecture.gated:
        yield _no_lines("model.gated", "false with experts", "true")


def _uneven(architecture: Architecture) -> Iterator[Fault]:
    for name, present in (
        ("shared experts or dense layers beside experts", _is_uneven(architecture)),
        ("latent attention", architecture.latent is not None),
    ):
        if present:
            what = f"activations of {name} are not modelled"
            yield Fault("model", what, "parameters are exact; or the megatron stack")


def _blocks(architecture: Architecture) -> Iterator[Fault]:
    for name, present in (
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


MEGATRON: Mapping[str, tuple[str, ...]] = {
    "precision": ("mixed-fp32-grad",),
    "optimizer": ("adamw-fused",),
    "loss": ("fused",),
}


def _megatron(settings: Settings) -> Iterator[Fault]:
    """Yield what Megatron-LM with Transformer Engine has no lines for."""
    for name, modelled in MEGATRON.items():
        value = getattr(settings.recipe, name)
        if value not in modelled:
            yield _no_lines(f"recipe.{name}", f"{value} with megatron", ", ".join(modelled))
    if settings.parallel.expert > 1 and settings.architecture.experts is None:
        yield Fault("parallel.expert", "the model has no experts", "give expert = 1")
    if settings.parallel.zero > 1:
        what = f"{settings.parallel.zero} with megatron"
        yield _no_lines("parallel.zero", what, "0, 1: its distributed optimizer")
    a = settings.architecture
    for what, present in (
        ("layers whose attention and MLP run side by side", a.parallel_residual),
        ("query and key norms", a.qk_norm != "none"),
        ("rotary positions of a part of each head", a.rotary_dim < a.head_dim),
        ("biases", a.head_bias),
    ):
        if present:
            yield Fault("model", f"{what} are not modelled with megatron", "give another stack")
    yield from _blocks(a)
    if a.experts or a.latent:
        yield from _experts_or_latent(settings)
    yield from _experts(settings)


def _experts_or_latent(settings: Settings) -> Iterator[Fault]:
    """Yield what Megatron-LM has no lines for where there are experts or latent attention."""
    a, parallel = settings.architecture, settings.parallel
    if parallel.tensor > 1:
        what = f"{parallel.tensor} with experts or latent attention"
        yield _no_lines("parallel.tensor", what, "1: expert and pipeline ranks instead")
    if a.latent and parallel.context > 1:
        what = f"{parallel.context} with latent attention"
        yield _no_lines("parallel.context", what, "1")
    on_first = a.experts.dense_layers if a.experts else 0
    for what, present in (
        ("biases beside experts or latent attention", _has_biases(a)),
        ("experts with another activation than SiLU", a.experts and a.activation != "silu"),
        ("layers without experts beyond the first stage", on_first * parallel.pipeline > a.layers),
    ):
        if present:
            yield Fault("model", f"{what} are not modelled with megatron", "take others")


def _has_biases(a: Architecture) -> bool:
    router = a.experts is not None and a.experts.router_bias
    return router or a.qkv_bias or a.output_bias or a.mlp_bias


def _no_lines(where: str, value: str, modelled: str) -> Fault:
    return Fault(where, f"{value} is not modelled", f"modelled: {modelled}")
