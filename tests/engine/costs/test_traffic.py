"""Bytes that a rank sends, against the volumes that papers give."""

import pytest

from engine.architecture import Experts
from engine.costs import traffic
from engine.costs.held import held
from engine.stages import stages

EXPERTS = {"experts": Experts(routed=8, per_token=2, ffn=512)}


def _held(settings):
    return held(settings, stages(settings)[0])


def _exchanged(settings):
    stage, weights = stages(settings)[0], _held(settings)
    sent = traffic.reduced(settings, stage, weights), traffic.gathered(settings, stage, weights)
    return [one.shared.size + one.experts.size for one in sent]


# arXiv 1910.02054 section 7: 2Ψ for plain data parallelism and the first two stages, 3Ψ for the
# third, in elements of 2 bytes; (N-1)/N of it leaves a rank.
@pytest.mark.parametrize(("zero", "volumes"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_data_parallelism_sends_two_or_three_times_the_parameters(settings, zero, volumes):
    chosen = settings(data=8, zero=zero, precision="pure-bf16")
    parameters = chosen.architecture.parameters
    assert sum(_exchanged(chosen)) == pytest.approx(volumes * 2 * parameters * 7 / 8, abs=2)


@pytest.mark.parametrize(("zero", "halves"), [(0, [8, 0]), (1, [4, 2]), (2, [2, 2]), (3, [4, 4])])
def test_gradients_and_weights_go_in_their_own_dtypes(settings, zero, halves):
    """DDP and ZeRO-1 sum fp32 gradients twice or once a ring; ZeRO-3 gathers 16 bits twice."""
    precision = "mixed" if zero >= 2 else "mixed-fp32-grad"
    chosen = settings(data=2, zero=zero, precision=precision)
    parameters = chosen.architecture.parameters
    assert _exchanged(chosen) == [half * parameters / 2 for half in halves]


@pytest.mark.parametrize(("zero", "times"), [(0, 1), (1, 1), (3, 5)])
def test_micro_batches_repeat_the_whole_exchange_under_zero_3_only(settings, zero, times):
    once, often = (settings(data=8, zero=zero, passes=n) for n in (1, 5))
    assert sum(_exchanged(often)) == times * sum(_exchanged(once))


def test_zero_2_reduces_every_micro_batch_and_gathers_once(settings):
    once, often = (_exchanged(settings(data=8, zero=2, passes=n)) for n in (1, 5))
    assert often == [5 * once[0], once[1]]


def test_context_ranks_share_what_zero_shards(settings):
    assert _exchanged(settings(data=4, zero=3)) == _exchanged(settings(context=4, zero=3))


def test_experts_are_exchanged_by_the_ranks_that_hold_the_same(settings):
    chosen = settings(EXPERTS, data=8, expert=4)
    stage, weights = stages(chosen)[0], _held(chosen)
    sent = traffic.reduced(chosen, stage, weights).experts.size
    assert sent == 2 * weights.experts * 2 / 2
    assert weights.experts * 4 == _held(settings(EXPERTS)).experts


# arXiv 1909.08053 section 3: two all-reduces in the forward pass of a layer and two in its
# backward, each of b·s·h elements.
@pytest.mark.parametrize(("recompute", "count"), [("none", 4), ("selective", 4), ("full", 6)])
def test_tensor_parallelism_sums_four_times_a_layer(settings, recompute, count):
    chosen = settings(tensor=4, recompute=recompute)
    sent = traffic.tensor(chosen, stages(chosen)[0]).total
    one = 2 * 128 * 256 * 2 * 3 // 4
    assert sent.size == (4 * count + 2) * one  # and once each for embedding and head


def test_sequence_parallelism_sends_the_same_bytes(settings):
    plain, split = (settings(tensor=4, sequence_parallel=on) for on in (False, True))
    one, other = (traffic.tensor(x, stages(x)[0]).total for x in (plain, split))
    assert (other.size, other.messages) == (one.size, 2 * one.messages)


def test_sequence_parallelism_gathers_two_inputs_a_layer_again(settings):
    """arXiv 2205.05198 section 4.2.2: an extra all-gather in the backward pass."""
    chosen = settings(tensor=4, sequence_parallel=True)
    again = traffic.gathered_again(chosen, stages(chosen)[0])
    assert again.size == 4 * 2 * 128 * 256 * 2 * 3 // 4
    assert again.messages == 4 * 2


def test_a_ring_sends_keys_and_values_to_all_other_ranks(settings):
    """arXiv 2310.01889 section 3; in backward their gradients go round too."""
    chosen = settings({"kv_heads": 2}, context=4)
    sent = traffic.context(chosen, stages(chosen)[0])
    assert sent.forward.size == 4 * 3 * 2 * (128 // 4) * 64 * 2
    assert sent.backward.size == 2 * sent.forward.size


def test_an_exchange_of_heads_sends_queries_keys_values_and_output(settings):
    chosen = settings({"kv_heads": 4}, context=4, exchange="a2a")
    sent = traffic.context(chosen, stages(chosen)[0])
    assert sent.forward.size == 4 * (128 // 4) * (256 + 128 + 128 + 256) * 2 * 3 // 4
    assert sent.backward.size == sent.forward.size


def test_more_context_ranks_cost_a_ring_more_and_an_exchange_of_heads_less(settings):
    def size(ranks, exchange):
        chosen = settings(context=ranks, exchange=exchange)
        return traffic.context(chosen, stages(chosen)[0]).total.size

    assert size(8, "p2p") > size(4, "p2p")
    assert size(8, "a2a") < size(4, "a2a")


def test_each_token_goes_to_its_experts_and_back_in_both_passes(settings):
    chosen = settings(EXPERTS, data=4, expert=4)
    sent = traffic.experts(chosen, stages(chosen)[0]).total
    assert sent.size == 4 * 4 * 128 * 2 * 256 * 2 * 3 // 4
    assert sent.messages == 4 * 4


def test_a_stage_in_the_middle_sends_forward_and_back(settings):
    chosen = settings(pipeline=4)
    sent = [traffic.pipeline(chosen, stage).total for stage in stages(chosen)]
    assert [one.size for one in sent] == [hidden * 128 * 256 * 2 for hidden in (1, 2, 2, 1)]
    assert [one.messages for one in sent] == [1, 2, 2, 1]


def test_one_rank_sends_nothing(settings):
    chosen = settings(EXPERTS, zero=3)
    stage = stages(chosen)[0]
    sent = [part(chosen, stage) for part in (traffic.tensor, traffic.context, traffic.experts)]
    assert [one.total.size for one in sent] == [0, 0, 0]
    assert _exchanged(chosen) == [0, 0]


def test_zero_2_reduces_16_bit_gradients_though_they_are_added_up_in_fp32(settings):
    chosen = settings(data=2, zero=2, precision="mixed-fp32-grad")
    assert _exchanged(chosen) == [2 * chosen.architecture.parameters / 2] * 2
