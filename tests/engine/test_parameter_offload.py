"""The shards of ZeRO-3 on the host: what the GPU still holds, traced with CPUOffloadPolicy."""

from dataclasses import replace
from itertools import product

import pytest
from long_rows import first

from engine.errors import InputError, UnmodelledError
from engine.estimate import ledger, model_states
from engine.ledger import MODEL_STATES, Category, Phase
from engine.scenario import Adapters, Offload
from engine.scenario_file import from_mapping, to_mapping
from engine.structure import structure_of

torch = pytest.importorskip("torch")

from engine.verify.ranks import fake_ranks, fsdp2
from engine.verify.symbolic import symbolic
from engine.verify.trace import executed

WIDE = {"vocab": 32000, "layers": 4}
ROWS = {
    "four ranks": {"data": 4, "sequence": 1024},
    "two ranks": {"data": 2, "recompute": "full"},
    "many ranks, few tokens": {"data": 64, "sequence": 64},
    "tied, accumulating": {"data": 3, "shape": {"tied": True}, "gradient_accumulation": 2},
    "Transformers": {"data": 8, "implementation": "hf"},
    "chunked loss": {"data": 8, "loss": "chunked", "optimizer": "adamw-8bit"},
    "fp32": {"data": 8, "precision": "fp32"},
    "pure bf16": {"data": 8, "precision": "pure-bf16", "optimizer": "adafactor"},
    "groups of ranks": {"data": 8, "shard": 4},
    "groups, accumulating": {"data": 8, "shard": 4, "gradient_accumulation": 2},
}

KEPT = {"four ranks", "tied, accumulating", "Transformers", "pure bf16", "groups of ranks"}


@pytest.fixture
def offloaded(scenario):
    """Build a scenario of ZeRO-3 with its parameters on the host, and the same without."""

    def build(name="", *, where="cpu", **values):
        if not name:
            values["shape"] = WIDE | values.get("shape", {})
        before = scenario(name, zero=3, **values)
        return replace(before, offload=Offload(optimizer=where, parameters=where)), before

    return build


def counted(found):
    """Leave out the phases in which nothing but ids of tokens is there."""
    return {phase: gap for phase, gap in found.items() if phase not in {"reduce", "step"}}


@pytest.mark.parametrize("row", first(KEPT, ROWS))
def test_every_phase_meets_the_traced_step(offloaded, gaps, row):
    if "implementation" in ROWS[row]:
        pytest.importorskip("transformers")
    found = counted(gaps(offloaded(**ROWS[row])[0]))
    assert max(map(abs, found.values())) < 0.0005, found


def test_a_large_model_meets_its_traced_step(offloaded, gaps):
    large = {"hidden": 4096, "heads": 32, "ffn": 11008}
    made, _ = offloaded(shape=large, sequence=1024, recompute="full", data=8)
    found = counted(gaps(made))
    assert max(map(abs, found.values())) < 0.0001, found


def test_every_phase_meets_an_executed_step(offloaded, gaps):
    made, _ = offloaded(data=4, attention="eager", shape={"vocab": 4000})
    found = counted(gaps(made, executed(made)))
    assert max(map(abs, found.values())) < 0.002, found


@pytest.mark.parametrize(
    ("passes", "where"),
    first({(1, "optimizer"), (2, "parameters")}, product((1, 2), ("optimizer", "parameters"))),
)
def test_the_formula_of_every_phase_is_the_traced_polynomial(offloaded, where, passes):
    made, _ = offloaded(data=4, micro_batch=3, sequence=176, gradient_accumulation=passes)
    if where == "optimizer":
        made = replace(made, offload=Offload(optimizer="cpu"))
    assert {str(equality.difference) for equality in symbolic(made)} == {"0"}


@pytest.mark.parametrize("passes", [1, 2])
def test_groups_with_their_optimizer_alone_on_the_host_meet_the_traced_step(
    scenario, gaps, passes
):
    made = scenario(
        offload="cpu", zero=3, data=8, shard=4, shape=WIDE, gradient_accumulation=passes
    )
    found = gaps(made)
    assert max(map(abs, found.values())) < 0.001, found


def test_the_gpu_holds_no_model_states(offloaded):
    book = ledger(offloaded("llama-2-7b", data=8)[0])
    assert book.total(*MODEL_STATES) == 0


def test_no_number_of_parameters_leaves_states_on_the_gpu():
    held = model_states(8_000, precision="mixed", zero=3, ranks=8, on_host="parameters")
    assert held == {}


@pytest.mark.parametrize("precision", ["mixed", "fp32", "pure-bf16"])
def test_layers_are_gathered_as_from_shards_on_the_gpu(offloaded, precision):
    made, before = offloaded("llama-2-7b", data=8, precision=precision)
    books = [ledger(one) for one in (made, before)]
    for name in ("gathered layer", "gathered layers", "gathered embedding and head"):
        assert books[0].size(name) == books[1].size(name)


def test_gradients_are_reduced_in_fp32_as_from_shards_on_the_gpu(offloaded):
    made, before = offloaded("llama-2-7b", data=8, sequence=128, recompute="full")
    halves = replace(made, offload=Offload(optimizer="cpu"))
    with_fp32, with_16_bits = (
        ledger(one).total(Category.TEMPORARY, phase=Phase.BACKWARD_LAST) for one in (made, halves)
    )
    assert with_fp32 > with_16_bits
    assert ledger(made).peak < ledger(before).peak


def test_the_gpu_does_not_see_whether_the_shards_go_on_to_nvme(offloaded):
    cpu, nvme = (ledger(offloaded("llama-2-7b", where=one, data=8)[0]) for one in ("cpu", "nvme"))
    assert cpu.phases == nvme.phases


def test_which_optimizer_it_is_makes_no_difference_to_the_gpu(offloaded):
    phases = [
        ledger(offloaded(data=4, optimizer=name)[0]).phases for name in ("adamw-8bit", "sgd")
    ]
    assert phases[0] == phases[1]


def test_the_hosts_step_reaches_the_shards(offloaded):
    made, _ = offloaded(data=2, attention="eager", shape={"vocab": 500, "layers": 2})
    with fake_ranks(made) as mesh:
        parts = fsdp2(made, mesh)
        local = parts.model.layers[0].mlp.gate.weight._local_tensor
        for weight in parts.model.parameters():
            weight._local_tensor.detach().fill_(0.01)
        parts.forward(*(torch.zeros_like(part) for part in parts.batch)).backward()
        assert all(weight.grad is None for weight in parts.model.parameters())
        before = local.detach().clone()
        parts.stepper.step()
        assert parts.model.layers[0].mlp.gate.weight._local_tensor is local
        assert not torch.equal(local, before)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"data": 8, "zero": 2}, "cpu with ZeRO-2"),
        ({"data": 8}, "cpu with DDP"),
        ({}, "cpu on one GPU"),
        ({"zero": 3}, "cpu on one GPU"),
    ],
)
def test_what_does_not_gather_its_parameters_is_refused(scenario, values, said):
    with pytest.raises(UnmodelledError, match=r"offload\.parameters") as raised:
        scenario(parameters_on="cpu", **values)
    assert said in str(raised.value)


def test_megatron_is_refused(scenario):
    with pytest.raises(UnmodelledError, match="cpu with megatron"):
        scenario(parameters_on="cpu", data=8, implementation="megatron")


def test_adapters_are_refused(offloaded):
    made, _ = offloaded(data=8)
    with pytest.raises(UnmodelledError, match="with adapters"):
        replace(made, adapters=Adapters(rank=8))


@pytest.mark.parametrize("optimizer", ["none", "nvme"])
def test_an_optimizer_elsewhere_is_refused_with_what_to_set(offloaded, optimizer):
    made, _ = offloaded(data=8)
    with pytest.raises(InputError, match=r'give offload\.optimizer = "cpu"'):
        replace(made, offload=Offload(optimizer=optimizer, parameters="cpu"))


def test_an_unknown_place_is_refused(offloaded):
    made, _ = offloaded(data=8)
    with pytest.raises(InputError, match="none, cpu, nvme"):
        replace(made, offload=Offload(optimizer="cpu", parameters="disk"))


def test_a_file_that_names_the_parameters_alone_takes_the_optimizer_along(offloaded):
    made, _ = offloaded("llama-2-7b", data=8)
    tables = to_mapping(made)
    del tables["offload"]["optimizer"]
    assert from_mapping(tables) == from_mapping(to_mapping(made))
    assert from_mapping(tables).offload == Offload(optimizer="cpu", parameters="cpu")


def test_a_file_without_offloaded_parameters_does_not_name_them(offloaded):
    _, before = offloaded("llama-2-7b", data=8)
    assert to_mapping(before)["offload"] == {"optimizer": "none"}


def test_the_shards_reduce_in_the_dtype_that_is_stepped(offloaded):
    made, _ = offloaded("llama-2-7b", data=8)
    switches = [
        structure_of(one, ledger(one).stage).precision.stepped
        for one in (made, replace(made, offload=Offload(optimizer="cpu")))
    ]
    assert switches == [4, 2]
