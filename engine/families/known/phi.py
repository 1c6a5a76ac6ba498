"""Phi-1.5 and Phi-2 (arXiv 2309.05463): attention and MLP side by side behind one norm."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import rotary_of, shape_of
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, activation="gelu_new")
    normed = c.switch("qk_layernorm")
    if normed and shape["head_dim"]:
        c.fault("qk_layernorm", "is not representable beside a head_dim", "leave one of them out")
    return Architecture(
        **shape,
        gated=False,
        norm="layernorm",
        parallel_residual=True,
        shared_norm=True,
        rotary_dim=rotary_of(c, shape["hidden"] // shape["heads"], default=0.5),
        qk_norm="head" if normed else "none",
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        head_bias=True,
    )


FAMILY = Family(model_type="phi", read=_read)
