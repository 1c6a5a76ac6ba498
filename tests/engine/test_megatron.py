"""Megatron-LM with Transformer Engine against measured steps, experts and latent attention too."""

import tomllib
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
from sympy import expand

from engine.architecture import Architecture, Experts, LatentAttention
from engine.errors import UnmodelledError
from engine.estimate import fullest, ledger, ledgers
from engine.ledger import Category, Evidence, Phase
from engine.rank import part_of
from engine.shapes import elements_of_shapes
from engine.stacks.tapes import layer
from engine.stages import differing
from engine.structure import structure_of
from engine.symbols import (
    E,
    K,
    T_e,
    a,
    b,
    d_n,
    d_r,
    d_v,
    expression,
    f,
    f_d,
    f_s,
    h,
    r_kv,
    r_q,
    s,
    s_t,
)
from engine.units import GIB, MIB

MEASURED = tomllib.loads((Path(__file__).parent / "measured_b200.toml").read_text())
ROWS = {row["id"]: row for row in MEASURED["rows"]}
RECIPE = {name: MEASURED["recipe"][name] for name in ("precision", "optimizer", "loss")}
STATISTICS = {"norm statistics", "log-sum-exp"}

LATENT = LatentAttention(
    query_rank=96, kv_rank=64, nope_head_dim=32, rope_head_dim=16, value_head_dim=32
)
EXPERTS = Experts(routed=16, per_token=2, ffn=128, shared_ffn=256, dense_layers=1)
SMALL = Architecture(
    layers=4, hidden=256, heads=8, ffn=512, vocab=1024, experts=EXPERTS, latent=LATENT
)


def shape_of(row):
    """The architecture of a measured row."""
    sizes = dict(MEASURED["models"][row["model"]])
    if "experts" in sizes:
        sizes["experts"] = Experts(**sizes["experts"])
        sizes["latent"] = LatentAttention(**sizes["latent"])
    return Architecture(layers=row["layers"], **sizes)


@pytest.fixture
def on_megatron(scenario):
    """Build a scenario on the megatron stack."""

    def build(shape=SMALL, **values):
        chosen = {"implementation": "megatron", "sequence": 512} | RECIPE
        return scenario(shape, **(chosen | values))

    return build


@pytest.fixture
def measured(on_megatron):
    """Build the scenario of a measured row."""

    def build(row):
        ranks = {name: row[name] for name in ("tensor", "pipeline", "context", "expert", "data")}
        exchange = MEASURED["parallel"]["exchange"] if row["context"] > 1 else "p2p"
        return on_megatron(
            shape_of(row),
            gpu=MEASURED["gpu"],
            sequence=row["sequence"],
            micro_batch=row["micro_batch"],
            gradient_accumulation=row["micro_batches"],
            zero=MEASURED["parallel"]["zero"],
            sequence_parallel=row["tensor"] > 1,
            exchange=exchange,
            **ranks,
        )

    return build


def kept(made, *, first=False):
    """Bytes that the last layer keeps, or the first, but for statistics."""
    structure = structure_of(made, differing(made)[0])
    tape = layer(structure.first_layer if first else structure.last_layer)
    size = sum(expression(v.size) for v in tape.saved if v.name not in STATISTICS)
    return expand(size.subs({s_t: s}))


@pytest.mark.parametrize("name", ROWS)
def test_every_rank_allocates_what_its_stage_is_said_to(measured, name):
    row = ROWS[name]
    books = ledgers(measured(row))
    each = len(row["rank_allocated_mib"]) // row["pipeline"]
    for rank, mib in enumerate(row["rank_allocated_mib"]):
        book = books[min(rank // each, len(books) - 1)]
        assert book.peak == pytest.approx(mib * MIB, rel=0.003)


@pytest.mark.parametrize("name", ROWS)
def test_the_fullest_rank_reserves_within_the_interval(measured, name):
    low, high = ledger(measured(ROWS[name])).reserved
    assert low <= ROWS[name]["reserved_gib"] * GIB <= high


ATTENTION = (
    *(2 * h, 2 * h),  # residual stream, norm's output
    *(2 * r_q, 2 * r_q, 2 * (r_kv + d_r), 2 * r_kv),  # before and behind their norms
    *(2 * a * (d_n + d_r), 2 * a * (d_n + d_r)),  # queries and keys
    *(2 * a * d_v, 2 * a * d_v),  # values and output
)
ROUTER = (4 * E, 4 * E, 2 * E, E, 8 * K, 4 * (2 * E + 1))


def test_expert_ranks_of_a_model_without_experts_are_refused(scenario):
    with pytest.raises(UnmodelledError, match="the model has no experts"):
        scenario(
            implementation="megatron",
            precision="mixed-fp32-grad",
            optimizer="adamw-fused",
            loss="fused",
            data=4,
            expert=2,
        )


def test_a_latent_layer_keeps_keys_as_wide_as_queries(on_megatron):
    dense = sum(ATTENTION) + 4 * h + 6 * f_d
    assert kept(on_megatron(), first=True) == expand(b * s * dense)


def test_a_layer_with_experts_keeps_inputs_gates_and_products_of_every_row(on_megatron):
    of_tokens = sum(ATTENTION) + 4 * h + 6 * f_s + sum(ROUTER)
    of_rows = 2 * h + 4 * f + 2 * f + 2
    assert kept(on_megatron()) == expand(b * s * of_tokens + T_e * of_rows)


def test_queries_need_not_be_of_low_rank(on_megatron):
    whole = replace(SMALL, latent=replace(LATENT, query_rank=0))
    assert expand(kept(on_megatron()) - kept(on_megatron(whole))) == 4 * b * s * r_q


def test_experts_are_filled_up_to_their_capacity(on_megatron):
    # 100 tokens times 2 are 12.5 for each of 16 experts, so 13
    values = ledger(on_megatron(sequence=100)).values
    assert values[T_e] == 16 * 13


@pytest.mark.parametrize("dense", [0, 1, 3, 4])
def test_the_layers_keep_what_each_of_their_kinds_does(on_megatron, dense):
    experts = replace(EXPERTS, dense_layers=dense)
    made = on_megatron(replace(SMALL, experts=experts))
    book = ledger(made)
    numbers = dict(book.values)
    of_kind = [int(kept(on_megatron(), first=first).subs(numbers)) for first in (True, False)]
    ends = ("kept by final norm and head", *STATISTICS)
    saved = book.total(Category.ACTIVATIONS, phase=Phase.FORWARD) - sum(map(book.size, ends))
    assert saved == dense * of_kind[0] + (4 - dense) * of_kind[1]


def test_experts_are_sharded_over_the_ranks_that_have_the_same(on_megatron):
    made = on_megatron(data=8, expert=4, zero=1)
    held = part_of(made, differing(made)[0]).tensors
    experts = sum(t.size * t.copies for t in held if t.name.startswith("expert"))
    others = sum(t.size * t.copies for t in held) - experts
    book = ledger(made)
    assert experts == 3 * prod((16 // 4, 3, 128, 256))
    assert book.size("master copy") == 4 * (others // 8 + experts // 2)
    assert book.size("optimizer states") == 8 * (others // 8 + experts // 2)
    assert book.size("gradients") == 4 * (others + experts)


def test_more_expert_ranks_never_add_to_the_model_states(on_megatron):
    states = [
        sum(
            ledger(on_megatron(data=8, expert=expert, zero=1)).total(kind)
            for kind in (Category.WEIGHTS, Category.GRADIENTS, Category.OPTIMIZER_STATE)
        )
        for expert in (1, 2, 4, 8)
    ]
    assert states == sorted(states, reverse=True)


def test_tokens_that_travel_are_there_twice(on_megatron):
    alone, apart = (ledger(on_megatron(data=8, expert=expert)) for expert in (1, 4))
    assert apart.size("forward working set") > alone.size("forward working set")


def test_a_shape_that_occurs_twice_has_one_stand_in():
    alike = replace(SMALL, experts=replace(EXPERTS, shared_ffn=128))
    without = replace(SMALL, experts=replace(EXPERTS, shared_ffn=0))
    assert elements_of_shapes(alike, head=False) == elements_of_shapes(without, head=False)


# Rows and columns of one weight of each shape, h = 256: queries and keys with values through their
# ranks, the output, then MLP, experts and shared experts, up with gate and down.
PROJECTIONS = {(96, 256), (8 * 48, 96), (64 + 16, 256), (8 * (32 + 32), 64), (256, 8 * 32)}
DENSE = {(2 * 512, 256), (256, 512)}
OF_EXPERTS = {(2 * 128, 256), (256, 128), (2 * 256, 256), (256, 256)}
SHAPES = {
    "all": (SMALL, PROJECTIONS | DENSE | OF_EXPERTS),
    "queries of full rank": (
        replace(SMALL, latent=replace(LATENT, query_rank=0)),
        PROJECTIONS - {(96, 256), (8 * 48, 96)} | {(8 * 48, 256)} | DENSE | OF_EXPERTS,
    ),
    "experts everywhere": (
        replace(SMALL, experts=replace(EXPERTS, dense_layers=0)),
        PROJECTIONS | OF_EXPERTS,
    ),
    "experts nowhere": (
        replace(SMALL, experts=replace(EXPERTS, dense_layers=4)),
        PROJECTIONS | DENSE,
    ),
    "no shared experts": (
        replace(SMALL, experts=replace(EXPERTS, shared_ffn=0)),
        PROJECTIONS | DENSE | {(2 * 128, 256), (256, 128)},
    ),
    "two key heads and no gate": (
        replace(SMALL, experts=None, latent=None, kv_heads=2, gated=False),
        {(256 + 2 * 64, 256), (256, 256), (512, 256), (256, 512)},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("head", [False, True])
def test_there_is_one_stand_in_of_each_shape(name, head):
    a, weights = SHAPES[name]
    rows = weights | ({(1024, 256)} if head else set())
    assert elements_of_shapes(a, head=head) == sum(one * other for one, other in rows)


def test_the_head_has_a_stand_in_on_the_last_stage_alone(on_megatron):
    first, last = ledgers(on_megatron(pipeline=2, gradient_accumulation=4))
    name = "stand-ins for weight gradients"
    of_dense = 2 * (3 * 512 * 256)  # the first stage has the one layer without experts
    assert last.size(name) == first.size(name) - of_dense + 2 * 1024 * 256


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("attention", ["flash", "eager"])
@pytest.mark.parametrize("pipeline", [1, 2])
def test_recomputing_never_adds_to_what_is_kept(on_megatron, recompute, attention, pipeline):
    def saved(how):
        made = on_megatron(
            recompute=how, attention=attention, pipeline=pipeline, gradient_accumulation=4
        )
        return fullest(ledgers(made)).total(Category.ACTIVATIONS, phase=Phase.BACKWARD_FIRST)

    assert saved("full") <= saved(recompute) <= saved("none")


@pytest.mark.parametrize("name", ["mixtral-8x7b", "deepseek-v2-lite", "deepseek-v2"])
def test_models_of_the_catalogue_with_experts_have_a_ledger(scenario, name):
    made = scenario(
        name, implementation="megatron", sequence=4096, data=8, expert=8, zero=1, **RECIPE
    )
    assert ledger(made).peak > 0


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"tensor": 2}, "parallel.tensor"),
        ({"context": 2}, "parallel.context"),
        ({"shape": replace(SMALL, qkv_bias=True)}, "model"),
        ({"shape": replace(SMALL, activation="gelu")}, "model"),
        ({"shape": replace(SMALL, gated=False)}, "model.gated"),
        ({"shape": replace(SMALL, experts=replace(EXPERTS, router_bias=True))}, "model"),
        (
            {"shape": replace(SMALL, experts=replace(EXPERTS, dense_layers=3)), "pipeline": 2},
            "model",
        ),
    ],
)
def test_what_experts_and_latent_attention_have_no_lines_for_is_refused(
    on_megatron, values, where
):
    with pytest.raises(UnmodelledError) as refused:
        on_megatron(**values)
    assert where in {fault.where for fault in refused.value.faults}


def test_no_line_claims_a_trace_that_is_not_made(scenario):
    # `memquiz verify` does not run this stack: its lines are read, and measured elsewhere.
    made = scenario(
        implementation="megatron",
        precision="mixed-fp32-grad",
        optimizer="adamw-fused",
        loss="fused",
        shape={"layers": 4},
        pipeline=2,
        gradient_accumulation=4,
    )
    found = {line.evidence for book in ledgers(made) for line in book.lines}
    assert Evidence.TRACED not in found


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("micro_batches", [1, 3])
@pytest.mark.parametrize("kv_heads", [8, 2])
def test_every_phase_of_a_llama_is_what_it_is_by_hand(on_megatron, ranks, micro_batches, kv_heads):
    layers, h, f, vocab, tokens = 5, 256, 704, 1000, 3 * 128
    kv = 32 * kv_heads
    shape = {"layers": layers, "hidden": h, "heads": 8, "ffn": f, "vocab": vocab}
    made = on_megatron(
        Architecture(kv_heads=kv_heads, **shape),
        sequence=128,
        micro_batch=3,
        data=ranks,
        zero=1,
        gradient_accumulation=micro_batches,
    )
    ends = 2 * vocab * h + h
    p = layers * (2 * h * h + 2 * kv * h + 3 * h * f + 2 * h) + ends
    stepped = -(-p // ranks)
    stand_ins = (h + 2 * kv) * h + h * h + 3 * h * f + vocab * h
    # ids of 8 bytes twice, rotary angles in fp32, the workspaces of both libraries
    beside = 16 * tokens + 4 * 128 * 32 + (32 + 2 * 32) * MIB
    base = 6 * p + 12 * stepped + 2 * stand_ins + beside
    # streams, norm outputs, heads and what comes of them; gate, up and their product; statistics
    kept = 2 * tokens * (4 * h + 2 * h + 2 * kv) + 6 * tokens * f + (4 * 8 + 2 * 4) * tokens
    top = 2 * tokens * 2 * h + 4 * tokens
    logits = 2 * tokens * vocab
    # the stream's gradient, with those of gate and up beside all that the layer has kept
    inside = 2 * tokens * h + 4 * tokens * f
    by_hand = {
        Phase.FORWARD: base + layers * kept + top + logits + 4 * tokens,
        Phase.LOSS: base + layers * kept + top + logits + 2 * tokens * h,
        Phase.BACKWARD_FIRST: base + layers * kept + inside,
        Phase.BACKWARD_LAST: base + kept + inside,
        Phase.REDUCE: base,
        Phase.STEP: base,
    }
    phases = ledger(made).phases
    assert phases == {phase: by_hand[phase] for phase in phases}


def test_each_layer_with_latent_attention_has_its_own_tables(on_megatron):
    """Angles in fp32, their cosines and sines in 16 bits: 16 elements of 512 tokens, 4 layers."""
    assert ledger(on_megatron()).size("tables shared by the layers") == 4 * 8 * 512 * 16


def test_layers_that_all_have_one_mlp_are_those_of_a_model_without_experts(on_megatron):
    # So few logits that the working set of a layer is the most of the forward pass.
    small = replace(SMALL, latent=None, vocab=16)
    dense = replace(small, experts=replace(EXPERTS, dense_layers=4))
    without = replace(small, experts=None)
    assert ledger(on_megatron(dense)).phases == ledger(on_megatron(without)).phases


@pytest.mark.parametrize(("norm", "numbers"), [("rmsnorm", 1), ("layernorm", 2)])
def test_a_norm_keeps_one_or_two_fp32_numbers_a_token(on_megatron, norm, numbers):
    made = on_megatron(replace(SMALL, latent=None, experts=None, norm=norm), sequence=128)
    assert ledger(made).size("norm statistics") == 4 * 2 * numbers * 4 * 128


BASE = (32 + 2 * 32) * MIB  # workspaces of Transformer Engine and of cuBLAS in two threads


@pytest.mark.parametrize(("positions", "dropout"), [(0, 0.0), (512, 0.0), (0, 0.1), (512, 0.1)])
@pytest.mark.parametrize(("tensor", "split"), [(1, False), (2, False), (2, True)])
def test_every_phase_of_a_small_layer_between_large_tables_is_what_it_is_by_hand(
    on_megatron, positions, dropout, tensor, split
):
    """The embedding's gradient is the most of its phase, products of gathered tokens of theirs."""
    layers, h, f, vocab, s = 3, 256, 16, 256 * 40, 512
    shape = {"layers": layers, "hidden": h, "heads": 8, "ffn": f, "vocab": vocab}
    made = on_megatron(
        Architecture(**shape, positions=positions, gated=False),
        tensor=tensor,
        sequence_parallel=split,
        dropout=dropout,
    )
    own = s // 2 if split else s  # tokens outside attention and MLP
    whole = 2 * s * h if split else 0  # a copy of all tokens
    stream = 2 * own * h
    mask = own * h if dropout else 0
    heads, width, rows = h // tensor, f // tensor, vocab // tensor
    table = rows * h + positions * h
    p = layers * (4 * heads * h + 2 * width * h + 2 * h) + table + rows * h + h
    stand_ins = 2 * (3 * heads * h + heads * h + 2 * width * h + rows * h)
    angles = 0 if positions else 4 * s * h // 8
    base = BASE + 16 * s + angles + (6 + 12) * p + stand_ins
    # both streams and what the norms make of them, with a number a token each; heads, one number
    # a query and head; up and what its activation makes
    attended = 2 * stream + 8 * s * heads + 4 * s * 8 // tensor + 4 * own + mask
    kept = attended + 2 * stream + 4 * own + 4 * s * width + mask
    top, logits = 2 * stream + 4 * own, 2 * s * rows
    by_hand = {
        Phase.FORWARD: layers * kept + top + logits + max(whole, 4 * s),
        Phase.LOSS: layers * kept + top + logits + stream + 2 * whole,
        # Of the MLP's norm and first product: gradients of what comes out, of the norm's input
        # and output, and input and gradient of all tokens; what came behind them is gone.
        Phase.BACKWARD_FIRST: layers * kept
        + max(
            2 * s * width + stream + whole,
            3 * stream + 2 * whole + 2 * s * width - 4 * s * width - mask,
        ),
        # Both of all tokens and the table's rows; masks are gone by then.
        Phase.BACKWARD_LAST: stream + whole + 2 * table,
        Phase.REDUCE: 0,
        Phase.STEP: 0,
    }
    of_embedding = dict.fromkeys((Phase.FORWARD, Phase.LOSS, Phase.BACKWARD_FIRST), mask)
    phases = ledger(made).phases
    assert {phase: size - base for phase, size in phases.items()} == {
        phase: by_hand[phase] + of_embedding.get(phase, 0) for phase in phases
    }


def beyond_the_step(made):
    """Bytes of each phase beyond those of the optimizer's, which has nothing of its own."""
    phases = ledger(made).phases
    return {phase: size - phases[Phase.STEP] for phase, size in phases.items()}


@pytest.mark.parametrize("low", [0, 96])
def test_wide_heads_of_latent_attention_are_the_most_of_each_phase(on_megatron, low):
    """Forward while keys and values are made of what holds both, backward in the fused kernel."""
    layers, a, h, f, vocab, tokens = 3, 8, 64, 16, 100, 512
    plain, turned, valued, rank = 256, 16, 32, 64
    latent = LatentAttention(
        query_rank=low,
        kv_rank=rank,
        nope_head_dim=plain,
        rope_head_dim=turned,
        value_head_dim=valued,
    )
    shape = {"layers": layers, "hidden": h, "heads": a, "ffn": f, "vocab": vocab}
    made = on_megatron(Architecture(**shape, latent=latent))
    # stream, norm output; both low ranks, in front of and behind their norms; a number each
    front = 2 * h + 2 * h + 4 + 2 * (rank + turned) + 2 * rank + 4 + (4 * low + 4 if low else 0)
    keys, values = 2 * a * (plain + turned), 2 * a * valued
    joined = 2 * a * (plain + valued)
    attended = front + 2 * keys + 2 * values + 4 * a
    kept = attended + 4 * h + 4 + 6 * f
    gradients = 2 * h + 2 * keys + 2 * values  # of stream, queries, keys, values and output
    assert beyond_the_step(made) == {
        Phase.FORWARD: tokens * ((layers - 1) * kept + front + 2 * keys + values + joined),
        Phase.LOSS: tokens * (layers * kept + 4 * h + 4 + 2 * vocab + 2 * h),
        Phase.BACKWARD_FIRST: tokens * ((layers - 1) * kept + attended + gradients),
        Phase.BACKWARD_LAST: tokens * (attended + gradients),
        Phase.STEP: 0,
    }


# Ranks of 8 experts; copies of all rows while each token's are added up: those sent, received,
# sorted by rank and returned, less those that the products keep; and what the frame refers to of
# them when the shared experts' are added. Rows that travel have two gradients at once.
TRAVELS = {1: (1, 1, 1), 2: (4, 3, 2), 4: (4, 3, 2), 8: (3, 2, 2)}


@pytest.mark.parametrize("ranks", TRAVELS)
@pytest.mark.parametrize("shared", [0, 24])
@pytest.mark.parametrize("f", [8, 200])
def test_every_phase_of_layers_with_experts_is_what_it_is_by_hand(on_megatron, ranks, shared, f):
    layers, h, vocab, tokens, routed, each = 3, 64, 100, 512, 8, 2
    experts = Experts(routed=routed, per_token=each, ffn=f, shared_ffn=shared)
    shape = {"layers": layers, "hidden": h, "heads": 4, "ffn": 16, "vocab": vocab}
    made = on_megatron(Architecture(**shape, experts=experts), data=ranks, expert=ranks)
    rows = tokens * each  # 128 for each expert
    copies, held, gradients = TRAVELS[ranks]
    attention = 2 * h + 2 * h + 4 + 8 * h + 4 * 4  # heads of query, key, value, output
    # probabilities twice, weights, masks, choices, two numbers of where a token goes
    router = 4 * routed + 4 * routed + 2 * routed + routed + 8 * each + 4 * (2 * routed + 1)
    of_token = attention + 4 * h + 4 + router + 6 * shared
    kept = tokens * of_token + rows * (2 * h + 6 * f + 2)
    stream = tokens * 2 * h
    row = rows * 2 * h
    beside = stream if shared else 0  # what the shared experts make, or its gradient
    inside = max(
        gradients * row,
        row + rows * 2 * f,
        rows * (4 * f + 2),
    )
    mixed = max(copies * row + stream + beside, held * row + stream + 2 * beside)
    first = row + stream + beside if shared else 0  # of the sum of both, beside the stream's
    top = tokens * (4 * h + 4 + 2 * vocab)
    by_hand = {
        Phase.FORWARD: layers * kept + max(mixed, top + 4 * tokens),
        Phase.LOSS: layers * kept + top + stream,
        Phase.BACKWARD_FIRST: layers * kept + stream + max(beside + inside, first),
        Phase.BACKWARD_LAST: kept + stream + max(beside + inside, first),
        Phase.REDUCE: 0,
        Phase.STEP: 0,
    }
    found = beyond_the_step(made)
    assert found == {phase: by_hand[phase] for phase in found}
