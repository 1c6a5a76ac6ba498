"""Bytes that pass through memory outside the matrix products."""

import pytest

from engine.costs import passes
from engine.costs.held import held
from engine.stages import stages


def _of(part, settings):
    stage = stages(settings)[0]
    return part(settings, held(settings, stage) if part is not passes.layers else stage)


def test_a_fused_adamw_moves_thirty_bytes_a_parameter(settings):
    """Master copy and both moments read and written, gradient read, 16-bit weight written."""
    chosen = settings(optimizer="adamw-fused")
    assert _of(passes.optimizer_step, chosen) == 30 * chosen.architecture.parameters


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
