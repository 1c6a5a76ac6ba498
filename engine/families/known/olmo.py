"""OLMo (arXiv 2402.00838): Llama with norms that have no weight."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import shape_of
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    bias = c.switch("attention_bias")
    return Architecture(**shape_of(c), norm="layernorm-no-weight", qkv_bias=bias, output_bias=bias)


FAMILY = Family(model_type="olmo", read=_read)
