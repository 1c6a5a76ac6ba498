"""GPT-2: learned positions, LayerNorm, and biases everywhere."""

from engine.architecture import Architecture
from engine.families.blocks import gpt_like
from engine.families.family import Family
from engine.families.reading import ACTIVATIONS, divides
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    hidden = c.size("n_embd", "hidden_size")
    heads = c.size("n_head", "num_attention_heads")
    divides(c, "n_head", heads, "n_embd", hidden)
    return Architecture(
        layers=c.size("n_layer", "num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        ffn=c.size("n_inner", default=4 * hidden, null=4 * hidden),
        vocab=c.size("vocab_size"),
        positions=c.size("n_positions", "max_position_embeddings", default=1024),
        gated=False,
        activation=c.choice("activation_function", ACTIVATIONS, default="gelu_new"),
        norm="layernorm",
        tied=c.switch("tie_word_embeddings", default=True),
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        dropout=max(c.rate(f"{part}_pdrop", default=0.1) for part in ("resid", "embd", "attn")),
    )


def _has(a: Architecture) -> bool:
    biases = a.qkv_bias and a.output_bias
    return gpt_like(a) and a.positions > 0 and biases and not a.parallel_residual


def _written(a: Architecture, rate: float) -> dict[str, object]:
    return {
        "n_layer": a.layers,
        "n_embd": a.hidden,
        "n_head": a.heads,
        "n_inner": a.ffn,
        "vocab_size": a.vocab,
        "n_positions": a.positions,
        "activation_function": "gelu_new" if a.activation == "gelu-tanh" else a.activation,
        "tie_word_embeddings": a.tied,
        "resid_pdrop": rate,
        "embd_pdrop": rate,
        "attn_pdrop": rate,
        "bos_token_id": None,
        "eos_token_id": None,
    }


FAMILY = Family(model_type="gpt2", read=_read, has=_has, written=_written)
