import pytest

from problems.interview.points import table
from problems.interview.script import ASPECTS
from quiz.interview.clauses import clauses
from quiz.interview.contraries import CONTRARIES
from quiz.interview.hearing import heard, manner, slips

KNOWN = {
    "weights": ("weights", "parameters"),
    "gradients": ("gradients", "grads"),
    "master": ("master copy", "master weights", "fp32 copy"),
    "moments": ("moments", "optimizer states", "adam states"),
    "activations": ("activations",),
    "buffers": ("communication buffers", "all-gather buffer", "gather buffers"),
    "context": ("cuda context",),
    "micro-batch": ("micro-batch", "batch size"),
    "recompute": ("recomputation", "recompute", "activation checkpointing"),
    "precision": ("precision", "bf16", "16-bit"),
    "fragmentation": ("fragmentation",),
    "logits": ("logits",),
}

NAMED = [
    ("micro-batch", "what's the micro-batch?", True),
    ("micro-batch", "what microbatch do we run", True),
    ("micro-batch", "Micro Batch of 1 I assume", True),
    ("micro-batch", "batchsize?", True),
    ("micro-batch", "what is the size of a batch", False),
    ("micro-batch", "how many GPUs", False),
    ("recompute", "no recomputation, I take it", True),
    ("recompute", "is there activation-checkpointing", True),
    ("recompute", "are we recomputing anything?", True),
    ("recompute", "any checkpoints saved to disk?", False),
    ("precision", "BF16?", True),
    ("precision", "16bit weights or 32?", True),
    ("precision", "mixed precison", True),
    ("precision", "how precise must I be", False),
    ("context", "", False),
    ("context", "???", False),
]
LISTED = [
    ("weights", "2 bytes for the weights, 2 for grads, 12 for the rest", True),
    ("gradients", "2 bytes for the weights, 2 for grads, 12 for the rest", True),
    ("moments", "weights, gradients and the Adam states", True),
    ("moments", "the two moments of Adam", True),
    ("moments", "state of the optimizer", False),
    ("moments", "optimiser states", True),
    ("moments", "optimzer states", True),
    ("moments", "just a moment", True),
    ("master", "an fp32 master copy of the weights, 4 bytes", True),
    ("master", "master-weights in fp32", True),
    ("master", "there is no master copy", False),
    ("master", "no fp32 master copy here", False),
    ("master", "there isn't a master copy", False),
    ("master", "we don't need a master copy", False),
    ("master", "a master copy is not kept", False),
    ("master", "without a master copy", False),
    ("master", "don't forget the master copy", True),
    ("master", "forget the master copy", False),
    ("master", "the master copy is not sharded", True),
    ("weights", "there is no master copy, the weights are bf16", True),
    ("weights", "weights and moments but no master copy", True),
    ("master", "weights and moments but no master copy", False),
    ("moments", "no master copy and the moments take 8 bytes", True),
    ("gradients", "not only the weights but the gradients too", True),
    ("weights", "not only the weights but the gradients too", True),
    ("gradients", "gradeints", True),
    ("gradients", "graduates", False),
    ("gradients", "weights + grads + moments", True),
    ("buffers", "buffers for communication", False),
    ("buffers", "communication buffer", True),
    ("buffers", "the all gather buffer", True),
    ("buffers", "allgather buffers", True),
    ("context", "plus the CUDA context, half a GB", True),
    ("context", "ignoring the CUDA context", False),
    ("fragmentation", "some fragmenation on top", True),
    ("fragmentation", "a fragment of it", False),
    ("activations", "no, the activations come on top", True),
    ("activations", "no activations are stored", False),
    ("logits", "never mind the logits", True),
]
WHOLE = [
    ("activations", "activations are not sharded", True),
    ("activations", "activations aren't divided by ZeRO", True),
    ("activations", "ZeRO-3 does not shard the activations", True),
    ("activations", "the activations stay whole", True),
    ("activations", "activations remain on every rank", True),
    ("activations", "each rank keeps its own activations", True),
    ("activations", "ZeRO won't help with activations", True),
    ("activations", "activations are sharded", False),
    ("activations", "the activations are big", False),
    ("activations", "gradients are not sharded, and activations are large", False),
    ("activations", "moments are sharded but activations aren't", True),
    ("moments", "moments are sharded but activations aren't", False),
    ("weights", "only the moments are sharded, weights are replicated", True),
    ("weights", "weights are not replicated", False),
    ("weights", "weights are no longer whole", False),
    ("weights", "everything but the weights is divided", True),
    ("logits", "activations, logits and the gathered layer are not divided", True),
    ("activations", "activations, logits and the gathered layer are not divided", True),
    ("context", "I leave out the CUDA context", True),
    ("context", "the cuda context is not included", True),
    ("context", "excluding the CUDA context", True),
    ("context", "I ignore the context", False),
    ("context", "don't forget the CUDA context", False),
    ("buffers", "gather buffers don't shrink with N", True),
    ("buffers", "communication buffers come on top", True),
    ("weights", "weights on all ranks", True),
    ("logits", "logits are unaffected", True),
    ("logits", "logits shrink too", False),
    ("gradients", "gradients: not sharded in stage 1", True),
]
ASKED = [
    ("activations", "activations, logits, gather buffers", True),
    ("logits", "activations, logits, gather buffers", True),
    ("activations", "the activations", True),
    ("activations", "activations fall to an eighth", False),
    ("activations", "the activations get divided by 8", False),
    ("activations", "nothing but the activations", True),
    ("weights", "weights are not replicated", False),
    ("weights", "the weights stay, moments are cut by 8", True),
    ("moments", "the weights stay, moments are cut by 8", False),
]
ROWS = [
    (how, *row)
    for how, rows in (("named", NAMED), ("listed", LISTED), ("whole", WHOLE), ("asked", ASKED))
    for row in rows
]


@pytest.mark.parametrize(("how", "name", "typed", "is_heard"), ROWS)
def test_a_point_is_heard_in_what_people_type(how, name, typed, is_heard):
    assert bool(heard(typed, KNOWN[name], how)) is is_heard


# (aspect, question, typed, points that it makes, points that it does not make).
DENIALS = [
    ("terms", "died-in-step-2", "not the moments", "", "states-made first-step-lower"),
    (
        "terms",
        "died-in-step-2",
        "it's not the adam moments, they were there from the start",
        "",
        "states-made first-step-lower",
    ),
    ("terms", "died-in-step-2", "the moments were made before step 1", "", "states-made"),
    (
        "terms",
        "died-in-step-2",
        "optimizer states were loaded from a checkpoint before step 1",
        "",
        "states-made first-step-lower",
    ),
    ("terms", "died-in-step-2", "the moments were made in step 1", "states-made", ""),
    ("terms", "died-in-step-2", "step 1 made the moments, not before", "states-made", ""),
    (
        "terms",
        "died-in-step-2",
        "not fragmentation but the moments",
        "states-made",
        "cache-in-pieces",
    ),
    ("terms", "died-in-step-2", "not because of the moments", "", "states-made"),
    ("terms", "died-in-step-2", "no leak", "", "kept-reference"),
    ("terms", "died-in-step-2", "gradients not set to none", "kept-reference", ""),
    ("terms", "died-in-step-2", "nobody holds the graph of the loss", "", "kept-reference"),
    ("terms", "died-in-step-2", "somebody holds the graph of the loss", "kept-reference", ""),
    ("terms", "died-in-step-2", "the loss is kept without detaching", "kept-reference", ""),
    ("terms", "died-in-step-2", "fragmentation is not the reason", "", "cache-in-pieces"),
    ("terms", "died-in-step-2", "fragmentation is the reason", "cache-in-pieces", ""),
    ("terms", "died-in-step-2", "the free memory is not contiguous", "cache-in-pieces", ""),
    ("exclusions", "beyond-allocated", "no fragmentation", "", "fragmentation"),
    ("exclusions", "beyond-allocated", "no fragmentation in it", "fragmentation", ""),
    ("exclusions", "beyond-allocated", "free pieces: fragmentation", "fragmentation", ""),
    ("exclusions", "beyond-allocated", "reserved equals allocated", "", "reserved"),
    ("exclusions", "beyond-allocated", "reserved is not equal to allocated", "reserved", ""),
    ("exclusions", "beyond-allocated", "no reserve needed", "", "reserve reserved"),
    ("exclusions", "beyond-allocated", "GB and GiB are the same", "", "units"),
    ("exclusions", "beyond-allocated", "GB and GiB are not the same", "units", ""),
    ("exclusions", "beyond-allocated", "no other processes", "", "other-processes"),
    ("exclusions", "beyond-allocated", "there is no fragmentation", "", "fragmentation"),
    ("exclusions", "beyond-allocated", "without the CUDA context", "cuda-context", ""),
    ("exclusions", "beyond-allocated", "other processes on it", "other-processes", ""),
    ("exclusions", "beyond-allocated", "the CUDA context is in my sum", "", "cuda-context"),
    ("exclusions", "beyond-allocated", "the CUDA context is not in my sum", "cuda-context", ""),
    ("terms", "verify", "not max_memory_allocated", "", "max-allocated"),
    ("terms", "verify", "i would not take a snapshot", "", "snapshot"),
    ("terms", "verify", "i would take a snapshot", "snapshot", ""),
    ("terms", "verify", "never look at nvidia-smi", "", "reserved-too"),
    ("terms", "verify", "not only torch's peak but nvidia-smi", "reserved-too", ""),
    ("terms", "verify", "not the first step", "steady-step", ""),
    ("terms", "verify", "don't read the first step, read the second step", "steady-step", ""),
    ("conditions", "overturns", "a longer batch changes nothing", "", "longer-batch"),
    ("conditions", "overturns", "attention kernel does not matter", "", "attention-kernel"),
    ("conditions", "overturns", "recomputation would change nothing", "", "recomputation"),
    ("conditions", "overturns", "a fused loss would not matter", "", "loss-kernel"),
    ("conditions", "overturns", "a fused loss would change it", "loss-kernel", ""),
    ("conditions", "overturns", "fragmentation cannot overturn it", "", "fragmentation"),
    ("conditions", "overturns", "if gradients are not fp32", "precision", ""),
    ("conditions", "overturns", "if flash attention is not used", "attention-kernel", ""),
    (
        "conditions",
        "overturns",
        "a longer sequence changes it, precision would not",
        "longer-batch",
        "precision",
    ),
    ("conditions", "overturns", "no flash attention", "attention-kernel", ""),
    ("conditions", "overturns", "without recomputation", "recomputation", ""),
    (
        "conditions",
        "overturns",
        "not a longer batch, not another kernel",
        "",
        "longer-batch attention-kernel",
    ),
    (
        "terms",
        "interplay",
        "accumulation does not gather again",
        "",
        "accumulation-sends gathers-twice",
    ),
    ("terms", "interplay", "accumulation gathers again", "accumulation-sends", ""),
    ("terms", "interplay", "gathering is never overlapped", "", "prefetch"),
    ("terms", "interplay", "gathering is overlapped", "prefetch", ""),
    (
        "terms",
        "interplay",
        "a larger micro-batch makes communication worse",
        "",
        "more-tokens-hide",
    ),
    ("terms", "interplay", "a larger batch does not hide the gather", "", "more-tokens-hide"),
    ("terms", "interplay", "not hidden unless the micro batch is larger", "prefetch", ""),
    ("terms", "interplay", "recompute doesn't free memory", "", "recompute-buys-batch"),
    ("terms", "interplay", "a larger micro-batch hides it", "more-tokens-hide", ""),
    (
        "exclusions",
        "not-sharded",
        "activations and logits are both inside this number",
        "",
        "activations-out logits-out",
    ),
    ("exclusions", "not-sharded", "logits in fp32", "logits-out", ""),
    (
        "exclusions",
        "not-sharded",
        "I don't know if activations are sharded",
        "",
        "activations-out",
    ),
    ("terms", "activation-terms", "q k v are recomputed so not kept", "", "attention-kept"),
    ("terms", "activation-terms", "q k v are kept, scores recomputed", "attention-kept", ""),
    (
        "conditions",
        "conditions",
        "i would not ask about precision, optimizer or batch",
        "",
        "precision optimizer micro-batch",
    ),
    ("conditions", "conditions", "I don't care which optimizer", "", "optimizer"),
    ("conditions", "conditions", "does it matter which precision?", "precision", ""),
    ("conditions", "conditions", "does not matter which precision", "", "precision"),
    ("conditions", "conditions", "I don't know the optimizer", "optimizer", ""),
    ("conditions", "conditions", "flash memory of the disk?", "", "attention-kernel"),
    ("conditions", "conditions", "no recomputation", "recomputation", ""),
    ("conditions", "conditions", "nothing sharded", "sharding", ""),
]


@pytest.mark.parametrize(("aspect", "key", "typed", "made", "not_made"), DENIALS)
def test_a_denial_does_not_make_the_point_that_it_denies(aspect, key, typed, made, not_made):
    how = manner(aspect, asked=True, key=key)
    names = {*made.split(), *not_made.split()}
    assert {
        name
        for name in names
        if heard(typed, table()[name].phrases, how, CONTRARIES.get(name, ()))
    } == set(made.split())


def test_there_are_rows_right_and_wrong():
    right = sum(row[-1] for row in ROWS)
    assert len(ROWS) >= 60
    assert min(right, len(ROWS) - right) >= 25


def test_the_words_are_the_clause_as_it_was_typed():
    typed = "Moments are sharded, but  the Activations aren't!"
    assert heard(typed, KNOWN["activations"], "whole") == "but  the Activations aren't"


@pytest.mark.parametrize(
    "typed",
    [
        "\x00weights",
        "we\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}ghts weights",
        "weights \ufffd",
        "9" * 2000,
    ],
)
def test_no_character_stops_the_hearing(typed):
    assert bool(heard(typed, KNOWN["weights"], "listed")) is ("weights" in typed)


def test_a_line_of_breaks_has_no_clauses():
    assert clauses("... ,,, ;") == ()


def test_each_aspect_has_its_manner():
    found = {aspect: manner(aspect, asked=False) for aspect in ASPECTS}
    assert found == {
        "conditions": "named",
        "terms": "listed",
        "exclusions": "whole",
        "prediction": "listed",
        "number": "listed",
    }
    assert manner("exclusions", asked=True) == "asked"


@pytest.mark.parametrize(
    ("one", "other", "number"),
    [("", "abc", 3), ("moment", "moment", 0), ("moment", "momnet", 1), ("state", "stats", 1)],
)
def test_slips_are_counted(one, other, number):
    assert slips(one, other) == number
