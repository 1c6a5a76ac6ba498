"""Gemma (arXiv 2403.08295): Llama with GELU, heads of 256 and a tied head."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import shape_of
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=16, head_dim=256, activation="gelu_pytorch_tanh", tied=True)
    if c.value("hidden_act") == "gelu":
        # The class reads its own early releases' "gelu" as the tanh form.
        shape["activation"] = "gelu-tanh"
    bias = c.switch("attention_bias")
    return Architecture(**shape, qkv_bias=bias, output_bias=bias)


FAMILY = Family(model_type="gemma", read=_read)
