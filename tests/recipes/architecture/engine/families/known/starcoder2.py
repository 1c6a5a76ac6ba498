"""StarCoder2 (arXiv 2402.19173): GPT's norms and MLP, rotary positions and grouped heads."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import shape_of, window_everywhere
from engine.fields import Fields

DROPOUTS = ("attention_dropout", "residual_dropout", "embedding_dropout")


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=2, activation="gelu_pytorch_tanh", tied=True)
    shape["dropout"] = max(c.rate(name) for name in DROPOUTS)
    bias = c.switch("use_bias", default=True)
    return Architecture(
        **shape,
        **window_everywhere(c),
        gated=False,
        norm="layernorm",
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=bias,
    )


FAMILY = Family(model_type="starcoder2", read=_read)
