"""The fused kernels on a CPU: the functions that they stand for, with their gradients."""

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional

from engine.verify.efficient import fused_attention
from engine.verify.kernels import flash_attention, layer_norm, rms_norm
from engine.verify.like_gpu import like_gpu


def gradients(out, inputs):
    weights = torch.linspace(-1, 1, out.numel()).view_as(out)
    return torch.autograd.grad((out * weights).sum(), inputs)


def same(mine, others):
    for one, other in zip(mine, others, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def leaf(*shape):
    torch.manual_seed(sum(shape))
    return torch.randn(*shape, requires_grad=True)


@pytest.mark.parametrize("kv_heads", [1, 2, 8])
def test_flash_attention_is_causal_softmax_over_shared_heads(kv_heads):
    q, k, v = leaf(2, 8, 33, 16), leaf(2, kv_heads, 33, 16), leaf(2, kv_heads, 33, 17)[..., :16]
    mine = flash_attention(q, k, v, 0.0, is_causal=True)[0]
    other = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    same([mine], [other])
    same(gradients(mine, (q, k)), gradients(other, (q, k)))


@pytest.mark.parametrize("width", [8, 16, 24])
def test_fused_attention_takes_values_of_any_width(width):
    q, k, v = leaf(2, 4, 33, 16), leaf(2, 4, 33, 16), leaf(2, 4, 33, width)
    mine = fused_attention(q, k, v, 0.0)
    other = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert mine.shape == (2, 4, 33, width)
    same([mine], [other])
    same(gradients(mine, (q, k, v)), gradients(other, (q, k, v)))


def test_flash_attention_drops_the_same_probabilities_in_both_passes():
    q, k, v = leaf(1, 2, 9, 8), leaf(1, 2, 9, 8), leaf(1, 2, 9, 8)
    out = flash_attention(q, k, v, 0.5, is_causal=True)[0]
    (of_v,) = gradients(out, (v,))
    # linear in v: the gradient times v is the output times its weights
    weights = torch.linspace(-1, 1, out.numel()).view_as(out)
    torch.testing.assert_close((of_v * v).sum(), (out * weights).sum())


def test_rms_norm_is_pytorchs():
    x, weight = leaf(3, 5, 16), leaf(16)
    mine = rms_norm(x, weight, 1e-5)[0]
    other = functional.rms_norm(x, (16,), weight, 1e-5)
    same([mine], [other])
    same(gradients(mine, (x, weight)), gradients(other, (x, weight)))


@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm_is_pytorchs(affine):
    x, weight, bias = leaf(3, 5, 16), leaf(16), leaf(16)
    parameters = (weight, bias) if affine else (None, None)
    mine = layer_norm(x, *parameters, 1e-5)[0]
    other = functional.layer_norm(x, (16,), *parameters, 1e-5)
    inputs = (x, weight, bias) if affine else (x,)
    same([mine], [other])
    same(gradients(mine, inputs), gradients(other, inputs))


def test_statistics_of_16_bit_rows_are_fp32_as_on_a_gpu():
    x = torch.ones(3, 8, dtype=torch.bfloat16)
    weight = torch.ones(8, dtype=torch.bfloat16)
    assert layer_norm(x, weight, weight, 1e-5)[1].dtype == torch.float32
    assert rms_norm(x, weight, 1e-5)[1].dtype == torch.float32


def test_dropout_like_a_gpu_keeps_one_byte_an_element():
    x, before = leaf(4, 8), functional.dropout
    with like_gpu():
        out = functional.dropout(x, 0.5, training=True)
        assert functional.dropout(x, 0.5, training=False) is x
    assert out.grad_fn.name() == "NativeDropoutBackward0"
    assert functional.dropout is before


def test_powers_under_autocast_like_a_gpu_are_fp32():
    x = torch.ones(2, dtype=torch.bfloat16)
    with like_gpu(), torch.autocast("cpu", torch.bfloat16):
        assert torch.pow(x, 3).dtype == torch.float32
        assert functional.softmax(x, dim=0).dtype == torch.float32
    with like_gpu():
        assert torch.pow(x, 3).dtype == torch.bfloat16
