"""Fused attention whatever the width of its values, as PyTorch chooses its kernel on a GPU."""

import math
from typing import Any, cast

import torch
from torch import Tensor

from engine.verify.kernels import dropped, flash_attention, probabilities_of, register_on_cpu

EFFICIENT = "_scaled_dot_product_efficient_attention"
ROWS = 32  # of log-sum-exps: rounded up to these
DEFAULTS = (0.0, False)  # the rate of dropout, and whether attention is causal
efficient_attention = getattr(torch.ops.aten, EFFICIENT)


def fused_attention(query: Tensor, key: Tensor, value: Tensor, dropout: float) -> Tensor:
    """Return what `scaled_dot_product_attention` makes of causal heads (b, a, s, d) on a GPU.

    Its flash kernel wants values as wide as keys (aten/src/ATen/native/transformers/cuda/
    sdp_utils.cpp, check_head_dim_size_flash). Where they are not, the memory-efficient kernel is
    taken, which keeps the same five tensors, each at its own width.
    """
    if value.shape[-1] == key.shape[-1]:
        out: Tensor = flash_attention(query, key, value, dropout, is_causal=True)[0]
    else:
        keeps_sums = True
        out = efficient_attention(query, key, value, None, keeps_sums, dropout, is_causal=True)[0]
    return out


def _on_cpu(
    query: Tensor, key: Tensor, value: Tensor, *more: object, scale: float | None = None
) -> tuple[Tensor, ...]:
    """Return what the GPU's kernel returns: the output, log-sum-exps and the state of dropout.

    What else the operator takes is a bias, whether sums are wanted, the rate of dropout and
    whether attention is causal; values at their defaults may be left out at the end.
    """
    given = more[2:]
    rate, causal = cast(tuple[float, bool], (*given, *DEFAULTS[len(given) :]))
    factor = scale or 1 / math.sqrt(query.shape[-1])
    seed = torch.randint(2**31, ())
    weights = probabilities_of(query, key, factor, causal=causal)
    out = _tokens_first(dropped(weights, rate, seed.view(1)) @ value.float(), query)
    padded = -(-query.shape[2] // ROWS) * ROWS
    sums = torch.zeros(*query.shape[:2], padded, dtype=torch.float32)
    return out, sums, seed, seed.clone()


def _backward_on_cpu(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *more: object,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of queries, keys and values."""
    _bias, _out, _sums, seed, _offset, rate = cast(tuple[Any, ...], more[:6])
    factor = scale or 1 / math.sqrt(query.shape[-1])
    weights = probabilities_of(query, key, factor, causal=any(more[7:]))
    wide = gradient.float()
    of_values = dropped(weights, rate, seed.view(1)).transpose(-2, -1) @ wide
    of_weights = dropped(wide @ value.float().transpose(-2, -1), rate, seed.view(1))
    inner = weights * of_weights
    of_scores = (inner - weights * inner.sum(-1, keepdim=True)) * factor
    of_queries, of_keys = of_scores @ key.float(), of_scores.transpose(-2, -1) @ query.float()
    made = (of_queries, of_keys, of_values)
    return (*(_tokens_first(one, query) for one in made), None)


def _tokens_first(x: Tensor, like: Tensor) -> Tensor:
    """Return `x` (b, a, s, d) in the dtype of `like`, with tokens one behind the other."""
    return x.to(like.dtype).transpose(1, 2).contiguous().transpose(1, 2)


register_on_cpu(EFFICIENT, _on_cpu, _backward_on_cpu)
