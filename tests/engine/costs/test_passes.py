"""Bytes that pass through memory outside the matrix products."""

from dataclasses import replace

import pytest

from engine.architecture import Experts, LatentAttention
from engine.costs import passes
from engine.costs.held import held
from engine.settings import Adapters
from engine.stages import stages


def _of(part, settings):
    stage = stages(settings)[0]
    return part(settings, held(settings, stage) if part is not passes.layers else stage)


def test_a_fused_adamw_moves_thirty_bytes_a_parameter(settings):
    """Master copy and both moments read and written, gradient read, 16-bit weight written."""
    chosen = settings(optimizer="adamw-fused")
    assert _of(passes.optimizer_step, chosen) == 30 * chosen.architecture.parameters


# Weight, gradient and, of fused AdamW, two moments: all but the gradient are read and written.
# 8-bit moments take a byte each; the 16-bit copy of a master weight is written.
@pytest.mark.parametrize(
    ("optimizer", "precision", "bytes_each"),
    [
        ("adamw-fused", "fp32", 7 * 4),
        ("adamw-fused", "pure-bf16", 7 * 2),
        ("adamw-8bit", "fp32", 3 * 4 + 4),
        ("adamw-8bit", "mixed", 3 * 4 + 4 + 2),
    ],
)
def test_a_step_reads_and_writes_states_and_casts_a_master_copy(
    settings, optimizer, precision, bytes_each
):
    chosen = settings(optimizer=optimizer, precision=precision)
    moved = _of(passes.optimizer_step, chosen)
    assert moved == bytes_each * chosen.architecture.parameters


def test_adamw_over_lists_moves_almost_three_times_as_much(settings):
    one, other = (
        _of(passes.optimizer_step, settings(optimizer=name)) for name in ("adamw-fused", "adamw")
    )
    assert 2.5 < other / one < 3


@pytest.mark.parametrize("name", ["muon", "adafactor"])
def test_what_is_not_counted_yet_moves_as_much_as_a_fused_adamw(settings, name):
    one, other = (
        _of(passes.optimizer_step, settings(optimizer=name)) for name in ("adamw-fused", name)
    )
    assert one == other


# Two bytes read and written, two of the weights read; the shards of ZeRO-3 have four.
@pytest.mark.parametrize(
    ("ema", "parallel", "each"),
    [("weights", {}, 6), ("fp32", {}, 10), ("fp32", {"data": 4, "zero": 1}, 10)],
)
def test_an_average_is_read_and_written_and_its_weights_read(settings, ema, parallel, each):
    one, other = (_of(passes.optimizer_step, settings(ema=e, **parallel)) for e in ("none", ema))
    assert other - one == each * settings().architecture.parameters


def test_an_average_of_shards_moves_a_share_of_its_bytes(settings):
    sharded = {"data": 4, "zero": 3}
    one, other = (
        _of(passes.optimizer_step, settings(ema=ema, **sharded)) for ema in ("none", "weights")
    )
    assert 4 * (other - one) == 12 * settings().architecture.parameters


def test_sharded_states_are_stepped_by_shares(settings):
    whole, shared = (settings(data=4, zero=zero) for zero in (0, 1))
    assert _of(passes.optimizer_step, whole) == 4 * _of(passes.optimizer_step, shared)


def test_eager_attention_reads_and_writes_the_scores(settings):
    def moved(sequence, attention):
        chosen = settings(sequence=sequence, attention=attention, implementation="fused")
        return _of(passes.layers, chosen).total

    scores = [moved(s, "eager") - moved(s, "flash") for s in (2048, 4096)]
    assert 3.5 < scores[1] / scores[0] < 4.1
    assert moved(4096, "flash") == 2 * moved(2048, "flash")


def test_selective_recomputation_repeats_the_core_only(settings):
    chosen = settings(attention="eager", recompute="selective")
    moved = _of(passes.layers, chosen)
    assert moved.recomputed == 4 * 4 * 128 * 128 * 8 * 2
    full = _of(passes.layers, settings(attention="eager", recompute="full"))
    assert full.recomputed == full.forward


def test_sequence_parallelism_splits_norms_and_residual_adds(settings):
    alone, plain, split = (
        _of(passes.layers, settings(**values)).total
        for values in ({}, {"tensor": 4}, {"tensor": 4, "sequence_parallel": True})
    )
    assert plain > split == alone / 4


def test_fused_kernels_move_less(settings):
    separate, fused = (
        _of(passes.layers, settings(implementation=name)).total for name in ("fused", "megatron")
    )
    assert fused < separate


# Divided, tanh and multiplied in 2 bytes: 6 and 7 elements, unless the loss's kernel does it.
@pytest.mark.parametrize(("loss", "more"), [("eager", (12, 14)), ("fused", (0, 0))])
def test_capped_logits_pass_three_kernels_more(settings, loss, more):
    chosen = [settings({"soft_cap": cap}, loss=loss) for cap in (False, True)]
    without, capped = (passes.loss(one, stages(one)[0]) for one in chosen)
    found = (capped.forward - without.forward, capped.backward - without.backward)
    assert found == tuple(128 * 1024 * each for each in more)


@pytest.mark.parametrize("vocab", [1024, 262_144])
def test_the_loss_moves_in_proportion_to_the_vocabulary(settings, vocab):
    chosen = settings({"vocab": vocab})
    norm = 5 * 128 * 256 * 2
    assert passes.loss(chosen, stages(chosen)[0]).total == norm + 32 * 128 * vocab


def test_a_fused_loss_moves_a_fifth(settings):
    eager, fused = (
        passes.loss(chosen, stages(chosen)[0]).total
        for chosen in (settings({"vocab": 262_144}, loss=loss) for loss in ("eager", "fused"))
    )
    assert fused / eager == pytest.approx(6 / 32, rel=0.01)


def test_only_the_last_stage_has_the_loss(settings):
    chosen = settings(pipeline=2)
    assert [passes.loss(chosen, stage).total > 0 for stage in stages(chosen)] == [False, True]


def test_autocast_casts_matrices_and_mixed_precision_does_not(settings):
    cast, mixed = (settings(precision=name) for name in ("autocast", "mixed"))
    assert _of(passes.casts, cast) == 6 * held(cast, stages(cast)[0]).matrices
    assert _of(passes.casts, mixed) == 0


# Elements a token that the operators of one layer read and write, forward and backward, with 8
# heads of 32, h = 256 and f = 1024. A norm reads and writes its input, an add has two inputs;
# their backward reads one more. Eager scores are s = 128 for each head.
H, F, SCORES = 256, 1024, 8 * 128
NORM, ADD = (2 * H, 3 * H), (3 * H, 3 * H)
STREAM = [NORM, NORM, ADD, ADD]
SHARED = {"norm_inputs": True, "parallel_residual": True, "shared_norm": True}
LATENT = LatentAttention(
    query_rank=64, kv_rank=32, nope_head_dim=32, rope_head_dim=16, value_head_dim=24
)


def _turned(kernels, width):
    return (kernels * width, kernels * width)


ONE_LAYER = {
    "llama by kernels": (
        {},
        {"implementation": "fused"},
        [*STREAM, _turned(9, 2 * H), (4 * H, 8 * H), (5 * F, 9 * F)],
    ),
    "llama fused": ({}, {}, [*STREAM, _turned(2, 2 * H), (4 * H, 8 * H), (3 * F, 5 * F)]),
    "two key heads": (
        {"kv_heads": 2},
        {},
        [*STREAM, _turned(2, H + 64), (2 * (H + 64), 4 * (H + 64)), (3 * F, 5 * F)],
    ),
    "one norm of two branches": (
        SHARED,
        {},
        [NORM, ADD, ADD, _turned(2, 2 * H), (4 * H, 8 * H), (3 * F, 5 * F)],
    ),
    "norms behind too": (
        {"norm_outputs": True},
        {},
        [*STREAM, NORM, NORM, _turned(2, 2 * H), (4 * H, 8 * H), (3 * F, 5 * F)],
    ),
    "norms behind only": (
        {"norm_outputs": True, "norm_inputs": False},
        {},
        [*STREAM, _turned(2, 2 * H), (4 * H, 8 * H), (3 * F, 5 * F)],
    ),
    "norms of queries and keys": (
        {"qk_norm": "full", "kv_heads": 2},
        {"implementation": "fused"},
        [
            *(*STREAM, NORM, (2 * 64, 3 * 64), _turned(9, H + 64)),
            *((2 * (H + 64), 4 * (H + 64)), (5 * F, 9 * F)),
        ],
    ),
    "capped scores": (
        {"positions": 128, "soft_cap": True},
        {"attention": "eager", "implementation": "fused"},
        [*STREAM, ((8 + 6) * SCORES, (9 + 7) * SCORES), (5 * F, 9 * F)],
    ),
    "caps inside a fused kernel": (
        {"soft_cap": True},
        {"implementation": "fused"},
        [*STREAM, _turned(9, 2 * H), (4 * H, 8 * H), (5 * F, 9 * F)],
    ),
    "learned positions and no gate": (
        {"positions": 128, "gated": False},
        {},
        [*STREAM, (4 * H, 8 * H), (2 * F, 3 * F)],
    ),
    "eager by kernels": (
        {"positions": 128},
        {"attention": "eager", "implementation": "fused"},
        [*STREAM, (8 * SCORES, 9 * SCORES), (5 * F, 9 * F)],
    ),
    "eager fused": (
        {"positions": 128},
        {"attention": "eager"},
        [*STREAM, (4 * SCORES, 7 * SCORES), (3 * F, 5 * F)],
    ),
    "latent": (
        {"latent": LATENT},
        {},
        [*STREAM, _turned(2, 2 * 8 * 48), (4 * 8 * 48, 8 * 8 * 48), (3 * F, 5 * F)],
    ),
    "experts": (
        {"positions": 128, "experts": Experts(routed=8, per_token=3, ffn=512)},
        {},
        [*STREAM, (4 * H, 8 * H), (3 * 3 * 512, 5 * 3 * 512), (4 * 3 * H, 4 * 3 * H)],
    ),
    "experts and a shared one": (
        {"positions": 128, "experts": Experts(routed=8, per_token=3, ffn=512, shared_ffn=192)},
        {},
        [
            *STREAM,
            (4 * H, 8 * H),
            (3 * 3 * 512, 5 * 3 * 512),
            (3 * 192, 5 * 192),
            (4 * 3 * H, 4 * 3 * H),
        ],
    ),
}


@pytest.mark.parametrize("name", ONE_LAYER)
@pytest.mark.parametrize(("precision", "each"), [("mixed", 2), ("fp32", 4)])
def test_each_operator_of_a_layer_reads_its_inputs_and_writes_its_output(
    settings, name, precision, each
):
    shape, values, operators = ONE_LAYER[name]
    chosen = settings(shape | {"layers": 5}, precision=precision, micro_batch=3, **values)
    moved = _of(passes.layers, chosen)
    forward, backward = (5 * 3 * 128 * each * sum(one) for one in zip(*operators, strict=True))
    assert (moved.forward, moved.backward, moved.recomputed) == (forward, backward, 0)


@pytest.mark.parametrize("name", ONE_LAYER)
def test_full_recomputation_launches_every_operator_again(settings, name):
    shape, values, operators = ONE_LAYER[name]
    moved = _of(passes.layers, settings(shape, recompute="full", **values))
    copies = 1 if "experts" in shape else 0  # to the experts and back: two operators in one row
    assert moved.operators == moved.repeated == 4 * (len(operators) + copies)


def test_autocast_keeps_the_stream_in_4_bytes_and_computes_in_2(settings):
    moved = _of(passes.layers, settings(precision="autocast"))
    stream = [4 * sum(one) for one in zip(*STREAM, strict=True)]
    inside = [2 * (4 * H + 4 * H + 3 * F), 2 * (4 * H + 8 * H + 5 * F)]
    assert moved.forward == 4 * 128 * (stream[0] + inside[0])
    assert moved.backward == 4 * 128 * (stream[1] + inside[1])


@pytest.mark.parametrize(
    ("values", "more"),
    [
        ({}, 2 * H),
        ({"implementation": "fused"}, 2 * H * (2 * 2 + 1)),
        ({"attention": "eager"}, 2 * H + SCORES * (2 * 2 + 1)),
    ],
)
def test_dropout_moves_a_mask_of_a_byte_an_element_and_by_kernels_its_input_and_output(
    settings, values, more
):
    without, dropped = (_of(passes.layers, settings(dropout=p, **values)) for p in (0.0, 0.1))
    for one, other in ((without.forward, dropped.forward), (without.backward, dropped.backward)):
        assert other - one == 4 * 128 * more


def test_tensor_ranks_share_heads_and_widths_but_not_the_stream(settings):
    alone, cut = (_of(passes.layers, settings(tensor=t)) for t in (1, 4))
    stream = 4 * 128 * 2 * sum(forward for forward, _ in STREAM)
    assert 4 * (cut.forward - stream) == alone.forward - stream


# Bytes a logit: by kernels forward reads 2 and writes 4, then log-softmax reads and writes 4; fp32
# needs no cast. Backward takes 4 + 4 + 4 and the cast back. Fused: read twice, written once.
@pytest.mark.parametrize(
    ("values", "forward", "backward"),
    [
        ({}, 2 + 4 + 4 + 4, 4 + 4 + 4 + 2 + 4),
        ({"precision": "fp32"}, 4 + 4, 4 + 4 + 4),
        ({"loss": "fused"}, 3 * 2, 0),
        ({"precision": "fp32", "loss": "fused"}, 3 * 4, 0),
    ],
)
def test_the_loss_reads_and_writes_each_logit_so_often(settings, values, forward, backward):
    chosen = settings(**values)
    each = 4 if "precision" in values else 2
    moved = passes.loss(chosen, stages(chosen)[0])
    assert moved.forward == 128 * (1024 * forward + 2 * H * each)
    assert moved.backward == 128 * (1024 * backward + 3 * H * each)


@pytest.mark.parametrize(
    ("recompute", "precision", "bytes_each"),
    [
        ("none", "mixed", 2 + 2 + 2),
        ("selective", "mixed", 2 + 2 + 2),
        ("full", "mixed", 2 + 2 + 2 + 2),
        ("none", "mixed-fp32-grad", 2 + 2 + 4),
        ("full", "fp32", 4 + 4 + 4 + 4),
    ],
)
def test_products_read_a_weight_in_each_pass_and_write_its_gradient(
    settings, recompute, precision, bytes_each
):
    chosen = settings(recompute=recompute, precision=precision)
    matrices = 2 * 1024 * 256 + 4 * (4 * 256 * 256 + 3 * 256 * 1024) - 1024 * 256  # no embedding
    assert _of(passes.operands, chosen) == bytes_each * matrices


@pytest.mark.parametrize(
    ("values", "bytes_each"),
    [
        ({"implementation": "fused"}, 2 + 2 + 2),  # the new one and the sum read, the sum written
        ({"implementation": "fused", "precision": "mixed-fp32-grad"}, 2 + 4 + 4),
        ({"implementation": "fused", "data": 4, "zero": 1}, 2 + 2 + 2),
        ({}, 0),  # Megatron's products add to the gradient
        ({"implementation": "fused", "parameters_on": "cpu"}, 0),  # the host adds
    ],
)
def test_a_further_micro_batch_adds_its_gradients_to_those_before(settings, values, bytes_each):
    chosen = settings(**values)
    moved = _of(passes.added_gradients, chosen)
    assert moved == bytes_each * chosen.architecture.parameters


@pytest.mark.parametrize(("zero", "share"), [(2, 4), (3, 4)])
def test_shares_of_gradients_are_added_where_they_are_sharded(settings, zero, share):
    chosen = settings(implementation="fused", data=4, zero=zero)
    moved = _of(passes.added_gradients, chosen)
    assert moved == 6 * -(-chosen.architecture.parameters // share)


@pytest.mark.parametrize(("recompute", "products"), [("none", 2), ("full", 3)])
def test_frozen_matrices_are_read_and_those_in_4_bits_made_whole_for_each_product(
    settings, recompute, products
):
    """Half a byte read and 2 written; adapters alone have gradients to write."""
    chosen = settings(recompute=recompute, implementation="fused")
    chosen = replace(chosen, adapters=Adapters(rank=8, targets="query", base="4-bit"))
    matrices = 4 * (4 * 256 * 256 + 3 * 256 * 1024)
    adapters = 4 * 8 * (256 + 256)
    assert passes.made_whole(chosen) == products * (matrices // 2 + 2 * matrices)
    read = 2 * products * (matrices + 1024 * 256)
    assert _of(passes.operands, chosen) == read + 2 * adapters
