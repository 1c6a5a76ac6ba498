"""Published answers that went wrong: in their own numbers they give what was published."""

from fractions import Fraction

import pytest

from engine.catalog import models
from engine.units import GB, GIB, MB, TB
from problems.bank.claims.published_error import CASES
from problems.published import activations, adapters, caches, states
from problems.registry import build


class Scripted:
    """Draws what it is told, in that order; a function picks from what there is."""

    def __init__(self, *drawn):
        self._drawn = list(drawn)

    def between(self, _low, _high):
        return self._drawn.pop(0)

    def choice(self, items):
        drawn = self._drawn.pop(0)
        return drawn(items) if callable(drawn) else drawn


def model(name):
    return models()[name]


def first(items):
    return items[0]


def second(items):
    return items[1]


@pytest.mark.parametrize(
    ("case", "drawn", "key", "published", "right"),
    [
        (states.eight_bytes, (700, 8), "total", 560 * GB, 1120 * GB),
        (states.served_to_trained, (70,), "ratio", 4, 8),
        (states.one_moment, (700,), "moments", 280 * GB, 560 * GB),
        (adapters.adapters_alone, (700, 9), "total", 10.08 * GB, 150.08 * GB),
        (states.weights_for_all, (700, 8, 80), "total", 140 * GB, 1120 * GB),
        (states.half_of_a_shard, (1750, 64), "rank", 21.9 * GB, 43.75 * GB),
        (states.gib_said_as_gb, (70, 2), "total", 52.15 * GB, 56 * GB),
        (states.another_recipe, (67,), "total", 134 * GB, 80.4 * GB),
        (activations.fp32_said_of_bf16, (1, 16_384, 248_320, first), "bf16", 16.3 * GB, 8.14 * GB),
        (activations.fp32_said_of_bf16, (2, 256, 151_665, second), "bf16", 310.6 * MB, 155.3 * MB),
        (activations.elements_said_in_gb, (1000, 512, 30_522), "size", 14.55 * GIB, 58.2 * GIB),
        (activations.heads_in_one_matrix, (315, 16), "one", 48.45 * GIB, 6.06 * GIB),
        (activations.four_checkpoints, (8192, 80, 3, 4), "all", 20.97 * TB, 15.73 * TB),
        (activations.inputs_for_activations, (4096, 32, 4, 2048), "all", 2.15 * GB, 36.5 * GB),
        (
            caches.request_of_all_heads,
            (model("llama-3-70b"), 128),
            "request",
            335.5 * GB,
            41.9 * GB,
        ),
        (
            caches.tokens_beside_weights,
            (model("llama-3-70b"), 192, 10, first),
            "token",
            2.62 * MB,
            0.328 * MB,
        ),
        (caches.a_megabyte_a_token, (model("llama-3-8b"), 8), "token", MB, 0.131 * MB),
        (caches.hidden_size, (model("qwen2.5-7b"), 8, first), "token", 401_408, 57_344),
        (caches.hidden_size, (model("qwen2.5-7b"), 8, second), "token", 458_752, 57_344),
    ],
)
def test_a_published_answer_gives_what_was_published(case, drawn, key, published, right):
    found = case(Scripted(*drawn))
    wrong = found.worked.values(found.wrong.line)
    assert float(wrong[key]) == pytest.approx(published, rel=0.003)
    assert float(found.worked.values()[key]) == pytest.approx(right, rel=0.003)


def test_a_slip_of_subtraction_is_ten_gb():
    found = caches.ten_too_many(Scripted(model("llama-3-70b"), 16))
    wrong, right = found.worked.values(found.wrong.line), found.worked.values()
    assert wrong["left"] - right["left"] == 10 * GB
    assert wrong["tokens"] > right["tokens"]


def test_gb_printed_as_gib_are_7_4_percent_more():
    found = caches.gb_printed_as_gib(Scripted(model("llama-3-70b"), 8, 16))
    wrong, right = found.worked.values(found.wrong.line), found.worked.values()
    assert wrong["gib"] / right["gib"] == Fraction(GIB, GB)


def test_every_published_case_is_posed_and_tells_its_source_in_the_solution():
    texts = "\n".join(
        step.text for seed in range(200) for step in build("published-error", seed).solution
    )
    for source in (
        "distillprep.com", "wdndev/", "threadreaderapp.com", "engineersofai.com",
        "StaffML, cloud/01", "StaffML, cloud/02", "lone17.github.io", "maxtext#606", "trl#6858",
        "trl#3678",
        "transformers#12878", "pytorch#133206", "applied-training.md", "notes.tczhong.com",
        "vllm#22291", "frenchintelligence.org", "llm-numbers#25", "inference.md",
        "applied-inference.md",
    ):  # fmt: skip
        assert source in texts


def test_the_prompt_does_not_say_what_went_wrong():
    for seed in range(60):
        problem = build("published-error", seed)
        assert not any(name in problem.prompt for name in (problem.mistakes[0].name, "forgot"))


def test_there_are_as_many_cases_as_published_answers():
    assert len(CASES) == len(set(CASES)) == 19


def test_the_scores_of_one_head_do_not_name_the_heads_where_they_went_wrong():
    case = activations.heads_in_one_matrix(Scripted(447, 16))
    _, one, _ = case.worked.texts(case.wrong.line)
    assert one == "one head's scores in fp32, 3.27B entries = 105 GB"
