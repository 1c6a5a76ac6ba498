"""Operators that a CPU runs otherwise than a GPU, made to run as on a GPU."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional

from engine.verify.kernels import layer_norm


@contextmanager
def like_gpu() -> Iterator[None]:
    """Run dropout and LayerNorm as one operator each, and autocast's fp32 list as CUDA has it.

    A CPU has dropout as four operators with a mask of the input's dtype, where a GPU has one
    with a byte an element, and it has LayerNorm's statistics in the input's dtype. Autocast's
    list of what runs in fp32 is longer for CUDA (PyTorch documentation, torch.amp); powers and
    softmax are what transformers call of it. Functions are replaced by name, because no mode of
    torch is on where a checkpoint runs its operators again.
    """
    with ExitStack() as replaced:
        for place, name, new in (
            (functional, "dropout", _dropout),
            (functional, "layer_norm", _layer_norm),
            (functional, "softmax", _in_fp32(functional.softmax)),
            (torch, "pow", _in_fp32(torch.pow)),
        ):
            replaced.enter_context(patch.object(place, name, new))
        yield


def _dropout(
    input: Tensor,  # noqa: A002 - the function's own name
    p: float = 0.5,
    training: bool = True,  # noqa: FBT001, FBT002 - the function's own signature
    inplace: bool = False,  # noqa: FBT001, FBT002 - the function's own signature
) -> Tensor:
    del inplace
    if not (training and p):
        return input
    dropped: Tensor = torch.ops.aten.native_dropout(input, p, True)[0]  # noqa: FBT003 - by position only
    return dropped


def _layer_norm(
    input: Tensor,  # noqa: A002 - the function's own name
    normalized_shape: object,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    del normalized_shape  # the last dimension, in every transformer
    normed: Tensor = layer_norm(input, weight, bias, eps)[0]
    return normed


def _in_fp32(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(x: Tensor, *rest: object, **more: object) -> Tensor:
        return function(x.float() if torch.is_autocast_enabled("cpu") else x, *rest, **more)

    return run
