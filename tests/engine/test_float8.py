"""Products in float8: what they keep, what they cost, and where they are refused."""

import pytest
from long_rows import first

from engine.architecture import Experts
from engine.errors import UnmodelledError
from engine.estimate import ledger
from engine.ledger import Phase

pytest.importorskip("torch")

import torch
from torch import nn

from engine.verify import measure
from engine.verify.float8 import Float8Linear, in_float8

WIDE = {"layers": 3, "hidden": 512, "ffn": 1408, "kv_heads": 2, "vocab": 512}


def both(*, bias=True):
    """Return a linear layer and the same in float8, with inputs that want a gradient."""
    torch.manual_seed(0)
    plain = nn.Linear(64, 96, bias=bias).bfloat16()
    return plain, in_float8(nn.Sequential(plain))[0], torch.randn(2, 16, 64).bfloat16()


@pytest.mark.parametrize("bias", [True, False])
def test_a_product_in_float8_is_the_plain_one_to_three_bits(bias):
    plain, narrow, x = both(bias=bias)
    wanted, made = plain(x).float(), narrow(x).float()
    assert (made - wanted).norm() / wanted.norm() < 0.1
    assert not torch.equal(made, wanted)


def test_its_gradients_are_those_of_the_plain_product_to_two_bits():
    plain, narrow, x = both()
    found = []
    for linear in (plain, narrow):
        entry = x.clone().requires_grad_()
        plain.zero_grad()
        linear(entry).float().pow(2).sum().backward()
        found.append([one.grad.float().clone() for one in (entry, plain.weight, plain.bias)])
    for wanted, made in zip(*found, strict=True):
        assert (made - wanted).norm() / wanted.norm() < 0.2


def test_a_tensor_of_zeros_stays_finite():
    _, narrow, x = both(bias=False)
    assert torch.equal(narrow(torch.zeros_like(x)), torch.zeros(2, 16, 96).bfloat16())


def test_autograd_keeps_the_input_and_the_weight_in_16_bits_and_nothing_in_8():
    _, narrow, x = both()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(kept.append, lambda one: one):
        narrow(x.requires_grad_())
    assert {one.dtype for one in kept} == {torch.bfloat16}
    storages = {one.untyped_storage().data_ptr() for one in kept}
    assert storages == {x.data_ptr(), narrow.weight.data_ptr()}


def test_every_linear_layer_of_a_block_is_replaced_and_its_parameters_are_kept():
    block = nn.Sequential(nn.Linear(16, 16), nn.ModuleDict({"mlp": nn.Linear(16, 32)}))
    before = dict(block.named_parameters())
    linear = [m for m in in_float8(block).modules() if isinstance(m, nn.Linear)]
    assert all(isinstance(one, Float8Linear) for one in linear)
    assert all(before[name] is one for name, one in block.named_parameters())


ROWS = {
    "plain": {},
    "recomputed": {"recompute": "full", "gradient_accumulation": 2},
    "eager": {"recompute": "selective", "attention": "eager", "dropout": 0.1},
    "ddp": {"data": 4, "loss": "chunked"},
    "zero-2": {"data": 3, "zero": 2, "micro_batch": 2},
    "zero-3": {"data": 8, "zero": 3, "sequence": 1024},
    "muon": {"optimizer": "muon", "ema": "fp32"},
}


@pytest.mark.parametrize("name", first({"eager", "zero-3"}, ROWS))
def test_every_phase_meets_a_step_in_float8(scenario, gaps, name):
    made = scenario(precision="fp8", shape=WIDE, **({"sequence": 320} | ROWS[name]))
    assert max(map(abs, gaps(made).values())) < 0.002


def test_states_and_saved_tensors_are_those_of_mixed_and_casts_come_on_top(scenario):
    narrow, wide = (
        ledger(scenario("llama-3-8b", precision=name, sequence=4096)) for name in ("fp8", "mixed")
    )
    assert [one.name for one in narrow.lines] == [one.name for one in wide.lines]
    more = {one.name: narrow.size(one.name) - wide.size(one.name) for one in wide.lines}
    assert {name for name, size in more.items() if size} == {"backward of the last layer"}
    assert narrow.phases[Phase.BACKWARD_FIRST] > wide.phases[Phase.BACKWARD_FIRST]


@pytest.mark.parametrize(
    ("values", "where", "what"),
    [
        ({"implementation": "hf"}, "recipe.precision", "fp8 with hf"),
        ({"implementation": "megatron"}, "recipe.precision", "no measurement says which"),
        ({"mode": "inference"}, "recipe.precision", "fp8 in inference"),
        ({"gpu": "a100-80gb"}, "hardware.gpu", "no products in float8"),
        ({"shape": {"ffn": 700}}, "model", "multiples of 16, and not 700"),
        ({"sequence": 100}, "workload", "multiples of 16, and not 100"),
        (
            {"shape": {"experts": Experts(routed=4, per_token=2, ffn=704)}},
            "recipe.precision",
            "fp8 with experts",
        ),
        ({"offload": "cpu"}, "offload.optimizer", "cpu with fp8"),
        ({"data": 2, "tensor": 2}, "parallel.tensor", "2 with fused"),
    ],
)
def test_what_float8_has_no_lines_for_is_refused_by_name(scenario, values, where, what):
    with pytest.raises(UnmodelledError) as caught:
        scenario(precision="fp8", **values)
    (fault,) = [one for one in caught.value.faults if one.where == where]
    assert what in fault.what


@pytest.mark.parametrize(
    ("capability", "refused"), [((8, 0), True), ((8, 9), False), ((9, 0), False)]
)
def test_a_gpu_before_ada_is_not_asked_for_a_product_in_float8(
    scenario, monkeypatch, capability, refused
):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    found = [fault.what for fault in measure._without_kernel(scenario(precision="fp8"))]
    assert bool(found) == refused
    assert not list(measure._without_kernel(scenario(precision="mixed")))


def test_adapters_beside_products_in_float8_are_refused(adapted):
    with pytest.raises(UnmodelledError, match="fp8 with adapters"):
        adapted(precision="fp8")
