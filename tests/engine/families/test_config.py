"""A config that cannot be used: each field that is at fault is named."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from small_configs import DEEPSEEK, GPT2, LLAMA, MIXTRAL

from engine.errors import InputError
from engine.families.config import architecture_of


def faults_of(config: Mapping[str, object]) -> list[str]:
    with pytest.raises(InputError) as caught:
        architecture_of(config)
    return [str(fault) for fault in caught.value.faults]


REFUSED = [
    (LLAMA, "num_hidden_layers", -1, "config.num_hidden_layers: -1 is less than 1"),
    (LLAMA, "num_hidden_layers", 0, "config.num_hidden_layers: 0 is less than 1"),
    (LLAMA, "hidden_size", 64.0, "config.hidden_size: 64.0 is not a whole number"),
    (LLAMA, "hidden_size", "64", "config.hidden_size: '64' is not a whole number"),
    (LLAMA, "hidden_size", None, "config.hidden_size: null is not a whole number"),
    (LLAMA, "vocab_size", True, "config.vocab_size: true is not a whole number"),
    (LLAMA, "vocab_size", [1], "config.vocab_size: a list is not a whole number"),
    (LLAMA, "vocab_size", float("inf"), "config.vocab_size: inf is not a whole number"),
    (LLAMA, "vocab_size", float("nan"), "config.vocab_size: nan is not a whole number"),
    (LLAMA, "vocab_size", 10**4000, "more than 15 digits is more than 1,000,000,000"),
    (LLAMA, "num_attention_heads", 5, "5 does not divide hidden_size = 64"),
    (LLAMA, "num_key_value_heads", 3, "3 does not divide num_attention_heads = 4"),
    (LLAMA, "num_key_value_heads", 0, "config.num_key_value_heads: 0 is less than 1"),
    (LLAMA, "head_dim", 0, "config.head_dim: 0 is less than 1"),
    (LLAMA, "attention_bias", "yes", "config.attention_bias: 'yes' is not true or false"),
    (LLAMA, "attention_bias", None, "config.attention_bias: null is not true or false"),
    (LLAMA, "tie_word_embeddings", 1, "config.tie_word_embeddings: 1 is not true or false"),
    (LLAMA, "attention_dropout", 1.5, "1.5 is not a probability in [0, 1)"),
    (LLAMA, "attention_dropout", float("nan"), "nan is not a probability in [0, 1)"),
    (LLAMA, "hidden_act", "silo", "config.hidden_act: 'silo' is not known; did you mean silu?"),
    (LLAMA, "hidden_act", 3, "config.hidden_act: 3 is not a name"),
    (LLAMA, "is_encoder_decoder", True, "config.is_encoder_decoder: is not representable"),
    (LLAMA, "pruned_heads", {"0": [1]}, "config.pruned_heads: is not representable"),
    (LLAMA, "architectures", ["LlamaForSequenceClassification"], "another head"),
    (LLAMA, "model_type", "llamo", "config.model_type: 'llamo' is not known; did you mean llama"),
    (LLAMA, "model_type", 3, "config.model_type: 3 is not a name; known: deepseek_v2"),
    (GPT2, "add_cross_attention", True, "config.add_cross_attention: is not representable"),
    (GPT2, "n_head", 5, "config.n_head: 5 does not divide n_embd = 64"),
    (GPT2, "hidden_size", 32, "is given as n_embd and as hidden_size, and they differ"),
    (MIXTRAL, "num_experts_per_tok", 9, "9 is more than num_local_experts = 8"),
    (DEEPSEEK, "moe_layer_freq", 2, "config.moe_layer_freq: other than 1 is not representable"),
    (DEEPSEEK, "num_experts_per_tok", 9, "9 is more than n_routed_experts = 8"),
    (DEEPSEEK, "kv_lora_rank", None, "config.kv_lora_rank: null is not a whole number"),
]


@pytest.mark.parametrize(("base", "key", "value", "said"), REFUSED)
def test_a_field_that_cannot_be_used_is_the_one_fault_and_named(base, key, value, said):
    (fault,) = faults_of(base | {key: value})
    assert said in fault


@pytest.mark.parametrize("key", [k for k in LLAMA if k != "model_type"])
def test_a_missing_size_is_the_one_fault_and_named(key):
    (fault,) = faults_of({k: v for k, v in LLAMA.items() if k != key})
    assert fault.startswith(f"config.{key}: is missing; give a whole number")


def test_a_config_without_model_type_says_which_are_known():
    (fault,) = faults_of({})
    assert fault.startswith(
        "config.model_type: is missing; known: deepseek_v2, deepseek_v3, gemma"
    )


def test_all_faults_are_reported_at_once():
    broken = {"hidden_size": -1, "vocab_size": "x", "num_key_value_heads": 3, "mlp_bias": 0}
    assert [fault.split(":")[0] for fault in faults_of(LLAMA | broken)] == [
        "config.hidden_size",
        "config.num_key_value_heads",
        "config.vocab_size",
        "config.mlp_bias",
    ]


def test_a_fault_says_where_as_it_was_told():
    with pytest.raises(InputError, match=r"^model\.config\.model_type: is missing"):
        architecture_of({}, where="model.config")
