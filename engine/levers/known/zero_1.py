"""Each rank keeps its share of the optimizer states and of the master copy."""

from functools import partial

from engine.levers.lever import Lever
from engine.levers.sharding import with_stage

LEVER = Lever(
    name="ZeRO-1",
    short=("zero1", "zero 1", "z1", "stage 1", "distributed optimizer"),
    says="zero = 1",
    change=partial(with_stage, stage=1),
    invasiveness=8,
)
