"""The table of points: every row is used, and a row that cannot be used is refused by name."""

import re

import pytest

from problems.interview.drawing import LONGEST, interview
from problems.interview.points import LISTENED, read, table

DRAWN = [(level, seed) for level in ("junior", "mid", "senior") for seed in range(10)]
# The first of its level whose layers keep their inputs alone.
FULLY_RECOMPUTED = 23
GOOD = '["{}"]\naspects = ["{}"]\nphrases = ["{}"]\n'


def test_every_point_is_listened_for_somewhere():
    heard = {
        point.name
        for level, seed in (*DRAWN, ("mid", FULLY_RECOMPUTED))
        for question in interview(level, LONGEST, seed).questions
        for point in question.points
    }
    assert set(table()) == heard


def test_points_are_heard_by_many_words():
    for row in table().values():
        assert len(row.phrases) >= 5, row.name
        assert set(row.aspects) <= set(LISTENED)


def words(text):
    """Return the words of a text, plurals and hyphens taken away."""
    plain = re.sub(r"[^a-z0-9/.+ ]", " ", text.lower())
    return [re.sub(r"s$", "", word.strip(".")) for word in plain.split()]


def heard(name, text):
    said = f" {' '.join(words(text))} "
    return any(f" {' '.join(words(phrase))} " in said for phrase in table()[name].phrases)


@pytest.mark.parametrize(("level", "seed"), DRAWN)
def test_what_a_strong_candidate_says_is_heard_by_the_point_s_own_words(level, seed):
    for question in interview(level, LONGEST, seed).questions:
        for point in question.points:
            assert heard(point.name, point.says), point


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (
            "What micro batch, which dtype, is it AdamW, and do you use FSDP?",
            ("micro-batch", "precision", "optimizer", "sharding"),
        ),
        (
            "I assume mbs 1, SDPA, gradient checkpointing off, no grad accum.",
            ("micro-batch", "attention-kernel", "recomputation", "accumulation"),
        ),
        (
            "bf16 params and grads, fp32 master weights, m and v of Adam",
            ("weights", "gradients", "master-copy", "moments"),
        ),
        (
            "Activations, logits, the all-gathered layer and the CUDA context stay out of it.",
            ("activations-out", "logits-out", "gathered-out", "context-out"),
        ),
        (
            "Adam allocates its states lazily, or the cache is fragmented, or a loss is kept.",
            ("states-made", "cache-in-pieces", "kept-reference"),
        ),
        (
            "I'd reset peak memory stats, run a few steps, and read max_memory_allocated.",
            ("reset-peak", "steady-step", "max-allocated"),
        ),
        (
            "Take a memory snapshot and compare with nvidia-smi.",
            ("snapshot", "reserved-too"),
        ),
        (
            "A larger micro-batch amortizes the gather, prefetch hides it, HSDP stays on NVLink",
            ("more-tokens-hide", "prefetch", "shard-in-node"),
        ),
    ],
)
def test_usual_ways_to_say_it_are_heard(said, names):
    assert [name for name in names if not heard(name, said.replace("_", " "))] == []


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("micro-batch", "mbs"),
        ("micro-batch", "batch size per gpu"),
        ("attention-kernel", "sdpa"),
        ("attention-kernel", "flash attention"),
        ("master-copy", "master weights"),
        ("recomputation", "gradient checkpointing"),
        ("cuda-context", "cuda context"),
        ("max-allocated", "max memory allocated"),
    ],
)
def test_usual_words_are_in_the_table(name, phrase):
    assert phrase in table()[name].phrases


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD.format("Micro batch", "terms", "mbs"), "'Micro batch' is no name"),
        (GOOD.format("mbs", "term", "mbs"), "'mbs': 'term' is none of conditions"),
        (GOOD.format("mbs", "terms", "MBS"), "'mbs': 'MBS' is no group of lower-case words"),
        (GOOD.format("mbs", "terms", "a  b"), "'a  b' is no group"),
        ('[mbs]\naspects = ["terms"]\n', "'mbs' does not have aspects and phrases"),
        ('[mbs]\naspects = []\nphrases = ["mbs"]\n', "'mbs': aspects is no list of words"),
        ('[mbs]\naspects = ["terms"]\nphrases = "mbs"\n', "'mbs': phrases is no list"),
        ('[mbs]\naspects = ["terms"]\nphrases = ["a", "a"]\n', "or has one twice"),
        ('[mbs]\naspects = ["terms"]\nphrases = [1]\n', "'mbs': phrases is no list of words"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_by_name(text, fault):
    with pytest.raises(ValueError, match=re.escape(fault)):
        read(text)


def test_all_bad_rows_are_told_at_once():
    text = GOOD.format("A", "terms", "x") + GOOD.format("b", "no", "x")
    with pytest.raises(ValueError, match=r"'A' is no name.*'b': 'no' is none"):
        read(text)
