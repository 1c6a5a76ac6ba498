"""Weights are shared too, and gathered layer by layer."""

from functools import partial

from engine.levers.lever import Lever
from engine.levers.sharding import with_stage

LEVER = Lever(
    name="ZeRO-3",
    short=("zero3", "zero 3", "z3", "stage 3", "fsdp", "fsdp2"),
    says="zero = 3",
    change=partial(with_stage, stage=3),
    invasiveness=10,
)
