"""The model of a scenario, from the software stack that the scenario names."""

from collections.abc import Callable, Iterable
from pkgutil import resolve_name
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from engine.errors import Fault, InputError
from engine.scenario import Scenario
from engine.stacks.registry import names, stack
from engine.stacks.stack import Stack


class Trainable(Protocol):
    """What a step needs of a model, beyond its being a module that returns the loss."""

    @property
    def layers(self) -> Iterable[nn.Module]:
        """The layers, from the bottom to the top."""

    def batch(self, micro_batch: int, sequence: int) -> tuple[Tensor, ...]:
        """Return token ids and targets (b, s), and what else `forward` takes."""


class Model(nn.Module, Trainable):
    """A module that is trainable."""


Builder = Callable[[Scenario, torch.dtype], Model]


def build(scenario: Scenario, weights: torch.dtype) -> Model:
    """Return the model of `scenario` with its weights in that dtype.

    Raises:
        InputError: the stack's library is missing; names the extra. Or the stack is not run here.
    """
    name = scenario.implementation
    runs = stack(name)
    if not runs.builder:
        raise InputError(_not_run(name, runs))
    try:
        make = cast(Builder, resolve_name(runs.builder))
    except ModuleNotFoundError as error:
        if not runs.library:
            raise
        what = f"{name} runs the classes of {runs.library}, and {error.name} is not installed"
        ways = f'pip install "memquiz[{runs.extra}]"'
        raise InputError(Fault("model.implementation", what, ways)) from None
    return make(scenario, weights)


def _not_run(name: str, runs: Stack) -> Fault:
    held = f", which is held to {runs.held_to}" if runs.held_to else ""
    others = " or ".join(other for other in names() if stack(other).builder)
    return Fault(
        "model.implementation",
        f"{name} is not run here: {runs.why_not_run}",
        f"memquiz solve has its ledger{held}; or give {others}",
    )
