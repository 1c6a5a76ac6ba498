"""Keys of a scenario file that no option sets, by the table that they stand in."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from quiz.explain.explanation import Explanation

KEYS: Mapping[str, Mapping[str, str]] = {
    "model": {
        "positions": "Rows of a learned position table; 0 means rotary positions.",
        "rotary_dim": "Elements of each head that rotary positions turn; 0 means the whole head.",
        "gated": "Three MLP matrices (gate, up, down) in place of two; else true.",
        "activation": "Of the MLP: silu, gelu, gelu-tanh or relu; else silu.",
        "norm": "rmsnorm, layernorm or layernorm-no-weight; else rmsnorm.",
        "norm_inputs": "Norms stand before attention and MLP; else true.",
        "norm_outputs": "Norms stand behind attention and MLP; else false. Not with megatron.",
        "shared_norm": "Attention and MLP read the output of one norm; else false.",
        "qk_norm": "Norms of queries and keys: none, head, or full (over all heads); else none.",
        "parallel_residual": "Attention and MLP stand side by side; else false.",
        "tied": "The head is the embedding; else false.",
        "qkv_bias": "Biases of the query, key and value matrices; else false.",
        "output_bias": "Bias of the attention's output matrix; else false.",
        "mlp_bias": "Biases of the MLP; else false.",
        "head_bias": "Bias of the head; else false.",
        "dropout": "Probability that the model was trained with; [recipe] dropout begins with it.",
        "soft_cap": "Soft-capped attention and logits; else false. Not with megatron.",
        "window": "Tokens that a windowed layer attends to; 0 means that none has a window.",
        "window_layers": "Layers that have the window; 0 means all of them.",
        "experts": "A table: a mixture of experts in place of each layer's MLP.",
        "latent": "A table: multi-head latent attention, which caches a compressed vector.",
    },
    "model.experts": {
        "routed": "Experts of a layer, among which each token is sent.",
        "per_token": "Experts that each token is sent to.",
        "ffn": "Width of an expert.",
        "shared_ffn": "Width of all shared experts together; else 0, none.",
        "dense_layers": "First layers that have one MLP in place of experts; else 0.",
        "router_bias": "A bias of the router; refused where true.",
    },
    "model.latent": {
        "query_rank": "Width that queries are compressed to; 0 means that they are not.",
        "kv_rank": "Width of the vector that keys and values are made of.",
        "nope_head_dim": "Elements of each head of queries and keys without positions.",
        "rope_head_dim": "Elements of each head of queries and keys with rotary positions.",
        "value_head_dim": "Elements of each head of the values.",
    },
    "adapters": {"dropout": "Probability of dropout on what the adapters read; else 0."},
}


def told() -> Iterator[tuple[tuple[str, ...], Callable[[], Explanation]]]:
    """Yield the names of each key, and what explains it."""
    for table, keys in KEYS.items():
        for key, says in keys.items():
            yield (f"{table}.{key}", key), partial(_key, table, key, says)


def _key(table: str, key: str, says: str) -> Explanation:
    where = f"In a scenario file: {key} in [{table}]; it has no option."
    sources = ("docs/scenario-file.md",)
    return Explanation(sort="setting", name=f"{table}.{key}", says=(says, where), sources=sources)
