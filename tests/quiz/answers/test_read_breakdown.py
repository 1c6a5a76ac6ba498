"""Breakdowns are read as people type them: a tensor and its bytes, in any order."""

import pytest

from quiz.answers import Breakdown, Unreadable, read_breakdown

USUAL = {"weights": 2, "gradients": 2, "master copy": 4, "optimizer states": 8}
MEGATRON = USUAL | {"gradients": 4}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2 weights + 2 grads + 4 master + 8 Adam = 16", USUAL),
        ("weights 2, gradients 4, master 4, moments 8", MEGATRON),
        ("weights: 2; gradients: 4; master: 4; moments: 8", MEGATRON),
        (
            (
                "2 (bf16 weight) + 2 (bf16 gradient) + 4 (fp32 gradient) + 4 (fp32 master) "
                "+ 8 (two fp32 moments) = 20"
            ),
            USUAL | {"gradients": 6},
        ),
        ("2 bytes weights, 4 bytes fp32 grads, 4 fp32 master copy, 4 m and 4 v", MEGATRON),
        (
            "4 weights + 4 grads + 4+4 moments = 16 bytes per parameter",
            {"weights": 4, "gradients": 4, "optimizer states": 8},
        ),
        (
            "2x4 moments + 2 weights + 2 grads",
            {"weights": 2, "gradients": 2, "optimizer states": 8},
        ),
        ("4 B fp32 master weights, 2 B bf16 params, 2 B grads, 8 B optimizer states", USUAL),
        (
            "16-bit weights 2 + 16-bit gradients 2 + 8-bit moments 2",
            {"weights": 2, "gradients": 2, "optimizer states": 2},
        ),
    ],
)
def test_a_breakdown_is_read_as_people_type_it(text, parts):
    found = read_breakdown(text)
    assert isinstance(found, Breakdown), found
    assert dict(found.parts) == parts
    assert found.total == sum(parts.values())


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("", 0, "say what the bytes are"),
        ("16", 2, "say what the bytes are"),
        ("4+4+(4+4)", 9, "say what the bytes are"),
        ("weights + 2 grads", 0, "type its bytes"),
        ("2 weights + 500 grads", 12, "type its bytes"),
        ("2 weights + 1.5 grads", 12, "type its bytes"),
        ("2 weights + 3 bananas", 12, "no tensor that is known"),
        ("2 weights + bananas", 12, "type a tensor and its bytes"),
        ("2 weights + 2 grads = 5", 20, "the parts add up to 4"),
    ],
)
def test_what_is_no_breakdown_is_refused_where_it_stands(text, offset, reason):
    found = read_breakdown(text)
    assert isinstance(found, Unreadable), found
    assert (found.offset, reason in found.reason) == (offset, True)


def test_any_text_is_read_or_refused():
    text = "2 weights+(4 fp32 grads);=16 and 8-bit m,v 2x4 B ²½ 99 = master"
    for at in range(len(text)):
        for step in (1, 2, 5):
            typed = (text[at:] + text[:at])[::step]
            found = read_breakdown(typed)
            assert isinstance(found, Breakdown) or 0 <= found.offset <= len(typed)
