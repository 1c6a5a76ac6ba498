"""Bytes per parameter and ZeRO's shares, against published figures."""

from fractions import Fraction
from itertools import product

import pytest

from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from problems.bank.states.bytes_per_parameter import other_parts
from problems.model_states import changes, each_of, parts_of, size_of, sum_said
from problems.registry import build
from problems.wording import FP32_SHARD, bytes_of, gb, rest_of_rounding, rounded
from quiz.grading import grade

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


@pytest.mark.parametrize("fsdp", [False, True])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_fp32_weights_may_be_taken_for_those_that_serve_in_16_bits(precision, fsdp):
    parts = parts_of(precision, "adamw", fsdp=fsdp)
    found = [
        each_of(c.parts) for c in changes(parts, precision) if c.name == "16-bit weights only"
    ]
    wide = any(part.name in {"weights", FP32_SHARD} and part.each == 4 for part in parts)
    assert found == ([2] if wide else [])


def test_16_bit_weights_for_sixteen_bytes_are_no_slip_of_bits():
    marked = grade(build("zero-table", 11), "14.5, 60, 30, 0.1")
    assert marked.mistake == "16-bit weights only"


def test_a_change_that_leaves_nothing_is_no_change():
    only_gradients = tuple(p for p in parts_of("mixed", "sgd") if p.name == "gradients")
    assert all(each_of(c.parts) > Fraction(0) for c in changes(only_gradients, "mixed"))


ASKED = {
    "all": None,
    "zero-1": ("master copy", "moments", "momentum"),
    "zero-2": ("gradients", "master copy", "moments", "momentum"),
}


def combinations():
    """Every recipe, stage and part that is asked for: parts and changes that may be named."""
    for precision, optimizer in product(PRECISIONS, optimizers()):
        for stage, (asked, names) in product(range(4), ASKED.items()):
            if stage and asked != "all":
                continue
            whole = parts_of(precision, optimizer, fsdp=stage == 3)
            parts = tuple(p for p in whole if names is None or p.name in names)
            if parts:
                wrong = (*changes(parts, precision), *other_parts(whole, parts))
                yield precision, stage, whole, parts, wrong


def each(parts, name):
    return sum(part.each for part in parts if part.name == name)


def test_no_change_leaves_the_sum_as_it_is():
    for *_, parts, wrong in combinations():
        assert all(each_of(change.parts) != each_of(parts) for change in wrong if more(change))


def more(change):
    return change.name != "all states counted"


def test_gradients_are_narrowed_only_where_they_are_fp32_and_widened_only_where_they_are_not():
    seen = set()
    for *_, parts, wrong in combinations():
        for change in wrong:
            if change.name.startswith("gradients in"):
                width = each(parts, "gradients")
                assert (change.name, width) in {
                    ("gradients in 16 bits", 4), ("gradients in 32 bits", 2),
                }  # fmt: skip
                assert each(change.parts, "gradients") == 6 - width
                seen.add(change.name)
    assert len(seen) == 2


def test_only_fsdp_gathers():
    seen = 0
    for precision, stage, *_, wrong in combinations():
        for change in wrong:
            if "gathered" in change.why:
                assert stage == 3, (precision, change)
                assert PRECISIONS[precision].master
                seen += 1
    assert seen


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("master copy forgotten", "master copy"),
        ("fp32 shard of the weights forgotten", "fp32 shard of the weights"),
        ("moments forgotten", "moments"),
        ("momentum forgotten", "momentum"),
        ("gradients forgotten", "gradients"),
    ],
)
def test_only_what_is_there_can_be_forgotten_and_its_whole_size_is_missing(name, part):
    seen = 0
    for *_, parts, wrong in combinations():
        for change in wrong:
            if change.name == name:
                assert each(parts, part) == each_of(parts) - each_of(change.parts) > 0
                seen += 1
    assert seen


def test_a_sentence_says_more_where_the_number_is_too_small_and_too_many_where_it_is_too_large():
    for *_, parts, wrong in combinations():
        for change in wrong:
            large = each_of(change.parts) > each_of(parts)
            counted = "too many" in change.why or change.why.startswith("counts")
            assert counted == large or not more(change), change


def test_a_master_copy_is_too_many_only_where_there_is_none_and_says_why():
    for precision, *_, wrong in combinations():
        for change in wrong:
            if change.name == "a master copy too many":
                row = PRECISIONS[precision]
                assert row.master == 0
                assert ("fp32 already" in change.why) == (row.weights == 4)


def test_optimizer_states_are_narrowed_where_they_are_fp32_and_widened_where_they_are_bf16():
    for precision, *_, wrong in combinations():
        for change in wrong:
            if change.name.startswith("optimizer states in"):
                wide = PRECISIONS[precision].stepped == 4
                assert change.name == f"optimizer states in {16 if wide else 32} bits"
                assert ("here all is bf16" in change.why) == (precision == "pure-bf16")


def test_having_counted_the_gradients_is_the_first_idea_where_zero_1_was_asked():
    for precision in PRECISIONS:
        whole = parts_of(precision, "adamw")
        asked = tuple(part for part in whole if part.name in ASKED["zero-1"])
        first = next(iter(other_parts(whole, asked)))
        assert first.name == "gradients counted"
        assert each_of(first.parts) - each_of(asked) == PRECISIONS[precision].gradients


@pytest.mark.parametrize("kind", ["bytes-per-parameter", "model-states", "zero-states"])
def test_the_missing_size_that_is_named_is_the_difference(kind):
    for seed in range(60):
        problem = build(kind, seed)
        for mistake in problem.mistakes:
            off = abs(mistake.value - problem.answer.value)
            said = bytes_of(off) if kind == "bytes-per-parameter" else gb(off)
            assert said in mistake.feedback, mistake


@pytest.mark.parametrize(
    ("parameters", "each", "said"),
    [
        (774_030_080, 4, "Paper and exact agree"),
        (
            6_738_415_616,
            16,
            "The rest of the difference is rounding 6,738,415,616 to 6.74 billion",
        ),
    ],
)
def test_a_difference_is_told_where_there_is_one(parameters, each, said):
    sizes = [(each * rounded(parameters), each * parameters)]
    assert rest_of_rounding(parameters, sizes) == said
