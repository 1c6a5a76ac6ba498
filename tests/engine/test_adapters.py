"""Low-rank adapters beside a frozen model, in 16 or 4 bits."""

from dataclasses import replace

import pytest

from engine.adapters import four_bit
from engine.architecture import Architecture, Experts, LatentAttention, Tensor
from engine.errors import InputError, UnmodelledError
from engine.estimate import fits, ledger
from engine.ledger import Category, Phase
from engine.scenario import Adapters
from engine.scenario_file import from_mapping, to_mapping
from engine.units import GB, GIB, MIB

LLAMA_7B = Architecture(layers=32, hidden=4096, heads=32, ffn=11008, vocab=32000)
LLAMA_13B = Architecture(layers=40, hidden=5120, heads=40, ffn=13824, vocab=32000)
LLAMA_65B = Architecture(layers=80, hidden=8192, heads=64, ffn=22016, vocab=32000)
TINY_LLAMA = Architecture(layers=22, hidden=2048, heads=32, kv_heads=4, ffn=5632, vocab=32000)

LATENT = LatentAttention(
    query_rank=96, kv_rank=64, nope_head_dim=32, rope_head_dim=16, value_head_dim=32
)


def test_a_frozen_matrix_without_adapters_keeps_nothing(adapted):
    every, few = (adapted(targets=targets) for targets in ("all", "query,value"))
    assert ledger(every).size("MLP hidden") > 0
    assert "MLP hidden" not in {line.name for line in ledger(few).lines}


def test_the_first_layer_keeps_no_input_of_its_norm(adapted):
    whole, first = (ledger(adapted(shape={"layers": n})).size("residual stream") for n in (9, 1))
    assert whole == 17 * first  # two in each of nine layers, but one in the first


def test_dropout_gives_each_adapter_a_copy_of_its_input(adapted):
    book = ledger(adapted(adapter_dropout=0.1, sequence=128, shape={"layers": 1}))
    assert book.size("adapters' dropped inputs") == 2 * 128 * (6 * 256 + 704)


def test_masters_gradients_and_states_are_of_the_adapters_alone(adapted):
    book = ledger(adapted("llama-3-8b", rank=16))
    own = 16 * 32 * (2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14336))
    assert book.size("adapters") == book.size("gradients") == 2 * own
    assert book.size("optimizer states") == 2 * book.size("master copy") == 8 * own


def test_ddp_has_buckets_for_the_adapters_alone(adapted):
    book = ledger(adapted(data=4))
    assert book.size("DDP buckets") == book.size("adapters")


# --- published ---


def test_double_quantisation_takes_0_127_bits_a_parameter():
    """arXiv 2305.14314 (QLoRA) section 3: from 0.5 bits to 8/64 + 32/(64 * 256) = 0.127."""
    packed = four_bit(LLAMA_65B.tensors, Adapters(rank=64, base="4-bit"))
    bits = 8 * (packed.scales + 4 * packed.factors) / packed.elements
    assert bits == pytest.approx(0.127, abs=0.0005)


@pytest.mark.parametrize(("architecture", "printed"), [(LLAMA_7B, 0.31), (LLAMA_13B, 0.60)])
def test_what_double_quantisation_saves_is_met_to_the_printed_digits(architecture, printed):
    """Lightning-AI/litgpt tutorials/resource-tables.md: nf4 less nf4-dq; the head is too."""
    packed = four_bit(architecture.tensors, Adapters(rank=8, base="4-bit"))
    each = 4 / 64 - (packed.scales + 4 * packed.factors) / packed.elements
    matrices = packed.elements + architecture.vocab * architecture.hidden
    assert round(each * matrices / GB, 2) == printed


def test_torchtunes_log_of_a_model_with_adapters_is_met(adapted):
    """pytorch/torchtune docs/source/tutorials/e2e_flow.rst, with 64 MiB of rotary tables."""
    book = ledger(
        adapted("llama-3.2-3b", rank=64, targets="query,value,output,mlp", precision="pure-bf16")
    )
    held = book.total(Category.WEIGHTS) + 64 * MIB
    assert round(held / GIB, 2) == 6.21


@pytest.mark.parametrize(
    ("optimizer", "answer"), [("adamw-fused", "tight"), ("adamw-8bit", "yes")]
)
def test_65b_in_4_bits_is_fine_tuned_on_a_card_of_48_gb(adapted, optimizer, answer):
    """arXiv 2305.14314 (QLoRA) abstract; rank 64, all matrices, 16 sequences of 512 tokens."""
    made = adapted(
        LLAMA_65B,
        rank=64,
        base="4-bit",
        adapter_dropout=0.05,
        gpu="rtx-a6000",
        sequence=512,
        gradient_accumulation=16,
        recompute="full",
        optimizer=optimizer,
    )
    assert fits(made) == answer


@pytest.mark.parametrize(("base", "answer"), [("16-bit", "no"), ("4-bit", "yes")])
def test_of_lora_and_qlora_only_qlora_of_70b_fits_80_gb(adapted, base, answer):
    """A question of interviews: 141 GB of 16-bit weights against some 36 of 4-bit ones."""
    made = adapted(
        "llama-3-70b",
        base=base,
        rank=16,
        gpu="a100-80gb",
        sequence=1024,
        recompute="full",
        optimizer="adamw-fused",
    )
    assert fits(made) == answer


def test_adapters_may_need_more_than_training_the_whole_of_a_small_model(adapted, scenario):
    """huggingface/peft#1514: 1.1B parameters, 2 x 8,192 tokens, dropout."""
    values = {"sequence": 8192, "micro_batch": 2, "precision": "pure-bf16"}
    whole = ledger(scenario(TINY_LLAMA, optimizer="adamw-fused", **values)).peak
    lora = ledger(adapted(TINY_LLAMA, rank=16, adapter_dropout=0.05, **values)).peak
    assert lora > 1.1 * whole


# --- the scenario ---


def test_a_scenario_file_gives_the_adapters_again(adapted):
    made = adapted(rank=16, targets="query,value", base="4-bit", adapter_dropout=0.05)
    assert from_mapping(to_mapping(made)).adapters == made.adapters


def test_a_scenario_without_adapters_has_no_table_for_them(scenario):
    assert "adapters" not in to_mapping(scenario())


@pytest.mark.parametrize(
    ("adapters", "where"),
    [
        (Adapters(rank=-1), "adapters.rank"),
        (Adapters(base="4-bit"), "adapters.rank"),
        (Adapters(rank=8, base="3-bit"), "adapters.base"),
        (Adapters(rank=8, targets="query,head"), "adapters.targets"),
        (Adapters(rank=8, dropout=1.0), "adapters.dropout"),
    ],
)
def test_adapters_that_make_no_sense_are_refused(scenario, adapters, where):
    with pytest.raises(InputError) as caught:
        replace(scenario(), adapters=adapters)
    assert [fault.where for fault in caught.value.faults] == [where]


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"precision": "fp32"}, "recipe.precision"),
        ({"data": 4, "zero": 3}, "parallel.zero"),
        ({"data": 4, "zero": 1}, "parallel.zero"),
        ({"implementation": "hf"}, "adapters.rank"),
        ({"shape": {"experts": Experts(routed=4, per_token=2, ffn=64)}}, "adapters.rank"),
        ({"shape": {"latent": LATENT}}, "adapters.rank"),
        ({"targets": "gate", "shape": {"gated": False}}, "adapters.targets"),
    ],
)
def test_adapters_that_have_no_lines_are_refused_by_name(adapted, values, where):
    with pytest.raises(UnmodelledError) as caught:
        adapted(**values)
    assert [fault.where for fault in caught.value.faults] == [where]


def test_adapters_on_all_matrices_leave_out_those_that_a_layer_lacks(adapted):
    plain, gated = (ledger(adapted(shape={"gated": gated})) for gated in (False, True))
    assert gated.size("adapters") - plain.size("adapters") == 2 * 3 * 8 * (256 + 704)


def test_no_gradient_is_there_before_the_last_layer_runs_backward(adapted):
    book = ledger(adapted())
    assert book.total(Category.GRADIENTS, phase=Phase.BACKWARD_FIRST) == 0


# QLoRA, arXiv 2305.14314 section 3: a byte for each 64 elements, an fp32 number for each 256 of
# these and one for their mean.
@pytest.mark.parametrize(
    ("elements", "scales", "factors"),
    [(1, 1, 2), (64, 1, 2), (65, 2, 2), (64 * 256, 256, 2), (64 * 256 + 1, 257, 3)],
)
def test_a_matrix_in_4_bits_has_scales_and_scales_of_scales(elements, scales, factors):
    matrix = Tensor(name="query", place="layer", rows=elements, copies=3)
    other = Tensor(name="head", place="head", rows=10**6)
    found = four_bit((matrix, other), Adapters(rank=8, base="4-bit"))
    assert (found.elements, found.scales, found.factors) == (
        3 * elements,
        3 * scales,
        3 * factors,
    )
    assert not four_bit((matrix, other), Adapters(rank=8)).elements
