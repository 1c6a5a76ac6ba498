"""The host's drives keep the optimizer states."""

from functools import partial

from engine.levers.lever import Lever
from engine.levers.offloading import with_offload

LEVER = Lever(
    name="NVMe offload",
    short=("nvme", "offload to nvme", "ssd offload", "ssd"),
    says='offload.optimizer = "nvme"',
    change=partial(with_offload, where="nvme"),
    invasiveness=16,
)
