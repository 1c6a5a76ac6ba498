"""The host keeps the optimizer states and steps them."""

from functools import partial

from engine.levers.lever import Lever
from engine.levers.offloading import with_offload

LEVER = Lever(
    name="CPU offload",
    short=("offload", "cpu", "optimizer offload", "offload to cpu", "zero-offload"),
    says='offload.optimizer = "cpu"',
    change=partial(with_offload, where="cpu"),
    invasiveness=15,
)
