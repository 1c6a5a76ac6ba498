"""What reducing takes under ZeRO-1 and 2, counted without making anything."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.architecture import Architecture, Experts
from engine.partition import Flat, Weight, flat_of, fullest, weights
from engine.reducing import Emptied, at_the_end, in_batches, scattered


@given(
    begin=st.integers(0, 300),
    size=st.integers(1, 2000),
    part=st.integers(1, 400),
    capacity=st.integers(1, 500),
)
def test_a_large_weight_goes_in_batches_that_end_just_beyond_the_capacity(
    begin, size, part, capacity
):
    weight = Weight(begin=begin, end=begin + size, layer=0, turn=(0, 0))
    batches, batch = [], []
    for owner in range(begin // part, (begin + size - 1) // part + 1):
        batch.append(min(begin + size, (owner + 1) * part) - max(begin, owner * part))
        if sum(batch) > capacity:
            batches.append(batch)
            batch = []
    copies = [sum(batch) for batch in (*batches, batch) if len(batch) > 1]
    assert in_batches(weight, part, capacity) == max(copies, default=0)


@pytest.mark.parametrize("implementation", ["fused", "hf"])
def test_the_flat_weights_are_all_of_them_without_a_gap(scenario, implementation):
    made = scenario("llama-3-8b", sequence=128, data=8, implementation=implementation)
    found = weights(flat_of(made))
    assert found[0].begin == 0
    assert found[-1].end == made.architecture.parameters
    assert all(one.end == other.begin for one, other in pairwise(found))


@pytest.mark.parametrize("ranks", [2, 8, 64, 10**9])
def test_a_rank_keeps_its_share_at_least_and_all_weights_at_most(scenario, ranks):
    architecture = scenario("llama-3-8b", sequence=128).architecture
    flat = Flat(architecture=architecture, ranks=ranks)
    part = fullest(flat)
    assert part.piece <= flat.part_size <= part.touched <= architecture.parameters


def test_one_rank_of_two_copies_nothing_before_the_border(scenario):
    """The weights above the border are all the last rank's, so its buckets need no copy."""
    flat = Flat(architecture=scenario("llama-3-8b", sequence=128).architecture, ranks=2)
    found = scattered(flat)
    assert found.layers.full.below == pytest.approx(16, abs=2)


def test_gradients_that_are_added_elsewhere_are_not_kept(scenario):
    flat = Flat(architecture=scenario("llama-3-8b", sequence=128).architecture, ranks=8)
    found = scattered(flat, keeps=False)
    assert found.layers.kept == found.bottom.kept == found.bottom.embedding == 0
    assert found.end < scattered(flat).end


def test_under_zero_1_all_gradients_are_there_when_reducing_begins(scenario):
    architecture = scenario("llama-3-8b", sequence=128).architecture
    for ranks in (2, 8, 64):
        assert at_the_end(Flat(architecture=architecture, ranks=ranks)) >= architecture.parameters


# Two layers of h = 8 with 4 heads and 2 key heads, by hand in the order of the flat weights.
BIASED = Architecture(
    layers=2,
    hidden=8,
    heads=4,
    kv_heads=2,
    ffn=12,
    vocab=30,
    qkv_bias=True,
    output_bias=True,
    norm="layernorm",
    gated=False,
    mlp_bias=True,
)
NORMS = {
    "attention norm": 8,
    "attention norm bias": 8,
    "MLP norm": 8,
    "MLP norm bias": 8,
}
MATRICES = {
    "query": 64,
    "query bias": 8,
    "key": 32,
    "key bias": 4,
    "value": 32,
    "value bias": 4,
    "output": 64,
    "output bias": 8,
    "up": 96,
    "up bias": 12,
    "down": 96,
    "down bias": 8,
}
ENDS = {"final norm": 8, "final norm bias": 8, "head": 240}
# The later an operator runs forward, the sooner its gradients come; a matrix's before its bias's.
COME = (
    *("down", "down bias", "up", "up bias", "MLP norm", "MLP norm bias"),
    *("output", "output bias", "value", "value bias", "key", "key bias", "query", "query bias"),
    *("attention norm", "attention norm bias"),
)


@pytest.mark.parametrize("norms_last", [False, True])
def test_gradients_come_from_the_head_to_the_embedding_and_lie_where_they_are_registered(
    norms_last,
):
    inside = MATRICES | NORMS if norms_last else NORMS | MATRICES
    flat = [("embedding", 240)]
    for number in range(2):
        flat += [(f"{number} {name}", size) for name, size in inside.items()]
    flat += ENDS.items()
    found = weights(Flat(architecture=BIASED, ranks=3, norms_last=norms_last))
    assert [one.size for one in found] == [size for _, size in flat]
    named = dict(zip(found, (name for name, _ in flat), strict=True))
    come = [named[one] for one in sorted(found, key=lambda one: (one.layer, one.turn))[::-1]]
    assert come[0] == "head"
    assert come[1:3] == ["final norm", "final norm bias"]
    assert come[3:-1] == [f"{number} {name}" for number in (1, 0) for name in COME]
    assert come[-1] == "embedding"


def test_experts_lie_in_the_layers_behind_those_without():
    """Two of three layers have experts, a matrix of all experts each."""
    experts = Experts(routed=4, per_token=2, ffn=6, dense_layers=1)
    made = replace(BIASED, layers=3, experts=experts, gated=True, mlp_bias=False)
    found = weights(Flat(architecture=made, ranks=2))
    layers = [one.layer for one in found if one.size == 4 * 2 * 6 * 8]  # gates with ups
    assert layers == [1, 2]
    assert found[-1].end == made.parameters
    assert all(isinstance(one.size, int) for one in found)


SMALL = [
    Architecture(layers=3, hidden=2, heads=1, ffn=3, vocab=5, gated=False),
    Architecture(layers=3, hidden=2, heads=1, ffn=5, vocab=40, tied=True),
    replace(BIASED, layers=4),
    # The head is the largest weight: its rank keeps gradients before the layers come.
    Architecture(layers=3, hidden=2, heads=1, ffn=5, vocab=40),
    # A weight ends one element behind a border between two of 7 parts.
    Architecture(layers=3, hidden=1, heads=1, ffn=7, vocab=13),
    # A weight begins, or ends, where the part of the fullest of 2, or of 7, ranks does.
    Architecture(layers=2, hidden=2, heads=1, ffn=3, vocab=5, gated=False),
    Architecture(layers=3, hidden=4, heads=1, ffn=3, vocab=10, gated=False, tied=True),
]
# One weight of three elements ends one element behind a border between two of 16 parts.
ODD = Architecture(layers=3, hidden=1, heads=1, ffn=7, vocab=11)


@pytest.mark.parametrize("architecture", [*SMALL, ODD])
@pytest.mark.parametrize("ranks", [2, 3, 5, 16, 64])
def test_the_fullest_part_touches_the_most_elements(architecture, ranks):
    flat = Flat(architecture=architecture, ranks=ranks)
    assert flat.part_size == 2 * -(-flat.architecture.parameters // (2 * ranks))
    parts = [range(rank * flat.part_size, (rank + 1) * flat.part_size) for rank in range(ranks)]
    inside = [
        [
            (one.size, common)
            for one in weights(flat)
            if (common := len(range(max(one.begin, part[0]), min(one.end, part[-1] + 1))))
        ]
        for part in parts
    ]
    found = fullest(flat)
    touched = [sum(size for size, _ in ones) for ones in inside]
    # A weight in more than two parts counts where it begins and where it ends.
    assert found.touched <= max(touched)
    assert found.touched == touched[found.rank]
    assert found.piece == max(common for _, common in inside[found.rank])


def test_without_weights_above_the_layers_nothing_is_kept_when_the_last_one_is_reached():
    """A tied head has its gradient with the embedding; this norm has no weight."""
    bare = Architecture(
        layers=2, hidden=2, heads=1, ffn=3, vocab=40, tied=True, norm="layernorm-no-weight"
    )
    found = scattered(Flat(architecture=bare, ranks=2), bucket=8)
    assert (found.top, found.norm, found.layers.kept) == (None, None, 0)
    one = scattered(Flat(architecture=replace(bare, layers=1), ranks=2), bucket=8)
    assert one.bottom.kept == 0


def _played(flat, bucket, *, keeps, normed):
    """Return (weight, before, held, most, after, copied, emptied) as each gradient comes."""
    size, part = flat.part_size, fullest(flat)
    mine = range(part.rank * size, (part.rank + 1) * size)
    order = sorted(weights(flat), key=lambda one: (one.layer, one.turn), reverse=True)
    inside, kept, rows = [], 0, []
    for weight in [*order, None]:
        waits = inside[0].size if inside and inside[0].size > bucket else 0
        before, held = kept, kept + waits
        emptied = weight is None or sum(one.size for one in inside) + weight.size > bucket
        copied = 0
        if emptied and inside:
            elements = [at for one in inside for at in range(one.begin, one.end)]
            if waits:
                copied = in_batches(inside[0], size, bucket)
            elif len({at // size for at in elements}) > 1:
                copied = len(elements)
            pieces = [sum(at in mine for at in range(one.begin, one.end)) for one in inside]
            copied = max(copied, 4 * max(pieces) if normed else 0)
            if keeps and any(pieces):
                kept = part.touched
        most = max(held + copied, kept + waits) if emptied else held
        rows.append((weight, before, held, most, kept, copied, emptied))
        inside = [*([] if emptied else inside), *([weight] if weight else [])]
    return rows


@pytest.mark.parametrize("number", range(len(SMALL)))
@pytest.mark.parametrize("ranks", [2, 3, 7])
@pytest.mark.parametrize("bucket", [8, 12, 41, 100, 251])
@pytest.mark.parametrize(("keeps", "normed"), [(True, False), (False, False), (False, True)])
def test_what_zero_2_holds_is_the_most_of_the_moments_that_it_is_said_of(
    number, ranks, bucket, keeps, normed
):
    flat = Flat(architecture=SMALL[number], ranks=ranks)
    layers, tied = SMALL[number].layers, SMALL[number].tied
    table = SMALL[number].vocab * SMALL[number].hidden
    rows = _played(flat, bucket, keeps=keeps, normed=normed)
    found = scattered(flat, keeps=keeps, normed=normed, bucket=bucket)
    *times, end = rows
    assert found.end == end[3]

    top = [row for row in times if row[0].layer >= layers]
    assert found.top == max(row[3] + row[0].size for row in top)
    behind = next(i for i, row in enumerate(times) if row[0].layer <= layers)
    assert found.norm == (times[behind][2] if behind else None)

    kept = top[-1][4]
    assert found.layers.kept == kept
    between = [row for row in times if 0 < row[0].layer < layers]
    full = [row for row in between if row[5]]
    own = [row for row in between if row[4] > max(row[1], kept)]
    both = [row for row in full if row[1] > kept]
    for emptied, ones, most in (
        (found.layers.full, full, full[0][3] if full else 0),
        (found.layers.own, own, max((row[4] for row in own), default=0)),
        (found.layers.both, both, max((row[3] for row in both), default=0)),
    ):
        if not ones:
            assert emptied == Emptied()
            continue
        weight, copied = ones[0][0], ones[0][5]
        late = weight.turn[0] < 4  # in front of the attention's output
        come = weight.size if late and copied else 0
        assert emptied.late == late
        assert emptied.below == layers - 1 - weight.layer + (1 if late else 0)
        assert emptied.more == most - kept + come

    kept = max(row[4] for row in times if row[0].layer > 0)
    first = [row for row in times if row[0].layer == 0]
    early = [row for row in first if row[0].turn[0] >= 4]
    late = [row for row in first if row[0].turn[0] < 4]
    waiting = table if tied else 0
    bottom = found.bottom
    assert bottom.kept == kept
    assert bottom.attention == early[-1][4] - kept
    assert bottom.embedding == first[-1][4] - kept
    assert bottom.copied == max(row[3] for row in early) - kept
    tables = [row[3] + row[0].size for row in times if row[0].layer < 0]
    tables += [row[3] + row[0].size + waiting for row in late if row[6]]
    assert bottom.table == max(tables) - kept


@pytest.mark.parametrize("number", range(len(SMALL)))
@pytest.mark.parametrize("ranks", [2, 3, 7])
@pytest.mark.parametrize("bucket", [8, 12, 40, 41, 100, 251])
def test_zero_1_lets_gradients_go_as_they_are_copied_into_the_bucket(number, ranks, bucket):
    flat = Flat(architecture=SMALL[number], ranks=ranks)
    size, part = flat.part_size, fullest(flat)
    mine = range(part.rank * size, (part.rank + 1) * size)
    left = most = flat.architecture.parameters
    inside, kept = [], 0
    for weight in [*weights(flat), None]:
        if weight is None or sum(one.size for one in inside) + weight.size > bucket:
            elements = [at for one in inside for at in range(one.begin, one.end)]
            large = bool(inside) and inside[0].size > bucket
            copied = len(elements) if len({at // size for at in elements}) > 1 else 0
            copied = in_batches(inside[0], size, bucket) if large else copied
            most = max(most, left + kept + copied)
            holds = any(at in mine for at in elements)
            kept = part.touched if holds or kept else 0
            most = max(most, left + kept)
            # What was too large for the bucket goes when its rank has its own copy.
            left -= len(elements) if large and holds else 0
            inside = []
        if weight:
            inside.append(weight)
            left -= weight.size if weight.size <= bucket else 0
    assert at_the_end(flat, bucket=bucket) == most
