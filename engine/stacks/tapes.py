"""The tapes of a block's parts, from the stack that it runs on."""

from dataclasses import replace
from functools import cache

from sympy.polys.rings import PolyElement

from engine.stacks.block import Block
from engine.stacks.registry import stack
from engine.tape import Tape


@cache
def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed.

    A layer is the same whatever head and loss are behind it.
    """
    return _layer(replace(block, loss="eager", tied=False, head_bias=False))


@cache
def _layer(block: Block) -> Tape:
    return stack(block.stack).layer(block)


@cache
def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    return stack(block.stack).embedding(block)


@cache
def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    return stack(block.stack).head(block)


def without_experts(block: Block) -> Block:
    """Return the switches of a layer that has one MLP where others of its model have experts."""
    return replace(block, experts=False, experts_elsewhere=True)


def shared(block: Block) -> tuple[PolyElement, bool]:
    """Return the bytes of what all layers share, and whether it outlives the passes."""
    found = stack(block.stack)
    return found.shared(block), found.shared_lasts


@cache
def first_layer(block: Block) -> Tape:
    """Return the tape of embedding and first layer, for the end of the backward pass."""
    bottom, top = embedding(block), layer(block)
    entry = top.entries[0]  # what it is handed comes first of what it holds
    last = bottom.operators[-1]
    joined = replace(last, output=entry)
    return Tape(operators=(*bottom.operators[:-1], joined, *top.operators))
