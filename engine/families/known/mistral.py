"""Mistral (arXiv 2310.06825): Llama with a window in every layer."""

from engine.architecture import Architecture
from engine.families.blocks import llama_like, unbiased
from engine.families.family import Family
from engine.families.reading import shape_of, window_everywhere
from engine.families.writing import grouped
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    return Architecture(**shape_of(c, kv_heads=8), **window_everywhere(c, default=4096))


def _has(a: Architecture) -> bool:
    return llama_like(a) and a.experts is None and a.window > 0 and unbiased(a)


def _written(a: Architecture, rate: float) -> dict[str, object]:
    return grouped(a, rate) | {"sliding_window": None}


FAMILY = Family(model_type="mistral", read=_read, has=_has, written=_written)
