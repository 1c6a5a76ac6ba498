"""The reference transformer: what the `fused` software stack runs, in torch-native modules.

Fused kernels only where PyTorch has one: RMSNorm, LayerNorm, scaled-dot-product attention,
cross entropy. Everything else is one operator after another, and each keeps what its own
backward needs.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from engine.architecture import Architecture
from engine.recipe import PRECISIONS
from engine.scenario import Recipe, Scenario

# By name, because `scaled_dot_product_attention` takes another kernel on a CPU.
flash_attention = torch.ops.aten._scaled_dot_product_flash_attention  # noqa: SLF001 - no public name
DTYPES = {4: torch.float32, 2: torch.bfloat16}
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu-tanh": partial(functional.gelu, approximate="tanh"),
    "relu": functional.relu,
}


@torch.library.custom_op("memquiz::rms_norm", mutates_args=())
def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Return `x` normalised over its last dimension and 1 / rms of each row in fp32.

    What PyTorch's fused CUDA kernel `_fused_rms_norm` does and keeps; one operator on any device,
    because on a CPU that kernel falls apart into many, each of which would keep something.
    """
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return (wide * scale * weight.float()).to(x.dtype), scale


@rms_norm.register_fake
def _(x: Tensor, weight: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    del weight, epsilon
    return torch.empty_like(x), x.new_empty((*x.shape[:-1], 1), dtype=torch.float32)


@torch.library.custom_op("memquiz::rms_norm_backward", mutates_args=())
def rms_norm_backward(
    gradient: Tensor, x: Tensor, weight: Tensor, scale: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of `x` and `weight`."""
    normed = x.float() * scale
    wide = gradient.float()
    inner = wide * weight.float()
    outer = normed * (inner * normed).mean(-1, keepdim=True)
    of_weight = (wide * normed).flatten(0, -2).sum(0)
    return ((inner - outer) * scale).to(x.dtype), of_weight.to(weight.dtype)


@rms_norm_backward.register_fake
def _(gradient: Tensor, x: Tensor, weight: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    del gradient, scale
    return torch.empty_like(x), torch.empty_like(weight)


def _keep(
    ctx: FunctionCtx, inputs: tuple[Tensor, Tensor, float], output: tuple[Tensor, Tensor]
) -> None:
    ctx.save_for_backward(inputs[0], inputs[1], output[1])
    ctx.mark_non_differentiable(output[1])


def _back(
    context: FunctionCtx, gradient: Tensor, _of_scale: Tensor
) -> tuple[Tensor, Tensor, None]:
    x, weight, scale = context.saved_tensors  # type: ignore[attr-defined] # set by autograd
    return (*rms_norm_backward(gradient, x, weight, scale), None)


rms_norm.register_autograd(_back, setup_context=_keep)


class RmsNorm(nn.Module):
    """RMSNorm that keeps its input and one fp32 number a row."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last dimension of `x`."""
        normed: Tensor = rms_norm(x, self.weight, 1e-5)[0]
        return normed


def norm(architecture: Architecture, width: int) -> nn.Module:
    """Return the norm that `architecture` puts over `width` elements."""
    if architecture.norm == "rmsnorm":
        return RmsNorm(width)
    return nn.LayerNorm(width, elementwise_affine=architecture.norm == "layernorm")


class Dropout(nn.Module):
    """Dropout that keeps a one-byte mask; nothing at all where the probability is 0."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements of `x`."""
        if not self.probability:
            return x
        dropped: Tensor = torch.ops.aten.native_dropout(x, self.probability, True)[0]  # noqa: FBT003 - the operator takes it by position only
        return dropped


class Attention(nn.Module):
    """Grouped-query attention, rotary or not, fused or eager."""

    def __init__(self, architecture: Architecture, recipe: Recipe) -> None:
        super().__init__()
        a = architecture
        self.architecture, self.recipe = a, recipe
        self.query = nn.Linear(a.hidden, a.query_width, bias=a.qkv_bias)
        self.key = nn.Linear(a.hidden, a.kv_width, bias=a.qkv_bias)
        self.value = nn.Linear(a.hidden, a.kv_width, bias=a.qkv_bias)
        self.output = nn.Linear(a.query_width, a.hidden, bias=a.output_bias)
        if a.qk_norm != "none":
            self.query_norm = norm(a, a.head_dim)
            self.key_norm = norm(a, a.head_dim)
        self.dropout = Dropout(recipe.dropout)

    def forward(self, x: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
        """Attend over `x` of shape (b, s, h)."""
        q, k, v = self.heads(x, tables)
        del x
        if self.recipe.recompute == "selective":
            core = checkpoint(self.core, q, k, v, tables, use_reentrant=False)
        else:
            core = self.core(q, k, v, tables)
        del q, k, v
        out: Tensor = self.output(core.transpose(1, 2).flatten(2))
        return out

    def heads(self, x: Tensor, tables: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (b, a, s, d), keys and values (b, k, s, d)."""
        split = (-1, self.architecture.head_dim)
        q = self.query(x).unflatten(-1, split)
        k = self.key(x).unflatten(-1, split)
        v = self.value(x).unflatten(-1, split).transpose(1, 2)
        if self.architecture.qk_norm != "none":
            q, k = self.query_norm(q), self.key_norm(k)
        q, k = q.transpose(1, 2), k.transpose(1, 2)
        if not self.architecture.positions:
            q, k = rotate(q, *tables[:2]), rotate(k, *tables[:2])
        if self.recipe.attention == "eager":  # batched products read whole heads
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        return q, k, v

    def core(self, q: Tensor, k: Tensor, v: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
        """Return softmax(q kᵀ) v, of shape (b, a, s, d)."""
        if self.recipe.attention == "flash":
            out: Tensor = flash_attention(q, k, v, self.recipe.dropout, is_causal=True)[0]
            return out
        groups = self.architecture.heads // self.architecture.kv_heads
        if groups > 1:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        weights: Tensor = q @ k.transpose(2, 3)
        weights = weights * (1 / math.sqrt(self.architecture.head_dim))
        weights = weights.masked_fill(tables[-1], -math.inf)
        if self.recipe.precision == "autocast":  # on CUDA autocast does it by itself
            weights = weights.float()
        weights = functional.softmax(weights, dim=-1)
        weights = self.dropout(weights)
        product: Tensor = weights @ v
        return product


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn pairs of `x` (b, a, s, d) by the angles in the tables (s, d)."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Mlp(nn.Module):
    """Two matrices around an activation, or three with a gate."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        a = architecture
        self.activation = ACTIVATIONS[a.activation]
        if a.gated:
            self.gate = nn.Linear(a.hidden, a.ffn, bias=a.mlp_bias)
        self.up = nn.Linear(a.hidden, a.ffn, bias=a.mlp_bias)
        self.down = nn.Linear(a.ffn, a.hidden, bias=a.mlp_bias)
        self.gated = a.gated

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (b, s, h) to the same shape."""
        if self.gated:
            hidden = self.activation(self.gate(x)) * self.up(x)
        else:
            hidden = self.activation(self.up(x))
        out: Tensor = self.down(hidden)
        return out


class Block(nn.Module):
    """Norm, attention, norm, MLP, with the residual stream beside them."""

    def __init__(self, architecture: Architecture, recipe: Recipe) -> None:
        super().__init__()
        self.architecture = architecture
        self.attention_norm = norm(architecture, architecture.hidden)
        if not architecture.shared_norm:
            self.mlp_norm = norm(architecture, architecture.hidden)
        self.attention = Attention(architecture, recipe)
        self.mlp = Mlp(architecture)
        self.dropout = Dropout(recipe.dropout)

    def forward(self, x: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
        """Return the residual stream behind this block, of the shape of `x`."""
        if self.architecture.shared_norm:
            normed = self.attention_norm(x)
            attended = x + self.dropout(self.attention(normed, tables))
        else:
            attended = x + self.dropout(self.attention(self.attention_norm(x), tables))
            normed = self.mlp_norm(x if self.architecture.parallel_residual else attended)
        del x
        out: Tensor = attended + self.dropout(self.mlp(normed))
        return out


class Transformer(nn.Module):
    """Embedding, blocks, final norm, head and loss."""

    def __init__(self, architecture: Architecture, recipe: Recipe) -> None:
        super().__init__()
        a = architecture
        self.architecture, self.recipe = a, recipe
        self.embedding = nn.Embedding(a.vocab, a.hidden)
        if a.positions:
            self.positions = nn.Embedding(a.positions, a.hidden)
        self.layers = nn.ModuleList(Block(a, recipe) for _ in range(a.layers))
        self.final_norm = norm(a, a.hidden)
        self.head = nn.Linear(a.hidden, a.vocab, bias=a.head_bias)
        if a.tied:
            self.head.weight = self.embedding.weight
        self.dropout = Dropout(recipe.dropout)

    def tables(self, sequence: int) -> tuple[Tensor, ...]:
        """Return what all layers share: rotary tables (s, d), and the mask where eager."""
        a = self.architecture
        tables: tuple[Tensor, ...] = ()
        if not a.positions:
            dtype = DTYPES[PRECISIONS[self.recipe.precision].compute]
            tables = tuple(torch.empty(sequence, a.head_dim, dtype=dtype) for _ in range(2))
        if self.recipe.attention == "eager":
            tables = (*tables, torch.empty(sequence, sequence, dtype=torch.bool))
        return tables

    def batch(self, micro_batch: int, sequence: int) -> tuple[Tensor, ...]:
        """Return token ids and targets (b, s), then what all layers share."""
        ids = (torch.zeros(micro_batch, sequence, dtype=torch.long) for _ in range(2))
        return (*ids, *self.tables(sequence))

    def forward(self, tokens: Tensor, targets: Tensor, *tables: Tensor) -> Tensor:
        """Return the loss of `targets` (b, s) under `tokens` (b, s)."""
        x = self.embedding(tokens)
        if self.architecture.positions:
            x = x + self.positions(torch.arange(tokens.shape[1]))
        x = self.dropout(x)
        for block in self.layers:
            if self.recipe.recompute == "full":
                x = checkpoint(block, x, tables, use_reentrant=False)
            else:
                x = block(x, tables)
        logits = self.head(self.final_norm(x))
        del x
        return functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def build(scenario: Scenario, weights: torch.dtype) -> Transformer:
    """Return the model of `scenario` with its weights in that dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(weights)
    try:
        return Transformer(scenario.architecture, scenario.recipe)
    finally:
        torch.set_default_dtype(before)
