"""Logits of prompts beside those of a class of Transformers and what people met."""

import pytest

from engine.architecture import Architecture
from engine.families.config import architecture_of
from engine.inference.logits import logits

SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "vocab_size": 40,
}


@pytest.mark.parametrize("keep", [0, 1, 3])
def test_logits_are_as_large_as_those_of_transformers(keep):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model("llama", **SMALL)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    with torch.no_grad():
        out = model(torch.ones(2, 7, dtype=torch.long), logits_to_keep=keep)
    a = architecture_of(SMALL | {"model_type": "llama"})
    assert out.logits.nbytes == logits(a, 2 * (keep or 7))
    assert out.logits.nbytes + out.logits.float().nbytes == logits(a, 2 * (keep or 7), copied=True)


def of_vocabulary(vocab):
    return Architecture(layers=1, hidden=8, heads=1, ffn=8, vocab=vocab)


def test_a_single_allocation_of_25_gb_is_24179_positions_in_fp32():
    # Blaizzy/mlx-vlm#1732: a vocabulary of 262,144.
    size = logits(of_vocabulary(262_144), 24_179, width=4)
    assert size == pytest.approx(25_353_916_928, rel=1e-4)


def test_a_chunk_of_8192_tokens_with_log_probabilities_is_7_5_gb():
    # vllm-project/vllm#52054: a vocabulary of 152,000, 2 bytes and 4 more beside them.
    assert logits(of_vocabulary(152_000), 8192, copied=True) == pytest.approx(7.5e9, rel=0.005)
