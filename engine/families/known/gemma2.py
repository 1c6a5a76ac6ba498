"""Gemma 2 (arXiv 2408.00118): norms on both sides, and a window in every other layer."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import ACTIVATIONS, shape_of, windows_of
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=4, head_dim=256, tied=True)
    shape["activation"] = c.choice("hidden_activation", ACTIVATIONS, default="gelu_pytorch_tanh")
    window = c.size("sliding_window", default=4096, null=0, least=0)
    windows = windows_of(c, window, shape["layers"], (shape["layers"] + 1) // 2)
    caps = ("attn_logit_softcapping", "final_logit_softcapping")
    bias = c.switch("attention_bias")
    return Architecture(
        **shape,
        **windows,
        norm_outputs=True,
        soft_cap=any(c.value(cap, 1.0) is not None for cap in caps),
        qkv_bias=bias,
        output_bias=bias,
    )


FAMILY = Family(model_type="gemma2", read=_read)
