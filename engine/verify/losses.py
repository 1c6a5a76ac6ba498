"""Cross entropy without a tensor of fp32 logits: in the place of the logits, or in chunks of rows.

What is allocated, and when, is read from linkedin/Liger-Kernel src/liger_kernel/ops/
cross_entropy.py and fused_linear_cross_entropy.py, which has one buffer for a chunk's logits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional

from engine.stacks.losses import chunk_rows

AT_ONCE = 64  # rows that go through fp32 together, inside what stands for one kernel


@torch.library.custom_op("memquiz::cross_entropy_in_place", mutates_args={"logits"})
def cross_entropy_in_place(logits: Tensor, targets: Tensor, rows: int, cap: float = 0.0) -> Tensor:
    """Return each row's share of the mean loss in fp32, and put its gradient over its logits.

    Args:
        logits: of some rows, over the vocabulary.
        targets: one for each of them.
        rows: how many rows the mean is over.
        cap: of the logits, which the kernel caps as it reads them; 0 for none.
    """
    losses = logits.new_empty(logits.shape[0], dtype=torch.float32)
    for begin in range(0, logits.shape[0], AT_ONCE):
        some, wanted = logits[begin : begin + AT_ONCE], targets[begin : begin + AT_ONCE]
        wide = some.float()
        capped = soft_capped(wide, cap) if cap else wide
        logs = functional.log_softmax(capped, -1)
        losses[begin : begin + AT_ONCE] = -logs.gather(1, wanted[:, None])[:, 0] / rows
        chances = logs.exp()
        chances.scatter_add_(1, wanted[:, None], -torch.ones_like(chances[:, :1]))
        if cap:
            chances *= 1 - (capped / cap) ** 2
        some.copy_(chances / rows)
    return losses


@cross_entropy_in_place.register_fake
def _(logits: Tensor, targets: Tensor, rows: int, cap: float = 0.0) -> Tensor:
    del targets, rows, cap
    return logits.new_empty(logits.shape[0], dtype=torch.float32)


class _InPlace(torch.autograd.Function):
    """The loss of logits, which their gradient takes the place of."""

    @staticmethod
    def forward(ctx: FunctionCtx, logits: Tensor, targets: Tensor, cap: float) -> Tensor:
        """Return the mean loss of `logits` (rows, V) under `targets` (rows)."""
        losses: Tensor = cross_entropy_in_place(logits, targets, logits.shape[0], cap)
        ctx.save_for_backward(logits.detach())
        return losses.sum()

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor, None, None]:
        """Return the gradient that is there already, times that of the loss."""
        (made,) = ctx.saved_tensors  # type: ignore[attr-defined] # set by autograd
        return made.mul_(gradients[0]), None, None


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The targets of all rows, and the cap of their logits; 0 for none."""

    targets: Tensor
    cap: float = 0.0


class _InChunks(torch.autograd.Function):
    """Head and loss over chunks of rows, with all gradients made in the forward pass."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor | None, wanted: Wanted
    ) -> Tensor:
        """Return the mean loss of `x` (rows, h) behind the head, under those `wanted`."""
        rows, (vocab, hidden) = x.shape[0], weight.shape
        trained: bool = ctx.needs_input_grad[1]  # type: ignore[attr-defined] # set by autograd
        of_x = torch.zeros_like(x)
        of_weight = torch.zeros_like(weight) if trained else None
        of_bias = torch.zeros_like(bias) if trained and bias is not None else None
        losses = x.new_zeros(rows, dtype=torch.float32)
        at_once = chunk_rows(rows, vocab=vocab, hidden=hidden)
        room = x.new_empty(at_once, vocab)
        for begin in range(0, rows, at_once):
            part = slice(begin, min(begin + at_once, rows))
            logits = room[: part.stop - begin]
            torch.mm(x[part], weight.t(), out=logits)
            if bias is not None:
                logits.add_(bias)
            losses[part] = cross_entropy_in_place(logits, wanted.targets[part], rows, wanted.cap)
            torch.mm(logits, weight, out=of_x[part])
            if of_weight is not None:
                of_weight.addmm_(logits.t(), x[part])
            if of_bias is not None:
                of_bias.add_(logits.sum(0))
        del room
        ctx.save_for_backward(of_x, of_weight, of_bias)  # type: ignore[arg-type] # None may be saved
        return losses.sum()

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients that are there already, times that of the loss."""
        made: tuple[Tensor | None, ...] = ctx.saved_tensors  # type: ignore[attr-defined] # set by autograd
        return (*(one if one is None else one.mul_(gradients[0]) for one in made), None)


def soft_capped(x: Tensor, cap: float) -> Tensor:
    """Return `x` drawn in between -cap and cap."""
    return torch.tanh(x / cap) * cap


def eager(logits: Tensor, targets: Tensor, cap: float = 0.0) -> Tensor:
    """Return PyTorch's cross entropy of `logits` (rows, V), over an fp32 copy of them.

    Whoever can let the logits go caps them first: here they stay until the loss is there.
    """
    if cap:
        logits = soft_capped(logits, cap)
    return functional.cross_entropy(logits.float(), targets)


def in_place(logits: Tensor, targets: Tensor, cap: float = 0.0) -> Tensor:
    """Return the mean loss of `logits` (rows, V), which their gradient takes the place of."""
    loss: Tensor = _InPlace.apply(logits, targets, cap)  # type: ignore[no-untyped-call] # torch leaves it untyped
    return loss


def in_chunks(x: Tensor, head: torch.nn.Linear, targets: Tensor, cap: float = 0.0) -> Tensor:
    """Return the mean loss of `x` (rows, h) behind `head`, a chunk of rows at a time."""
    wanted = Wanted(targets=targets, cap=cap)
    loss: Tensor = _InChunks.apply(x, head.weight, head.bias, wanted)  # type: ignore[no-untyped-call] # torch leaves it untyped
    return loss


OfLogits = Callable[[Tensor, Tensor, float], Tensor]
OF_LOGITS: Mapping[str, OfLogits] = {"eager": eager, "fused": in_place}
