"""The cache of keys and values beside the caches of Transformers and published figures."""

from fractions import Fraction

import pytest

from engine.architecture import Architecture, LatentAttention
from engine.catalog import models
from engine.errors import InputError
from engine.families.config import architecture_of
from engine.inference.cache import KVCache
from engine.inference.stored import BF16, FP8, FP32, GPTQ, GROUPED_INT4, INT8, NF4_DOUBLE, Stored
from engine.units import GIB, KIB

SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 16,
    "vocab_size": 32,
}
# Each with heads grouped or not, and with a window in some layers or in none.
CONFIGS = [
    ("llama", SMALL),
    ("llama", SMALL | {"num_key_value_heads": 2}),
    ("llama", SMALL | {"num_key_value_heads": 1, "head_dim": 24}),
    ("qwen3", SMALL | {"num_key_value_heads": 2, "head_dim": 16}),
    ("gpt2", {"n_embd": 32, "n_layer": 3, "n_head": 4, "vocab_size": 32}),
    ("mistral", SMALL | {"num_key_value_heads": 2, "sliding_window": 5}),
    ("gemma2", SMALL | {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 6}),
    (
        "qwen2",
        SMALL
        | {
            "num_key_value_heads": 2,
            "use_sliding_window": True,
            "sliding_window": 4,
            "max_window_layers": 1,
        },
    ),
]
LENGTHS = (3, 9)


def bytes_of_transformers(model_type, config, length, sequences):
    """What the static cache of the class holds: a windowed layer is as long as its window."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    named = {"pad_token_id": None, "bos_token_id": None, "eos_token_id": None}
    built = transformers.AutoConfig.for_model(model_type, **config, **named)
    model = transformers.AutoModelForCausalLM.from_config(built).eval()
    cache = transformers.StaticCache(config=built, max_cache_len=length)
    with torch.no_grad():
        model(torch.ones(sequences, length, dtype=torch.long), cache=cache)
    return sum(x.keys.nbytes + x.values.nbytes for x in cache.layers)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("model_type", "config"), CONFIGS)
def test_the_cache_is_as_large_as_that_of_transformers(model_type, config, length):
    a = architecture_of(config | {"model_type": model_type})
    ours = KVCache(architecture=a, stored=FP32)
    assert ours.of_batch(2, length) == bytes_of_transformers(model_type, config, length, 2)


def test_the_latent_is_what_the_down_projection_of_transformers_writes():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = SMALL | {"kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6}
    a = architecture_of(config | {"model_type": "deepseek_v3", "num_experts_per_tok": 8})
    with torch.device("meta"):
        built = transformers.AutoConfig.for_model("deepseek_v3", **config)
        model = transformers.AutoModelForCausalLM.from_config(built)
    written = [
        x.self_attn.kv_a_proj_with_mqa.weight.shape[0] * torch.bfloat16.itemsize
        for x in model.model.layers
    ]
    assert KVCache(architecture=a).per_token == sum(written)


# model, bytes of a token in bf16, source
PER_TOKEN = [
    ("llama-2-7b", 512 * KIB, "arXiv 2309.06180 and many: 2 x 32 x 4096 x 2"),
    ("llama-2-13b", 800 * KIB, "arXiv 2309.06180 section 3: 800 KB for OPT-13B, of its width"),
    ("llama-3-8b", 128 * KIB, "2 x 32 x 8 x 128 x 2"),
    ("llama-3-70b", 320 * KIB, "2 x 80 x 8 x 128 x 2"),
    ("llama-3.1-405b", 516_096, "2 x 126 x 8 x 128 x 2; 516.096 KB in arXiv 2505.09343 table 1"),
    ("qwen2.5-72b", 327_680, "327.680 KB in arXiv 2505.09343 table 1"),
    ("deepseek-v3", 70_272, "61 x (512 + 64) x 2; 70.272 KB in arXiv 2505.09343 table 1"),
    ("deepseek-v2", 69_120, "60 x 576 x 2"),
]


@pytest.mark.parametrize(("name", "size", "source"), PER_TOKEN)
def test_a_token_of_a_published_model_takes(name, size, source):
    assert KVCache(architecture=models()[name].architecture).per_token == size, source


def test_a_batch_takes_what_was_published():
    a = models()["llama-3-8b"].architecture
    assert KVCache(architecture=a).of_batch(32, 8192) == 32 * GIB  # 32 x 8192 tokens in bf16


def one(**more):
    return Architecture(layers=4, hidden=64, heads=8, kv_heads=4, ffn=8, vocab=8, **more)


@pytest.mark.parametrize(
    ("tensor", "layer"), [(1, 4 * 32), (2, 2 * 32), (4, 32), (8, 32), (16, 32)]
)
def test_a_rank_holds_at_least_one_key_value_head(tensor, layer):
    assert KVCache(architecture=one(), tensor=tensor).per_layer == layer


def test_ranks_do_not_split_a_latent():
    latent = LatentAttention(
        query_rank=0, kv_rank=8, nope_head_dim=4, rope_head_dim=2, value_head_dim=4
    )
    a = one(latent=latent)
    assert KVCache(architecture=a, tensor=3).per_token == KVCache(architecture=a).per_token == 80


def test_a_sequence_takes_whole_blocks():
    cache = KVCache(architecture=one(), block=16)
    assert [cache.of(n) // cache.per_token for n in (1, 16, 17)] == [16, 16, 32]


def test_a_windowed_layer_stops_growing():
    cache = KVCache(architecture=one(window=10, window_layers=3))
    assert cache.of(10) == 10 * cache.per_token
    assert cache.of(30) - cache.of(20) == 10 * cache.per_late_token
    assert cache.per_token == 4 * cache.per_late_token


def test_without_windows_all_layers_are_alike():
    a = one(window=10, window_layers=3)
    assert KVCache(architecture=a, windows=False).of(30) == KVCache(architecture=one()).of(30)


def test_lengths_add_up():
    cache = KVCache(architecture=one())
    assert cache.total((3, 5)) == cache.of(8) == 8 * cache.per_token


@pytest.mark.parametrize("numbers", [{"tensor": 0}, {"block": 0}, {"tensor": 3}])
def test_numbers_that_fit_no_cache_are_refused(numbers):
    with pytest.raises(InputError):
        KVCache(architecture=one(), **numbers)


@pytest.mark.parametrize(
    ("stored", "bits"),
    [
        (BF16, 16),
        (FP8, 8),
        (INT8, 8),
        (GROUPED_INT4, Fraction(9, 2)),
        (GPTQ, 4 + Fraction(20, 128)),
        (NF4_DOUBLE, 4 + Fraction(8, 64) + Fraction(32, 64 * 256)),
    ],
)
def test_an_element_takes_these_bits(stored, bits):
    assert stored.each == bits
    elements = 64 * 256 * 128
    assert stored.size(elements) == elements * bits / 8


def test_a_part_of_a_block_has_a_scale_of_its_own():
    row = Stored(
        name="x", title="x", bits=4, block=4, scale_bits=8, outer=2, outer_bits=32, source="x"
    )
    assert row.size(5) == 3 + 2 + 4
    assert row.size(9) == 5 + 3 + 8
