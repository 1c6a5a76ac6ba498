"""Qwen3 (arXiv 2505.09388): Llama with a norm of each query and key head."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import shape_of, window_of_late_layers
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=32, head_dim=128)
    bias = c.switch("attention_bias")
    return Architecture(
        **shape,
        **window_of_late_layers(c, shape["layers"]),
        qk_norm="head",
        qkv_bias=bias,
        output_bias=bias,
    )


FAMILY = Family(model_type="qwen3", read=_read)
