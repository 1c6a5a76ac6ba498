"""How elements are stored, and so what they take: 16 bits, 8 or 4, with or without scales."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from engine.adapters import BLOCK, BLOCK_OF_SCALES

BITS_OF_A_BYTE = 8


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A format of storage.

    Args:
        name: as people type it.
        title: as a sentence says it.
        bits: of one element.
        block: elements that share a scale; 0 where scales do not grow with the elements.
        scale_bits: what a block's scale takes, its zero point with it.
        outer: blocks whose scales share a scale of their own; 0 where they are not quantised.
        outer_bits: what such an outer scale takes.
        source: who stores it so.
    """

    name: str
    title: str
    bits: int
    block: int = 0
    scale_bits: int = 0
    outer: int = 0
    outer_bits: int = 0
    source: str

    @property
    def each(self) -> Fraction:
        """Bits of one element with its part of the scales, exact where blocks are full."""
        scale = Fraction(self.scale_bits, self.block) if self.block else Fraction(0)
        outer = Fraction(self.outer_bits, self.block * self.outer) if self.outer else Fraction(0)
        return self.bits + scale + outer

    def size(self, elements: int) -> int:
        """Return the bytes of one tensor of so many elements; a part of a block has a scale."""
        blocks = _up(elements, self.block) if self.block else 0
        outer = _up(blocks, self.outer) if self.outer else 0
        parts = (elements * self.bits, blocks * self.scale_bits, outer * self.outer_bits)
        return sum(_up(bits, BITS_OF_A_BYTE) for bits in parts)


def _up(number: int, by: int) -> int:
    return -(-number // by)


FP32 = Stored(name="fp32", title="fp32", bits=32, source="4 bytes an element")
BF16 = Stored(name="bf16", title="bf16", bits=16, source="2 bytes an element")
FP16 = Stored(name="fp16", title="fp16", bits=16, source="2 bytes an element")
FP8 = Stored(
    name="fp8",
    title="fp8",
    bits=8,
    source="vLLM, docs/features/quantization/quantized_kvcache: one scale a tensor",
)
INT8 = Stored(
    name="int8",
    title="int8",
    bits=8,
    source="1 byte an element, scales of whole rows left out (arXiv 2208.07339)",
)
GROUPED_INT4 = Stored(
    name="int4-g64",
    title="4 bits in groups of 64, each with a 16-bit scale and a 16-bit zero point",
    bits=4,
    block=64,
    scale_bits=32,
    source="KV caches: Transformers, QuantizedCache with q_group_size = 64; arXiv 2402.02750",
)
GPTQ = Stored(
    name="int4-g128",
    title="4 bits in groups of 128, each with a 16-bit scale and a 4-bit zero point",
    bits=4,
    block=128,
    scale_bits=20,
    source="GPTQ and AWQ checkpoints: group_size = 128 (arXiv 2210.17323, arXiv 2306.00978)",
)
NF4 = Stored(
    name="nf4",
    title="NF4 in blocks of 64, each with an fp32 scale",
    bits=4,
    block=BLOCK,
    scale_bits=32,
    source="bitsandbytes, Linear4bit without double quantisation",
)
NF4_DOUBLE = Stored(
    name="nf4-double",
    title="NF4 in blocks of 64 with 8-bit scales, and an fp32 scale for each 256 of these",
    bits=4,
    block=BLOCK,
    scale_bits=8,
    outer=BLOCK_OF_SCALES,
    outer_bits=32,
    source="arXiv 2305.14314 (QLoRA) section 3, double quantisation",
)

# As people count 4 bits before they know the scales: no format that anything is stored in.
INT4 = Stored(
    name="int4",
    title="4 bits",
    bits=4,
    source="half a byte an element, scales left out",
)

FORMATS: Mapping[str, Stored] = MappingProxyType(
    {row.name: row for row in (FP32, BF16, FP16, FP8, INT8, GROUPED_INT4, GPTQ, NF4, NF4_DOUBLE)}
)
