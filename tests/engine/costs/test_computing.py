"""What a GPU computes in seconds, and behind how much of it other terms may hide."""

from dataclasses import replace

import pytest

from engine.architecture import Experts
from engine.catalog import accelerator
from engine.costs import computing, flops, passes
from engine.costs.held import held
from engine.costs.terms import Resource
from engine.precisions import PRECISIONS
from engine.stages import stages

# H100 SXM: 989.4 TFLOP/s in 16 bits, 3,350 GB/s; 0.75 and 0.91 of them, 30 µs an operator.
PRODUCTS, MEMORY, OPERATOR = 989.4e12 * 0.75, 3350e9 * 0.91, 30e-6
FORWARD, BACKWARD = "forward products", ("backward products", "recomputed products")
RECOMPUTED = ("none", "selective", "full")
EXPERTS = Experts(routed=8, per_token=2, ffn=512)


def _computed(chosen, stage=0):
    of = stages(chosen)[stage]
    return computing.computing(chosen, of, held(chosen, of))


def _terms(chosen, stage=0):
    return {term.name: term for term in _computed(chosen, stage).terms}


@pytest.mark.parametrize("recompute", RECOMPUTED)
@pytest.mark.parametrize("stage", [0, 1])
def test_forward_and_backward_take_what_products_passes_and_launches_do(
    settings, recompute, stage
):
    chosen = settings(recompute=recompute, pipeline=2, attention="eager")
    terms, computed = _terms(chosen, stage), _computed(chosen, stage)
    names = (FORWARD, *BACKWARD, "passes of the layers", "passes of the loss")
    named = (*names, "launching operators")
    whole = sum(terms[name].busy_seconds for name in named if name in terms)
    assert computed.forward + computed.backward == pytest.approx(whole)


@pytest.mark.parametrize("recompute", RECOMPUTED)
def test_the_forward_pass_is_its_products_its_passes_and_its_operators(settings, recompute):
    chosen = settings(recompute=recompute)
    stage = stages(chosen)[0]
    moved = passes.layers(chosen, stage).forward + passes.loss(chosen, stage).forward
    work = flops.micro_batch(chosen, stage).forward.total
    launched = 4 * 7 * OPERATOR  # norms, adds, rotary, attention and activation
    expected = work / PRODUCTS + moved / MEMORY + launched
    assert _computed(chosen).forward == pytest.approx(expected)


def test_attention_is_its_share_of_all_three_kinds_of_products(settings):
    """4·b·s²·h forward, twice that backward, and once more recomputed."""
    chosen = settings(attention="eager", recompute="selective", sequence=64, micro_batch=3)
    assert _computed(chosen).attention == pytest.approx(4 * 4 * 4 * 3 * 64 * 64 * 256 / PRODUCTS)


def test_column_parallel_matrices_are_those_in_front_of_heads_and_mlp(settings):
    """Queries, keys, values, gate and up, of 4 layers and 128 tokens."""
    chosen = settings({"ffn": 1000, "kv_heads": 2})
    columns = 256 * (256 + 64 + 64 + 1000 + 1000)
    assert _computed(chosen).column == pytest.approx(4 * 2 * 128 * columns / PRODUCTS)


def test_fp32_products_run_at_half_the_rate_of_16_bits(settings):
    """TF32 on an H100: 494.7 of 989.4 TFLOP/s."""
    assert computing.products_rate(settings()) == pytest.approx(PRODUCTS)
    fp32 = computing.products_rate(settings(precision="fp32"))
    assert fp32 == pytest.approx(494.7e12 * 0.75)


def test_the_source_of_a_rate_is_the_gpu_s_own_where_it_was_measured(settings):
    own = replace(accelerator("h100-80gb"), products_share=0.6)
    assert computing.products_source(settings(gpu=own)) == own.source
    plain = replace(own, products_share=0.0)
    assert "SimuMax" in computing.products_source(settings(gpu=plain))


@pytest.mark.parametrize("recompute", RECOMPUTED)
def test_products_are_counted_and_named_by_pass(settings, recompute):
    chosen = settings(recompute=recompute)
    work = flops.micro_batch(chosen, stages(chosen)[0])
    parts = zip((FORWARD, *BACKWARD), (work.forward, work.backward, work.recomputed), strict=True)
    counted = {name: part.total for name, part in parts if part.total}
    found = [t for t in _terms(chosen).values() if t.resource is Resource.PRODUCTS]
    assert {term.name: term.amount for term in found} == counted
    assert all(term.rate == pytest.approx(PRODUCTS) and term.unit == "FLOP" for term in found)


@pytest.mark.parametrize(("tokens", "recompute"), [(1, "none"), (16, "none"), (16, "full")])
def test_weights_are_waited_for_as_far_as_products_are_too_short(settings, tokens, recompute):
    """Read in each pass, 2 bytes each, and as much written; products of linear layers hide it."""
    chosen = settings(sequence=tokens, recompute=recompute)
    matrices = 1024 * 256 + 4 * (4 * 256 * 256 + 3 * 256 * 1024)
    layers = matrices - 1024 * 256
    again = recompute == "full"
    read = 2 * (3 + again) * matrices / MEMORY
    products = 2 * tokens * (3 * matrices + again * layers) / PRODUCTS
    term = _terms(chosen)["operands of products"]
    assert term.busy_seconds == pytest.approx(read)
    assert term.seconds == pytest.approx(read - products)


def test_many_tokens_hide_the_reading_of_weights(settings):
    assert _terms(settings(sequence=8192))["operands of products"].hidden == 1


def test_experts_hide_behind_their_own_products_only(settings):
    """Each of 8 experts is read, but few tokens come to 2 of them."""
    chosen = settings({"experts": EXPERTS}, sequence=512)
    term = _terms(chosen)["operands of products"]
    matrices = 4 * 8 * 3 * 256 * 512
    read, products = 6 * matrices / MEMORY, 3 * 2 * 512 * 2 * 4 * 3 * 256 * 512 / PRODUCTS
    assert term.seconds == pytest.approx(read - products)  # all else hides


@pytest.mark.parametrize("precision", ["mixed", "autocast", "mixed-fp32-grad"])
def test_autocast_has_casts_to_make_and_others_have_none(settings, precision):
    terms = _terms(settings(precision=precision))
    assert ("weight casts" in terms) == bool(PRECISIONS[precision].casts)
    assert all(term.amount for name, term in terms.items() if name != "operands of products")


def test_a_stage_in_front_has_no_passes_of_the_loss(settings):
    chosen = settings(pipeline=2)
    assert "passes of the loss" not in _terms(chosen)
    assert "passes of the loss" in _terms(chosen, 1)


def _at_the_end(chosen):
    found = computing.at_the_end(chosen, held(chosen, stages(chosen)[0]))
    return {term.name: term.amount for term in found}


@pytest.mark.parametrize(("micro_batches", "times"), [(1, 0), (2, 1), (5, 4)])
def test_gradients_are_added_up_from_the_second_micro_batch_on(settings, micro_batches, times):
    chosen = settings(passes=micro_batches, implementation="fused", optimizer="adamw-fused")
    parameters = chosen.architecture.parameters
    added = {"adding up gradients": 6 * times * parameters} if times else {}
    assert _at_the_end(chosen) == added | {"optimizer step": 30 * parameters}


def test_the_gpu_adds_but_does_not_step_what_the_host_does(settings):
    chosen = settings(passes=3, implementation="fused", offload="cpu", data=2, zero=2)
    assert set(_at_the_end(chosen)) == {"adding up gradients"}


FLOAT8 = {"implementation": "fused", "precision": "fp8"}


@pytest.mark.parametrize("recompute", RECOMPUTED)
def test_linear_layers_in_float8_run_at_twice_the_rate_and_attention_and_head_do_not(
    settings, recompute
):
    """An H100: 1,979 of 989.4 TFLOP/s."""
    chosen = settings(recompute=recompute, **FLOAT8)
    work = flops.micro_batch(chosen, stages(chosen)[0])
    terms = _terms(chosen)
    for name, part in zip(
        (FORWARD, *BACKWARD), (work.forward, work.backward, work.recomputed), strict=True
    ):
        for term, amount, rate in (
            (name, part.attention + part.head, PRODUCTS),
            (f"{name} in float8", part.linear, 2 * PRODUCTS),
        ):
            assert (term in terms) == bool(amount)
            assert not amount or terms[term].amount == amount
            assert not amount or terms[term].rate == pytest.approx(rate)


@pytest.mark.parametrize("recompute", RECOMPUTED)
def test_forward_and_backward_in_float8_have_their_casts_in_them(settings, recompute):
    chosen = settings(recompute=recompute, **FLOAT8)
    terms, computed = _terms(chosen), _computed(chosen)
    whole = sum(t.busy_seconds for n, t in terms.items() if n != "operands of products")
    assert computed.forward + computed.backward == pytest.approx(whole)


def test_casts_of_one_matrix_move_every_copy_that_is_made_of_it(settings):
    """One MLP of two matrices and four of attention, all 256 wide, for 128 tokens: 33 an element.

    Magnitudes 2 read and 2 written, 2 read again; then 2 and 4, 4 and 4, 4 and 4, 4 and 1.
    """
    square, stream = 256 * 256, 128 * 256
    chosen = settings({"layers": 1, "ffn": 256, "gated": False}, **FLOAT8)
    copies = 2 * (square + 2 * stream)
    backward = 33 * (3 * stream + square) + copies
    assert _terms(chosen)["casts to float8"].amount == 6 * (33 * (stream + square) + backward)


def test_a_step_in_float8_that_is_not_compiled_computes_less_and_casts_for_longer(settings):
    """So torchao's documentation wants it compiled."""
    narrow, wide = (
        settings("llama-3-8b", sequence=8192, implementation="fused", precision=name)
        for name in ("fp8", "mixed")
    )
    of_products = [
        sum(t.seconds for t in _terms(one).values() if t.resource is Resource.PRODUCTS)
        for one in (narrow, wide)
    ]
    assert of_products[0] < 0.7 * of_products[1]
    assert _terms(narrow)["casts to float8"].seconds > of_products[1] - of_products[0]


def test_products_in_float8_read_a_byte_of_each_weight_of_a_layer_and_two_of_the_head(settings):
    chosen = settings(**FLOAT8)
    of = held(chosen, stages(chosen)[0])
    head = 1024 * 256
    assert passes.operands(chosen, of) == 2 * (of.matrices + head) + 2 * of.matrices
