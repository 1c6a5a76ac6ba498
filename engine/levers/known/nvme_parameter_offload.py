"""The host's drives keep the weights, and the optimizer states with them."""

from functools import partial

from engine.levers.lever import Lever
from engine.levers.offloading import with_parameters

LEVER = Lever(
    name="NVMe parameter offload",
    short=("zero-infinity", "infinity", "nvme param offload", "params to nvme"),
    says='zero = 3, offload.parameters = "nvme"',
    change=partial(with_parameters, where="nvme"),
    invasiveness=17,
)
