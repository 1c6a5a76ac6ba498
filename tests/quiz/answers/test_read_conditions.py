"""Conditions are read as people type them, in any order; what is none is refused where it is."""

from fractions import Fraction

import pytest

from problems.stated import Stated
from quiz.answers import Conditions, Unreadable, read_conditions

GB, GIB = 10**9, 2**30
MIXED = {"precision": "mixed"}
ADAM = {"optimizer": "adamw-fused"}
SMALL = {"micro_batch": 1, "sequence": 4096}
FLASH, EAGER = {"attention": "flash"}, {"attention": "eager"}
FULL, NONE = {"recompute": "full"}, {"recompute": "none"}

READ = [
    (
        "bf16 mixed, AdamW, b=1, s=4096, flash, full recompute: 118 GB",
        MIXED | ADAM | SMALL | FLASH | FULL,
        118 * GB,
    ),
    (
        "mixed precision, Adam, batch size 1, 4k context, flash attention 2, no ckpt, 118 GB",
        MIXED | ADAM | SMALL | FLASH | NONE,
        118 * GB,
    ),
    ("b=1,s=4,096 flash => 40 GiB", SMALL | FLASH, 40 * GIB),
    ("micro-batch of 1 and 4096 tokens: 40", SMALL, 40 * GB),
    ("1 sequence × 4,096 tokens, sdpa → 3 GB", SMALL | FLASH, 3 * GB),
    ("pure bf16: 60 GB", {"precision": "pure-bf16"}, 60 * GB),
    ("everything in bf16: 60 GB", {"precision": "pure-bf16"}, 60 * GB),
    ("mixed with fp32 gradients: 126 GB", {"precision": "mixed-fp32-grad"}, 126 * GB),
    ("fp16 with an fp32 master copy: 112 GB", MIXED, 112 * GB),
    ("fp32: 5 GB", {"precision": "fp32"}, 5 * GB),
    ("torch.amp: 5 GB", {"precision": "autocast"}, 5 * GB),
    ("16 B/param: 112", {"each": Fraction(16)}, 112 * GB),
    ("18 bytes per parameter: 126", {"each": Fraction(18)}, 126 * GB),
    ("8-bit Adam: 1 GB", {"optimizer": "adamw-8bit"}, GB),
    ("SGD with momentum: 1 GB", {"optimizer": "sgd-momentum"}, GB),
    ("sgd: 1 GB", {"optimizer": "sgd"}, GB),
    ("eager attention, selective recomputation: 1 GB", EAGER | {"recompute": "selective"}, GB),
    ("no flash, gradient checkpointing: 1 GB", EAGER | FULL, GB),
    ("without activation checkpointing: 1 GB", NONE, GB),
    ("checkpointing off: 1 GB", NONE, GB),
    ("ZeRO-3 on 8 GPUs: 1 GB", {"zero": 3, "gpus": 8}, GB),
    ("b=1, s=4096, flash, ZeRO-2 over 8: 5 GB", SMALL | FLASH | {"zero": 2, "gpus": 8}, 5 * GB),
    ("ZeRO-3 across 16, full recompute: 1 GB", FULL | {"zero": 3, "gpus": 16}, GB),
    ("ZeRO-3 over 16 with ckpt: 1 GB", FULL | {"zero": 3, "gpus": 16}, GB),
    ("ZeRO-3 over 16xH100: 1 GB", {"zero": 3, "gpus": 16}, GB),
    ("stage 2 on 4096 tokens: 1 GB", {"zero": 2, "sequence": 4096}, GB),
    ("zero stage 2, 16xH100: 1 GB", {"zero": 2, "gpus": 16}, GB),
    ("FSDP, N=64: 1 GB", {"zero": 3, "gpus": 64}, GB),
    ("one GPU: 1 GB", {"gpus": 1}, GB),
    ("gradient accumulation 8: 1 GB", {"accumulation": 8}, GB),
    ("118 GB", {}, 118 * GB),
    ("full fine-tuning without dropout on one GPU: 118 GB", {"gpus": 1}, 118 * GB),
    ("b=2: 110 to 130 GB", {"micro_batch": 2}, 120 * GB),
]


@pytest.mark.parametrize(("text", "stated", "value"), READ, ids=[row[0] for row in READ])
def test_conditions_are_read_as_people_type_them(text, stated, value):
    found = read_conditions(text)
    assert isinstance(found, Conditions), found
    assert found.stated == Stated(**stated)
    assert found.quantity.value == value


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("", 0, "nothing was typed"),
        ("b=1 purple", 10, "end with a colon and the memory"),
        ("b=1: lots", 5, ""),
        ("b=1, purple: 5 GB", 5, "not understood as a condition"),
        ("b=1, b=2: 5 GB", 5, "stated otherwise before"),
        ("fp32, bf16: 5 GB", 6, "stated otherwise before"),
        ("b=0: 5 GB", 0, "whole number of at least 1"),
        ("b=1.5: 5 GB", 0, "whole number of at least 1"),
        ("s=999999999: 5 GB", 0, "more than 10,000,000"),
        ("zero-4: 5 GB", 0, "not understood"),
        ("b=1, full: 5 GB", 5, "not understood"),
    ],
)
def test_what_is_no_condition_is_refused_where_it_stands(text, offset, reason):
    found = read_conditions(text)
    assert isinstance(found, Unreadable), found
    assert found.offset == offset
    assert reason in found.reason


def test_what_was_assumed_in_reading_is_told():
    assert "pure bf16 has no fp32 copy" in read_conditions("bf16: 5 GB").remarks[0]
    assert "over 8 GPUs" in read_conditions("ZeRO-1: 5 GB").remarks[0]


def test_any_text_is_read_or_refused():
    text = "b=1;zero3:full(1,0)bf16 ^²=→ no with 8x 4k s GPU: GB 1e9 ~ -"
    for at in range(len(text)):
        for step in (1, 2, 5):
            typed = (text[at:] + text[:at])[::step]
            found = read_conditions(typed)
            assert isinstance(found, Conditions) or 0 <= found.offset <= len(typed)


@pytest.mark.parametrize("text", ["b=1, s=1,024, flash attention", "b=1, s=1024, flash: "])
def test_conditions_may_stand_without_a_number(text):
    found = read_conditions(text)
    assert found == Conditions(
        stated=Stated(micro_batch=1, sequence=1024, attention="flash"), quantity=None
    )
