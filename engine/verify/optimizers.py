"""Optimizers that go tensor by tensor, with the memory of the libraries that have them.

`EightBitAdamW` and `Lion` are one kernel a tensor, which makes nothing that outlives it, as in
bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/optimizer.py. What stands for a kernel
here goes over a tensor piece by piece, so that it takes little on a GPU too. `Adafactor` makes
what torch/optim/_adafactor.py makes, but asks for no number, which fake tensors have not.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.state_forms import BLOCK, LEAST, PAGED
from engine.verify.host import on_host

PIECE = 4096 * BLOCK
RATE, DECAY, TINY = 1e-3, 1e-2, 1e-8
FAST, SLOW = 0.9, 0.999


def codes(*, signed: bool) -> Tensor:
    """Return the 256 numbers that a byte stands for, sorted: exponents of 10, linear fractions.

    Source: arXiv 2110.02861 section 2.2, dynamic tree quantisation.
    """
    steps = 7
    numbers = [0.0, 1.0]
    for exponent in range(steps):
        parts = 2 ** (exponent + (0 if signed else 1))
        scale = 10.0 ** (exponent - steps + 1)
        middles = [scale * (0.1 + 0.9 * (part + 0.5) / parts) for part in range(parts)]
        numbers.extend(middles)
        if signed:
            numbers.extend(-middle for middle in middles)
    return torch.tensor(sorted(numbers), dtype=torch.float32)


@torch.library.custom_op(
    "memquiz::adamw_8bit", mutates_args={"weight", "first", "second", "scales"}
)
def adamw_8bit(  # noqa: PLR0913, PLR0917 - a kernel's arguments
    weight: Tensor,
    gradient: Tensor,
    first: Tensor,
    second: Tensor,
    scales: Tensor,
    maps: Tensor,
    step: int,
) -> None:
    """Step `weight` in place, with moments of one byte an element.

    Args:
        weight: any shape.
        gradient: of its shape.
        first: bytes of the first moment, of its shape.
        second: bytes of the second moment, of its shape.
        scales: fp32, (2, blocks): the largest magnitude in each block of both moments.
        maps: fp32, (2, 256): what a byte stands for, in a block whose largest is 1.
        step: number of the step, from 1.
    """
    flat, slopes = weight.view(-1), gradient.reshape(-1)
    moments = first.view(-1), second.view(-1)
    for begin in range(0, flat.numel(), PIECE):
        part = slice(begin, min(begin + PIECE, flat.numel()))
        blocks = slice(begin // BLOCK, -(-part.stop // BLOCK))
        slope = slopes[part].float()
        held = [
            _wide(codes[part].to(flat.device), scales[row, blocks], maps[row])
            for row, codes in enumerate(moments)
        ]
        held[0].lerp_(slope, 1 - FAST)
        held[1].lerp_(slope * slope, 1 - SLOW)
        root = (held[1] / (1 - SLOW**step)).sqrt_().add_(TINY)
        now = flat[part].float() * (1 - RATE * DECAY) - RATE / (1 - FAST**step) * held[0] / root
        flat[part] = now.to(flat.dtype)
        for row, codes in enumerate(moments):
            new, scales[row, blocks] = _narrow(held[row], maps[row])
            codes[part] = new


@adamw_8bit.register_fake
def _(  # noqa: PLR0913, PLR0917 - a kernel's arguments
    weight: Tensor,
    gradient: Tensor,
    first: Tensor,
    second: Tensor,
    scales: Tensor,
    maps: Tensor,
    step: int,
) -> None:
    del weight, gradient, first, second, scales, maps, step


def _in_blocks(x: Tensor) -> Tensor:
    missing = -len(x) % BLOCK
    return torch.nn.functional.pad(x, (0, missing)).view(-1, BLOCK)


def _wide(codes: Tensor, scales: Tensor, numbers: Tensor) -> Tensor:
    """Return what bytes stand for."""
    wide = _in_blocks(numbers[codes.long()]) * scales[:, None]
    return wide.view(-1)[: len(codes)]


def _narrow(x: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Return the bytes that stand for what is nearest to `x`, and the largest of each block."""
    blocks = _in_blocks(x)
    scales = blocks.abs().amax(-1)
    shares = (blocks / scales.clamp(min=1e-30)[:, None]).view(-1)[: len(x)]
    middles = (numbers[1:] + numbers[:-1]) / 2
    return torch.bucketize(shares, middles).to(torch.uint8), scales


@torch.library.custom_op("memquiz::adamw_fp32", mutates_args={"weight", "first", "second"})
def adamw_fp32(weight: Tensor, gradient: Tensor, first: Tensor, second: Tensor, step: int) -> None:
    """Step `weight` in place, with fp32 moments of its shape."""
    flat, slopes = weight.view(-1), gradient.reshape(-1)
    moments = first.view(-1), second.view(-1)
    for begin in range(0, flat.numel(), PIECE):
        part = slice(begin, begin + PIECE)
        slope = slopes[part].float()
        held = [moment[part].to(slope.device) for moment in moments]
        held[0].lerp_(slope, 1 - FAST)
        held[1].lerp_(slope * slope, 1 - SLOW)
        root = (held[1] / (1 - SLOW**step)).sqrt_().add_(TINY)
        now = flat[part].float() * (1 - RATE * DECAY) - RATE / (1 - FAST**step) * held[0] / root
        flat[part] = now.to(flat.dtype)
        for moment, new in zip(moments, held, strict=True):
            moment[part] = new


@adamw_fp32.register_fake
def _(weight: Tensor, gradient: Tensor, first: Tensor, second: Tensor, step: int) -> None:
    del weight, gradient, first, second, step


@torch.library.custom_op("memquiz::lion", mutates_args={"weight", "momentum"})
def lion(weight: Tensor, gradient: Tensor, momentum: Tensor) -> None:
    """Step `weight` in place by the sign of an fp32 momentum (arXiv 2302.06675, algorithm 2)."""
    flat, slopes, kept = weight.view(-1), gradient.reshape(-1), momentum.view(-1)
    for begin in range(0, flat.numel(), PIECE):
        part = slice(begin, begin + PIECE)
        slope = slopes[part].float()
        sign = torch.lerp(kept[part], slope, 1 - FAST).sign_()
        now = flat[part].float() * (1 - RATE * DECAY) - RATE / 10 * sign
        flat[part] = now.to(flat.dtype)
        kept[part] = torch.lerp(kept[part], slope, 1 - 0.99)


@lion.register_fake
def _(weight: Tensor, gradient: Tensor, momentum: Tensor) -> None:
    del weight, gradient, momentum


class _OneByOne(torch.optim.Optimizer):
    """Steps tensor by tensor, and makes a tensor's states when it first comes to it."""

    def __init__(self, stepped: Iterable[Tensor]) -> None:
        super().__init__(stepped, {})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override] # takes no closure
        """Step every parameter that has a gradient."""
        del closure
        for weight in self._with_gradients():
            state = self.state[weight]
            if not state:
                state |= {"step": 0, **self.made(weight)}
            state["step"] += 1
            self.stepped(weight, _gradient(weight), state)

    def _with_gradients(self) -> Iterator[Tensor]:
        for group in self.param_groups:
            yield from (weight for weight in group["params"] if weight.grad is not None)

    def made(self, weight: Tensor) -> dict[str, Tensor]:
        """Return the states that `weight` begins with."""
        raise NotImplementedError

    def stepped(self, weight: Tensor, slope: Tensor, state: dict[str, Any]) -> None:
        """Step `weight` along `slope`, its gradient, and `state` in place."""
        raise NotImplementedError


def _gradient(weight: Tensor) -> Tensor:
    if weight.grad is None:
        raise RuntimeError("a weight has no gradient")
    return weight.grad


class EightBitAdamW(_OneByOne):
    """AdamW with moments of one byte; tensors of fewer than 4,096 elements keep fp32 moments."""

    def __init__(self, stepped: Iterable[Tensor], *, paged: bool = False) -> None:
        super().__init__(stepped)
        self._maps: Tensor | None = None
        self._paged = paged

    @property
    def maps(self) -> Tensor:
        """What a byte of either moment stands for, once for all tensors."""
        if self._maps is None:
            self._maps = torch.stack([codes(signed=True), codes(signed=False)])
        return self._maps

    def made(self, weight: Tensor) -> dict[str, Tensor]:
        """Return moments of zeros."""
        if weight.numel() < LEAST:
            return {
                "first": torch.zeros_like(weight, dtype=torch.float32),
                "second": torch.zeros_like(weight, dtype=torch.float32),
            }
        blocks = -(-weight.numel() // BLOCK)
        return {
            "first": _zeros(weight, torch.uint8, paged=self._paged),
            "second": _zeros(weight, torch.uint8, paged=self._paged),
            "scales": torch.zeros(2, blocks, dtype=torch.float32, device=weight.device),
            "maps": self.maps.to(weight.device),
        }

    def stepped(self, weight: Tensor, slope: Tensor, state: dict[str, Any]) -> None:
        """Step `weight` and its moments in place."""
        moments = state["first"], state["second"]
        if "scales" in state:
            tables = state["scales"], state["maps"]
            adamw_8bit(weight, slope, *moments, *tables, state["step"])
        else:
            adamw_fp32(weight, slope, *moments, state["step"])


def _zeros(weight: Tensor, dtype: torch.dtype, *, paged: bool) -> Tensor:
    """Return a state of zeros, on the host where it is paged: PyTorch has no unified memory."""
    if not paged or weight.numel() < PAGED:
        return torch.zeros_like(weight, dtype=dtype)
    with on_host():
        return torch.zeros(weight.shape, dtype=dtype)


class PagedAdamW(_OneByOne):
    """AdamW with fp32 moments, those of large tensors paged."""

    def made(self, weight: Tensor) -> dict[str, Tensor]:
        """Return moments of zeros."""
        return {name: _zeros(weight, torch.float32, paged=True) for name in ("first", "second")}

    def stepped(self, weight: Tensor, slope: Tensor, state: dict[str, Any]) -> None:
        """Step `weight` and its moments in place."""
        adamw_fp32(weight, slope, state["first"], state["second"], state["step"])


class Lion(_OneByOne):
    """The sign of a momentum, which is fp32 whatever the weights are."""

    def made(self, weight: Tensor) -> dict[str, Tensor]:
        """Return a momentum of zeros."""
        return {"momentum": torch.zeros_like(weight, dtype=torch.float32)}

    def stepped(self, weight: Tensor, slope: Tensor, state: dict[str, Any]) -> None:
        """Step `weight` and its momentum in place."""
        lion(weight, slope, state["momentum"])


class Muon(torch.optim.Optimizer):
    """PyTorch's Muon for the matrices of the layers, and its fused AdamW for all else.

    Args:
        stepped: all parameters.
        others: those of them that are in no layer: embedding, final norm, head.
    """

    def __init__(self, stepped: Iterable[Tensor], others: Iterable[Tensor] = ()) -> None:
        super().__init__(stepped, {})
        outside = {id(weight) for weight in others}
        everything = self.param_groups[0]["params"]
        matrices = [x for x in everything if x.dim() == 2 and id(x) not in outside]
        own = {id(weight) for weight in matrices}
        rest = [weight for weight in everything if id(weight) not in own]
        self._parts: list[torch.optim.Optimizer] = []
        if matrices:
            self._parts.append(torch.optim.Muon(matrices))
        if rest:
            self._parts.append(torch.optim.AdamW(rest, fused=True))
        for part in self._parts:
            part.state = self.state

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override] # takes no closure
        """Step the matrices, then all else that has a gradient."""
        del closure
        for part in self._parts:
            part.step()


class Adafactor(_OneByOne):
    """Second moments as rows and columns, put together for one tensor at a time."""

    def made(self, weight: Tensor) -> dict[str, Tensor]:
        """Return factors of zeros over the last two dimensions, or a vector's moments."""
        if weight.dim() == 1:
            return {"variance": torch.zeros_like(weight)}
        *outer, rows, columns = weight.shape
        return {
            "rows": weight.new_zeros(*outer, rows, 1),
            "columns": weight.new_zeros(*outer, 1, columns),
        }

    def stepped(self, weight: Tensor, slope: Tensor, state: dict[str, Any]) -> None:
        """Step `weight` and its moments in place."""
        tiny = torch.finfo(weight.dtype).eps
        share = state["step"] ** -0.8
        if "variance" in state:
            squared = slope * slope
            state["variance"].lerp_(squared, share)
            update = state["variance"].clone()
        else:
            for name, along in (("rows", -1), ("columns", -2)):
                mean = slope.norm(dim=along, keepdim=True).square_().div_(slope.size(along))
                state[name].lerp_(mean, share)
            update = state["rows"] @ state["columns"]
            update.div_(state["rows"].mean(dim=-2, keepdim=True).clamp_(min=tiny))
        update.clamp_(min=tiny**2).rsqrt_().mul_(slope)
        root = weight.numel() ** 0.5
        size = (weight.norm() / root).clamp_(min=1e-3) * min(1e-2, state["step"] ** -0.5)
        weight.sub_(update.mul_(size / (update.norm() / root).clamp_(min=1)))
