"""The model of a scenario, from the software stack that the scenario names."""

from collections.abc import Iterable
from importlib import import_module
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from engine.errors import Fault, InputError
from engine.scenario import Scenario
from engine.verify import reference

WITH_TRANSFORMERS = 'pip install "memquiz[hf]"'


class Trainable(Protocol):
    """What a step needs of a model, beyond its being a module that returns the loss."""

    @property
    def layers(self) -> Iterable[nn.Module]:
        """The layers, from the bottom to the top."""

    def batch(self, micro_batch: int, sequence: int) -> tuple[Tensor, ...]:
        """Return token ids and targets (b, s), and what else `forward` takes."""


class Model(nn.Module, Trainable):
    """A module that is trainable."""


NOT_RUN = "memquiz solve has its ledger, which is held to measured runs; or give fused or hf"


def build(scenario: Scenario, weights: torch.dtype) -> Model:
    """Return the model of `scenario` with its weights in that dtype.

    Raises:
        InputError: the stack's library is missing; names the extra. Or the stack is not run here.
    """
    if scenario.implementation == "megatron":
        what = "megatron is not run here: it wants GPUs and a launcher of its own"
        raise InputError(Fault("model.implementation", what, NOT_RUN))
    if scenario.implementation == "fused":
        return cast(Model, reference.build(scenario, weights))
    try:
        transformers = import_module("engine.verify.hf")
    except ModuleNotFoundError as error:
        what = f"hf runs the classes of Transformers, and {error.name} is not installed"
        raise InputError(Fault("model.implementation", what, WITH_TRANSFORMERS)) from None
    return cast(Model, transformers.build(scenario, weights))
