"""An exponential moving average of the weights (EMA): one more copy, held as the weights are."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from engine.verify.steps import Steps


def averages(stepper: Steps, ema: str) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield an average of each weight that is trained, and what it follows.

    In fp32 that is the master copy, where there is one of each weight.

    Args:
        stepper: has the weights; of those that are sharded, this rank's rows are averaged.
        ema: "none", "weights" or "fp32".
    """
    if ema == "none":
        return
    wide = ema == "fp32"
    whole = len(stepper.masters) == len(stepper.weights)
    for weight in stepper.masters if wide and whole else stepper.weights:
        own = _local(weight.detach())
        yield own.to(torch.float32 if wide else own.dtype, copy=True), own


def _local(weight: Tensor) -> Tensor:
    return weight.to_local() if isinstance(weight, DTensor) else weight
