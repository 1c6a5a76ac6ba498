"""The tapes of a block's parts, from the stack that it runs on."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from sympy.polys.rings import PolyElement

from engine.stacks import fused, hf, megatron
from engine.stacks.block import Block
from engine.tape import Tape


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What a software stack runs.

    Attributes:
        layer: the tape of one layer, as a checkpoint where everything is recomputed.
        embedding: the tape of the embedding, up to the residual stream of the first layer.
        head: the tape of final norm, head and loss.
        shared: bytes of what all layers share.
        shared_lasts: whether that is there when no pass runs, too.
    """

    layer: Callable[[Block], Tape]
    embedding: Callable[[Block], Tape]
    head: Callable[[Block], Tape]
    shared: Callable[[Block], PolyElement]
    shared_lasts: bool


STACKS = {
    "fused": Stack(
        layer=fused.layer,
        embedding=fused.embedding,
        head=fused.head,
        shared=fused.shared,
        shared_lasts=True,
    ),
    "hf": Stack(
        layer=hf.layer,
        embedding=hf.embedding,
        head=hf.head,
        shared=hf.shared,
        shared_lasts=False,
    ),
    "megatron": Stack(
        layer=megatron.layer,
        embedding=megatron.embedding,
        head=megatron.head,
        shared=megatron.shared,
        shared_lasts=True,
    ),
}


@cache
def layer(block: Block) -> Tape:
    """Return the tape of one layer, as a checkpoint where everything is recomputed."""
    return STACKS[block.stack].layer(block)


@cache
def embedding(block: Block) -> Tape:
    """Return the tape of the embedding, up to the residual stream of the first layer."""
    return STACKS[block.stack].embedding(block)


@cache
def head(block: Block) -> Tape:
    """Return the tape of final norm, head and loss."""
    return STACKS[block.stack].head(block)


def without_experts(block: Block) -> Block:
    """Return the switches of a layer that has one MLP where others of its model have experts."""
    return replace(block, experts=False, experts_elsewhere=True)


def shared(block: Block) -> tuple[PolyElement, bool]:
    """Return the bytes of what all layers share, and whether it outlives the passes."""
    stack = STACKS[block.stack]
    return stack.shared(block), stack.shared_lasts


@cache
def first_layer(block: Block) -> Tape:
    """Return the tape of embedding and first layer, for the end of the backward pass."""
    bottom, top = embedding(block), layer(block)
    entry = top.operators[0].inputs[0]
    last = bottom.operators[-1]
    joined = replace(last, output=entry)
    return Tape(operators=(*bottom.operators[:-1], joined, *top.operators))
