"""Fused kernels of a GPU, made to run and to be traced on any device.

Each is one operator that keeps what the GPU's kernel keeps. On a GPU it is that kernel; on a CPU,
which has none of that name, it is the same function of plain operators, which a dispatch mode
does not see.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional

FLASH = "_scaled_dot_product_flash_attention"
# By name, because `scaled_dot_product_attention` takes another kernel on a CPU.
flash_attention = torch.ops.aten._scaled_dot_product_flash_attention  # noqa: SLF001 - no public name
_on_cpu = torch.library.Library("aten", "IMPL")


@torch.library.custom_op("memquiz::rms_norm", mutates_args=())
def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Return `x` normalised over its last dimension and 1 / rms of each row in fp32.

    What PyTorch's fused CUDA kernel `_fused_rms_norm` does and keeps; one operator on any device,
    because on a CPU that kernel falls apart into many, each of which would keep something.
    """
    if x.is_cuda:
        return torch.ops.aten._fused_rms_norm(x, [x.shape[-1]], weight, epsilon)  # type: ignore[no-any-return] # noqa: SLF001
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return (wide * scale * weight.float()).to(x.dtype), scale


@rms_norm.register_fake
def _(x: Tensor, weight: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    del weight, epsilon
    return torch.empty_like(x), x.new_empty((*x.shape[:-1], 1), dtype=torch.float32)


@torch.library.custom_op("memquiz::rms_norm_backward", mutates_args=())
def rms_norm_backward(
    gradient: Tensor, x: Tensor, weight: Tensor, scale: Tensor, *, trained: bool
) -> list[Tensor]:
    """Return the gradients of `x` and, where it is trained, of `weight`."""
    if x.is_cuda:
        backward = torch.ops.aten._fused_rms_norm_backward  # noqa: SLF001
        both = backward(gradient, x, [x.shape[-1]], scale, weight, [True, trained])
        return [one for one in both if one is not None and one.dim()]
    normed = x.float() * scale
    wide = gradient.float()
    inner = wide * weight.float()
    outer = normed * (inner * normed).mean(-1, keepdim=True)
    of_x = ((inner - outer) * scale).to(x.dtype)
    if not trained:
        return [of_x]
    of_weight = (wide * normed).flatten(0, -2).sum(0)
    return [of_x, of_weight.to(weight.dtype)]


@rms_norm_backward.register_fake
def _(
    gradient: Tensor, x: Tensor, weight: Tensor, scale: Tensor, *, trained: bool
) -> list[Tensor]:
    del gradient, scale
    return [torch.empty_like(tensor) for tensor in ((x, weight) if trained else (x,))]


def _keep(
    ctx: FunctionCtx, inputs: tuple[Tensor, Tensor, float], output: tuple[Tensor, Tensor]
) -> None:
    ctx.save_for_backward(inputs[0], inputs[1], output[1])
    ctx.mark_non_differentiable(output[1])
    ctx.set_materialize_grads(False)  # no zeros for the statistics


def _back(context: FunctionCtx, gradient: Tensor, _of_scale: Tensor) -> tuple[Tensor | None, ...]:
    x, weight, scale = context.saved_tensors  # type: ignore[attr-defined] # set by autograd
    trained: bool = context.needs_input_grad[1]  # type: ignore[attr-defined] # set by autograd
    made = rms_norm_backward(gradient, x, weight, scale, trained=trained)
    return (*made, *(None for _ in range(3 - len(made))))


rms_norm.register_autograd(_back, setup_context=_keep)


@torch.library.custom_op("memquiz::layer_norm", mutates_args=())
def layer_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return `x` normalised over its last dimension, and mean and 1 / deviation of each row.

    The statistics are fp32, as on a GPU; a CPU has them in the dtype of `x`.
    """
    if x.is_cuda:
        return torch.native_layer_norm(x, [x.shape[-1]], weight, bias, epsilon)
    # Not functional.layer_norm, in whose place `engine.verify.like_gpu` puts this operator.
    wide = torch.layer_norm(x.float(), (x.shape[-1],), eps=epsilon)
    if weight is not None and bias is not None:
        wide = wide * weight.float() + bias.float()
    deviation, mean = torch.var_mean(x.float(), -1, correction=0, keepdim=True)
    return wide.to(x.dtype), mean.clone(), torch.rsqrt(deviation + epsilon)


@layer_norm.register_fake
def _(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    del weight, bias, epsilon
    mean, scale = (x.new_empty((*x.shape[:-1], 1), dtype=torch.float32) for _ in range(2))
    return torch.empty_like(x), mean, scale


@torch.library.custom_op("memquiz::layer_norm_backward", mutates_args=())
def layer_norm_backward(
    gradient: Tensor,
    x: Tensor,
    mean: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    *,
    trained: bool,
) -> list[Tensor]:
    """Return the gradients of `x` and, where they are `trained`, of weight and bias."""
    normed = (x.float() - mean) * scale
    wide = gradient.float()
    inner = wide if weight is None else wide * weight.float()
    outer = inner.mean(-1, keepdim=True) + normed * (inner * normed).mean(-1, keepdim=True)
    of_x = ((inner - outer) * scale).to(x.dtype)
    if weight is None or not trained:
        return [of_x]
    of_weight, of_bias = ((wide * normed).flatten(0, -2).sum(0), wide.flatten(0, -2).sum(0))
    return [of_x, of_weight.to(weight.dtype), of_bias.to(weight.dtype)]


@layer_norm_backward.register_fake
def _(
    gradient: Tensor,
    x: Tensor,
    mean: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    *,
    trained: bool,
) -> list[Tensor]:
    del gradient, mean, scale
    made = [x] if weight is None or not trained else [x, weight, weight]
    return [torch.empty_like(tensor) for tensor in made]


def _keep_layer(
    ctx: FunctionCtx,
    inputs: tuple[Tensor, Tensor | None, Tensor | None, float],
    output: tuple[Tensor, Tensor, Tensor],
) -> None:
    ctx.save_for_backward(inputs[0], inputs[1], *output[1:])  # type: ignore[arg-type] # None may be saved
    ctx.mark_non_differentiable(*output[1:])
    ctx.set_materialize_grads(False)  # no zeros for the statistics


def _back_layer(
    context: FunctionCtx, gradient: Tensor, *_of_statistics: Tensor
) -> tuple[Tensor | None, ...]:
    x, weight, mean, scale = context.saved_tensors  # type: ignore[attr-defined] # set by autograd
    trained: bool = context.needs_input_grad[1]  # type: ignore[attr-defined] # set by autograd
    made = layer_norm_backward(gradient, x, mean, scale, weight, trained=trained)
    return (*made, *(None for _ in range(4 - len(made))))


layer_norm.register_autograd(_back_layer, setup_context=_keep_layer)


def probabilities_of(query: Tensor, key: Tensor, scale: float, *, causal: bool) -> Tensor:
    """Return softmax(q kᵀ) of (b, a, s, s) in fp32 for keys of all heads."""
    scores = query.float() @ key.float().transpose(-2, -1) * scale
    if causal:
        rows, columns = scores.shape[-2:]
        hidden = torch.ones(rows, columns, dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(hidden, -math.inf)
    return functional.softmax(scores, -1)


def _for_all_heads(query: Tensor, shared: Tensor) -> Tensor:
    return shared.repeat_interleave(query.shape[1] // shared.shape[1], 1)


def dropped(probabilities: Tensor, rate: float, seed: Tensor) -> Tensor:
    """Return `probabilities` without those that dropout with that seed takes out."""
    if not rate:
        return probabilities
    chance = torch.Generator().manual_seed(int(seed[0].item()))
    kept = torch.rand(probabilities.shape, generator=chance) >= rate
    return probabilities * kept / (1 - rate)


def _flash_on_cpu(  # noqa: PLR0913 - the operator's own signature
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,  # noqa: FBT001, FBT002 - the operator's own signature
    return_debug_mask: bool = False,  # noqa: FBT001, FBT002 - the operator's own signature
    *,
    scale: float | None = None,
) -> tuple[Tensor | int | None, ...]:
    """Return what the GPU's kernel returns: the output, log-sum-exps and the state of dropout."""
    del return_debug_mask
    factor = scale or 1 / math.sqrt(query.shape[-1])
    keys, values = _for_all_heads(query, key), _for_all_heads(query, value)
    seed = torch.randint(2**31, (2,)).to(torch.uint64)
    weights = dropped(probabilities_of(query, keys, factor, causal=is_causal), dropout_p, seed)
    out = torch.empty_like(query).copy_(weights @ values.float())
    sums = torch.zeros(query.shape[:-1], dtype=torch.float32)
    none = query.new_empty(0)
    return out, sums, None, None, query.shape[2], key.shape[2], seed, seed[0].clone(), none


def _flash_backward_on_cpu(  # noqa: PLR0913, PLR0917 - the operator's own signature
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    _sums: Tensor,
    _first_queries: Tensor | None,
    _first_keys: Tensor | None,
    _queries: int,
    _keys: int,
    dropout_p: float,
    is_causal: bool,  # noqa: FBT001 - the operator's own signature
    seed: Tensor,
    _offset: Tensor,
    *,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of queries, keys and values."""
    del out
    factor = scale or 1 / math.sqrt(query.shape[-1])
    keys, values = _for_all_heads(query, key), _for_all_heads(query, value)
    probabilities = probabilities_of(query, keys, factor, causal=is_causal)
    wide = gradient.float()
    of_values = dropped(probabilities, dropout_p, seed).transpose(-2, -1) @ wide
    of_weights = dropped(wide @ values.float().transpose(-2, -1), dropout_p, seed)
    inner = probabilities * of_weights
    of_scores = (inner - probabilities * inner.sum(-1, keepdim=True)) * factor
    of_queries, of_keys = of_scores @ keys.float(), of_scores.transpose(-2, -1) @ query.float()
    return (
        torch.empty_like(query).copy_(of_queries),
        torch.empty_like(key).copy_(_summed(of_keys, key)),
        torch.empty_like(value).copy_(_summed(of_values, value)),
    )


def _summed(gradient: Tensor, shared: Tensor) -> Tensor:
    """Return the gradient of heads that several query heads share."""
    summed: Tensor = gradient.unflatten(1, (shared.shape[1], -1)).sum(2)
    return summed


def register_on_cpu(name: str, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
    """Give a CPU an operator under its name, unless this build of PyTorch has it."""
    for one, kernel in ((name, forward), (f"{name}_backward", backward)):
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{one}", "CPU"):  # noqa: SLF001 - no public name
            _on_cpu.impl(one, kernel, "CPU")


register_on_cpu(FLASH, _flash_on_cpu, _flash_backward_on_cpu)
