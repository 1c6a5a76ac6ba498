"""The host keeps the weights, and the optimizer with them."""

from functools import partial

from engine.levers.lever import Lever
from engine.levers.offloading import with_parameters

LEVER = Lever(
    name="parameter offload",
    short=("param offload", "offload parameters", "params to cpu", "fsdp cpu offload"),
    says='zero = 3, offload.parameters = "cpu"',
    change=partial(with_parameters, where="cpu"),
    invasiveness=16,
)
