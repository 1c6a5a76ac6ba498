"""Qwen2 (arXiv 2407.10671): Llama with biases at queries, keys and values."""

from engine.architecture import Architecture
from engine.families.blocks import llama_like
from engine.families.family import Family
from engine.families.reading import shape_of, window_of_late_layers
from engine.families.writing import grouped
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=32)
    windows = window_of_late_layers(c, shape["layers"])
    return Architecture(**shape, **windows, qkv_bias=True)


def _has(a: Architecture) -> bool:
    biases = a.qkv_bias and not a.output_bias and not a.mlp_bias
    return llama_like(a) and a.experts is None and biases


FAMILY = Family(model_type="qwen2", read=_read, has=_has, written=grouped)
