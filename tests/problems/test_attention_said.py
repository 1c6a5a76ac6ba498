"""What a run's attention is called."""

import pytest

from engine.scenario import Recipe
from problems.registry import build
from problems.stated import kernel_said

KINDS = ("activations-conditions", "first-lever", "largest-share", "layer-activations", "peak")
SEEDS = range(30)


@pytest.mark.parametrize(
    ("precision", "attention", "said"),
    [
        ("fp32", "flash", "fused"),
        ("fp32", "eager", "eager"),
        ("mixed", "flash", "flash"),
        ("pure-bf16", "flash", "flash"),
    ],
)
def test_flash_attention_is_said_of_16_bits_alone(precision, attention, said):
    assert kernel_said(Recipe(precision=precision, attention=attention)) == said


@pytest.mark.parametrize("kind", KINDS)
def test_no_question_has_flash_attention_in_fp32(kind):
    for problem in (build(kind, seed) for seed in SEEDS):
        if problem.scenario and problem.scenario.recipe.precision == "fp32":
            texts = (problem.prompt, *problem.hints, *(step.text for step in problem.solution))
            assert not any("flash" in text.lower() for text in texts), problem.id
