"""Linear layers whose products are in float8, as torchao converts them.

What is allocated, and when, is read from pytorch/ao torchao/float8 (float8_linear.py,
float8_scaling_utils.py, float8_ops.py), version 0.18, recipe "tensorwise", run as it is and not
compiled: the input is kept in 16 bits for the backward pass, and every product casts both of its
factors anew. `docs/ledger.md` has what a step of the library itself holds beside a step of this.
"""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

FORWARD, BACKWARD = torch.float8_e4m3fn, torch.float8_e5m2
SMALLEST = 1e-12  # a scale stays finite where a tensor is all zeros


class _Context(Protocol):
    """What autograd hands from a forward to its backward."""

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What was kept."""

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keep `tensors`."""


def _cast(x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return `x` in float8, scaled so that its largest element is the largest there is.

    And the factor that it was multiplied with. While it is cast, two fp32 copies are there.
    """
    largest = torch.finfo(dtype).max
    scale = (largest / x.abs().max().double().clamp(min=SMALLEST)).float()
    scaled = x.to(torch.float32) * scale
    clamped = scaled.clamp(min=-largest, max=largest)
    return clamped.to(dtype), scale


def _product(
    left: tuple[Tensor, Tensor], right: tuple[Tensor, Tensor], out: torch.dtype
) -> Tensor:
    """Return the matrix product; the kernel wants rows of the left and columns of the right.

    So a factor that lies otherwise is copied.
    """
    (a, of_a), (b, of_b) = left, right
    a, b = a.contiguous(), b.t().contiguous().t()
    whole = functional.ScalingType.TensorWise
    multiplied: Tensor = functional.scaled_mm(
        a, b, of_a.reciprocal(), whole, of_b.reciprocal(), whole, output_dtype=out
    )
    return multiplied


class _Linear(torch.autograd.Function):
    """A product of `x` (…, in) and a weight's transpose, each of its three products in float8."""

    @staticmethod
    def forward(ctx: _Context, x: Tensor, weight_t: Tensor) -> Tensor:
        """Return `x` times `weight_t` (in, out)."""
        ctx.save_for_backward(x, weight_t)
        narrow, scale = _cast(x, FORWARD)
        matrix = _cast(weight_t, FORWARD)
        rows = _product((narrow.flatten(0, -2), scale), matrix, x.dtype)
        out: Tensor = rows.unflatten(0, x.shape[:-1])
        return out

    @staticmethod
    def backward(ctx: _Context, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of both; the one that came is cast once for each of them."""
        x, weight_t = ctx.saved_tensors
        rows, incoming = x.flatten(0, -2), gradients[0].flatten(0, -2)
        of_rows, matrix = _cast(incoming, BACKWARD), _cast(weight_t, FORWARD)
        of_x = _product(of_rows, (matrix[0].t(), matrix[1]), x.dtype)
        columns, scale = _cast(incoming, BACKWARD)
        of_weight = _product((columns.t(), scale), _cast(rows, FORWARD), x.dtype)
        # What was cast for the first product is there until both are done, as in torchao.
        del of_rows, matrix
        return of_x.unflatten(0, x.shape[:-1]), of_weight.t()


class Float8Linear(nn.Linear):
    """A linear layer in float8; its weight stays as it is."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the product with `x`, with the bias added in an operator of its own."""
        multiply: Callable[[Tensor, Tensor], Tensor] = _Linear.apply
        output = multiply(x, self.weight.t())
        if self.bias is not None:
            output = output + self.bias
        return output


def in_float8(layer: nn.Module) -> nn.Module:
    """Return `layer` with every linear layer in it replaced by one in float8."""
    for parent in tuple(layer.modules()):
        for name, part in tuple(parent.named_children()):
            if isinstance(part, nn.Linear):
                setattr(parent, name, _converted(part))
    return layer


def _converted(linear: nn.Linear) -> Float8Linear:
    with torch.device("meta"):
        made = Float8Linear(linear.in_features, linear.out_features, bias=False)
    made.weight = linear.weight
    made.bias = linear.bias
    return made
