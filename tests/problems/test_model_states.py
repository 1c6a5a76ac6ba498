"""Bytes per parameter and ZeRO's shares, against published figures."""

from fractions import Fraction

import pytest

from problems.model_states import changes, each_of, parts_of, size_of, sum_said

# precision, optimizer, bytes per parameter, source
EACH = [
    ("mixed", "adamw", 16, "arXiv 1910.02054 section 3.1: 2 + 2 + K with K = 12"),
    ("mixed-fp32-grad", "adamw", 18, "Megatron-LM docs, distributed optimizer"),
    ("fp32", "adamw", 16, "arXiv 1910.02054 section 3.1 with 4-byte weights and gradients"),
    ("autocast", "adamw", 16, "PyTorch documentation, torch.amp: weights stay fp32"),
    ("pure-bf16", "adamw", 8, "pytorch/torchtune README, bf16 recipes"),
    ("mixed", "sgd", 8, "2 + 2 + 4, no states"),
    ("mixed", "sgd-momentum", 12, "2 + 2 + 4 + 4"),
    ("fp32", "sgd-momentum", 12, "4 + 4 + 4"),
    ("pure-bf16", "sgd", 4, "2 + 2"),
]
# precision, stage, parameters, ranks, bytes on a rank, source
ON_A_RANK = [
    ("mixed", 0, 7_500_000_000, 64, 120e9, "arXiv 1910.02054 figure 1"),
    ("mixed", 1, 7_500_000_000, 64, 31.4e9, "arXiv 1910.02054 figure 1"),
    ("mixed", 2, 7_500_000_000, 64, 16.6e9, "arXiv 1910.02054 figure 1"),
    ("mixed", 3, 7_500_000_000, 64, 1.9e9, "arXiv 1910.02054 figure 1"),
    ("mixed-fp32-grad", 1, 7_000_000_000, 8, 52.5e9, "NVIDIA/Megatron-LM#654: 6 + 12/8"),
    ("mixed", 2, 6_738_415_616, 8, 25.3e9, "2 + 14/8 bytes of Llama-2-7B"),
]


@pytest.mark.parametrize(("precision", "optimizer", "each", "source"), EACH)
def test_bytes_per_parameter(precision, optimizer, each, source):
    assert each_of(parts_of(precision, optimizer)) == each, source


@pytest.mark.parametrize(
    ("precision", "stage", "parameters", "ranks", "size", "source"), ON_A_RANK
)
def test_bytes_on_a_rank(precision, stage, parameters, ranks, size, source):
    held = size_of(parts_of(precision, "adamw"), parameters, stage, ranks)
    assert held == pytest.approx(size, rel=0.02), source


@pytest.mark.parametrize("optimizer", ["adamw", "sgd", "sgd-momentum"])
@pytest.mark.parametrize("precision", ["mixed", "fp32", "pure-bf16"])
def test_fsdp_shards_hold_as_much_as_the_parts_of_the_zero_paper(precision, optimizer):
    classic = parts_of(precision, optimizer)
    assert each_of(parts_of(precision, optimizer, fsdp=True)) == each_of(classic)


def test_a_shard_is_rounded_up_to_whole_parameters():
    assert size_of(parts_of("mixed", "adamw"), 10, 3, 4) == 3 * 16


@pytest.mark.parametrize(
    ("stage", "said"), [(0, "2 + 2 + 4 + 8"), (1, "2 + 2 + 12/8"), (2, "2 + 14/8"), (3, "16/8")]
)
def test_sums_are_said_as_on_paper(stage, said):
    assert sum_said(parts_of("mixed", "adamw"), stage, 8) == said


@pytest.mark.parametrize(
    ("name", "each"),
    [
        ("master copy forgotten", 12),
        ("moments forgotten", 8),
        ("one moment forgotten", 12),
        ("gradients forgotten", 14),
        ("weights and gradients only", 4),
        ("weights only", 2),
        ("optimizer states in 16 bits", 12),
        ("gradients in 32 bits", 18),
    ],
)
def test_a_change_of_mixed_precision_adamw_gives(name, each):
    found = {change.name: change for change in changes(parts_of("mixed", "adamw"), "mixed")}
    assert each_of(found[name].parts) == each


def test_a_change_that_leaves_nothing_is_no_change():
    only_gradients = tuple(p for p in parts_of("mixed", "sgd") if p.name == "gradients")
    assert all(each_of(c.parts) > Fraction(0) for c in changes(only_gradients, "mixed"))
