"""What the configurations of most families name alike, written from an architecture."""

from collections.abc import Mapping

from engine.architecture import Activation, Architecture

ACTIVATIONS: Mapping[Activation, str] = {"gelu-tanh": "gelu_pytorch_tanh"}
LONGEST = 1 << 20  # positions are rotary: the length of a sequence changes no tensor


def sizes(a: Architecture) -> dict[str, object]:
    """Return the fields that every class with rotary positions has."""
    return {
        "num_hidden_layers": a.layers,
        "hidden_size": a.hidden,
        "num_attention_heads": a.heads,
        "intermediate_size": a.ffn,
        "vocab_size": a.vocab,
        "hidden_act": ACTIVATIONS.get(a.activation, a.activation),
        "tie_word_embeddings": a.tied,
        "pad_token_id": None,
        "bos_token_id": None,
        "eos_token_id": None,
        "max_position_embeddings": LONGEST,
    }


def grouped(a: Architecture, rate: float) -> dict[str, object]:
    """Return `sizes`, grouped keys and values, and the dropout of attention."""
    return sizes(a) | {
        "num_key_value_heads": a.kv_heads,
        "head_dim": a.head_dim,
        "attention_dropout": rate,
    }
