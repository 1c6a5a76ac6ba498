"""Mixtral (arXiv 2401.04088): Mistral with experts in place of the MLP."""

from engine.architecture import Architecture, Experts
from engine.families.blocks import llama_like, unbiased
from engine.families.family import Family
from engine.families.reading import at_most, shape_of, window_everywhere
from engine.families.writing import grouped
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=8)
    experts = Experts(
        routed=c.size("num_local_experts", "num_experts", default=8),
        per_token=c.size("num_experts_per_tok", default=2),
        ffn=shape["ffn"],
    )
    at_most(c, "num_experts_per_tok", experts.per_token, "num_local_experts", experts.routed)
    return Architecture(**shape, **window_everywhere(c), experts=experts)


def _has(a: Architecture) -> bool:
    if a.experts is None or not unbiased(a) or not llama_like(a):
        return False
    return not (a.experts.shared_ffn or a.experts.dense_layers or a.experts.router_bias)


def _written(a: Architecture, rate: float) -> dict[str, object]:
    if a.experts is None:
        raise ValueError("a Mixtral block has experts")
    return grouped(a, rate) | {
        "intermediate_size": a.experts.ffn,
        "num_local_experts": a.experts.routed,
        "num_experts_per_tok": a.experts.per_token,
        "sliding_window": None,
    }


FAMILY = Family(model_type="mixtral", read=_read, has=_has, written=_written)
