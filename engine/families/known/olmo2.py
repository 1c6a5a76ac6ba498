"""OLMo 2 (arXiv 2501.00656): norms behind attention and MLP, and of all queries and keys."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import shape_of
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    bias = c.switch("attention_bias")
    return Architecture(
        **shape_of(c),
        norm_inputs=False,
        norm_outputs=True,
        qk_norm="full",
        qkv_bias=bias,
        output_bias=bias,
    )


FAMILY = Family(model_type="olmo2", read=_read)
