"""Llama (arXiv 2302.13971): the block that most others vary."""

from engine.architecture import Architecture
from engine.families.blocks import llama_like, unbiased
from engine.families.family import Family
from engine.families.reading import shape_of
from engine.families.writing import grouped
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    bias = c.switch("attention_bias")
    return Architecture(
        **shape_of(c), qkv_bias=bias, output_bias=bias, mlp_bias=c.switch("mlp_bias")
    )


def _has(a: Architecture) -> bool:
    windowed = a.window > 0 and unbiased(a)  # which is Mistral's
    biases = a.qkv_bias == a.output_bias
    return llama_like(a) and a.experts is None and biases and not windowed


def _written(a: Architecture, rate: float) -> dict[str, object]:
    return grouped(a, rate) | {"attention_bias": a.qkv_bias, "mlp_bias": a.mlp_bias}


FAMILY = Family(model_type="llama", read=_read, has=_has, written=_written)
