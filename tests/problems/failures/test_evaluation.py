"""Logits that an evaluation keeps: published sizes, and drawn ones from what is printed."""

import re

import pytest

from engine.catalog import models
from engine.units import GB, GIB, TIB
from problems.bank.failures.evaluation import Evaluation
from problems.registry import build

SEEDS = range(45)


def kept(examples, length, vocab, width):
    """Bytes of the list, with the vocabulary of another model than those of the catalogue."""
    x = Evaluation(
        model=models()["gpt2"],
        batch=1,
        length=length,
        examples=examples,
        width=width,
        joined=False,
    )
    return x.kept * vocab // models()["gpt2"].architecture.vocab


@pytest.mark.parametrize(
    ("case", "unit", "size"),
    [
        # huggingface/transformers#12878: said to be 14 GB, which is the number of elements.
        ((1000, 512, 30_522, 4), GIB, 58),
        ((1000, 512, 30_522, 1), GIB, 15),
        # huggingface/transformers#10722.
        ((200_000, 77, 50_000, 4), TIB, 2.8),
        # huggingface/trl#6858: 16 GB were said of bf16 logits; that is their fp32 copy.
        ((1, 16_384, 248_320, 2), GB, 8.1),
        ((1, 16_384, 248_320, 4), GB, 16.3),
    ],
)
def test_published_logits_have_their_size(case, unit, size):
    digits = 0 if isinstance(size, int) else 1
    assert round(kept(*case) / unit, digits) == size


def test_what_is_printed_gives_the_answer():
    for seed in SEEDS:
        problem = build("evaluation-logits", seed)
        text = problem.prompt.replace(",", "")
        vocab, examples, length = (
            int(re.search(pattern, text)[1])
            for pattern in (r"V = (\d+)", r"over (\d+) examples", r"to (\d+) tokens")
        )
        width = 4 if "gives fp32 logits" in text else 2
        joined = 2 if "torch.cat" in problem.exhibit else 1
        assert problem.answer.value == joined * width * examples * length * vocab


def test_only_a_senior_is_asked_for_the_joined_tensor():
    for seed in SEEDS:
        problem = build("evaluation-logits", seed)
        assert ("torch.cat" in problem.exhibit) == (problem.level == "senior")
