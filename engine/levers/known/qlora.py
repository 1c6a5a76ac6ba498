"""Low-rank adapters in place of the model, whose frozen matrices are put into 4 bits."""

from functools import partial

from engine.levers.adapting import with_adapters
from engine.levers.lever import Lever

LEVER = Lever(
    name="QLoRA",
    short=("4-bit lora", "nf4", "4-bit base"),
    says='adapters.rank = 16, adapters.base = "4-bit"',
    change=partial(with_adapters, base="4-bit"),
    changes_numerics=True,
    invasiveness=20,
)
