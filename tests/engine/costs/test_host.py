"""What offloading the optimizer states moves."""

import pytest

from engine.costs import host
from engine.costs.held import held
from engine.costs.step_time import step_time
from engine.stages import stages


def _offloaded(settings):
    return host.offloaded(settings, held(settings, stages(settings)[0]))


def test_nothing_moves_where_the_states_stay(settings):
    chosen = settings(data=8, zero=2)
    assert _offloaded(chosen) is None
    assert step_time(chosen).host_bytes == 0


@pytest.mark.parametrize(("zero", "ranks"), [(0, 1), (1, 8), (2, 8), (3, 8)])
def test_a_rank_moves_its_share_of_gradients_down_and_weights_up(settings, zero, ranks):
    """arXiv 2101.06840 section 4: 2 bytes a parameter each way, and nothing else."""
    chosen = settings(data=8, zero=zero, offload="cpu")
    work = _offloaded(chosen)
    share = -(-chosen.architecture.parameters // ranks)
    assert (work.down, work.up, work.states) == (2 * share, 2 * share, 0)
    assert step_time(chosen).host_bytes == 4 * share


def test_drives_read_and_write_twelve_bytes_a_parameter(settings):
    """arXiv 2104.07857 section 2: master copy and two moments of mixed precision."""
    work = _offloaded(settings(offload="nvme"))
    assert work.states == 12 * work.parameters


def test_the_processors_of_a_host_step_what_all_its_gpus_own(settings):
    """arXiv 2101.06840 table 4: CPU-Adam steps 10 billion parameters in 2.57 s."""
    chosen = settings("llama-3-8b", data=16, zero=2, offload="cpu")
    step = next(t for t in step_time(chosen).terms if t.name == "step on the host")
    per_host = 8 * step.amount
    assert step.seconds == pytest.approx(2.57 * per_host / 10e9)


def test_the_gpu_does_not_step_what_is_offloaded(settings):
    names = {term.name for term in step_time(settings(offload="cpu")).terms}
    assert "optimizer step" not in names


def test_more_micro_batches_make_offloading_cheaper(settings):
    def overhead(passes):
        base, moved = (
            settings("llama-3-8b", data=8, zero=2, sequence=4096, passes=passes, offload=where)
            for where in ("none", "cpu")
        )
        return step_time(moved).seconds / step_time(base).seconds - 1

    assert overhead(1) > 2 * overhead(8) > 0


def test_drives_cost_more_than_memory_of_the_host(settings):
    times = [
        step_time(settings("llama-3-8b", data=8, zero=2, offload=where)).seconds
        for where in ("none", "cpu", "nvme")
    ]
    assert times == sorted(times)


def _terms(settings, **values):
    run = {"implementation": "fused", "data": 8, "zero": 3, "sequence": 4096}
    chosen = settings("llama-3-8b", **(run | values))
    return chosen, {term.name: term for term in step_time(chosen).terms}


@pytest.mark.parametrize("passes", [1, 4])
def test_shards_come_for_forward_and_backward_and_gradients_go_every_time(settings, passes):
    """CPUOffloadPolicy of PyTorch 2.13: fp32 shards are copied, and cast on the GPU."""
    chosen, terms = _terms(settings, parameters_on="cpu", passes=passes)
    shard = 4 * -(-chosen.architecture.parameters // 8)
    assert terms["weights from the host"].amount == 2 * passes * shard
    assert terms["gradients to the host"].amount == passes * shard
    assert not {"weights read", "states read"} & set(terms)


def test_drives_hold_sixteen_bit_shards(settings):
    """arXiv 2104.07857 sections 2 and 4: 2 bytes a parameter, loaded twice, and 12 of states."""
    chosen, terms = _terms(settings, parameters_on="nvme")
    mine = -(-chosen.architecture.parameters // 8)
    assert terms["weights read"].amount == terms["weights from the host"].amount == 4 * mine
    assert terms["weights written"].amount == 2 * mine
    assert terms["states read"].amount == 12 * mine


def test_the_first_layer_never_comes_while_another_one_runs(settings):
    chosen, terms = _terms(settings, parameters_on="cpu", micro_batch=8)
    layers = chosen.architecture.layers
    assert terms["weights from the host"].hidden == pytest.approx(1 - 1 / layers)


def test_weights_that_take_longer_than_computing_do_not_hide_all_of_it(settings):
    few, many = (
        _terms(settings, parameters_on="cpu", sequence=tokens)[1]["weights from the host"]
        for tokens in (256, 8192)
    )
    assert few.hidden < many.hidden
    assert few.seconds > many.seconds


def test_only_the_first_micro_batch_hides_its_gradients(settings):
    """PyTorch copies in the background where the host has nothing to add to."""
    one, four = (
        _terms(settings, parameters_on="cpu", micro_batch=8, passes=passes)[1][
            "gradients to the host"
        ]
        for passes in (1, 4)
    )
    assert one.hidden == 1
    assert four.hidden <= 0.5


def test_the_host_adds_up_what_it_steps(settings):
    _, terms = _terms(settings, parameters_on="cpu", passes=4)
    assert "adding up gradients" not in terms


def test_shards_on_the_host_cost_more_than_states_alone(settings):
    def seconds(**offload):
        return sum(term.seconds for term in _terms(settings, **offload)[1].values())

    with_states = seconds(offload="cpu", passes=4)
    assert with_states < seconds(offload="cpu", parameters_on="cpu", passes=4)
