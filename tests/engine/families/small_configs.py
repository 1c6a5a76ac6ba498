"""Small configurations: one of each form, and any of a family by chance."""

from hypothesis import strategies as st

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 128,
}
GPT2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 128}
MIXTRAL = LLAMA | {"model_type": "mixtral", "num_key_value_heads": 2}
DEEPSEEK = LLAMA | {
    "model_type": "deepseek_v3",
    "moe_intermediate_size": 16,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
}

SWITCHES = {
    "llama": ("attention_bias", "mlp_bias"),
    "qwen3": ("attention_bias", "use_sliding_window"),
    "qwen2": ("use_sliding_window",),
    "gemma": ("attention_bias",),
    "gemma2": ("attention_bias",),
    "gpt_neox": ("attention_bias", "use_parallel_residual"),
    "olmo": ("attention_bias",),
    "olmo2": ("attention_bias",),
    "phi": ("qk_layernorm",),
    "deepseek_v2": ("attention_bias", "mlp_bias"),
    "deepseek_v3": ("attention_bias",),
}
NO_HEAD_DIM = {"gpt2", "gpt_neox", "phi", "deepseek_v2", "deepseek_v3"}
NO_GROUPS = {"gpt2", "gpt_neox", "deepseek_v2", "deepseek_v3"}


@st.composite
def configs(draw, model_type):
    """Small sizes and every switch of the family; each optional key may be absent."""
    kv_heads = draw(st.sampled_from([1, 2, 3]))
    heads = kv_heads if model_type in NO_GROUPS else kv_heads * draw(st.sampled_from([1, 2, 4]))
    config = {
        "hidden_size": heads * draw(st.sampled_from([4, 8, 12])),
        "num_hidden_layers": draw(st.integers(1, 4)),
        "num_attention_heads": heads,
        "vocab_size": draw(st.integers(8, 90)),
    }
    if model_type != "gpt2":
        config["intermediate_size"] = draw(st.integers(1, 70))
    if model_type not in NO_GROUPS:
        config["num_key_value_heads"] = kv_heads
    optional = {"tie_word_embeddings": st.booleans()}
    optional |= {switch: st.booleans() for switch in SWITCHES.get(model_type, ())}
    if model_type not in NO_HEAD_DIM:
        optional["head_dim"] = st.sampled_from([4, 8, 16])
    optional |= FAMILY_KEYS.get(model_type, {})
    return config | draw(st.fixed_dictionaries({}, optional=optional))


RANKS = {
    "kv_lora_rank": st.integers(1, 20),
    "q_lora_rank": st.none() | st.integers(1, 20),
    "qk_rope_head_dim": st.sampled_from([2, 4]),
    "qk_nope_head_dim": st.integers(1, 9),
    "v_head_dim": st.integers(1, 9),
    "n_shared_experts": st.integers(1, 3),
    "n_routed_experts": st.sampled_from([8, 16]),
    "moe_intermediate_size": st.integers(1, 9),
    "first_k_dense_replace": st.integers(0, 5),
}
FAMILY_KEYS = {
    "gpt2": {"n_inner": st.none() | st.integers(1, 70), "n_positions": st.integers(1, 50)},
    "gemma2": {"sliding_window": st.integers(1, 50)},
    "mistral": {"sliding_window": st.none() | st.integers(1, 50)},
    "mixtral": {"num_local_experts": st.integers(2, 5)},
    "deepseek_v2": RANKS,
    "deepseek_v3": RANKS,
}
