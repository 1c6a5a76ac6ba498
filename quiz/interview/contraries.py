"""Sayings that make of a point its contrary, where they stand in its clause."""

from collections.abc import Mapping
from types import MappingProxyType

KEPT = ("are recomputed", "is recomputed", "get recomputed", "thrown away", "are discarded")
CONTRARIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "accumulation-sends": (
            *("costs nothing", "is free", "no extra communication", "no more communication"),
            *("sends nothing", "gathers nothing", "gathers once"),
        ),
        "attention-kernel": ("flash memory", "flash drive", "flash storage", "of the disk"),
        "attention-kept": KEPT,
        "mlp-kept": KEPT,
        "norms-kept": KEPT,
        "more-tokens-hide": (
            *("worse", "slower", "more communication", "more bytes", "communication grows"),
        ),
        "reserved": ("equals allocated", "equal to allocated", "same as allocated"),
        "states-made": (
            *("before step 1", "before the first step", "before training", "from the start"),
            *("from the beginning", "from a checkpoint", "in the checkpoint"),
        ),
        "units": ("the same", "are same", "equal", "are identical"),
    }
)
