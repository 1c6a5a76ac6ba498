"""The model of a scenario, from the software stack that the scenario names."""

from collections.abc import Callable, Iterable
from pkgutil import resolve_name
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from engine.errors import Fault, InputError
from engine.scenario import Scenario
from engine.stacks.registry import that_runs


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
    runs = that_runs(name)
    try:
        make = cast(Builder, resolve_name(runs.builder))
    except ModuleNotFoundError as error:
        if not runs.library:
            raise
        what = f"{name} runs the classes of {runs.library}, and {error.name} is not installed"
        ways = f'pip install "memquiz[{runs.extra}]"'
        raise InputError(Fault("model.implementation", what, ways)) from None
    return make(scenario, weights)
