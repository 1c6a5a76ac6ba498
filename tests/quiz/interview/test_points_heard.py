"""What people type to an interview's questions, and the points of the table that it makes."""

import pytest

from problems.interview.points import table
from quiz.interview.hearing import heard, manner

ROWS = (
    ("conditions", "What optimizer, which dtype for weights and grads?", "precision optimizer"),
    ("conditions", "batch size per device?", "micro-batch"),
    ("conditions", "is flash attn on? do we recompute?", "attention-kernel recomputation"),
    ("conditions", "How much of the 180GB can I really use?", "card-memory"),
    ("conditions", "I'd assume no activation checkpointing", "recomputation"),
    ("conditions", "FSDP or DDP?", "sharding"),
    ("conditions", "does the loss materialise logits in fp32", "precision loss-kernel"),
    ("conditions", "Will it be trained from scratch?", ""),
    ("terms", "weights, gradients, moments", "weights fp32-shard gradients moments"),
    ("terms", "2 bytes grads, 12 bytes optimizer", "gradients moments momentum"),
    ("terms", "4 bytes fp32 params", "weights fp32-shard"),
    ("terms", "softmax in fp32 and its gradient", "gradients loss-copies"),
    ("terms", "workspace for matmuls", "working-set"),
    ("terms", "ZeRO-3 all-gathers twice, so it is network bound", "gathers-twice"),
    ("terms", "use hybrid sharding inside the node", "shard-in-node"),
    ("terms", "moments didn't exist during the first forward", "first-step-lower"),
    ("exclusions", "activations aren't sharded", "activations-out"),
    ("exclusions", "ZeRO-3 doesn't touch activations", "activations-out"),
    ("exclusions", "the activations are sharded over the ranks", ""),
    ("exclusions", "reduce buckets of DDP", "buckets-out"),
    ("exclusions", "embedding and lm head gathered", "gathered-out"),
    ("exclusions", "reserved is larger than allocated", "reserved"),
    ("exclusions", "I keep 10% headroom", "reserve"),
    ("exclusions", "80 GB is not 80 GiB", "units"),
    ("exclusions", "everything is sharded", ""),
)  # fmt: skip
LISTENED = {name for _, _, names in ROWS for name in names.split()}


@pytest.mark.parametrize(("aspect", "typed", "names"), ROWS)
def test_a_line_makes_these_points_and_no_other_that_is_listened_for(aspect, typed, names):
    how = manner(aspect, asked=True)
    made = {name for name in LISTENED if heard(typed, table()[name].phrases, how)}
    of_aspect = {name for name in made if aspect in table()[name].aspects}
    assert of_aspect == set(names.split())
