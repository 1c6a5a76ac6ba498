"""Frozen matrices, in 16 or 4 bits, and the low-rank adapters that are trained beside them.

What is allocated, and when, is that of pytorch/torchtune torchtune/modules/peft/lora.py. In 4 bits
the matrix is made anew for each product and nothing but its codes is kept, as in
bitsandbytes-foundation/bitsandbytes bitsandbytes/autograd/_functions.py, MatMul4Bit.
"""

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx
from torch.nn import functional

from engine.adapters import BLOCK, BLOCK_OF_SCALES, blocks, targets
from engine.settings import Adapters

ALPHA = 16
PIECE = 256 * BLOCK * BLOCK_OF_SCALES  # elements that go through fp32 together
# What 4 bits stand for, of a block whose largest magnitude is 1 (arXiv 2305.14314 appendix E).
LEVELS = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)


@torch.library.custom_op("memquiz::in_16_bits", mutates_args=())
def in_16_bits(
    codes: Tensor, scales: Tensor, factors: Tensor, levels: Tensor, shape: list[int]
) -> Tensor:
    """Return the matrix that `codes` stand for, in bf16.

    Args:
        codes: two to a byte.
        scales: a float of 8 bits, as a byte, for each block of 64 elements.
        factors: fp32, one for each 256 scales, and last what is added to all of them.
        levels: fp32, what the 16 codes stand for.
        shape: of the matrix.
    """
    out = torch.empty(shape, dtype=torch.bfloat16, device=codes.device)
    flat = out.view(-1)
    for begin in range(0, flat.numel(), PIECE):
        end = min(begin + PIECE, flat.numel())
        pairs = codes[begin // 2 : -(-end // 2)]
        numbers = levels[torch.stack([pairs >> 4, pairs & 15], -1).flatten().int()][: end - begin]
        first, last = begin // BLOCK, -(-end // BLOCK)
        eighth = scales[first:last].view(torch.float8_e4m3fn).float()
        wide = factors[:-1].repeat_interleave(BLOCK_OF_SCALES)[first:last]
        largest = (eighth * wide + factors[-1]).repeat_interleave(BLOCK)[: end - begin]
        flat[begin:end] = numbers * largest
    return out


@in_16_bits.register_fake
def _(codes: Tensor, scales: Tensor, factors: Tensor, levels: Tensor, shape: list[int]) -> Tensor:
    del scales, factors, levels
    return codes.new_empty(shape, dtype=torch.bfloat16)


class FourBitMatrix(nn.Module):
    """A frozen matrix in 4 bits, whose bias is in 16."""

    def __init__(self, of: nn.Linear) -> None:
        super().__init__()
        weight = of.weight
        self.shape = list(weight.shape)
        codes, scales, factors = quantised(weight.detach())
        self.codes = nn.Parameter(codes, requires_grad=False)
        self.scales = nn.Parameter(scales, requires_grad=False)
        self.factors = nn.Parameter(factors, requires_grad=False)
        self.register_buffer("levels", torch.tensor(LEVELS, dtype=torch.float32))
        self.bias = of.bias

    def matrix(self) -> Tensor:
        """Return it in 16 bits."""
        whole: Tensor = in_16_bits(
            self.codes, self.scales, self.factors, self.get_buffer("levels"), self.shape
        )
        return whole

    def forward(self, x: Tensor) -> Tensor:
        """Return the product of `x` and the matrix."""
        rows: Tensor = _Product.apply(x.flatten(0, -2), self)  # type: ignore[no-untyped-call] # torch leaves it untyped
        product: Tensor = rows.unflatten(0, x.shape[:-1])
        return product


class _Product(torch.autograd.Function):
    """A product that keeps no matrix of 16 bits."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, of: FourBitMatrix) -> Tensor:
        """Return the product of `x` (rows, in) and the matrix."""
        ctx.of = of  # type: ignore[attr-defined] # nothing of it is a tensor that autograd keeps
        return functional.linear(x, of.matrix(), of.bias)

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor, None]:
        """Return the gradient of `x`."""
        of: FourBitMatrix = ctx.of  # type: ignore[attr-defined] # set in the forward pass
        return gradients[0] @ of.matrix(), None


def quantised(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return `weight` as codes, scales and factors: see `in_16_bits`.

    The scales' mean is taken off before they are quantised (arXiv 2305.14314 section 3).
    """
    elements = weight.numel()
    in_blocks = _padded(weight.flatten().float(), BLOCK)
    largest = in_blocks.abs().amax(-1)
    mean = largest.mean()
    groups = _padded(largest - mean, BLOCK_OF_SCALES)
    highest = torch.finfo(torch.float8_e4m3fn).max
    factors = groups.abs().amax(-1) / highest
    eighth = (groups / factors.clamp(min=1e-30)[:, None]).flatten()[: blocks(elements)]
    levels = torch.tensor(LEVELS, dtype=torch.float32, device=weight.device)
    middles = (levels[1:] + levels[:-1]) / 2
    numbers = torch.bucketize(in_blocks / largest.clamp(min=1e-30)[:, None], middles).flatten()
    pairs = _padded(numbers[:elements].to(torch.uint8), 2)
    return (
        (pairs[:, 0] << 4) | pairs[:, 1],
        eighth.to(torch.float8_e4m3fn).view(torch.uint8),
        torch.cat([factors, mean[None]]),
    )


def _padded(flat: Tensor, multiple: int) -> Tensor:
    """Return `flat` in rows of `multiple` elements, with zeros behind it."""
    return functional.pad(flat, (0, -len(flat) % multiple)).view(-1, multiple)


class Adapted(nn.Module):
    """A frozen matrix and the product of two small ones that are trained."""

    def __init__(self, frozen: nn.Module, shape: tuple[int, int], adapters: Adapters) -> None:
        super().__init__()
        rows, columns = shape
        self.frozen = frozen
        self.down = nn.Linear(columns, adapters.rank, bias=False)
        self.up = nn.Linear(adapters.rank, rows, bias=False)
        self.scale = ALPHA / adapters.rank
        self.rate = adapters.dropout

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum of both, of `x` (b, s, in)."""
        out: Tensor = self.frozen(x)
        low = self.down(self.dropped(x))
        added: Tensor = out + self.up(low) * self.scale
        return added

    def dropped(self, x: Tensor) -> Tensor:
        """Return what the adapter reads."""
        if not self.rate:
            return x
        left: Tensor = torch.ops.aten.native_dropout(x, self.rate, True)[0]  # noqa: FBT003 - the operator takes it by position only
        return left


def adapted(layer: nn.Module, adapters: Adapters) -> nn.Module:
    """Freeze `layer` and put adapters beside its matrices, which are put into 4 bits if wanted.

    Args:
        layer: its `attention` and `mlp` have matrices by the names of `engine.adapters.MATRICES`.
        adapters: of rank 0, nothing is done.
    """
    if not adapters.rank:
        return layer
    layer.requires_grad_(requires_grad=False)
    wanted = targets(adapters)
    for part in (layer.get_submodule("attention"), layer.get_submodule("mlp")):
        for name, matrix in list(part.named_children()):
            if isinstance(matrix, nn.Linear):
                setattr(part, name, _replaced(matrix, adapters, adapts=name in wanted))
    return layer


def _replaced(matrix: nn.Linear, adapters: Adapters, *, adapts: bool) -> nn.Module:
    frozen = FourBitMatrix(matrix) if adapters.base == "4-bit" else matrix
    shape = matrix.out_features, matrix.in_features
    return Adapted(frozen, shape, adapters) if adapts else frozen


def trained(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """Return the parameters that are trained, by name."""
    return [(name, one) for name, one in module.named_parameters() if one.requires_grad]
