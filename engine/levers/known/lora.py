"""Low-rank adapters in place of the model, which is frozen: something else is trained."""

from functools import partial

from engine.levers.adapting import with_adapters
from engine.levers.lever import Lever

LEVER = Lever(
    name="LoRA",
    short=("adapters", "peft", "low-rank adapters"),
    says="adapters.rank = 16",
    change=partial(with_adapters, base="16-bit"),
    changes_numerics=True,
    invasiveness=19,
)
