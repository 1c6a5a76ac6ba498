"""GPT-NeoX (arXiv 2204.06745): attention and MLP side by side, heads rotated in part."""

from engine.architecture import Architecture
from engine.families.blocks import gpt_like
from engine.families.family import Family
from engine.families.reading import divides, rotary_of, shape_of
from engine.families.writing import sizes
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, activation="gelu")
    heads = shape["heads"]
    divides(c, "num_attention_heads", heads, "hidden_size", shape["hidden"])
    # The class has one fused projection of 3h: no other head size, no grouped keys and values.
    shape["kv_heads"], shape["head_dim"] = heads, 0
    bias = c.switch("attention_bias", default=True)
    return Architecture(
        **shape,
        gated=False,
        norm="layernorm",
        parallel_residual=c.switch("use_parallel_residual", default=True),
        rotary_dim=rotary_of(c, shape["hidden"] // heads, default=0.25),
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=True,
    )


def _has(a: Architecture) -> bool:
    return gpt_like(a) and not a.positions and a.qkv_bias == a.output_bias


def _written(a: Architecture, rate: float) -> dict[str, object]:
    return sizes(a) | {
        "use_parallel_residual": a.parallel_residual,
        "attention_bias": a.qkv_bias,
        "attention_dropout": rate,
        "hidden_dropout": rate,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": a.rotary_dim / a.head_dim,
        },
    }


FAMILY = Family(model_type="gpt_neox", read=_read, has=_has, written=_written)
