"""Attention of the reference transformer: grouped queries, or a latent in place of the heads."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from engine.architecture import Architecture
from engine.architecture import LatentAttention as Latent
from engine.scenario import Recipe
from engine.verify.efficient import fused_attention
from engine.verify.losses import soft_capped
from engine.verify.norms import Dropout, norm

SCORE_CAP = 50.0  # Gemma 2's, arXiv 2408.00118 section 2: it changes no size


class Attention(nn.Module):
    """Grouped-query attention, rotary or not, fused or eager."""

    def __init__(self, architecture: Architecture, recipe: Recipe) -> None:
        super().__init__()
        self.architecture, self.recipe = architecture, recipe
        self.dropout = Dropout(recipe.dropout)
        self.make(architecture)

    def make(self, a: Architecture) -> None:
        """Make the matrices and norms."""
        self.query = nn.Linear(a.hidden, a.query_width, bias=a.qkv_bias)
        self.key = nn.Linear(a.hidden, a.kv_width, bias=a.qkv_bias)
        self.value = nn.Linear(a.hidden, a.kv_width, bias=a.qkv_bias)
        self.output = nn.Linear(a.query_width, a.hidden, bias=a.output_bias)
        if a.qk_norm != "none":
            whole = a.qk_norm == "full"
            self.query_norm = norm(a, a.query_width if whole else a.head_dim)
            self.key_norm = norm(a, a.kv_width if whole else a.head_dim)

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
            return fused_attention(q, k, v, self.recipe.dropout)
        groups = q.shape[1] // k.shape[1]
        if groups > 1:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        weights: Tensor = q @ k.transpose(2, 3)
        weights = weights * (1 / math.sqrt(q.shape[-1]))
        if self.architecture.soft_cap:
            weights = soft_capped(weights, SCORE_CAP)
        weights = weights.masked_fill(tables[-1], -math.inf)
        weights = functional.softmax(weights, dim=-1)
        weights = self.dropout(weights)
        product: Tensor = weights @ v
        return product


class LatentAttention(Attention):
    """Multi-head latent attention (arXiv 2405.04434 section 2.1)."""

    def make(self, a: Architecture) -> None:
        """Make the matrices and norms."""
        m = _latent(a)
        queries = a.heads * (m.nope_head_dim + m.rope_head_dim)
        if m.query_rank:
            self.query_down = nn.Linear(a.hidden, m.query_rank, bias=a.qkv_bias)
            self.query_norm = norm(a, m.query_rank)
            self.query_up = nn.Linear(m.query_rank, queries, bias=False)
        else:
            self.query = nn.Linear(a.hidden, queries, bias=False)
        self.down = nn.Linear(a.hidden, m.kv_rank + m.rope_head_dim, bias=a.qkv_bias)
        self.norm = norm(a, m.kv_rank)
        both = a.heads * (m.nope_head_dim + m.value_head_dim)
        self.up = nn.Linear(m.kv_rank, both, bias=False)
        self.output = nn.Linear(a.heads * m.value_head_dim, a.hidden, bias=a.output_bias)

    def heads(self, x: Tensor, tables: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries and keys (b, a, s, d_n + d_r), and values (b, a, s, d_v)."""
        q = self.queries(x, tables)
        k, v = self.keys_and_values(x, tables)
        q, k, v = (one.transpose(1, 2) for one in (q, k, v))
        if self.recipe.attention == "eager":  # batched products read whole heads
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        return q, k, v

    def queries(self, x: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
        """Return queries (b, s, a, d_n + d_r), of which the last d_r elements are turned."""
        a, m = self.architecture, _latent(self.architecture)
        low = self.query_norm(self.query_down(x)) if m.query_rank else x
        wide = self.query_up if m.query_rank else self.query
        q: Tensor = wide(low).unflatten(-1, (a.heads, -1))
        del low
        if a.positions:
            return q
        still, part = q.split((m.nope_head_dim, m.rope_head_dim), dim=-1)
        return torch.cat((still, turned(part, tables)), dim=-1)

    def keys_and_values(self, x: Tensor, tables: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        """Return keys (b, s, a, d_n + d_r) and values (b, s, a, d_v), the latter a view."""
        a, m = self.architecture, _latent(self.architecture)
        low, position = self.down(x).split((m.kv_rank, m.rope_head_dim), dim=-1)
        both = self.up(self.norm(low)).unflatten(-1, (a.heads, -1))
        still, v = both.split((m.nope_head_dim, m.value_head_dim), dim=-1)
        position = position.unsqueeze(2)
        if not a.positions:
            position = turned(position, tables)
        return torch.cat((still, position.expand(-1, -1, a.heads, -1)), dim=-1), v


def _latent(a: Architecture) -> Latent:
    if a.latent is None:
        raise ValueError(a)
    return a.latent


def turned(x: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
    """Return `x` (b, s, a, d) with all of it turned."""
    return rotate(x, *(table.unsqueeze(1) for table in tables[:2]))


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn pairs of `x` (b, a, s, d) by the angles in the tables (s, d)."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin
