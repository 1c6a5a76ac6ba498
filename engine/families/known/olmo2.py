"""OLMo 2 (arXiv 2501.00656): norms behind attention and MLP, and of all queries and keys."""

from engine.architecture import Architecture
from engine.families.blocks import llama_in_branches
from engine.families.family import Family
from engine.families.reading import shape_of
from engine.families.writing import grouped
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


def _has(a: Architecture) -> bool:
    behind = a.norm_outputs and not a.norm_inputs and a.qk_norm == "full"
    return llama_in_branches(a) and behind and not (a.soft_cap or a.window)


def _written(a: Architecture, rate: float) -> dict[str, object]:
    return grouped(a, rate) | {"attention_bias": a.qkv_bias}


FAMILY = Family(model_type="olmo2", read=_read, has=_has, written=_written)
