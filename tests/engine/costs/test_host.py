"""What offloading the optimizer states moves."""

from dataclasses import replace

import pytest

from engine.costs import host
from engine.costs.computing import Computing
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
    alone = step_time(
        settings({"layers": 1}, implementation="fused", data=8, zero=3, parameters_on="cpu")
    )
    (term,) = (term for term in alone.terms if term.name == "weights from the host")
    assert term.hidden == 0


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


def test_no_drive_has_a_part_where_shards_are_in_memory_of_the_host(settings):
    _, terms = _terms(settings, parameters_on="cpu")
    drives = {"states read", "states written", "weights read", "weights written"}
    assert not drives & set(terms)


def test_the_host_adds_up_what_it_steps(settings):
    _, terms = _terms(settings, parameters_on="cpu", passes=4)
    assert "adding up gradients" not in terms


def test_shards_on_the_host_cost_more_than_states_alone(settings):
    def seconds(**offload):
        return sum(term.seconds for term in _terms(settings, **offload)[1].values())

    with_states = seconds(offload="cpu", passes=4)
    assert with_states < seconds(offload="cpu", parameters_on="cpu", passes=4)


# PCIe x16 of an H100 as 64 GB/s, 0.87 of it; drives of a host read 27 and write 11 GB/s, and its
# processors step 10 billion parameters in 2.57 s, for its 8 GPUs.
WIRE, READ, WRITE, STEPPED = 64e9 * 0.87, 27e9 / 8, 11e9 / 8, 10e9 / 2.57 / 8


def _ended(settings, *, forward=0.0, backward=0.0, **values):
    chosen = settings(**({"data": 8, "zero": 3, "implementation": "fused"} | values))
    stage = stages(chosen)[0]
    window = Computing(terms=(), forward=forward, backward=backward, attention=0, column=0)
    found = host.terms(chosen, stage, held(chosen, stage), window)
    return -(-chosen.architecture.parameters // 8), {term.name: term for term in found}


def test_an_offloaded_step_takes_its_bytes_over_the_wire_and_its_parameters(settings):
    mine, terms = _ended(settings, offload="cpu", zero=2)
    expected = {
        "gradients to the host": 2 * mine / WIRE,
        "step on the host": mine / STEPPED,
        "weights from the host": 2 * mine / WIRE,
    }
    assert {name: term.seconds for name, term in terms.items()} == pytest.approx(expected)


def test_drives_read_and_write_states_at_a_share_of_the_host_s_rate(settings):
    mine, terms = _ended(settings, offload="nvme", zero=2)
    assert terms["states read"].seconds == pytest.approx(12 * mine / READ)
    assert terms["states written"].seconds == pytest.approx(12 * mine / WRITE)
    assert not {"weights read", "weights written"} & set(terms)


def test_drives_that_hold_the_shards_read_them_twice_and_write_them_once(settings):
    mine, terms = _ended(settings, parameters_on="nvme", passes=3)
    assert terms["weights read"].seconds == pytest.approx(2 * 2 * 3 * mine / READ)
    assert terms["weights written"].seconds == pytest.approx(2 * mine / WRITE)
    assert terms["gradients to the host"].busy_seconds == pytest.approx(2 * 3 * mine / WIRE)


# Gradients leave while a backward pass goes on: of the last micro-batch, of the first one alone
# where the host's CPU adds them up, of each where drives take them.
@pytest.mark.parametrize(
    ("values", "windows"),
    [
        ({"offload": "cpu", "zero": 2}, 1),
        ({"offload": "nvme", "zero": 2}, 1),
        ({"parameters_on": "cpu"}, 1),
        ({"parameters_on": "nvme"}, 3),
    ],
)
def test_gradients_hide_behind_backward_passes(settings, values, windows):
    _, terms = _ended(settings, backward=1e-6, passes=3, **values)
    term = terms["gradients to the host"]
    assert term.busy_seconds - term.seconds == pytest.approx(windows * 1e-6)
    _, terms = _ended(settings, backward=1e9, passes=3, **values)
    hidden = 1 / 3 if values == {"parameters_on": "cpu"} else 1
    assert terms["gradients to the host"].hidden == pytest.approx(hidden)


@pytest.mark.parametrize(("forward", "backward"), [(1e9, 0), (0, 1e9)])
def test_half_of_the_weights_come_for_each_pass_the_first_layer_s_not_hidden(
    settings, forward, backward
):
    _, terms = _ended(settings, parameters_on="cpu", forward=forward, backward=backward)
    assert terms["weights from the host"].hidden == pytest.approx(3 / 4 / 2)


def test_weights_hide_as_much_as_the_passes_of_all_micro_batches_are_long(settings):
    _, terms = _ended(settings, parameters_on="nvme", forward=1e-6, backward=2e-6, passes=5)
    assert terms["weights written"].hidden == 0
    for name in ("weights from the host", "weights read"):
        term = terms[name]
        assert term.busy_seconds - term.seconds == pytest.approx(5 * 3e-6)


def test_weights_wait_for_the_step_where_they_live_on_the_gpu(settings):
    _, terms = _ended(settings, offload="cpu", zero=2, forward=1e9, backward=1e9)
    assert terms["weights from the host"].hidden == 0


def test_a_step_on_the_host_has_one_neighbour_where_there_is_one_gpu(settings):
    chosen = settings(offload="cpu")
    assert _offloaded(chosen).neighbours == 1


def test_saved_activations_go_to_the_host_and_come_back(settings):
    """The input of each layer, in 16 bits."""
    chosen = settings(recompute="full", implementation="fused", micro_batch=3)
    moved = replace(chosen, offload=replace(chosen.offload, activations="cpu"))
    stage = stages(chosen)[0]
    assert not list(host.activations(chosen, stage))
    found = {term.name: term for term in host.activations(moved, stage)}
    seconds = 4 * 3 * 128 * 256 * 2 / WIRE
    assert {name: term.seconds for name, term in found.items()} == pytest.approx(
        {"activations to the host": seconds, "activations from the host": seconds}
    )
    assert {term.unit for term in found.values()} == {"B"}
    assert step_time(moved).host_bytes == 2 * 4 * 3 * 128 * 256 * 2
