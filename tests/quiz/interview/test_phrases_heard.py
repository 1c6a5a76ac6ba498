"""What people type in short: each line, and the points of the table that it makes or does not."""

from datetime import UTC, datetime

import pytest

from problems.interview.drawing import LONGEST, interview
from problems.interview.points import table
from quiz.interview.abbreviations import LONG_FORMS
from quiz.interview.clauses import typed_words
from quiz.interview.hearing import heard, manner
from quiz.interview.marking import card
from quiz.interview.sitting import held

CONDITIONS = {
    "micro-batch": (
        "how many seqs per gpu | bs? | b=? | b = 2? | whats the batch | "
        "how many tokens per gpu per step | seqs per device? | per-gpu bs"
    ),
    "precision": "mixed prec? | dtype? | prec of the grads",
    "optimizer": "which optim | opt?",
    "sharding": "how is the model split over the gpus | dp/tp/pp degrees? | Z3?",
    "attention-kernel": (
        "FA2? | attn impl | does attention materialise the scores | eager attn | "
        "attention falls back to eager bc of a mask | is it FA"
    ),
    "recomputation": "act ckpt? | AC on or off | ckpting? | if they turn on ckpt | act ckpt on",
    "accumulation": (
        "GA? | grad accum | grad acc steps | how many micro batches per optimizer step"
    ),
    "card-memory": (
        "what does the card really have | 80 gigs, minus ctx | other processes on the gpu? | "
        "and what else sits on the gpu"
    ),
    "loss-kernel": (
        "is the loss chunked | plain CE or fused | fused CE | fp32 logits? | "
        "logits upcast to fp32? | are the logits fp32"
    ),
    "longer-batch": "longer seq | bigger mbs | seq len doubling | double the seq len",
    "fragmentation": "frag",
}
TERMS = {
    "weights": "wts 4 | w: 2, g: 2 | params 2 B",
    "fp32-shard": "wts 4",
    "gradients": "g: 4 | grads",
    "moments": "m&v 8 | adam m+v | opt states 8 | m/v",
    "parameter-count": (
        "P = 4.02B | 4.02e9 params in total | 6.9B params incl the embeddings | 4B params | "
        "total params 4B | num params"
    ),
    "convention": (
        "usually 16, here without bf16 copy | the 16 bytes rule | others say 12 | the 16-byte rule"
    ),
    "bytes-a-token": (
        "bytes/token/layer * b*s*L | 129024 B per tok per layer * 4096 * 36 | "
        "multiply by b*s and by L | scale w/ tokens and layers"
    ),
    "mlp-kept": "up_proj, gate_proj outputs | gate_proj",
    "norms-kept": "ln inputs",
    "no-scores": (
        "no s^2 term | no attn probs kept | w/ flash attn the scores are not saved | "
        "softmax matrix isn't stored"
    ),
    "one-micro-batch": "grad accum doesn't matter",
    "scores": "softmax probs 2*a*s=128k",
    "loss-copies": (
        "logits in bf16 and fp32 and their grad | logits and their fp32 grads | "
        "logits x 3: logprobs, grad, grad | logits twice | fp32 logits"
    ),
    "logits": "fp32 logits | logits x 3 | CE",
    "working-set": "grads of activations | transient grads wrt activations",
    "optimizer-temporaries": (
        "adam's intermediate tensors | temporary copies in the opt step | multi-tensor temp | "
        "opt temporaries"
    ),
    "gathered-layers": (
        "gathered params | fsdp unsharded params | 2 layers unsharded at a time | "
        "gathered embedding/head/2 blocks in bf16"
    ),
    "cuda-context": "cuda ctx ~0.5-1 GB",
    "fragmentation": "frag ~5% | reserved vs allocated gap | allocator slack",
}
EXCLUSIONS = {
    "activations-out": (
        "acts aren't sharded | the acts | w/o acts | acts are per rank | "
        "saved tensors for backward"
    ),
    "logits-out": "the CE buffers",
    "temporaries-out": (
        "temp buffers | scratch | tmp | adam foreach temps | working set of a layer in backward"
    ),
    "gathered-out": (
        "the layer that's being gathered is whole | the full params of a block while it runs | "
        "unsharded embeddings"
    ),
    "context-out": "cuda ctx",
    "allocator-out": "cached blocks | frag",
    "fragmentation": (
        "frag | holes | free blocks too small to be used | unusable gaps between blocks"
    ),
    "reserved": "cached but free blocks",
    "cuda-context": "cuda ctx",
    "units": "card is 85.5 GB not 80",
    "reserve": "don't plan to fill it to 100% | some slack | leave ~10% free",
    "other-processes": "other procs on the gpu | zombie procs",
}
CAUSES = {
    "states-made": (
        "m and v don't exist until opt.step | opt states materialise after step 1 | "
        "lazy init of adam"
    ),
    "first-step-lower": (
        "so step 1 fwd/bwd didn't have them | the first fwd bwd ran without opt states | "
        "the 1st fwd and bwd had no moments but the second does | "
        "step 2's backward peak has the moments on top | "
        "in step 2 they coexist with activations | peak of step 2 = peak of step 1 + 8P"
    ),
    "longer-batch": "longer seq in the 2nd batch | seq len of batch 2 is larger",
    "kept-reference": (
        "loss kept with graph | we hold on to the graph | appending loss to a list"
    ),
    "cache-in-pieces": "frag",
    "measure-both": "_record_memory_history",
}
INTERPLAY = {
    "gathers-twice": (
        "zero3 gathers 16GB in the fwd and again in the bwd | "
        "zero3 allgathers the params twice, fwd and bwd | "
        "zero-3 all-gathers weights in fwd and again in bwd | gather 8GB in fwd + 8GB bwd | "
        "params gathered fwd + bwd | 2 AGs + 1 RS"
    ),
    "prefetch": "prefetch next layer",
    "third-more": "recompute costs more compute | recomputation: more compute",
    "recompute-buys-batch": (
        "saves act mem which buys a bigger mbs | ckpt lets us go to larger mbs"
    ),
    "more-tokens-hide": (
        "bigger mbs hides the comm better since the bytes stay the same | "
        "more tokens per micro batch hides the gathers"
    ),
    "accumulation-sends": "gathers again in each micro-batch | each micro-batch gathers anew",
}
MEASURED = {
    "max-allocated": "max mem alloc | torch peak mem | memory_stats allocated_bytes.all.peak",
    "steady-step": "2nd step | skip the first iter",
    "reset-peak": "clear the peak",
    "reserved-too": "vs smi",
    "by-phase": "after fwd, after bwd, after step | print memory_allocated around fwd/bwd/opt",
    "two-lengths": "vary mbs | try 2 seq lens",
}
# Words of another thing.
ELSEWHERE = {
    "conditions": {
        "precision": "fp32 logits? | logits upcast to fp32? | are the logits fp32",
        "micro-batch": "how many micro batches per optimizer step | 4B = 8 GB | 4B params",
        "optimizer": "how many micro batches per optimizer step | I'd opt for flash attention",
    },
    "terms": {
        "weights": "4B params | total params 4B | number of params | 8 bytes a param",
        "gradients": "with gradient accumulation | the gradient buckets",
        "loss-copies": "softmax probs 2*a*s=128k",
        "accumulation-sends": "more tokens per micro batch hides the gathers",
        "third-more": "larger micro-batch gives more compute per gather",
        "fragmentation": "caching allocator holds more | some slack",
        "measure-both": "peak of step 2 = peak of step 1 + 8P",
    },
    "exclusions": {
        "fragmentation": "caching allocator holds more | some slack",
        "activations-out": (
            "acts are sharded | saved tensors are sharded | activation checkpointing"
        ),
        "reserve": "we plan to fill it to 100%",
    },
}
MADE = (
    ("conditions", CONDITIONS),
    *(("terms", points) for points in (TERMS, CAUSES, INTERPLAY, MEASURED)),
    ("exclusions", EXCLUSIONS),
)
ROWS = tuple(
    (aspect, point, line, is_heard)
    for parts, is_heard in ((MADE, True), (tuple(ELSEWHERE.items()), False))
    for aspect, points in parts
    for point, lines in points.items()
    for line in lines.split(" | ")
)


@pytest.mark.parametrize(("aspect", "point", "line", "is_heard"), ROWS)
def test_a_line_in_short_makes_the_point_that_it_means(aspect, point, line, is_heard):
    how = manner(aspect, asked=True)
    assert bool(heard(line, table()[point].phrases, how)) is is_heard


@pytest.mark.parametrize("form", sorted(LONG_FORMS))
def test_a_short_form_is_heard_as_the_words_it_stands_for(form):
    said = [token.word for token in typed_words(form) if token.kind in {"word", "number"}]
    assert said == LONG_FORMS[form].split()


@pytest.mark.parametrize("line", ["1st fwd of the acts", "AC on, bs=4", "FA2"])
def test_a_short_form_stands_where_it_was_typed(line):
    found = typed_words(line)
    assert all(0 <= one.start < one.end <= len(line) for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)


@pytest.mark.parametrize("key", ["died-in-step-2", "interplay"])
def test_what_was_named_before_is_no_cause_and_no_effect(key):
    line = "moments, allocator fragmentation, accumulation, overlap"
    made = {asked: _made_at(key, asked, line) for asked in ("rest-terms", key)}
    assert not made["rest-terms"]
    assert made[key]


def _made_at(key, asked, line):
    """Return the points of a question that a line at another, or there, makes."""
    drawn = interview("senior", LONGEST, 5)
    typed = []
    for question in drawn.questions:
        typed += [(1.0, line)] * (question.key == asked) + [(1.0, "")]
    found = card(
        held(drawn, typed, at_once=False),
        started=datetime(2026, 5, 4, tzinfo=UTC),
        phrases=lambda name: table()[name].phrases,
    )
    replies = {one.question.key: one for part in found.parts for one in part.replies}
    return [one.point.name for one in replies[key].heard]
