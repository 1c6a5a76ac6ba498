"""Gradients are shared too: each rank keeps those that it steps."""

from functools import partial

from engine.levers.lever import Lever
from engine.levers.sharding import with_stage

LEVER = Lever(
    name="ZeRO-2",
    short=("zero2", "zero 2", "z2", "stage 2"),
    says="zero = 2",
    change=partial(with_stage, stage=2),
    invasiveness=9,
)
