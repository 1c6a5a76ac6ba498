"""Stored weights and the pool that they leave, beside published figures."""

from fractions import Fraction

import pytest

from engine.architecture import Architecture
from engine.catalog import models
from engine.inference.cache import KVCache
from engine.inference.pool import Pool
from engine.inference.stored import BF16, INT8, NF4_DOUBLE
from engine.inference.weights import matrices, weights
from engine.units import GB, GIB, MIB

LLAMA = models()["llama-3-8b"].architecture


def test_bf16_weights_take_two_bytes_a_parameter():
    assert weights(LLAMA) == 2 * LLAMA.parameters
    assert round(weights(LLAMA) / GIB, 2) == 14.96  # of the model that is served


@pytest.mark.parametrize("name", ["llama-3-8b", "gpt2", "mixtral-8x7b", "deepseek-v2-lite"])
def test_one_byte_a_parameter_in_int8(name):
    assert weights(models()[name].architecture, INT8) == models()[name].parameters


def test_double_quantised_scales_take_0_127_bits():
    scales = NF4_DOUBLE.each - 4
    assert round(float(scales), 3) == 0.127  # arXiv 2305.14314 section 3


def test_what_a_quantiser_leaves_are_embedding_norms_and_head():
    rest = LLAMA.parameters - matrices(LLAMA)
    assert rest == 2 * 128256 * 4096 + 65 * 4096
    mixed = weights(LLAMA, NF4_DOUBLE, rest=BF16)
    # 5.7 GB on disk: unsloth/llama-3-8b-bnb-4bit, model.safetensors.
    assert mixed / GB == pytest.approx(5.7, rel=0.01)


def test_linear_4_bit_tensors_take_what_bitsandbytes_packs():
    bits = matrices(LLAMA) * NF4_DOUBLE.each
    assert weights(LLAMA, NF4_DOUBLE, rest=BF16) == bits / 8 + 2 * (2 * 128256 + 65) * 4096


def test_the_router_and_biases_stay_as_they_are():
    a = models()["mixtral-8x7b"].architecture
    attention = 2 * (4096 + 1024) * 4096
    assert matrices(a) == 32 * (attention + 8 * 3 * 4096 * 14336)
    b = Architecture(layers=1, hidden=8, heads=2, ffn=16, vocab=8, gated=False, mlp_bias=True)
    assert matrices(b) == 4 * 8 * 8 + 2 * 8 * 16


def pool(**more):
    return Pool(**({"memory": 100 * GIB, "share": Fraction(9, 10)} | more))


def test_the_pool_is_a_share_of_the_card_less_what_else_is_in_it():
    assert pool(weights=20 * GIB, profiled=5 * GIB).size == 65 * GIB


def test_a_pool_is_never_negative():
    assert pool(weights=95 * GIB, profiled=0).size == 0


def test_the_tokens_of_a_13b_model_are_those_of_its_paper():
    opt = Architecture(layers=40, hidden=5120, heads=40, ffn=1, vocab=1)
    of_paper = Pool(
        memory=81920 * MIB, share=Fraction(9, 10), weights=int(24.2 * GIB), profiled=int(1.5 * GIB)
    )
    # 46.3 GiB at 800 KiB a token.
    assert of_paper.tokens(KVCache(architecture=opt, block=16)) == pytest.approx(60_700, rel=0.002)


def test_sequences_and_lengths_fill_the_pool_and_no_more():
    cache = KVCache(architecture=LLAMA, block=16)
    held = pool(weights=20 * GIB, profiled=5 * GIB)
    count = held.sequences(cache, 4096)
    assert cache.of_batch(count, 4096) <= held.size < cache.of_batch(count + 1, 4096)
    length = held.longest(cache, limit=2**20, sequences=8)
    assert length % 16 == 0
    assert cache.of_batch(8, length) <= held.size < cache.of_batch(8, length + 16)


def test_the_longest_length_is_at_most_what_the_model_allows():
    windowed = KVCache(architecture=models()["mistral-7b"].architecture)
    assert pool(weights=0, profiled=0).longest(windowed, limit=32768) == 32768


@pytest.mark.parametrize("block", [7, 16, 16384])
def test_the_last_block_of_the_longest_length_need_not_be_full(block):
    cache = KVCache(architecture=LLAMA, block=block)
    assert pool(weights=0, profiled=0).longest(cache, limit=8192) == 8192
