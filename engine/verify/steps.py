"""Optimizer steps, phase by phase, with whoever watches told when each phase begins."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from engine.ledger import Category, Phase
from engine.scenario import Scenario
from engine.verify.stepper import Stepper

Progress = Callable[[int], None]


class Watch(Protocol):
    """Who is told what runs, and what kind of memory a tensor is."""

    def enter(self, phase: Phase | None, step: int) -> None:
        """Hear that `phase` of `step` begins; None is between phases."""

    def mark(self, tensors: Iterable[Tensor], category: Category) -> None:
        """Hear what kind of memory `tensors` are."""


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
    """

    model: nn.Module
    layers: Sequence[nn.Module]
    forward: Callable[..., Tensor]
    batch: tuple[Tensor, ...]
    stepper: Stepper
    ends: int = 1


class _Position:
    """The step that runs now, for the hooks that are set before it."""

    step = 0


def run(
    scenario: Scenario,
    parts: Parts,
    watch: Watch,
    *,
    steps: int,
    progress: Progress = lambda _layers: None,
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
    for now.step in range(steps):
        for _ in range(scenario.workload.gradient_accumulation):
            watch.enter(Phase.FORWARD, now.step)
            with torch.autocast(
                parts.batch[0].device.type,
                torch.bfloat16,
                enabled=scenario.recipe.precision == "autocast",
            ):
                loss = parts.forward(*parts.batch)
            watch.enter(Phase.LOSS, now.step)
            loss.backward()
            watch.enter(None, now.step)
            del loss
        gradients = [p.grad for p in parts.model.parameters() if p.grad is not None]
        watch.mark(gradients, Category.GRADIENTS)
        del gradients
        if scenario.parallel.data > 1:
            watch.enter(Phase.REDUCE, now.step)
        watch.enter(Phase.STEP, now.step)
        parts.stepper.step()
        watch.enter(None, now.step)
        watch.mark(parts.stepper.states, Category.OPTIMIZER_STATE)


def layer_runs(scenario: Scenario, steps: int) -> int:
    """Return how many layers run forward in `steps` steps, recomputation left out."""
    return steps * scenario.workload.gradient_accumulation * scenario.architecture.layers


def _mark_states(parts: Parts, watch: Watch) -> None:
    watch.mark(parts.model.parameters(), Category.WEIGHTS)
    watch.mark(parts.stepper.masters, Category.MASTER_WEIGHTS)
    watch.mark(parts.stepper.main_gradients, Category.GRADIENTS)
    watch.mark((*parts.batch, *parts.model.buffers()), Category.TEMPORARY)


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
    if top - ends >= ends:
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
