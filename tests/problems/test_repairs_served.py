"""Worked answers about serving and about plans: in published figures they give what is right."""

from fractions import Fraction

import pytest

from engine.catalog import accelerators, models
from engine.inference.cache import KVCache
from engine.inference.pool import Pool
from engine.inference.stored import FP8, FP16
from engine.inference.weights import weights
from engine.units import GB, GIB, KIB, MB, TB
from problems.bank.inference.repair_cache import Served, cached, left, tokens_that_fit
from problems.bank.levers.repair_gpus import Sharded, nodes
from problems.bank.levers.repair_plan import Plan, planned
from problems.model_states import parts_of


def served(name, *, width=2, sequences=1, length=1024, gpu="h100-80gb", percent=90):
    return Served(
        shape=models()[name].architecture,
        width=width,
        sequences=sequences,
        length=length,
        gpu=accelerators()[gpu],
        percent=percent,
    )


@pytest.mark.parametrize(
    ("question", "name", "length", "expected"),
    [
        # harvard-edge/cs249r_book said 335 GB.
        ("F07", "llama-3-70b", 128_000, Fraction("41.9") * GB),
        # vllm-project/vllm#22291 said 1.53 MiB a token.
        ("F23", "qwen2.5-7b", 1, 56 * KIB),
        # system-design-dusky.vercel.app said 20 GB and more, for another reason.
        ("F33", "gpt3-175b", 4096, Fraction("19.3") * GB),
        # ray-project/llm-numbers#25: roughly 1 MB a token.
        ("F10", "llama-2-13b", 1, Fraction("0.82") * MB),
        ("F03", "llama-3-8b", 1, 128 * KIB),
    ],
)
def test_published_caches_come_out_right(question, name, length, expected):
    of = served(name, length=length)
    assert cached(of, many=False).values()["sequence"] == pytest.approx(expected, rel=0.002), (
        question
    )


def test_a_winning_answer_left_room_for_51_900_tokens():
    """22.frenchintelligence.org: 17 GB at 2.6 MB a token, F08; 8 of 64 heads have keys."""
    values = tokens_that_fit(served("llama-3-70b", gpu="mi300x")).values()
    assert values["token"] == 80 * 2 * 8 * 128 * 2
    assert 17 * GB // values["token"] == pytest.approx(51_900, rel=0.001)


@pytest.mark.parametrize(("width", "stored"), [(1, FP8), (2, FP16)])
@pytest.mark.parametrize("name", ["llama-3-8b", "qwen2.5-7b", "pythia-1.4b"])
def test_caches_and_tokens_are_those_of_the_engine(name, width, stored):
    of = served(name, width=width, sequences=7, length=1000)
    counted = KVCache(architecture=of.shape, stored=stored)
    assert cached(of, many=True).values()["batch"] == counted.of_batch(7, 1000)
    pool = Pool(
        memory=of.gpu.memory, share=Fraction(90, 100), weights=weights(of.shape), profiled=0
    )
    assert tokens_that_fit(of).values()["tokens"] == pool.tokens(counted)
    assert int(left(of)) == pool.size


def test_blocks_of_3_52_tb_take_44_cards_and_41_where_gib_are_divided_by_gb():
    """126 blocks of 16,384 -> 53,248 -> 16,384, all fp32: Stanford CS336, A26."""
    blocks = 126 * 2 * 16_384 * 53_248
    parts = parts_of("fp32", "adamw")
    of = Sharded(parameters=blocks, parts=parts, memory=80 * GB, said="80 GB", percent=100)
    values = nodes(of).values()
    assert float(values["states"] / TB) == pytest.approx(3.52, abs=0.005)
    assert values["gpus"] == 44
    assert -(-(values["states"] / GIB) // 80) == 41


def plan(parameters, tensor, pipeline, data, parts):
    return Plan(
        parameters=parameters, parts=parts, tensor=tensor, pipeline=pipeline, data=data, stage=1,
        memory=80 * GB, said="80 GB", percent=90,
    )  # fmt: skip


def test_a_70b_model_on_256_cards_has_12_gb_of_states_on_each():
    """Tensor parallel 8, pipeline 4, data parallel 8, ZeRO-1: E03."""
    values = planned(plan(70 * GB, 8, 4, 8, parts_of("mixed", "adamw"))).values()
    assert values["each"] == Fraction("5.5")
    assert float(values["states"] / GB) == pytest.approx(12.1, abs=0.1)


def test_a_distributed_optimizer_leaves_7_5_bytes_of_18_on_8_ranks():
    """NVIDIA/Megatron-LM: fp32 gradients kept whole, A07."""
    values = planned(plan(7 * GB, 1, 1, 8, parts_of("mixed-fp32-grad", "adamw"))).values()
    assert values["each"] == Fraction("7.5")
    assert values["states"] == Fraction("52.5") * GB
