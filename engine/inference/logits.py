"""Logits of a prompt: what scoring or sampling has of its positions at once."""

from engine.architecture import Architecture

WIDE, NARROW = 4, 2


def logits(a: Architecture, positions: int, *, copied: bool = False, width: int = NARROW) -> int:
    """Return the bytes of the logits of so many positions.

    Args:
        a: the model, for its vocabulary.
        positions: of all prompts together.
        copied: whether an fp32 tensor as large lies beside them: a cast of them, or their
            log-probabilities.
        width: bytes of one of them.
    """
    return positions * a.vocab * (width + WIDE * copied)
