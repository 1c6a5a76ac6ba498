"""The reference transformer: what the `fused` software stack runs, in torch-native modules.

Fused kernels only where PyTorch has one: RMSNorm, LayerNorm, scaled-dot-product attention,
cross entropy. Everything else is one operator after another, and each keeps what its own
backward needs.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from engine.architecture import Architecture, Experts
from engine.precisions import PRECISIONS
from engine.scenario import Adapters, Recipe, Scenario
from engine.verify.adapters import adapted
from engine.verify.float8 import in_float8
from engine.verify.host import waiting_on_host
from engine.verify.kernels import flash_attention, layer_norm, rms_norm
from engine.verify.losses import OF_LOGITS, in_chunks, soft_capped

grouped = functional.grouped_mm
# Gemma 2's, arXiv 2408.00118 section 2. They change no size.
SCORE_CAP, LOGIT_CAP = 50.0, 30.0
DTYPES = {4: torch.float32, 2: torch.bfloat16}
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu-tanh": partial(functional.gelu, approximate="tanh"),
    "relu": functional.relu,
}


class RmsNorm(nn.Module):
    """RMSNorm that keeps its input and one fp32 number a row."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last dimension of `x`."""
        normed: Tensor = rms_norm(x, self.weight, 1e-5)[0]
        return normed


class LayerNorm(nn.Module):
    """LayerNorm that keeps its input and two fp32 numbers a row."""

    def __init__(self, width: int, *, affine: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width)) if affine else None
        self.bias = nn.Parameter(torch.empty(width)) if affine else None

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last dimension of `x`."""
        normed: Tensor = layer_norm(x, self.weight, self.bias, 1e-5)[0]
        return normed


def norm(architecture: Architecture, width: int) -> nn.Module:
    """Return the norm that `architecture` puts over `width` elements."""
    if architecture.norm == "rmsnorm":
        return RmsNorm(width)
    return LayerNorm(width, affine=architecture.norm == "layernorm")


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
            whole = a.qk_norm == "full"
            self.query_norm = norm(a, a.query_width if whole else a.head_dim)
            self.key_norm = norm(a, a.kv_width if whole else a.head_dim)
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
        a, split = self.architecture, (-1, self.architecture.head_dim)
        q, k, v = self.query(x), self.key(x), self.value(x)
        if a.qk_norm == "full":
            q, k = self.query_norm(q), self.key_norm(k)
        q, k, v = (one.unflatten(-1, split) for one in (q, k, v))
        if a.qk_norm == "head":
            q, k = self.query_norm(q), self.key_norm(k)
        q, k, v = (one.transpose(1, 2) for one in (q, k, v))
        if not a.positions:
            q, k = self.turned(q, tables), self.turned(k, tables)
        if self.recipe.attention == "eager":  # batched products read whole heads
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        return q, k, v

    def turned(self, x: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
        """Return `x` with its rotary part turned."""
        width = self.architecture.rotary_dim
        if width == self.architecture.head_dim:
            return rotate(x, *tables[:2])
        return torch.cat((rotate(x[..., :width], *tables[:2]), x[..., width:]), dim=-1)

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
        if self.architecture.soft_cap:
            weights = soft_capped(weights, SCORE_CAP)
        weights = weights.masked_fill(tables[-1], -math.inf)
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


class MixtureOfExperts(nn.Module):
    """A router and gated MLPs; tokens are sorted by expert for one grouped product over all.

    The sizes do not depend on which experts the tokens go to.
    """

    def __init__(self, architecture: Architecture, experts: Experts) -> None:
        super().__init__()
        h, f = architecture.hidden, experts.ffn
        self.experts = experts
        self.activation = ACTIVATIONS[architecture.activation]
        self.router = nn.Linear(h, experts.routed, bias=False)
        self.up = nn.Parameter(torch.empty(experts.routed, 2 * f, h))
        self.down = nn.Parameter(torch.empty(experts.routed, h, f))

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (b, s, h) to the same shape."""
        rows = x.flatten(0, 1)
        chances = functional.softmax(self.router(rows).float(), dim=-1)
        shares, chosen = torch.topk(chances, self.experts.per_token, dim=-1)
        shares /= shares.sum(dim=-1, keepdim=True)
        by_expert, order = torch.sort(chosen.flatten())
        sent = rows[order // self.experts.per_token]
        weights = shares.flatten()[order]
        numbers = torch.arange(self.experts.routed, device=x.device)
        ends = torch.searchsorted(by_expert, numbers, right=True).to(torch.int32)
        hidden = self.gated(grouped(sent, self.up.transpose(1, 2), offs=ends))
        unscaled = grouped(hidden, self.down.transpose(1, 2), offs=ends)
        del hidden
        out = unscaled * weights.unsqueeze(-1)
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order), device=x.device)
        out = out[back]
        out = out.unflatten(0, (-1, self.experts.per_token)).sum(dim=1)
        summed: Tensor = out.to(x.dtype).unflatten(0, x.shape[:2])
        return summed

    def gated(self, both: Tensor) -> Tensor:
        """Return the activated first half of `both`, times the second."""
        gate, up = both.chunk(2, dim=-1)
        return self.activation(gate) * up


class Block(nn.Module):
    """Attention and MLP, norms before or behind them, with the residual stream beside them."""

    def __init__(self, architecture: Architecture, recipe: Recipe) -> None:
        super().__init__()
        self.architecture = architecture
        before, behind = architecture.norm_inputs, architecture.norm_outputs
        self.attention_norm = self._norm(present=before)
        self.mlp_norm = self._norm(present=before and not architecture.shared_norm)
        self.attention_output_norm = self._norm(present=behind)
        self.mlp_output_norm = self._norm(present=behind)
        self.attention = Attention(architecture, recipe)
        experts = architecture.experts
        self.mlp = MixtureOfExperts(architecture, experts) if experts else Mlp(architecture)
        self.dropout = Dropout(recipe.dropout)

    def _norm(self, *, present: bool) -> nn.Module:
        return norm(self.architecture, self.architecture.hidden) if present else nn.Identity()

    def forward(self, x: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
        """Return the residual stream behind this block, of the shape of `x`."""
        behind = self.attention_output_norm
        if self.architecture.shared_norm:
            normed = self.attention_norm(x)
            attended = x + self.dropout(behind(self.attention(normed, tables)))
        else:
            attended = x + self.dropout(behind(self.attention(self.attention_norm(x), tables)))
            normed = self.mlp_norm(x if self.architecture.parallel_residual else attended)
        del x
        out: Tensor = attended + self.dropout(self.mlp_output_norm(self.mlp(normed)))
        return out


class Transformer(nn.Module):
    """Embedding, blocks, final norm, head and loss.

    Attributes:
        saves_on_host: whether what checkpoints keep waits on the host.
    """

    saves_on_host = False

    def __init__(
        self, architecture: Architecture, recipe: Recipe, adapters: Adapters | None = None
    ) -> None:
        super().__init__()
        a, adapters = architecture, adapters or Adapters()
        self.architecture, self.recipe = a, recipe
        self.embedding = nn.Embedding(a.vocab, a.hidden)
        if a.positions:
            self.positions = nn.Embedding(a.positions, a.hidden)
        made = (adapted(Block(a, recipe), adapters) for _ in range(a.layers))
        float8 = PRECISIONS[recipe.precision].float8
        self.layers = nn.ModuleList(in_float8(layer) if float8 else layer for layer in made)
        self.final_norm = norm(a, a.hidden)
        self.head = nn.Linear(a.hidden, a.vocab, bias=a.head_bias)
        if a.tied:
            self.head.weight = self.embedding.weight
        self.dropout = Dropout(recipe.dropout)
        if adapters.rank:
            for part in (self.embedding, self.final_norm, self.head):
                part.requires_grad_(requires_grad=False)
            if a.positions:
                self.positions.requires_grad_(requires_grad=False)

    def tables(self, sequence: int) -> tuple[Tensor, ...]:
        """Return what all layers share: rotary tables (s, d), and the mask where eager."""
        a = self.architecture
        tables: tuple[Tensor, ...] = ()
        if not a.positions:
            dtype = DTYPES[PRECISIONS[self.recipe.precision].compute]
            tables = tuple(torch.empty(sequence, a.rotary_dim, dtype=dtype) for _ in range(2))
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
                with waiting_on_host() if self.saves_on_host else nullcontext():
                    x = checkpoint(block, x, tables, use_reentrant=False)
            else:
                x = block(x, tables)
        cap = LOGIT_CAP if self.architecture.soft_cap else 0.0
        if self.recipe.loss == "chunked":
            return in_chunks(self.final_norm(x).flatten(0, 1), self.head, targets.flatten(), cap)
        logits = self.head(self.final_norm(x))
        del x
        if cap and self.recipe.loss == "eager":
            logits, cap = soft_capped(logits, cap), 0.0
        return OF_LOGITS[self.recipe.loss](logits.flatten(0, 1), targets.flatten(), cap)


def build(scenario: Scenario, weights: torch.dtype) -> Transformer:
    """Return the model of `scenario` with its weights in that dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(weights)
    try:
        model = Transformer(scenario.architecture, scenario.recipe, scenario.adapters)
        model.saves_on_host = scenario.offload.activations != "none"
        return model
    finally:
        torch.set_default_dtype(before)
