"""What several stacks have no lines for, and the words in which a stack refuses."""

from collections.abc import Iterator, Mapping

from engine.architecture import Tensor
from engine.errors import Fault
from engine.precisions import PRECISIONS
from engine.settings import Settings

WHOLE_ROWS = 16
SPLITS = ("tensor", "pipeline", "context", "expert")


def no_lines(where: str, value: str, modelled: str) -> Fault:
    """Return the refusal of a value that the ledger has no lines for, with what it has."""
    return Fault(where, f"{value} is not modelled", f"modelled: {modelled}")


def of_recipe(settings: Settings, modelled: Mapping[str, tuple[object, ...]]) -> Iterator[Fault]:
    """Yield every key of `[recipe]` with another value than those `modelled`."""
    for name, values in modelled.items():
        value = getattr(settings.recipe, name)
        if value not in values:
            what = f"{value} with {settings.implementation}"
            yield no_lines(f"recipe.{name}", what, ", ".join(map(str, values)))


def of_model(settings: Settings, present: Mapping[str, bool], instead: str) -> Iterator[Fault]:
    """Yield every part of a model that is `present` and not modelled; `instead` says what is."""
    for what, there in present.items():
        if there:
            what_else = f"{what} are not modelled with {settings.implementation}"
            yield Fault("model", what_else, instead)


def of_modules(settings: Settings) -> Iterator[Fault]:
    """Yield what modules of PyTorch, on one rank or under ZeRO, have no lines for."""
    yield from _splits(settings)
    yield from _fsdp(settings)
    yield from of_experts(settings)
    yield from _latent(settings)
    yield from _uneven(settings)


def of_float8(settings: Settings) -> Iterator[Fault]:
    """Yield what linear layers whose products are in float8 have no lines for.

    Every size of a product is one of its inner ones too, forward or backward, and of those the
    kernel wants multiples of 16 (pytorch/pytorch aten/src/ATen/native/cuda/ScaledBlas.cpp).
    """
    name = settings.recipe.precision
    if not PRECISIONS[name].float8:
        return
    if not settings.hardware.gpu.float8:
        what = f"{settings.hardware.gpu.title} has no products in float8"
        yield Fault("hardware.gpu", what, f"{name} wants Ada, Hopper, MI300 or a later one")
    if settings.architecture.experts is not None:
        yield no_lines("recipe.precision", f"{name} with experts", "models with one MLP")
        return
    widths = {t.rows for t in _of_layers(settings)} | {t.columns for t in _of_layers(settings)}
    tokens = settings.workload.micro_batch * settings.workload.sequence
    for where, sizes in (("model", sorted(widths)), ("workload", [tokens])):
        if odd := ", ".join(f"{size:,}" for size in sizes if size % WHOLE_ROWS):
            what = f"products in float8 want multiples of {WHOLE_ROWS}, and not {odd}"
            yield Fault(where, what, f"give other sizes, or another precision than {name}")


def _of_layers(settings: Settings) -> Iterator[Tensor]:
    for tensor in settings.architecture.tensors:
        if tensor.matmul and tensor.columns > 1 and "layer" in tensor.place:
            yield tensor


def of_experts(settings: Settings) -> Iterator[Fault]:
    """Yield what no stack has lines for where there are experts."""
    if settings.architecture.experts is None:
        return
    if PRECISIONS[settings.recipe.precision].weights == 4:
        what = f"{settings.recipe.precision} with experts"
        yield no_lines("recipe.precision", what, "mixed: grouped products are 16-bit ones")
    if not settings.architecture.gated:
        yield no_lines("model.gated", "false with experts", "true")


def _splits(settings: Settings) -> Iterator[Fault]:
    parallel, stack = settings.parallel, settings.implementation
    for name in SPLITS:
        if getattr(parallel, name) > 1:
            what = f"{getattr(parallel, name)} with {stack}"
            yield no_lines(f"parallel.{name}", what, "1, or the megatron stack")
    if parallel.sequence_parallel:
        what = f"true with {stack}"
        yield no_lines("parallel.sequence_parallel", what, "false, or the megatron stack")


def _fsdp(settings: Settings) -> Iterator[Fault]:
    if settings.parallel.zero != 3:
        return
    row = PRECISIONS[settings.recipe.precision]
    for present, instead in (
        (row.autocast, "mixed, whose FSDP2 shards are fp32"),
        (row.gradients > row.weights, "mixed, which FSDP2 reduces in fp32 already"),
    ):
        if present:
            yield no_lines("recipe.precision", f"{row.name} with ZeRO-3", instead)


def _latent(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines beside latent attention."""
    a, adapters = settings.architecture, settings.adapters
    if a.latent is None:
        return
    if adapters.rank and a.experts is None:
        yield no_lines(
            "adapters.rank", "adapters with latent attention", "models with whole heads"
        )
    if a.qk_norm != "none":
        what = "activations of query and key norms with latent attention are not modelled"
        yield Fault("model", what, "parameters are exact")


def _uneven(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where layers without experts stand beside those with experts."""
    experts, parallel = settings.architecture.experts, settings.parallel
    if experts is None:
        return
    if experts.router_bias:
        what = "activations of biases of routers are not modelled"
        yield Fault("model", what, "parameters are exact")
    if not 0 < experts.dense_layers < settings.architecture.layers:
        return
    if parallel.zero == 2 and parallel.sharing > 1:
        what = "2 with dense layers beside experts"
        yield no_lines("parallel.zero", what, "1, 3: a bucket is emptied in layers that are alike")
    if settings.offload.optimizer != "none" and parallel.zero != 3:
        what = f"{settings.offload.optimizer} with dense layers beside experts"
        yield no_lines("offload.optimizer", what, "none, or ZeRO-3 on two GPUs or more")
