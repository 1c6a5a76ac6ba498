"""Outputs of chosen products: the widths are those of published shapes, the sums done by hand."""

import re

import pytest

from engine.architecture import Architecture
from engine.catalog import models
from problems.bank.activations.kept_products import MLP, Kept
from problems.registry import build

SEEDS = range(60)
TB = 10**12


def test_three_mlp_products_of_16m_tokens_of_a_13b_model_are_42_tb():
    # jax-ml/scaling-book training.md: 2 x 40 x 16e6 x (5,120 + 2 x 13,824).
    a = Architecture(layers=40, hidden=5120, heads=40, head_dim=128, ffn=13_824, vocab=32_000)
    kept = Kept(of=a, names=MLP, tokens=16_000_000)
    assert kept.size == 2 * 40 * 16_000_000 * (5120 + 2 * 13_824)
    assert round(kept.size / TB) == 42


@pytest.mark.parametrize(("each", "terabytes"), [(3, 15.7), (4, 21.0)])
def test_outputs_as_wide_as_a_70b_model_are_three_or_four_a_layer(each, terabytes):
    # jax-ml/scaling-book applied-training.md: width 8,192, 80 layers, 4M tokens.
    a = models()["llama-3-70b"].architecture
    size = Kept(of=a, names=("MLP down",), tokens=4_000_000).size
    assert round(each * size / TB, 1) == terabytes


@pytest.mark.parametrize(
    ("name", "width"),
    [("query", 4096), ("key", 1024), ("value", 1024), ("attention output", 4096),
     ("MLP gate", 14_336), ("MLP up", 14_336), ("MLP down", 4096)],
)  # fmt: skip
def test_an_output_is_as_wide_as_its_matrix(name, width):
    kept = Kept(of=models()["llama-3-8b"].architecture, names=(name,), tokens=1)
    assert kept.widths == {name: width}


def test_a_gpu_keeps_its_part_of_the_tokens():
    a = models()["llama-3-8b"].architecture
    whole, part = (Kept(of=a, names=MLP, tokens=4_000_000, ranks=n).size for n in (1, 16))
    assert whole == 16 * part


def test_the_answer_follows_from_what_the_prompt_says():
    for seed in SEEDS:
        problem = build("kept-products", seed)

        def said(pattern, text=problem.prompt):
            found = re.search(pattern, text)
            return int(found[1].replace(",", "")) if found else 0

        h, d, f = said(r"h = ([\d,]+)"), said(r"d = (\d+)"), said(r"f = ([\d,]+)")
        a, k = said(r"a = (\d+)"), said(r"k = (\d+)")
        widths = {
            "queries": a * d, "keys": k * d, "values": k * d, "attention output": h,
            "MLP gate": f, "MLP up": f, "MLP down": h,
        }  # fmt: skip
        listed = re.search(r"again: (.*)\. Leave", problem.prompt)[1]
        width = sum(widths[name] for name in re.split(", | and ", listed))
        tokens = said(r"has ([\d,]+) tokens") / (said(r"of (\d+) GPUs") or 1)
        assert problem.answer.value == 2 * said(r"L = (\d+)") * tokens * width, problem.id


def test_a_senior_meets_keys_or_values_that_are_grouped():
    for seed in range(2, 60, 3):
        prompt = build("kept-products", seed).prompt
        assert re.search("keys|values", prompt)
        heads, grouped = re.search(r"a = (\d+) heads and k = (\d+)", prompt).groups()
        assert int(grouped) < int(heads)
