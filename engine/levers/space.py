"""Every sensible setting of a scenario: the levers that combine, each at each of its degrees.

Only what saves memory is turned, and only towards saving: micro-batches up to the scenario's,
recomputation and ZeRO from the scenario's on, splits that are multiples of the scenario's. The
GPUs and the sequences of a step stay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Generic, TypeVar

from engine.errors import InputError
from engine.levers.choosing import doublings
from engine.levers.splits import cannot_move, megatrons, on_megatron
from engine.scenario import OFFLOADS, Parallel, Recipe, Scenario, Workload

T = TypeVar("T")

ATTENTIONS = (("eager", ""), ("flash", "fused attention"))
RECOMPUTES = (("none", ""), ("selective", "selective recompute"), ("full", "full recompute"))
OPTIMIZERS = (("adamw", ""), ("adamw-fused", "fused optimizer"))
EIGHT_BITS = ("adamw-8bit", "8-bit optimizer")
LOSSES = (("eager", ""), ("fused", "fused cross entropy"), ("chunked", "chunked cross entropy"))
STAGES = ((0, ""), (1, "ZeRO-1"), (2, "ZeRO-2"), (3, "ZeRO-3"))
OFFLOADED = tuple(zip(OFFLOADS, ("", "CPU offload", "NVMe offload"), strict=True))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A scenario and how far each lever is pulled in it.

    Attributes:
        degrees: one for each axis: 0 where nothing is changed, and the more the more is.
        levers: names of those that are pulled.
    """

    scenario: Scenario
    degrees: tuple[int, ...]
    levers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Choice(Generic[T]):
    """One value of an axis, and the lever that takes it there."""

    value: T
    degree: int = 0
    lever: str = ""


@dataclass(frozen=True, kw_only=True)
class _Split:
    """What of `[parallel]` splits the model, and whether that moves it to another stack."""

    parallel: Parallel
    moves: bool
    choices: tuple[_Choice[int], ...]


def settings(scenario: Scenario, *, numerics: bool = False) -> Iterator[Setting]:
    """Yield every setting that the ledger has lines for, `scenario` itself first.

    Args:
        scenario: what is changed.
        numerics: whether levers that change numerics may be pulled too.
    """
    offloads = _along(OFFLOADED, scenario.offload.optimizer)
    for split in _splits(scenario):
        parallel = split.parallel
        zeros = _along(STAGES, parallel.zero)[: None if parallel.sharing > 1 else 1]
        recipes = list(_recipes(scenario.recipe, moves=split.moves, numerics=numerics))
        for (recipe, chosen), zero, offload in product(recipes, zeros, offloads):
            of_all: tuple[_Choice[Any], ...] = (*chosen, zero, *split.choices, offload)
            for work, smaller in _workloads(scenario, parallel.data):
                try:
                    made = replace(
                        scenario,
                        implementation="megatron" if split.moves else scenario.implementation,
                        workload=work,
                        recipe=recipe,
                        parallel=replace(parallel, zero=zero.value),
                        offload=replace(scenario.offload, optimizer=offload.value),
                    )
                except InputError:  # whatever the micro-batch is
                    break
                yield _setting(made, (smaller, *of_all))


def _setting(scenario: Scenario, choices: Sequence[_Choice[Any]]) -> Setting:
    return Setting(
        scenario=scenario,
        degrees=tuple(choice.degree for choice in choices),
        levers=tuple(choice.lever for choice in choices if choice.lever),
    )


def _along(axis: tuple[tuple[T, str], ...], now: T) -> list[_Choice[T]]:
    """Return the choices of an axis from `now` on, or `now` alone where it is not on it."""
    values = [value for value, _ in axis]
    if now not in values:
        return [_Choice(value=now)]
    further = axis[values.index(now) + 1 :]
    more = [_Choice(value=v, degree=n, lever=lever) for n, (v, lever) in enumerate(further, 1)]
    return [_Choice(value=now), *more]


def _recipes(
    recipe: Recipe, *, moves: bool, numerics: bool
) -> Iterator[tuple[Recipe, tuple[_Choice[str], ...]]]:
    """Yield recipes with the choices of attention, recomputation, optimizer and loss."""
    own = megatrons(recipe) if moves else recipe
    optimizers = [_Choice(value=own.optimizer)]
    losses = [_Choice(value=own.loss)]
    if not moves:
        axis = (*OPTIMIZERS, EIGHT_BITS) if numerics else OPTIMIZERS
        optimizers, losses = _along(axis, own.optimizer), _along(LOSSES, own.loss)
    attentions = _along(ATTENTIONS, own.attention)
    recomputes = _along(RECOMPUTES, own.recompute)
    for chosen in product(attentions, recomputes, optimizers, losses):
        attention, recompute, optimizer, loss = (choice.value for choice in chosen)
        made = replace(
            own, attention=attention, recompute=recompute, optimizer=optimizer, loss=loss
        )
        yield made, chosen


def _workloads(scenario: Scenario, data: int) -> Iterator[tuple[Workload, _Choice[int]]]:
    """Yield micro-batches that share the sequences of a step evenly, the largest first."""
    work = scenario.workload
    ranks = scenario.parallel.data // data
    sequences = work.micro_batch * work.gradient_accumulation * ranks
    sizes = [size for size in range(work.micro_batch, 0, -1) if sequences % size == 0]
    for degree, size in enumerate(sizes):
        lever = "smaller micro-batch" if degree else ""
        passes = sequences // size
        made = replace(work, micro_batch=size, gradient_accumulation=passes)
        yield made, _Choice(value=size, degree=degree, lever=lever)


def _splits(scenario: Scenario) -> Iterator[_Split]:
    """Yield splits of the model, none first: ranks go from `data` to them."""
    now = scenario.parallel
    here = scenario.implementation == "megatron"
    node = scenario.hardware.gpu.gpus_per_node // now.tensor
    tensors = [(1, now.sequence_parallel, 0)]
    if now.tensor > 1 and not now.sequence_parallel:
        tensors.append((1, True, 1))
    tensors += [(factor, True, factor) for factor in doublings(min(node, now.data))]
    others = (1, *doublings(now.data))
    for (tensor, parts, degree), pipeline, context in product(tensors, others, others):
        factor = tensor * pipeline * context
        moves = not here and bool(degree or factor > 1)
        if now.data % factor or (moves and cannot_move(scenario)):
            continue
        yield _Split(
            parallel=replace(
                on_megatron(now) if moves else now,
                data=now.data // factor,
                tensor=tensor * now.tensor,
                sequence_parallel=parts,
                pipeline=pipeline * now.pipeline,
                context=context * now.context,
            ),
            moves=moves,
            choices=(
                _split("tensor parallel", degree),
                _split("pipeline parallel", pipeline if pipeline > 1 else 0),
                _split("context parallel", context if context > 1 else 0),
            ),
        )


def _split(lever: str, degree: int) -> _Choice[int]:
    return _Choice(value=degree, degree=degree, lever=lever if degree else "")
