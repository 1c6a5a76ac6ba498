"""Phi-3 (arXiv 2404.14219): Llama with fused matrices, and a window where one is given."""

from engine.architecture import Architecture
from engine.families.family import Family
from engine.families.reading import shape_of, window_everywhere
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    return Architecture(**shape_of(c), **window_everywhere(c))


FAMILY = Family(model_type="phi3", read=_read)
