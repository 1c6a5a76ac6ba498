"""Optimizer steps, phase by phase, with whoever watches told when each phase begins."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn

from engine.ledger import Category, Phase
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from engine.verify.adapters import trained
from engine.verify.like_gpu import like_gpu

# Of an average of the weights; any other one takes as much.
DECAY = 0.999

Progress = Callable[[int], None]


def silent(_layers: int) -> None:
    """Report no progress."""


class Watch(Protocol):
    """Who is told what runs, and what kind of memory a tensor is."""

    def enter(self, phase: Phase | None, step: int) -> None:
        """Hear that `phase` of `step` begins; None is between phases."""

    def mark(self, tensors: Iterable[Tensor], category: Category) -> None:
        """Hear what kind of memory `tensors` are."""

    def name(self, tensors: Iterable[tuple[str, Tensor]]) -> None:
        """Hear which parameter each tensor belongs to."""


class Steps(Protocol):
    """Who steps the weights: `engine.verify.stepper.Stepper` where a rank steps all of them."""

    weights: list[nn.Parameter]
    masters: list[nn.Parameter]
    main_gradients: list[Tensor]

    @property
    def states(self) -> Iterable[tuple[int | None, Tensor]]:
        """What the optimizer keeps, with the number of the weight; None where it is of several."""

    def step(self) -> None:
        """Step once and drop the gradients."""


class Exchange(Protocol):
    """What ranks do with gradients when a backward pass is over."""

    def finish(self, *, last: bool) -> None:
        """End a micro-batch; `last` before the optimizer steps."""

    def held(self) -> Iterable[tuple[Tensor, Category]]:
        """Return the buffers alive now, with their kind."""


class Nothing:
    """Gradients are exchanged in the backward pass, or not at all."""

    def finish(self, *, last: bool) -> None:
        """End a micro-batch."""

    def held(self) -> Iterable[tuple[Tensor, Category]]:
        """Return no buffer."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a step runs.

    Attributes:
        model: the module with the parameters.
        layers: its layers, from the bottom to the top.
        forward: the model or what wraps it; takes `batch`, returns the loss.
        batch: the tensors of one micro-batch, and what all layers share.
        stepper: the optimizer.
        ends: how many layers at the top count as `backward-first`, and at the bottom as
            `backward-last`: with FSDP2 two, because the gradients of one are reduced while the
            next one runs, and a layer is gathered while the one above it runs.
        exchange: what is done with gradients after each backward pass.
        averages: copies of the trained weights that follow them, each with what it follows.
        between: whether the layers between those count as no phase, because memory is linear
            there; if not, as where layers differ, they count as `backward-first` too.
    """

    model: nn.Module
    layers: Sequence[nn.Module]
    forward: Callable[..., Tensor]
    batch: tuple[Tensor, ...]
    stepper: Steps
    ends: int = 1
    exchange: Exchange = field(default_factory=Nothing)
    averages: tuple[tuple[Tensor, Tensor], ...] = ()
    between: bool = True


class _Position:
    """The step that runs now, for the hooks that are set before it."""

    step = 0


def run(
    scenario: Scenario,
    parts: Parts,
    watch: Watch,
    *,
    steps: int,
    progress: Progress = silent,
) -> None:
    """Run `steps` optimizer steps.

    Args:
        scenario: says how many micro-batches there are, and whether autocast is on.
        parts: what runs.
        watch: told when a phase begins.
        steps: the first one creates the optimizer states.
        progress: called with the number of layers that have run forward.
    """
    now = _Position()
    _mark_backward(parts, watch, now)
    _count_layers(parts, progress)
    _mark_states(parts, watch)
    with like_gpu() if parts.batch[0].device.type == "cpu" else nullcontext():
        _steps(scenario, parts, watch, now, steps)


def _steps(scenario: Scenario, parts: Parts, watch: Watch, now: _Position, steps: int) -> None:
    for now.step in range(steps):
        micro_batches = passes(scenario)
        for number in range(micro_batches):
            watch.enter(Phase.FORWARD, now.step)
            with torch.autocast(
                parts.batch[0].device.type,
                torch.bfloat16,
                enabled=PRECISIONS[scenario.recipe.precision].autocast,
            ):
                loss = parts.forward(*parts.batch)
            watch.enter(Phase.LOSS, now.step)
            loss.backward()
            watch.enter(None, now.step)
            del loss
            last = number == micro_batches - 1
            _exchange(parts, watch, now, last=last, many=scenario.parallel.data > 1)
        gradients = [p.grad for p in parts.model.parameters() if p.grad is not None]
        watch.mark(gradients, Category.GRADIENTS)
        del gradients
        watch.enter(Phase.STEP, now.step)
        parts.stepper.step()
        average(parts)
        watch.enter(None, now.step)
        states = list(parts.stepper.states)
        watch.mark((state for _, state in states), Category.OPTIMIZER_STATE)
        names = [name for name, _ in trained(parts.model)]
        watch.name((names[index], state) for index, state in states if index is not None)
        del states


@torch.no_grad()
def average(parts: Parts) -> None:
    """Move each average a little towards the weight that it follows, in place."""
    for average, weight in parts.averages:
        average.mul_(DECAY).add_(weight, alpha=1 - DECAY)


def _exchange(parts: Parts, watch: Watch, now: _Position, *, last: bool, many: bool) -> None:
    """Reduce the gradients of a micro-batch, as far as the backward pass has not."""
    _mark_held(parts, watch)
    if many:
        watch.enter(Phase.REDUCE, now.step)
    parts.exchange.finish(last=last)
    watch.enter(None, now.step)
    _mark_held(parts, watch)


def _mark_held(parts: Parts, watch: Watch) -> None:
    for buffer, category in parts.exchange.held():
        watch.mark((buffer,), category)


def layer_runs(scenario: Scenario, steps: int) -> int:
    """Return how many layers run forward in `steps` steps, recomputation left out."""
    return steps * passes(scenario) * scenario.architecture.layers


def passes(scenario: Scenario) -> int:
    """Return how many micro-batches of a step are run: from the second on they repeat."""
    return min(2, scenario.workload.gradient_accumulation)


def _mark_states(parts: Parts, watch: Watch) -> None:
    watch.mark(parts.model.parameters(), Category.WEIGHTS)
    watch.mark((average for average, _ in parts.averages), Category.WEIGHTS)
    watch.mark(parts.stepper.masters, Category.MASTER_WEIGHTS)
    watch.mark(parts.stepper.main_gradients, Category.GRADIENTS)
    watch.mark((*parts.batch, *parts.model.buffers()), Category.TEMPORARY)
    watch.name(parts.model.named_parameters())
    names = [name for name, _ in trained(parts.model)]
    for kept in (parts.stepper.masters, parts.stepper.main_gradients):
        if len(kept) == len(names):
            watch.name(zip(names, kept, strict=True))


def _count_layers(parts: Parts, progress: Progress) -> None:
    done = 0

    def count(*_arguments: object) -> None:
        nonlocal done
        if torch._C._current_autograd_node() is None:  # noqa: SLF001 - recomputation is not progress
            done += 1
            progress(done)

    for layer in parts.layers:
        layer.register_forward_hook(count)


def _mark_backward(parts: Parts, watch: Watch, now: _Position) -> None:
    """Have a phase entered when the backward pass reaches a layer."""
    top, ends = len(parts.layers) - 1, parts.ends
    phases: dict[int, Phase | None] = {ends - 1: Phase.BACKWARD_LAST}
    if parts.between and top - ends >= ends:
        phases[top - ends] = None
    phases[top] = Phase.BACKWARD_FIRST
    for index, phase in phases.items():
        parts.layers[index].register_forward_hook(_when_reached(watch, phase, now))


def _when_reached(
    watch: Watch, phase: Phase | None, now: _Position
) -> Callable[[object, object, Tensor | tuple[Tensor, ...]], None]:
    def hook(_module: object, _inputs: object, out: Tensor | tuple[Tensor, ...]) -> None:
        stream = out if isinstance(out, Tensor) else out[0]
        if stream.requires_grad:
            stream.register_hook(lambda _gradient: watch.enter(phase, now.step))

    return hook
