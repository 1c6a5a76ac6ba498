"""What stored weights take: all in one format, or the layers' matrices alone."""

from functools import cache

from engine.architecture import Architecture, Tensor
from engine.inference.stored import BF16, Stored


@cache
def weights(a: Architecture, stored: Stored = BF16, *, rest: Stored | None = None) -> int:
    """Return the bytes of all weights.

    Args:
        a: the model.
        stored: the format of the layers' matrices.
        rest: the format of embedding, norms, biases, router and head; `stored` where it is None.
    """
    return sum(
        t.copies * (stored if rest is None or in_layers(t) else rest).size(t.size)
        for t in a.tensors
    )


def in_layers(t: Tensor) -> bool:
    """Return whether a tensor is a matrix of the layers, which quantisers take."""
    bias = t.name.endswith(" bias")
    return (
        t.matmul and t.place not in {"embedding", "final", "head"} and not (bias or is_router(t))
    )


def is_router(t: Tensor) -> bool:
    """Return whether it is the router of experts, which stays in 16 bits."""
    return t.name == "router"


def matrices(a: Architecture) -> int:
    """Return the parameters of the layers' matrices."""
    return sum(t.copies * t.size for t in a.tensors if in_layers(t))
