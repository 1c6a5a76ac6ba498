"""Each family beside its class of Transformers: parameters, defaults, catalogued models."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parent))

from real_class import counted_by_transformers
from small_configs import GPT2, LLAMA, configs

from engine.architecture import Architecture
from engine.catalog import models
from engine.errors import InputError
from engine.families.config import architecture_of
from engine.families.registry import families


@pytest.mark.parametrize("model_type", families())
def test_every_family_has_as_many_parameters_as_its_transformers_class(model_type):
    pytest.importorskip("transformers")

    @settings(max_examples=12, deadline=None, derandomize=True, database=None)
    @given(configs(model_type))
    def agree(config):
        if model_type == "deepseek_v2":
            config = config | {"num_experts_per_tok": 2}
        ours = architecture_of(config | {"model_type": model_type}).parameters
        assert ours == counted_by_transformers(model_type, config)

    agree()


FAMILY_OF = {
    "gpt2": "gpt2",
    "gpt3": "gpt2",
    "llama": "llama",
    "tinyllama": "llama",
    "mistral": "mistral",
    "mixtral": "mixtral",
    "qwen2.5": "qwen2",
    "qwen3": "qwen3",
    "gemma-2-": "gemma2",
    "gemma-": "gemma",
    "phi-3": "phi3",
    "phi-": "phi",
    "pythia": "gpt_neox",
    "gpt-neox": "gpt_neox",
    "olmo-2": "olmo2",
    "olmo": "olmo",
    "deepseek-v2": "deepseek_v2",
    "deepseek-v3": "deepseek_v3",
}


def config_of(name: str, a: Architecture) -> dict[str, object]:
    """Return the config.json that describes `a`."""
    family = next(family for prefix, family in FAMILY_OF.items() if name.startswith(prefix))
    act = {"silu": "silu", "gelu": "gelu", "gelu-tanh": "gelu_pytorch_tanh"}[a.activation]
    config: dict[str, object] = {
        "model_type": family,
        "hidden_size": a.hidden,
        "num_hidden_layers": a.layers,
        "num_attention_heads": a.heads,
        "vocab_size": a.vocab,
        "tie_word_embeddings": a.tied,
    }
    if family == "gpt2":
        rates = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), a.dropout)
        return config | rates | {"n_inner": a.ffn, "n_positions": a.positions}
    config |= {"intermediate_size": a.ffn, "sliding_window": a.window or None, "hidden_act": act}
    config |= {"resid_pdrop": a.dropout} if family == "phi" else {}
    if family in {"phi", "gpt_neox"}:
        config["partial_rotary_factor"] = a.rotary_dim / a.head_dim
    config |= {"num_key_value_heads": a.kv_heads} if family != "gpt_neox" else {}
    if family in {"qwen3", "gemma", "gemma2"}:
        config["head_dim"] = a.head_dim
    return config | _config_of_parts(a)


def _config_of_parts(a: Architecture) -> dict[str, object]:
    parts: dict[str, object] = {}
    if a.latent:
        parts |= {
            "q_lora_rank": a.latent.query_rank or None,
            "kv_lora_rank": a.latent.kv_rank,
            "qk_nope_head_dim": a.latent.nope_head_dim,
            "qk_rope_head_dim": a.latent.rope_head_dim,
            "v_head_dim": a.latent.value_head_dim,
        }
    if a.experts:
        routed = "n_routed_experts" if a.latent else "num_local_experts"
        parts |= {routed: a.experts.routed, "num_experts_per_tok": a.experts.per_token}
    if a.experts and a.latent:
        parts |= {
            "moe_intermediate_size": a.experts.ffn,
            "n_shared_experts": a.experts.shared_ffn // a.experts.ffn,
            "first_k_dense_replace": a.experts.dense_layers,
        }
    return parts


@pytest.mark.parametrize("name", models())
def test_a_catalogued_model_is_what_its_config_describes(name):
    architecture = models()[name].architecture
    assert architecture_of(config_of(name, architecture)) == architecture


@pytest.mark.parametrize("name", models())
def test_a_catalogued_model_has_the_parameters_of_its_transformers_class(name):
    # Four layers hold one of each kind; the rest are copies, and the count is linear in them.
    whole = models()[name].architecture
    a = replace(whole, layers=4, window_layers=min(whole.window_layers, 2))
    config = config_of(name, a)
    assert a.parameters == counted_by_transformers(str(config.pop("model_type")), config)


DEFAULTS = [
    # model_type, field, what the configuration class of Transformers 5.24 has for it
    ("llama", "kv_heads", 4),
    ("llama", "tied", False),
    ("llama", "activation", "silu"),
    ("qwen3", "head_dim", 128),
    ("gemma", "head_dim", 256),
    ("gemma", "tied", True),
    ("gemma", "activation", "gelu-tanh"),
    ("gemma2", "tied", True),
    ("gemma2", "soft_cap", True),
    ("gemma2", "window_layers", 1),
    ("mistral", "window", 4096),
    ("phi3", "window", 0),
    ("phi", "activation", "gelu-tanh"),
    ("gpt_neox", "activation", "gelu"),
    ("gpt_neox", "qkv_bias", True),
    ("gpt_neox", "parallel_residual", True),
    ("olmo", "norm", "layernorm-no-weight"),
    ("olmo2", "norm_inputs", False),
]


@pytest.mark.parametrize(("model_type", "field", "expected"), DEFAULTS)
def test_an_absent_key_has_the_default_of_its_class(model_type, field, expected):
    kv_heads = {"num_key_value_heads": None} if model_type != "llama" else {}
    architecture = architecture_of(LLAMA | kv_heads | {"model_type": model_type})
    assert getattr(architecture, field) == expected


def test_gpt2_has_four_times_the_width_in_its_mlp_unless_told():
    assert architecture_of(GPT2).ffn == 256


def test_gpt2_ties_its_head_unless_told():
    assert architecture_of(GPT2).tied


def test_gpt2_drops_a_tenth_unless_told():
    assert architecture_of(GPT2).dropout == 0.1


def test_the_largest_rate_is_the_dropout():
    rates = {"resid_pdrop": 0.2, "embd_pdrop": 0.0, "attn_pdrop": None}
    assert architecture_of(GPT2 | rates).dropout == 0.2


def test_gpt2_may_use_the_names_of_the_others():
    other = {
        "model_type": "gpt2",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 128,
    }
    assert architecture_of(other) == architecture_of(GPT2)


def test_layer_types_say_how_many_layers_have_the_window():
    kinds = ["sliding_attention", "full_attention"]
    config = LLAMA | {"model_type": "gemma2", "num_key_value_heads": 2, "layer_types": kinds}
    assert architecture_of(config).window_layers == 1


def test_windows_of_gemma_2_are_written_in_every_other_layer():
    family = families()["gemma2"]
    kinds = family.written(models()["gemma-2-2b"].architecture, 0.0)["layer_types"]
    assert kinds == ["sliding_attention", "full_attention"] * 13


@pytest.mark.parametrize("cap", ["attn_logit_softcapping", "final_logit_softcapping"])
def test_one_cap_without_the_other_is_refused_by_its_name(cap):
    config = LLAMA | {"model_type": "gemma2", "num_key_value_heads": 2, cap: None}
    with pytest.raises(InputError, match="one of them is null"):
        architecture_of(config)


def test_late_layers_of_qwen_have_the_window():
    switches = {"use_sliding_window": True, "max_window_layers": 1, "sliding_window": 8}
    config = LLAMA | {"model_type": "qwen2", "num_key_value_heads": 2} | switches
    assert architecture_of(config).window_layers == 1


def test_a_window_that_is_switched_off_is_none():
    config = LLAMA | {"model_type": "qwen2", "num_key_value_heads": 2, "sliding_window": 8}
    assert architecture_of(config).window == 0
