"""Words that say whether a thing is there, divided, or left as it is."""

from functools import cache

from quiz.claims.stems import stem

NEGATORS = frozenset({"not", "never", "no", "nor", "neither", "without", "nothing", "none"})
# "No" and "without" deny what stands behind them, the others what their clause says.
BEFORE_THINGS = frozenset({"no", "without"})
# Behind "not" these make no denial: "not only the weights".
CANCELLING = frozenset({"only", "just", "merely"})
# A new clause begins at these.
JOINTS = frozenset(
    {
        *("but", "while", "whereas", "because", "since", "so", "although", "though", "however"),
        *("then", "plus", "which", "that"),
    }
)
# "Everything but the weights" is one clause.
ALL = frozenset({"everything", "all", "anything", "nothing"})
# These may stand within a phrase: "the copy of the weights".
FILLERS = frozenset({"the", "a", "an", "of", "its", "their", "per", "each", "in", "for", "s"})
# After these a "no" at the beginning answers and denies nothing.
ANSWERED = frozenset({"the", "it", "they", "each", "every", "that", "this", "i", "we", "only"})
VERBS = (
    "is do have shard divide split partition stay keep live take get need count ignore leave "
    "forget hold fall drop shrink grow go remain cost add include exist reduce save store use "
    "cut replicate want ask assume say help change touch affect come sit cover"
)
# With a negator: the thing is not there.
PRESENCE = (
    "count include need have keep store exist require use add there want present necessary hold"
)
LEAVING_OUT = "ignore forget skip omit exclude neglect disregard drop leave-out left-out set-aside"
# With a negator: the thing is not divided, not reached.
DIVIDING = (
    "shard divide split partition slice scatter cut reduce shrink fall change help touch affect "
    "save include count cover distribute spread drop benefit decrease go less smaller shared "
    "lower halve improve part in go-down"
)
WHOLE = (
    "whole full entire intact same constant complete replicate duplicate unsharded undivided "
    "untouched unchanged unaffected unpartitioned outside extra except besides alone own still "
    "every-rank each-rank all-ranks every-gpu each-gpu all-gpus every-card each-card "
    "on-top as-is apart-from aside-from other-than in-full on-every on-each on-all per-rank "
    "per-gpu everything-but all-but additional everywhere"
)

# Words that are part of the name of another thing, and that other thing: who asks for fp32 logits
# asks for the loss.
PARTS_OF_NAMES = (
    ("fp32", "fp32 logits"),
    ("fp32", "logits upcast to fp32"),
    ("fp32", "logits to fp32"),
    ("micro batch optimizer", "micro batches per optimizer step"),
    ("micro batch", "micro batches per step"),
    ("micro batch", "micro batches accumulated"),
    ("parameters", "b parameters"),
    ("parameters", "e9 parameters"),
    ("parameters", "billion parameters"),
    ("parameters", "total parameters"),
    ("parameters", "parameters in total"),
    ("parameters", "number of parameters"),
    ("parameters", "parameter count"),
    ("gradient", "gradient accumulation"),
    ("gradient", "gradient checkpointing"),
    ("gradient", "gradient buckets"),
    ("gradient", "gradients of activations"),
    ("gradient", "gradients of the logits"),
    ("gradient", "activation gradients"),
    ("gradient", "logits gradient"),
    ("activation", "activation checkpointing"),
    ("flash", "flash memory"),
)


@cache
def stems_of(words: str) -> tuple[tuple[str, ...], ...]:
    """Return the entries of a list of words, each as the stems of what its hyphens join."""
    return tuple(tuple(map(stem, word.split("-"))) for word in words.split())
