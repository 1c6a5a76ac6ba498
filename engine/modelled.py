"""What the ledger has lines for: everything else is refused by name, never guessed."""

from collections.abc import Iterator

from engine.adapters import missing
from engine.errors import Fault, UnmodelledError
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.settings import DEFAULT_STACK, Settings
from engine.stacks.gaps import no_lines
from engine.stacks.registry import names, stack

SIXTEEN_BIT = tuple(
    name for name, row in PRECISIONS.items() if row.weights == 2 and not row.float8
)


def gaps(settings: Settings) -> Iterator[Fault]:
    """Yield every part of `settings` that the ledger has no lines for, with what it has.

    Last comes what its software stack says of itself.
    """
    if refused := tuple(_float8(settings)):
        yield from refused
        return
    if settings.served:
        yield from of_inference(settings)
        return
    yield from _optimizer(settings)
    if settings.recipe.ema != "none":
        yield from _average(settings)
    if settings.offload.optimizer != "none":
        yield from _offload(settings)
    if settings.offload.parameters != "none":
        yield from _parameters_on_host(settings)
    if settings.offload.activations != "none":
        yield from _activations_on_host(settings)
    if settings.adapters.rank:
        yield from _adapters(settings)
    yield from stack(settings.implementation).gaps(settings)


def _float8(settings: Settings) -> Iterator[Fault]:
    """Yield why products in float8 have no lines where none of a stack's layers are traced."""
    where, name = "recipe.precision", settings.recipe.precision
    if not PRECISIONS[name].float8:
        return
    missing = stack(settings.implementation).no_float8
    if settings.served:
        instead = 'mixed, with serving.weights = "fp8"'
        yield no_lines(where, f"{name} in inference", instead)
    elif missing:
        what = f"{name} with {settings.implementation} is not modelled: {missing}"
        yield Fault(where, what, "modelled: the fused stack, or mixed-fp32-grad")


def _optimizer(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines with the optimizer of the recipe."""
    row = optimizers()[settings.recipe.optimizer]
    if row.orthogonalizes:
        yield from _whole_matrices(settings)
    if row.paged and settings.offload.optimizer != "none":
        instead = "one that is not paged: its states are there for good"
        yield no_lines("recipe.optimizer", f"{row.name} on the host", instead)


def _whole_matrices(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines with an optimizer that steps whole matrices of two dimensions."""
    name, parallel = settings.recipe.optimizer, settings.parallel
    if settings.implementation != DEFAULT_STACK:
        what = f"{name} with {settings.implementation}"
        yield no_lines("recipe.optimizer", what, "the fused stack, which joins no matrices")
    if parallel.sharing > 1 and parallel.zero:
        what = f"{name} with ZeRO-{parallel.zero}"
        yield no_lines("recipe.optimizer", what, "one GPU, or DDP: a share of a matrix is not one")
    if settings.offload.optimizer != "none":
        what = f"{name} on the host"
        yield no_lines("recipe.optimizer", what, 'offload.optimizer = "none"')
    if settings.adapters.rank:
        yield no_lines("recipe.optimizer", f"{name} with adapters", "the whole model trained")
    if settings.architecture.experts is not None:
        what = f"{name} with experts, whose matrices are one tensor of three dimensions"
        yield no_lines("recipe.optimizer", what, "models with one MLP")


def _average(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where an average of the weights is kept."""
    ema = settings.recipe.ema
    if settings.implementation == "megatron":
        yield no_lines("recipe.ema", f"{ema} with megatron", "none: Megatron-LM keeps no average")
    if settings.offload.optimizer != "none":
        what = f"{ema} with the optimizer on the host"
        yield no_lines("recipe.ema", what, 'offload.optimizer = "none"')


def _activations_on_host(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where saved activations wait on the host."""
    where, parallel = settings.offload.activations, settings.parallel
    recompute, optimizer = settings.recipe.recompute, settings.offload.optimizer
    for what, modelled, instead in (
        (settings.implementation, stack(settings.implementation).saves_on_host, "the fused stack"),
        (f"recompute = {recompute}", recompute == "full", "recompute = full"),
        (f"optimizer = {optimizer}", optimizer == "none", "one of the two"),
    ):
        if not modelled:
            yield no_lines("offload.activations", f"{where} with {what}", instead)
    if parallel.sharing > 1 and parallel.zero:
        what = f"{where} with ZeRO-{parallel.zero}"
        yield no_lines("offload.activations", what, "one GPU, or DDP")


def _adapters(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where adapters alone are trained."""
    precision, zero = settings.recipe.precision, settings.parallel.zero
    if not stack(settings.implementation).trains_adapters:
        what = f"adapters with {settings.implementation}"
        yield no_lines("adapters.rank", what, "the fused stack")
    if precision not in SIXTEEN_BIT:
        what = f"{precision} with adapters"
        yield no_lines("recipe.precision", what, f"{', '.join(SIXTEEN_BIT)}: the base is frozen")
    if settings.parallel.sharing > 1 and zero:
        what = f"{zero} with adapters"
        yield no_lines("parallel.zero", what, "0: each rank has the whole frozen model")
    if settings.offload.optimizer != "none":
        what = f"{settings.offload.optimizer} with adapters"
        yield no_lines("offload.optimizer", what, "none: adapters have small states")
    if settings.architecture.experts is not None:
        yield no_lines("adapters.rank", "adapters with experts", "models with one MLP")
    elif absent := sorted(missing(settings.architecture, settings.adapters)):
        yield Fault("adapters.targets", f"the layers have no {', '.join(absent)}", "name others")


def _offload(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where the optimizer steps on the host."""
    where, parallel = settings.offload.optimizer, settings.parallel
    if not stack(settings.implementation).steps_on_host:
        what = f"{where} with {settings.implementation}"
        yield no_lines("offload.optimizer", what, "none; or another stack")
    if settings.recipe.precision != "mixed" and settings.offload.parameters == "none":
        what = f"{where} with {settings.recipe.precision}"
        yield no_lines("offload.optimizer", what, "mixed, whose fp32 master copy goes too")
    if parallel.sharing > 1 and parallel.zero < 2:
        what = f"{where} with {f'ZeRO-{parallel.zero}' if parallel.zero else 'DDP'}"
        yield no_lines("offload.optimizer", what, "ZeRO-2, ZeRO-3, or one GPU")


def _parameters_on_host(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where the shards of the weights are on the host."""
    where, parallel = settings.offload.parameters, settings.parallel
    if not stack(settings.implementation).steps_on_host:
        what = f"{where} with {settings.implementation}"
        yield no_lines("offload.parameters", what, "none; or another stack")
    elif parallel.sharing == 1:
        yield no_lines("offload.parameters", f"{where} on one GPU", "ZeRO-3 on two or more")
    elif parallel.zero != 3:
        what = f"{where} with {f'ZeRO-{parallel.zero}' if parallel.zero else 'DDP'}"
        yield no_lines("offload.parameters", what, "ZeRO-3, which gathers them layer by layer")


def of_inference(settings: Settings) -> Iterator[Fault]:
    """Yield what has no lines where the model is served."""
    name, ways = settings.implementation, [one for one in names() if stack(one).serves]
    if not stack(name).serves:
        what = f"{name} in inference"
        yield no_lines("model.implementation", what, " or ".join(ways))
    for where, value, plain in _of_training(settings):
        if value != plain:
            what = f"{str(value).lower()} in inference"
            yield no_lines(where, what, f"{str(plain).lower()}: nothing is trained")
    for where in ("context", "expert"):
        if (value := getattr(settings.parallel, where)) > 1:
            instead = "1; tensor, pipeline and data split a served model"
            yield no_lines(f"parallel.{where}", f"{value} in inference", instead)
    yield from _of_passes(settings)
    if stack(name).serves and not stack(name).pages_cache:
        yield from _of_growing_cache(settings)


def _of_passes(settings: Settings) -> Iterator[Fault]:
    """Yield what a forward pass without a backward has no lines for."""
    recipe = settings.recipe
    if recipe.attention != "flash":
        yield no_lines("recipe.attention", f"{recipe.attention} in inference", "flash")
    if PRECISIONS[recipe.precision].autocast:
        instead = "mixed, which serves in 16 bits, or fp32"
        yield no_lines("recipe.precision", f"{recipe.precision} in inference", instead)


def _of_training(settings: Settings) -> Iterator[tuple[str, object, object]]:
    """Yield each setting that only training has: where it stands, its value and the plain one."""
    parallel, offload = settings.parallel, settings.offload
    yield "workload.gradient_accumulation", settings.workload.gradient_accumulation, 1
    yield "recipe.recompute", settings.recipe.recompute, "none"
    yield "recipe.ema", settings.recipe.ema, "none"
    yield "parallel.zero", parallel.zero, 0
    yield "parallel.sequence_parallel", parallel.sequence_parallel, False
    yield "offload.optimizer", offload.optimizer, "none"
    yield "offload.activations", offload.activations, "none"
    yield "offload.parameters", offload.parameters, "none"
    yield "adapters.rank", settings.adapters.rank, 0


def _of_growing_cache(settings: Settings) -> Iterator[Fault]:
    """Yield what modules have no lines for that keep one growing tensor of keys in each layer."""
    serving, name = settings.serving, settings.implementation
    for where, value, plain in (
        ("parallel.tensor", settings.parallel.tensor, 1),
        ("parallel.pipeline", settings.parallel.pipeline, 1),
        ("serving.cache", serving.cache, "auto"),
        ("serving.block", serving.block, 0),
        ("serving.chunk", serving.chunk, 0),
        ("serving.utilization", serving.utilization, 0.0),
    ):
        if value != plain:
            yield no_lines(where, f"{value} with {name}", f"{plain}; or the fused stack")
    for fault in stack(name).gaps(settings):
        if not fault.where.startswith("parallel."):
            yield fault


def require_training(settings: Settings, what: str, instead: str) -> None:
    """Refuse inference where `what` is known of training only; `instead` says what to do.

    Raises:
        UnmodelledError: the scenario is one of inference.
    """
    if settings.served:
        fault = Fault("workload.mode", f"inference has no {what}", instead)
        raise UnmodelledError(fault)
