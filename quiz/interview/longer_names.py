"""Names that have the words of another thing in them."""

# Words that are part of the name of another thing, and that other thing: who asks for fp32 logits
# asks for the loss.
PARTS_OF_NAMES: tuple[tuple[str, str], ...] = (
    ("fp32", "fp32 logits"),
    ("fp32", "logits upcast to fp32"),
    ("fp32", "logits to fp32"),
    ("fp32", "are logits fp32"),
    ("fp32", "logits are fp32"),
    ("micro batch optimizer", "micro batches per optimizer step"),
    ("optimizer", "optimizer step"),
    ("micro batch", "micro batches per step"),
    ("micro batch", "micro batches accumulated"),
    ("parameters", "b parameters"),
    ("parameters", "e9 parameters"),
    ("parameters", "billion parameters"),
    ("parameters", "total parameters"),
    ("parameters", "parameters in total"),
    ("parameters", "number of parameters"),
    ("parameters", "parameter count"),
    ("parameters", "per parameter"),
    ("parameters", "a parameter"),
    ("parameters", "each parameter"),
    ("parameters", "every parameter"),
    ("gradient", "gradient accumulation"),
    ("gradient", "gradient checkpointing"),
    ("gradient", "gradient buckets"),
    ("gradient", "gradients of activations"),
    ("gradient", "gradients of the logits"),
    ("gradient", "activation gradients"),
    ("gradient", "logits gradient"),
    ("activation", "activation checkpointing"),
)
