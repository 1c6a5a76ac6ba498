"""Reading config.json: what is read, what the real classes make of it, and what is refused."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.architecture import Architecture
from engine.catalog import models
from engine.errors import InputError
from engine.huggingface import FAMILIES, architecture_of, read_config

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


def faults_of(config: Mapping[str, object]) -> list[str]:
    with pytest.raises(InputError) as caught:
        architecture_of(config)
    return [str(fault) for fault in caught.value.faults]


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


def counted_by_transformers(model_type: str, config: Mapping[str, object]) -> int:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    known = dict(config) | {"pad_token_id": None, "bos_token_id": None, "eos_token_id": None}
    built = transformers.AutoConfig.for_model(model_type, **known)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(built)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("model_type", FAMILIES)
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


def test_late_layers_of_qwen_have_the_window():
    switches = {"use_sliding_window": True, "max_window_layers": 1, "sliding_window": 8}
    config = LLAMA | {"model_type": "qwen2", "num_key_value_heads": 2} | switches
    assert architecture_of(config).window_layers == 1


def test_a_window_that_is_switched_off_is_none():
    config = LLAMA | {"model_type": "qwen2", "num_key_value_heads": 2, "sliding_window": 8}
    assert architecture_of(config).window == 0


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
    (LLAMA, "model_type", 3, "config.model_type: 3 is not a name; known: llama"),
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
    assert fault.startswith("config.model_type: is missing; known: llama, mistral")


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


def read(path: Path, data: bytes) -> Architecture:
    path.write_bytes(data)
    return read_config(path)[0]


def test_a_file_is_read(tmp_path):
    assert read(tmp_path / "c.json", json.dumps(LLAMA).encode()) == architecture_of(LLAMA)


def test_a_file_names_its_class(tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(MIXTRAL))
    assert read_config(path)[1] == "mixtral"


def test_a_byte_order_mark_is_no_fault(tmp_path):
    data = json.dumps(LLAMA).encode("utf-8-sig")
    assert read(tmp_path / "c.json", data) == architecture_of(LLAMA)


def test_the_last_of_two_equal_keys_counts(tmp_path):
    data = json.dumps(LLAMA)[:-1] + ', "vocab_size": 7}'
    assert read(tmp_path / "c.json", data.encode()).vocab == 7


def test_a_number_too_large_for_a_float_is_no_size(tmp_path):
    data = json.dumps(LLAMA).replace("128", "1e400")
    with pytest.raises(InputError, match="vocab_size: inf is not a whole number"):
        read(tmp_path / "c.json", data.encode())


UNREADABLE = [
    (b"", "is not JSON: Expecting value at line 1, column 1"),
    (b'{\n "a": }', "at line 2, column 7"),
    (b"[1]", "holds a list, not a JSON object"),
    (b"null", "holds null, not a JSON object"),
    (b'{"a": NaN}', "is not JSON: NaN is not a JSON number"),
    (b'{"a": -Infinity}', "is not JSON: -Infinity is not a JSON number"),
    (b'{"a": ' + b"9" * 5000 + b"}", "is not JSON: Exceeds the limit"),
    (b"[" * 200_000, "is nested too deeply"),
    (b'{"a":' * 100_000, "is nested too deeply"),
    (b'\xff{"a": 1}', "is not UTF-8 text: byte 0"),
    (b'{"a": "' + b"x" * 1_048_576 + b'"}', "is 1.00 MiB; a config.json has at most 1.00 MiB"),
]


@pytest.mark.parametrize(("data", "said"), UNREADABLE, ids=[said for _, said in UNREADABLE])
def test_a_file_that_is_no_config_is_refused(tmp_path, data, said):
    with pytest.raises(InputError) as caught:
        read(tmp_path / "c.json", data)
    (fault,) = caught.value.faults
    assert said in str(fault)


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "weights.json"
    with path.open("wb") as file:
        file.truncate(100 * 10**9)
    start = time.perf_counter()
    with pytest.raises(InputError, match=r"93\.13 GiB"):
        read_config(path)
    assert time.perf_counter() - start < 1


def test_a_folder_is_refused_by_what_it_is(tmp_path):
    with pytest.raises(InputError, match=r"is a folder; name a config\.json"):
        read_config(tmp_path)


def test_a_missing_file_is_refused_by_what_it_is(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.json")


def test_a_path_with_a_null_byte_is_refused():
    with pytest.raises(InputError, match=r"is not a path|cannot be read"):
        read_config(Path("a\0b"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_refused_by_what_it_is(tmp_path):
    path = tmp_path / "c.json"
    path.write_text("{}")
    path.chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read_config(path)


def test_an_endless_device_is_refused():
    with pytest.raises(InputError, match="is not a regular file"):
        read_config(Path("/dev/zero"))


def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is not a regular file"):
        read_config(path)
