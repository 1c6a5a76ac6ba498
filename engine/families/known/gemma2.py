"""Gemma 2 (arXiv 2408.00118): norms on both sides, and a window in every other layer."""

from itertools import pairwise

from engine.architecture import Architecture
from engine.families.blocks import llama_in_branches
from engine.families.family import Family
from engine.families.reading import ACTIVATIONS, LAYER_KINDS, shape_of, windows_of
from engine.families.writing import grouped
from engine.fields import Fields

CAPS = ("attn_logit_softcapping", "final_logit_softcapping")


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=4, head_dim=256, tied=True)
    shape["activation"] = c.choice("hidden_activation", ACTIVATIONS, default="gelu_pytorch_tanh")
    window = c.size("sliding_window", default=4096, null=0, least=0)
    windows = windows_of(c, window, shape["layers"], (shape["layers"] + 1) // 2)
    capped = {c.value(cap, 1.0) is not None for cap in CAPS}
    if len(capped) > 1:
        c.disagree(CAPS, "and one of them is null, which is not modelled", "cap both or neither")
    bias = c.switch("attention_bias")
    return Architecture(
        **shape,
        **windows,
        norm_outputs=True,
        soft_cap=any(capped),
        qkv_bias=bias,
        output_bias=bias,
    )


def _has(a: Architecture) -> bool:
    norms = a.norm_inputs and a.norm_outputs and a.qk_norm == "none"
    return llama_in_branches(a) and norms


def _written(a: Architecture, rate: float) -> dict[str, object]:
    windowed = (a.window_layers or a.layers) if a.window else 0
    # Windowed layers up to each, spread evenly, the first layer before all.
    up_to = [-(-number * windowed // a.layers) for number in range(a.layers + 1)]
    window, whole = LAYER_KINDS
    kinds = [window if more > less else whole for less, more in pairwise(up_to)]
    fields = grouped(a, rate)
    return fields | {
        "hidden_activation": fields["hidden_act"],
        "attention_bias": a.qkv_bias,
        "attn_logit_softcapping": 50.0 if a.soft_cap else None,
        "final_logit_softcapping": 30.0 if a.soft_cap else None,
        "sliding_window": a.window or 4096,
        "layer_types": kinds,
    }


FAMILY = Family(model_type="gemma2", read=_read, has=_has, written=_written)
