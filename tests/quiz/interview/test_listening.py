"""What is said last counts: widths that are not the run's, and points that are taken back."""

import pytest

from problems.interview.points import table
from problems.interview.script import Width
from quiz.interview.contraries import CONTRARIES
from quiz.interview.hearing import manner
from quiz.interview.listening import Listened, stand

SHARDS = {
    "fp32-shard": Width(size=4),
    "gradients": Width(size=4),
    "moments": Width(size=8, tensors=2),
}
MIXED = {
    "weights": Width(size=2),
    "gradients": Width(size=2),
    "master-copy": Width(size=4),
    "moments": Width(size=8, tensors=2, also=(12,)),
}
HALF = {
    "weights": Width(size=2),
    "gradients": Width(size=2),
    "moments": Width(size=4, tensors=2),
}


def made(lines, names, *, aspect, key, widths=None):
    """Return which points stand behind lines to a question."""
    how, widths = manner(aspect, asked=True, key=key), widths or {}
    return {
        name
        for name in names
        if stand(
            lines,
            Listened(
                phrases=table()[name].phrases,
                how=how,
                contraries=CONTRARIES.get(name, ()),
                width=widths.get(name),
                others=tuple(table()[other].phrases for other in widths if other != name),
            ),
        ).words
    }


@pytest.mark.parametrize(
    ("widths", "typed", "names"),
    [
        (SHARDS, "bf16 weights 2", ""),
        (SHARDS, "fp32 weights 4", "fp32-shard"),
        (SHARDS, "bf16 grads 2", ""),
        (SHARDS, "gradients are kept in bf16", ""),
        (SHARDS, "gradients 8 bytes", ""),
        (SHARDS, "gradients (2 bytes)", ""),
        (SHARDS, "gradients (4 bytes)", "gradients"),
        (SHARDS, "the gradients are kept, 2 bytes each", ""),
        (SHARDS, "moments take 1 byte each", ""),
        (SHARDS, "moments take 4 bytes each", "moments"),
        (SHARDS, "moments 4 bytes", ""),
        (SHARDS, "8 bytes per parameter for moments", "moments"),
        (SHARDS, "moments: 2 x 4", "moments"),
        (SHARDS, "moments: 4 + 4 bytes", "moments"),
        (SHARDS, "two fp32 moments", "moments"),
        (SHARDS, "adam has m and v, 2 bytes each", ""),
        (SHARDS, "adam has m and v, 4 bytes each", "moments"),
        (SHARDS, "weights 4 gradients 4 moments 8", "fp32-shard gradients moments"),
        (SHARDS, "weights 4 gradients 2 moments 8", "fp32-shard moments"),
        (SHARDS, "weights 4 gradients 4 moments 8 but all in bf16", ""),
        (SHARDS, "weights 4, gradients 4, moments 8, all fp32", "fp32-shard gradients moments"),
        (SHARDS, "weights, gradients, moments", "fp32-shard gradients moments"),
        (SHARDS, "weights, gradients, moments: 16 bytes", "fp32-shard gradients moments"),
        (SHARDS, "weights and gradients in fp32 and 8 bytes of moments", "*"),
        (SHARDS, "ZeRO-3 shards the gradients", "gradients"),
        (SHARDS, "weights not in bf16 but fp32", "fp32-shard"),
        (SHARDS, "weights gathered in bf16, shard kept in fp32", "fp32-shard"),
        (SHARDS, "all in bf16: weights, gradients, moments", ""),
        (SHARDS, "everything is fp32: weights, gradients, moments", "*"),
        (SHARDS, "moments are 2x the weights", "fp32-shard moments"),
        (SHARDS, "moments take twice 4 bytes", "moments"),
        (MIXED, "gradients: 2 bytes a parameter", "gradients"),
        (MIXED, "master weights 4", "master-copy"),
        (MIXED, "bf16 weights 2, fp32 master weights 4", "weights master-copy"),
        (MIXED, "weights in fp32", ""),
        (MIXED, "weights and fp32 master copy", "weights master-copy"),
        (MIXED, "16-bit weights and gradients, 32-bit master copy and moments", "*"),
        (MIXED, "weights: bf16, gradients: bf16, master copy: fp32, moments: 2 x fp32", "*"),
        (MIXED, "bf16 weights 2 bytes bf16 grads 2 bytes fp32 moments 8 bytes", "w g m"),
        (MIXED, "2 bytes weights in bf16", "weights"),
        (MIXED, "2 bytes grads, 12 bytes optimizer states", "gradients moments"),
        (MIXED, "2 bytes grads, 6 bytes optimizer states", "gradients"),
        (MIXED, "2 + 2 + 4 + 8: weights gradients master copy moments", "*"),
        (HALF, "moments 4 bytes", "moments"),
        (HALF, "moments 8 bytes", ""),
        (HALF, "bf16 moments", "moments"),
        (HALF, "moments in fp32", ""),
        (HALF, "8 bit moments", ""),
    ],
)
def test_a_term_with_a_width_that_it_does_not_have_is_not_made(widths, typed, names):
    short = {"*": " ".join(widths), "w g m": "weights gradients moments"}
    expected = set(short.get(names, names).split())
    assert made([typed], widths, aspect="terms", key="state-terms", widths=widths) == expected


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (("moments 8 bytes", "no, moments are 4 bytes"), ""),
        (("moments 4 bytes", "no, moments are 8 bytes"), "moments"),
        (("gradients fp32, 4 bytes, sorry i mean 2 bytes bf16",), ""),
        (("gradients bf16, 2 bytes, sorry i mean fp32 gradients",), "gradients"),
        (("gradients 4", "gradients 2"), ""),
        (("gradients 4 bytes", "sorry, 2 bytes"), ""),
        (("gradients 4 bytes", "moments 8 bytes", "sorry, 2 bytes"), "gradients"),
        (("moments 8", "with 8-bit Adam the moments are 2 bytes"), "moments"),
        (("gradients 4", "in bf16 the gradients would be 2 bytes"), "gradients"),
        (("weights, gradients", "wait, not the gradients"), "fp32-shard"),
        (("gradients 4", "moments 4", "gradients 4"), "gradients"),
        (("weights 4", "8B params"), "fp32-shard"),
        (("weights, gradients, moments", "the gradients are not sharded"), "*"),
        (("weights", "gradients, moments 8", "scratch that"), "fp32-shard"),
        (("gradients", "do not forget that the moments stay"), "gradients moments"),
    ],
)
def test_a_term_is_taken_back(lines, names):
    expected = set(SHARDS) if names == "*" else set(names.split())
    assert made(lines, SHARDS, aspect="terms", key="state-terms", widths=SHARDS) == expected


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (("activations are not sharded", "no wait, they are sharded"), ""),
        (("activations are not sharded", "no, the activations are sharded"), ""),
        (("activations are not sharded", "the activations are sharded"), ""),
        (("activations are not sharded", "the activations are in this number"), ""),
        (("activations are not sharded", "oh no, activations are sharded by it"), ""),
        (("activations are not divided", "hmm, actually they are"), ""),
        (("activations are not divided", "no, that is wrong"), ""),
        (("activations are not divided", "that is right"), "activations-out"),
        (("activations and logits", "wait, logits are divided"), "activations-out"),
        (("activations are not sharded", "they are large"), "activations-out"),
        (("activations are not sharded", "weights are sharded"), "activations-out"),
        (("everything is sharded", "no wait, activations aren't"), "activations-out"),
        (("activations", "logits", "no, they are divided"), "activations-out"),
        (("activations", "everything else is sharded"), "activations-out"),
        (("activations", "tensor parallel would divide the activations"), "activations-out"),
        (("activations", "recomputation makes activations shrink"), "activations-out"),
        (("logits and activations are not sharded, and also everything is sharded",), ""),
        (("logits and activations", "everything is sharded"), ""),
        (("logits and activations", "not everything is sharded"), "activations-out logits-out"),
    ],
)
def test_what_is_not_divided_is_taken_back(lines, names):
    names_asked = ("activations-out", "logits-out")
    found = made(lines, names_asked, aspect="exclusions", key="not-sharded")
    assert found == set(names.split())


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (("the moments are made", "before, there were no moments"), "states-made"),
        (("the moments are made", "no wait, they were there from the start"), ""),
        (("the moments are made", "no, not the moments"), ""),
        (("the moments are made", "sorry, fragmentation"), "states-made cache-in-pieces"),
        (("fragmentation", "actually fragmentation is not the reason"), ""),
        (("fragmentation", "not fragmentation"), ""),
        (("fragmentation", "no, it does not matter"), ""),
        (("fragmentation", "no, it is large"), "cache-in-pieces"),
    ],
)
def test_a_cause_is_taken_back(lines, names):
    asked = ("states-made", "cache-in-pieces")
    found = made(lines, asked, aspect="terms", key="died-in-step-2")
    assert found == set(names.split())


@pytest.mark.parametrize(
    ("aspect", "key", "lines", "stands"),
    [
        ("conditions", "overturns", ("a longer batch", "no, it's not a longer batch"), False),
        ("conditions", "overturns", ("a longer batch", "a longer batch changes nothing"), False),
        ("conditions", "overturns", ("a longer batch", "a save changes nothing"), True),
        (
            "conditions",
            "conditions",
            ("longer batch?", "I don't care about a longer batch"),
            False,
        ),
    ],
)
def test_a_condition_is_taken_back(aspect, key, lines, stands):
    assert bool(made(lines, ["longer-batch"], aspect=aspect, key=key)) is stands


@pytest.mark.parametrize(("line", "back"), [("no headroom needed", True), ("a display", False)])
def test_it_is_known_whether_a_point_was_taken_back(line, back):
    point = Listened(phrases=table()["reserve"].phrases, how="beside")
    found = stand(["leave headroom", line], point)
    assert (found.taken_back, bool(found.words)) == (back, not back)
