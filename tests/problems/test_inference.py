"""Questions on serving: those that people were asked, and what all of a kind have alike.

Each row has the figures of a question and its answer as its source has them.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from engine.architecture import Architecture, Experts
from engine.catalog import CatalogModel, accelerator, accelerators, models
from engine.inference.cache import KVCache
from engine.inference.pool import Pool
from engine.inference.stored import BF16, FP16, GPTQ, INT4, INT8, NF4_DOUBLE
from engine.inference.weights import weights
from engine.units import GB, GIB, KIB, MB, MIB
from problems.answers.repair import RepairAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.bank.inference import (
    capacity,
    devices,
    engine_starts,
    kv_total,
    prefix,
    refused,
    window_log,
)
from problems.bank.inference import pool as pools
from problems.bank.inference import quantised_cache as quantised
from problems.bank.inference import stored_weights as stored
from problems.bank.inference.split_cache import Case as SplitCache
from problems.registry import build, kinds
from problems.served import kib, slips
from problems.serving import Load, Serving
from problems.windowed import Windowed
from problems.wording import card as titled

SEEDS = 200
NAMES = [name for name, kind in kinds().items() if kind.topic == "F"]
every_kind = pytest.mark.parametrize("name", NAMES)
# A formula has no number that spreads.
every_number = pytest.mark.parametrize(
    "name", [name for name in NAMES if build(name, 0).answer.type != "symbolic"]
)
YES_NO = ("engine-starts", "serve-fits", "windows-in-log")
# Kinds whose seeds give yes or no, or powers of two alone.
FEW_VALUES = {"devices-to-serve"}


def shape(layers, hidden, heads, kv_heads, head_dim=0, **more):
    """A decoder of which the cache alone is asked about."""
    sizes = {"ffn": 1, "vocab": 1} | more
    return Architecture(
        layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads, head_dim=head_dim, **sizes
    )


def named(architecture, parameters=None):
    """The model of such a shape, as the catalogue would have it."""
    return CatalogModel(
        name="asked",
        title="asked",
        architecture=architecture,
        max_sequence=1 << 20,
        parameters=parameters or architecture.parameters,
        source="a question",
        checked="2026-11-30",
    )


def of_size(parameters, **more):
    """A model with about so many parameters, nearly all of them in its embedding."""
    hidden = more.pop("hidden", 8192)
    sizes = {"layers": 80, "heads": 64, "kv_heads": 8, "ffn": 1, "tied": True} | more
    bare = Architecture(hidden=hidden, vocab=1, **sizes)
    rows = (parameters - bare.parameters) // hidden
    return named(Architecture(hidden=hidden, vocab=rows, **sizes))


def card(memory_mib):
    """A card with so much memory."""
    return replace(accelerator("t4"), memory_mib=memory_mib)


LLAMA_70B = shape(80, 8192, 64, 8)
LLAMA_13B = shape(40, 5120, 40, 40)

# What one token takes. id, shape, bytes, source
TOKENS = [
    ("F02", shape(32, 4096, 32, 32), 512 * KIB, "inference-course-3l0.pages.dev lesson 10"),
    ("F03", shape(32, 4096, 32, 8), 128 * KIB, "vllm-engineer.pages.dev phase 00"),
    ("F10", LLAMA_13B, int(0.8192 * MB), "ray-project/llm-numbers#25: 0.82 MB"),
    ("F23", shape(28, 3584, 28, 4, 128), 56 * KIB, "vllm-project/vllm#22291"),
]


@pytest.mark.parametrize(("asked", "a", "size", "source"), TOKENS)
def test_a_token_takes_as_much_as_the_question_says(asked, a, size, source):
    assert KVCache(architecture=a, stored=FP16).per_token == size, (asked, source)


def total(a, requests, length, stored=FP16):
    return kv_total.Case(
        model=named(a),
        cache=KVCache(architecture=a, stored=stored),
        groups=(kv_total.Group(requests=requests, prompt=length, answer=0),),
        given=False,
    )


# What a batch takes, and what it would with a head for each query. id, shape, requests, tokens
GRILL = "fahimfaisal.info llm inference grill"
BATCHES = [
    ("F02", shape(32, 4096, 32, 32), 1, 4096, 2 * GIB, 2 * GIB, "inference-course-3l0 lesson 10"),
    ("F05", LLAMA_70B, 1, 1 << 17, 40 * GIB, 320 * GIB, "engineersofai.com transformer internals"),
    ("F06", LLAMA_70B, 32, 8192, 85.9 * GB, 687 * GB, GRILL),
    ("F07", LLAMA_70B, 1, 128_000, 41.9 * GB, 335 * GB, "harvard-edge/cs249r_book StaffML"),
    ("F33", shape(96, 12288, 96, 96), 1, 4096, 19.3 * GB, 19.3 * GB, "system-design-dusky mock"),
]


@pytest.mark.parametrize(("asked", "a", "requests", "length", "size", "whole", "source"), BATCHES)
def test_a_batch_takes_as_much_as_the_question_says(
    asked, a, requests, length, size, whole, source
):
    case = total(a, requests, length)
    assert case.size == pytest.approx(size, rel=0.002), (asked, source)
    times = {slip.name: slip.times for slip in slips(case.cache)}
    ungrouped = case.size * times.get("grouped heads forgotten", 1)
    assert ungrouped == pytest.approx(whole, rel=0.002), (asked, source)


def test_hidden_size_for_the_heads_width_and_bits_are_28_times_too_much():
    # F23, vllm-project/vllm#22291: 2 x 3584 x 28 x 8 = 1.53 MiB for 56 KiB.
    cache = KVCache(architecture=shape(28, 3584, 28, 4, 128))
    times = {slip.name: slip.times for slip in slips(cache)}["grouped heads forgotten"]
    in_bits = 8 // 2  # bits taken for the bytes of bf16
    assert times * in_bits == 28
    assert times * in_bits * cache.per_token == pytest.approx(1.53 * MIB, rel=0.002)


def test_17_gb_hold_51900_tokens_of_a_70b_model_and_6500_with_all_heads():
    # F08, 22.frenchintelligence.org, an interview on data centers.
    cache = KVCache(architecture=LLAMA_70B, stored=FP16)
    left = Pool(memory=17 * GB, share=Fraction(1), weights=0, profiled=0)
    assert left.tokens(cache) == pytest.approx(51_900, rel=0.002)
    whole = KVCache(architecture=shape(80, 8192, 64, 64), stored=FP16)
    assert left.tokens(whole) == pytest.approx(6_500, rel=0.01)


def serving(model, memory, *, stored=FP16, cached=FP16, gpus=1):
    return Serving(
        model=model,
        gpu=card(memory // MIB),
        gpus=gpus,
        percent=100,
        stored=stored,
        cache=KVCache(architecture=model.architecture, stored=cached),
    )


# id, parameters, layers, requests, total, cards of 16 GB, a power of two of them
SCALING = "jax-ml/scaling-book applied-inference.md"
DEVICES = [
    ("F11", 70 * GB, {}, 32, 113 * GB, 8),
    ("F12", 8 * GB, {"layers": 32, "hidden": 4096, "heads": 32}, 240, 137 * GB, 16),
]


@pytest.mark.parametrize(("asked", "parameters", "sizes", "requests", "size", "cards"), DEVICES)
def test_cards_of_16_gb_that_serve_a_model(asked, parameters, sizes, requests, size, cards):
    x = serving(of_size(parameters, **sizes), 16 * GB, stored=INT8, cached=INT8)
    load = Load(serving=x, requests=requests, length=8192)
    assert load.size == pytest.approx(size, rel=0.01), (asked, SCALING)
    assert devices.power_of_two(load.size, x.room) == cards, (asked, SCALING)


# id, parameters, format, cards, memory of one, bytes of the weights, whether they fit
FITS = [
    ("D08", 65 * GB, FP16, 4, 32 * GB, 130 * GB, False, "wdndev/llm_interview_note"),
    ("F29", 72 * GB, FP16, 1, 81920 * MIB, 144 * GB, False, "mentords.ru trainer"),
    ("F29", 72 * GB, INT4, 1, 81920 * MIB, 36 * GB, True, "mentords.ru trainer"),
]


@pytest.mark.parametrize(
    ("asked", "parameters", "form", "gpus", "memory", "size", "fits", "source"), FITS
)
def test_weights_fit_or_not_as_the_question_says(
    asked, parameters, form, gpus, memory, size, fits, source
):
    x = serving(of_size(parameters), memory, stored=form, gpus=gpus)
    load = Load(serving=x, requests=0, length=1)
    assert load.size == pytest.approx(size, rel=0.001), (asked, source)
    assert (load.size <= x.room) is fits, (asked, source)


def test_a_quarter_of_16_bits_and_its_scales():
    # F29: int4 is 36 GB and scales; 0.127 bits of them as QLoRA has it (arXiv 2305.14314).
    case = stored.Case(model=of_size(72 * GB), stored=NF4_DOUBLE)
    assert case.size - 36 * GB == pytest.approx(72 * GB * 0.127 / 8, rel=0.002)


def test_all_experts_are_loaded_and_not_those_of_a_token_alone():
    # F26, ollama/ollama#10546: 30B with 3B active; the shape of Qwen3-30B-A3B.
    experts = Experts(routed=128, per_token=8, ffn=768)
    a = shape(48, 2048, 32, 4, 128, ffn=6144, vocab=151936, experts=experts, qk_norm="head")
    case = stored.Case(model=named(a), stored=BF16)
    assert case.size == pytest.approx(2 * 30.5 * GB, rel=0.01)
    idle = next(m for m in stored._mistakes(case) if m.name == "idle experts left out")
    assert idle.value == pytest.approx(2 * 3.3 * GB, rel=0.02)


def engine(model, gpu, percent, aside, cache, taken=None):
    case = pools.Case(model=model, gpu=gpu, percent=percent, aside=aside, cache=cache)
    return case.pool if taken is None else replace(case.pool, weights=taken)


def test_the_pool_of_a_13b_model_holds_60700_tokens():
    # F15, vllm-project/vllm#550: 72 GiB - 24.2 - 1.5.
    cache = KVCache(architecture=LLAMA_13B, stored=FP16, block=16)
    pool = engine(named(LLAMA_13B), card(81920), 90, 3 * GIB // 2, cache, int(24.2 * GIB))
    assert pool.size == pytest.approx(46.3 * GIB, rel=0.001)
    assert pool.tokens(cache) == pytest.approx(60_700, rel=0.002)


def test_an_engine_with_a_half_billion_model_takes_20_gb_of_a_24_gb_card():
    # F14, vllm-project/vllm#4253: the share is taken whatever the model.
    model = models()["qwen2.5-0.5b"]
    cache = KVCache(architecture=model.architecture, block=16)
    pool = engine(model, accelerator("a10g"), 90, GIB, cache)
    assert pool.size + pool.weights + pool.profiled == pool.usable
    assert pool.usable / GIB == pytest.approx(20, rel=0.02)
    assert pool.size > 18 * GIB


def test_all_of_a_card_is_never_free():
    # H16, vllm-project/vllm#10797: a 3B model on 16 GB with the share set to 1.
    used = (("engine's own context", 350),)
    assert [
        engine_starts.Case(gpu=card(16384), percent=percent, used=used).spare > 0
        for percent in (100, 98, 90)
    ] == [False, False, True]


def refusal(blocks, length):
    """An engine whose log says so many blocks of 16 tokens; 512 KiB a token."""
    a = shape(32, 4096, 32, 32)
    cache = KVCache(architecture=a, stored=FP16, block=16)
    held = blocks * 16 * cache.per_token
    pool = Pool(memory=held, share=Fraction(1), weights=0, profiled=0)
    return refused.Case(model=named(a), gpu=card(1), pool=pool, cache=cache, length=length)


def test_a_refusal_at_229_blocks_is_about_432_tokens():
    # F16, vllm-project/vllm#2418: the longest request 4,096, the cache 3,664 tokens.
    case = refusal(229, 4096)
    assert case.has * case.cache.block == 3664
    assert case.pool.size == pytest.approx(1.79 * GIB, rel=0.002)
    assert case.size == 432 * 512 * KIB
    assert case.size == pytest.approx(0.21 * GIB, rel=0.01)


def test_what_is_missing_is_whole_blocks():
    assert refusal(229, 4090).size == refusal(229, 4096).size


def test_the_log_of_a_refusal_has_the_numbers_of_the_case():
    log = "\n".join(refused._log(refusal(229, 4096)))
    assert "229 blocks of 16 tokens" in log
    assert "longest request 4096 tokens, cache 3664 tokens" in log


def test_an_engine_that_reserved_all_layers_alike_has_72_kib_a_token():
    # F19, alvarobartt/hf-mem#60: 78,384 tokens in 5.38 GiB.
    a = shape(36, 2880, 64, 8, 64, window=128, window_layers=18)
    cache = KVCache(architecture=a, block=16)
    assert (kib(cache.per_token), kib(cache.per_late_token)) == ("72 KiB", "36 KiB")
    case = Windowed(title="asked", cache=cache, requests=1, length=1 << 17)
    alike = window_log._tokens_of(case.alike(), case, int(5.38 * GIB))
    assert alike == pytest.approx(78_384, rel=0.001)
    assert window_log._tokens_of(cache, case, int(5.38 * GIB)) == pytest.approx(
        2 * alike, rel=0.01
    )


def test_a_shared_prefix_saves_all_copies_but_one():
    # F31, harvard-edge/cs249r_book, StaffML.
    case = prefix.Case(
        model=named(LLAMA_70B),
        cache=KVCache(architecture=LLAMA_70B),
        requests=50,
        prefix=2000,
        own=500,
    )
    assert case.once == pytest.approx(0.655 * GB, rel=0.001)
    assert case.saved == 49 * case.once == pytest.approx(32 * GB, rel=0.01)
    assert case.saved + case.shared == case.cache.of_batch(50, 2500)


def test_a_4_bit_model_has_a_16_bit_cache():
    # F35, tracker-7ex.pages.dev: weights in few bits leave the cache as it is.
    cache = KVCache(architecture=LLAMA_70B, stored=BF16)
    case = quantised.Case(model=of_size(70 * GB), narrow=cache, requests=32, length=8192)
    assert case.weights == pytest.approx(35 * GB, rel=0.001)
    assert case.before == case.after == pytest.approx(85.9 * GB, rel=0.001)
    right = case.weights + case.before
    quarter = next(quantised._of_total(case, right))
    assert quarter.value == case.weights + Fraction(case.before, 4)


def split(ranks):
    return SplitCache(
        model=named(LLAMA_70B),
        gpu=card(81920),
        cache=KVCache(architecture=LLAMA_70B, tensor=ranks),
        requests=8,
        length=4096,
    )


def test_a_gpus_cache_stops_falling_at_as_many_gpus_as_key_value_heads():
    # F36, huggingface/blog#2345.
    assert split(16).size == split(8).size == split(1).size // 8
    assert split(4).size == 2 * split(8).size


def test_the_pool_of_a_70b_model_on_8_cards_holds_so_many_requests():
    # F08 and F15 asked on: 8 cards of 80 GB, weights in 16 bits, requests of 4,096 tokens.
    x = serving(of_size(70 * GB), 80 * GB, gpus=8)
    case = capacity.Case(serving=x, prompt=3072, answer=1024)
    assert case.each == pytest.approx(1.342 * GB, rel=0.001)
    assert x.left == pytest.approx(500 * GB, rel=0.001)
    assert x.left // case.each == 372


@pytest.mark.parametrize(("form", "bits"), [(GPTQ, 4.156), (INT8, 8), (BF16, 16)])
def test_weights_take_their_bits(form, bits):
    a = models()["llama-3-8b"].architecture
    assert weights(a, form) == pytest.approx(a.parameters * bits / 8, rel=1e-4)


@cache
def drawn(name):
    return tuple(build(name, seed) for seed in range(SEEDS))


def value_of(problem):
    answer = problem.answer
    return answer.number.value if isinstance(answer, YesNoAnswer | RepairAnswer) else answer.value


@every_kind
def test_no_two_seeds_ask_the_same(name):
    assert len({problem.prompt + problem.exhibit for problem in drawn(name)}) == SEEDS


@every_number
def test_answers_spread_over_a_factor_of_twenty(name):
    values = [value_of(problem) for problem in drawn(name)]
    assert max(values) >= 20 * min(values) > 0
    assert len(set(values)) >= (5 if name in FEW_VALUES else 25)


@pytest.mark.parametrize("name", YES_NO)
def test_half_of_the_answers_are_yes(name):
    assert 0.4 * SEEDS < sum(problem.answer.value for problem in drawn(name)) < 0.6 * SEEDS


@pytest.mark.parametrize("name", ["blocks-and-refusal", "engine-starts", "windows-in-log"])
def test_a_log_is_narrow_and_its_lines_end_with_a_word(name):
    for problem in drawn(name):
        assert all(
            len(line) <= 77 and line == line.rstrip() for line in problem.exhibit.split("\n")
        )


@every_number
def test_every_problem_has_three_mistakes_or_nearly(name):
    counts = [len(problem.mistakes) for problem in drawn(name)]
    assert min(counts) >= 2
    assert sum(count >= 3 for count in counts) > 0.8 * SEEDS


@cache
def prompts():
    return tuple(problem.prompt for name in NAMES for problem in drawn(name))


@pytest.mark.parametrize("model", models().values(), ids=models())
def test_every_model_is_asked_about(model):
    assert any(model.title in text for text in prompts())


@pytest.mark.parametrize("gpu", accelerators().values(), ids=accelerators())
def test_every_card_is_asked_about(gpu):
    assert any(titled(gpu) in text for text in prompts())
