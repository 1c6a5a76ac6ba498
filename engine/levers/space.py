"""Every sensible setting of a scenario: the levers that combine, each at each of its degrees.

A lever is pulled, or taken back where the scenario has pulled it already: a run that has room to
spare goes faster with a larger micro-batch, with less recomputed, with less shared or offloaded.
Attention, the optimizer's kernels and the loss only go towards saving, which is faster too. The
GPUs and the sequences of a step stay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Generic, TypeVar

from engine.errors import InputError
from engine.levers.choosing import doublings
from engine.levers.splits import MEGATRON, cannot_move, megatrons, on_megatron
from engine.scenario import Offload, Parallel, Recipe, Scenario, Workload

T = TypeVar("T")

ATTENTIONS = (("eager", ""), ("flash", "fused attention"))
RECOMPUTES = (("none", ""), ("selective", "selective recompute"), ("full", "full recompute"))
OPTIMIZERS = (("adamw", ""), ("adamw-fused", "fused optimizer"))
EIGHT_BITS = ("adamw-8bit", "8-bit optimizer")
LOSSES = (("eager", ""), ("fused", "fused cross entropy"), ("chunked", "chunked cross entropy"))
STAGES = ((0, ""), (1, "ZeRO-1"), (2, "ZeRO-2"), (3, "ZeRO-3"))
# Where optimizer states are, and parameters.
OFFLOADED = (
    (("none", "none"), ""),
    (("cpu", "none"), "CPU offload"),
    (("nvme", "none"), "NVMe offload"),
    (("cpu", "cpu"), "parameter offload"),
    (("nvme", "nvme"), "NVMe parameter offload"),
)
WAITING = (("none", ""), ("cpu", "activation offload"))

# What taking a lever back is called, and the lever that it is.
BACK = {
    "larger micro-batch": "smaller micro-batch",
    "less recompute": "full recompute",
    "a lower ZeRO stage": "ZeRO-3",
    "less offload": "CPU offload",
    "activations on the GPU": "activation offload",
    "less tensor parallel": "tensor parallel",
    "less pipeline parallel": "pipeline parallel",
    "less context parallel": "context parallel",
    "less expert parallel": "expert parallel",
}
# Of a larger micro-batch: what each micro-batch costs is spread over eight times as much by then.
LARGER = 8


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A scenario and how far each lever is pulled in it.

    Attributes:
        degrees: one for each axis: 0 where nothing is changed, the more the more a lever is
            pulled, and below 0 the more of it is taken back.
        levers: names of those that are pulled, and of what is taken back.
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
    choices: tuple[_Choice[Any], ...]


def settings(scenario: Scenario, *, numerics: bool = False) -> Iterator[Setting]:
    """Yield every setting that the ledger has lines for, `scenario` itself among them.

    Args:
        scenario: what is changed.
        numerics: whether levers that change numerics may be pulled too.
    """
    for split in _splits(scenario):
        recipes = list(_recipes(scenario.recipe, moves=split.moves, numerics=numerics))
        workloads = list(_workloads(scenario, split.parallel.data))
        for (recipe, chosen), held in product(recipes, list(_held(scenario, split.parallel))):
            of_all: tuple[_Choice[Any], ...] = (*chosen, *held, *split.choices)
            (zero, shard), (states, weights), waiting = (choice.value for choice in held)
            offload = Offload(optimizer=states, parameters=weights, activations=waiting)
            for work, micro_batch in workloads:
                try:
                    made = replace(
                        scenario,
                        implementation=MEGATRON if split.moves else scenario.implementation,
                        workload=work,
                        recipe=recipe,
                        parallel=replace(split.parallel, zero=zero, shard=shard),
                        offload=offload,
                    )
                except InputError:  # whatever the micro-batch is
                    break
                yield _setting(made, (micro_batch, *of_all))


def _setting(scenario: Scenario, choices: Sequence[_Choice[Any]]) -> Setting:
    return Setting(
        scenario=scenario,
        degrees=tuple(choice.degree for choice in choices),
        levers=tuple(choice.lever for choice in choices if choice.lever),
    )


def _along(axis: tuple[tuple[T, str], ...], now: T, back: str = "") -> list[_Choice[T]]:
    """Return the choices of an axis, or `now` alone where it is not on it.

    Args:
        axis: values in the order of what they save, each with the lever that takes it there.
        now: the value that the scenario has.
        back: what going back is called; "" where that is not wanted.
    """
    values = [value for value, _ in axis]
    if now not in values:
        return [_Choice(value=now)]
    here = values.index(now)
    found = [
        _Choice(value=value, degree=at - here, lever=lever if at > here else back)
        for at, (value, lever) in enumerate(axis)
        if at > here or (at < here and back)
    ]
    return [_Choice(value=now), *found]


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
    recomputes = _along(RECOMPUTES, own.recompute, "less recompute")
    for chosen in product(attentions, recomputes, optimizers, losses):
        attention, recompute, optimizer, loss = (choice.value for choice in chosen)
        made = replace(
            own, attention=attention, recompute=recompute, optimizer=optimizer, loss=loss
        )
        yield made, chosen


def _held(scenario: Scenario, parallel: Parallel) -> Iterator[tuple[_Choice[Any], ...]]:
    """Yield what is shared and what is on the host: ZeRO, states and weights, activations."""
    zeros = list(_shared(parallel))
    now = scenario.offload
    states = _along(OFFLOADED, (now.optimizer, now.parameters), "less offload")
    waiting = _along(WAITING, now.activations, "activations on the GPU")
    for zero, on_host, waits in product(zeros, states, waiting):
        if zero.value[0] == 3 or on_host.value[1] == "none":  # only its shards leave the GPU
            yield zero, on_host, waits


def _shared(parallel: Parallel) -> Iterator[_Choice[tuple[int, int]]]:
    """Yield ZeRO stages, each with the ranks of a group that shards: those of now, or all (0)."""
    zeros = _along(STAGES, parallel.zero, "a lower ZeRO stage")
    for zero in zeros if parallel.sharing > 1 else zeros[:1]:
        shard = parallel.shard if zero.value == 3 else 0
        yield _Choice(value=(zero.value, shard), degree=zero.degree, lever=zero.lever)
    if parallel.zero == 3 and parallel.shard:
        yield _Choice(value=(3, 0), degree=1, lever="wider shards")


def _workloads(scenario: Scenario, data: int) -> Iterator[tuple[Workload, _Choice[int]]]:
    """Yield micro-batches that share the sequences of a step evenly, the largest first."""
    work = scenario.workload
    now, ranks = work.micro_batch, scenario.parallel.data
    sequences, uneven = divmod(now * work.gradient_accumulation * ranks, data)
    if uneven:
        return
    sizes = [size for size in range(LARGER * now, 0, -1) if sequences % size == 0]
    here = sizes.index(now) if now in sizes else sum(size > now for size in sizes)
    for at, size in enumerate(sizes):
        lever = "" if size == now else f"{'smaller' if size < now else 'larger'} micro-batch"
        degree = at - here + (now not in sizes and size < now)
        made = replace(work, micro_batch=size, gradient_accumulation=sequences // size)
        yield made, _Choice(value=size, degree=degree, lever=lever)


def _splits(scenario: Scenario) -> Iterator[_Split]:
    """Yield splits of the model, the scenario's own first: ranks go from `data` to them, or back.

    Experts are spread over the ranks of `data`.
    """
    now = scenario.parallel
    ranks = now.data * now.tensor * now.pipeline * now.context
    here = scenario.implementation == MEGATRON
    stays = bool(cannot_move(scenario))
    axes: tuple[list[_Choice[Any]], ...] = (
        list(_tensors(scenario, ranks)),
        _multiples("pipeline parallel", now.pipeline, ranks),
        _multiples("context parallel", now.context, ranks),
        _experts(scenario, ranks),
    )
    for chosen in product(*axes):
        tensor, pipeline, context, expert = (choice.value for choice in chosen)
        data, uneven = divmod(ranks, tensor[0] * pipeline * context)
        moves = not here and any(choice.degree for choice in chosen)
        if uneven or data % expert or (moves and stays):
            continue
        yield _Split(
            parallel=replace(
                on_megatron(now) if moves else now,
                data=data,
                tensor=tensor[0],
                sequence_parallel=tensor[1],
                pipeline=pipeline,
                context=context,
                expert=expert,
            ),
            moves=moves,
            choices=chosen,
        )


def _tensors(scenario: Scenario, ranks: int) -> Iterator[_Choice[tuple[int, bool]]]:
    """Yield ranks of a tensor inside a node, with sequence parallelism beside them or without."""
    now, node = scenario.parallel, scenario.hardware.gpu.gpus_per_node
    for choice in _multiples("tensor parallel", now.tensor, min(node, ranks)):
        parts = choice.degree > 0 or (now.sequence_parallel and choice.value > 1)
        degree = choice.degree + (choice.degree > 0)
        yield _Choice(value=(choice.value, parts), degree=degree, lever=choice.lever)
    if now.tensor > 1 and not now.sequence_parallel:
        yield _Choice(value=(now.tensor, True), degree=1, lever="tensor parallel")


def _multiples(lever: str, now: int, most: int) -> list[_Choice[int]]:
    """Return `now`, its doublings up to `most`, and its halves as far as they are whole."""
    found = [_Choice(value=now)]
    for degree, factor in enumerate(doublings(most // now), 1):
        found.append(_Choice(value=now * factor, degree=degree, lever=lever))
    for degree, factor in enumerate(doublings(now), 1):
        if now % factor == 0:
            less = f"less {lever}"
            found.append(_Choice(value=now // factor, degree=-degree, lever=less))
    return found


def _experts(scenario: Scenario, ranks: int) -> list[_Choice[int]]:
    now, experts = scenario.parallel.expert, scenario.architecture.experts
    if experts is None:
        return [_Choice(value=now)]
    return _multiples("expert parallel", now, min(ranks, experts.routed))
