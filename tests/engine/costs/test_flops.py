"""FLOPs of a micro-batch against formulas that people publish."""

from dataclasses import replace

import pytest

from engine.architecture import Architecture, Experts, LatentAttention
from engine.costs.flops import micro_batch
from engine.costs.held import held
from engine.settings import Adapters
from engine.stages import stages

# arXiv 2205.05198 table 3: layers, hidden size, heads; s = 2048, V = 51,200.
GPTS = {
    "22B": (48, 6144, 64),
    "175B": (96, 12288, 96),
    "530B": (105, 20480, 128),
    "1T": (128, 25600, 160),
}
S, V = 2048, 51200


@pytest.fixture
def flops(settings, gpt):
    """Return the FLOPs of a whole GPT of the paper in one micro-batch of one sequence."""

    def counted(name, **values):
        layers, h, heads = GPTS[name]
        shape = gpt | {"layers": layers, "hidden": h, "heads": heads, "ffn": 4 * h, "vocab": V}
        chosen = settings(shape, **({"sequence": S, "attention": "eager"} | values))
        return micro_batch(chosen, stages(chosen)[0])

    return counted


@pytest.mark.parametrize("name", GPTS)
def test_a_gpt_takes_the_model_flops_of_korthikanti(flops, name):
    """arXiv 2205.05198 equation 7: 72·b·L·s·h² (1 + s/6h + V/12hL), all s² scores counted."""
    layers, h, _ = GPTS[name]
    formula = 72 * layers * S * h * h + 12 * layers * S * S * h + 6 * S * h * V
    assert flops(name).total == formula


@pytest.mark.parametrize("name", GPTS)
def test_full_recomputation_is_one_more_forward_of_the_layers(flops, name):
    kept, again = flops(name), flops(name, recompute="full")
    assert again.recomputed.total == kept.forward.total - kept.forward.head
    assert again.total - kept.total == again.recomputed.total


@pytest.mark.parametrize("name", GPTS)
def test_selective_recomputation_repeats_two_products_of_attention(flops, name):
    """arXiv 2205.05198 appendix A: 2·b·s²·h for the scores and 2·b·s²·h over the values."""
    layers, h, _ = GPTS[name]
    assert flops(name, recompute="selective").recomputed.total == layers * 4 * S * S * h


@pytest.mark.parametrize("name", GPTS)
def test_the_hardware_flops_as_printed_count_the_repeated_products_three_times(flops, name):
    """Equation 8 has s/3h, twice the s/6h of equation 7, where one forward adds s/18h."""
    layers, h, _ = GPTS[name]
    printed = 72 * layers * S * h * h + 24 * layers * S * S * h + 6 * S * h * V
    counted = flops(name, recompute="selective")
    assert printed - flops(name).total == 3 * counted.recomputed.total


# Section 5: FLOPs that selective recomputation adds for GPT-3 and MT-NLG. These are shares of a
# forward pass: 4·b·s²·h of 24·b·s·h² + 4·b·s²·h a layer.
@pytest.mark.parametrize(("name", "percent"), [("175B", 2.7), ("530B", 1.6)])
def test_selective_recomputation_adds_the_printed_share_of_a_forward_pass(flops, name, percent):
    counted = flops(name, recompute="selective")
    share = counted.recomputed.attention / (counted.forward.total - counted.forward.head)
    assert round(100 * share, 1) == percent


@pytest.mark.parametrize(("name", "most"), [("22B", 36), ("175B", 34), ("530B", 34), ("1T", 34)])
def test_full_recomputation_adds_a_third(flops, name, most):
    """arXiv 2205.05198 section 5: 30 to 40% more time; FLOPs alone are a third."""
    more = flops(name, recompute="full").total / flops(name).total - 1
    assert 32 <= 100 * more <= most


def test_flash_attention_counts_the_pairs_that_the_causal_mask_leaves(flops):
    half, whole = flops("22B", attention="flash"), flops("22B")
    assert half.forward.attention * 2 * S == whole.forward.attention * (S + 1)


def test_flash_attention_makes_the_scores_once_more_in_backward(flops):
    """arXiv 2307.08691 section 4.1: the backward is 2.5 times the forward."""
    counted = flops("22B", attention="flash")
    assert 2 * counted.backward.attention == 5 * counted.forward.attention


def test_a_window_leaves_its_pairs_only(settings):
    chosen = settings({"window": 16}, sequence=128)
    near = sum(min(token, 16) for token in range(1, 129))
    heads = 2 * 2 * 256 * 4  # two products of 2 FLOPs, hidden size, layers
    assert micro_batch(chosen, stages(chosen)[0]).forward.attention == heads * near


def test_half_of_the_layers_with_a_window_lie_between_none_and_all(settings):
    def attention(**window):
        chosen = settings(window, sequence=128)
        return micro_batch(chosen, stages(chosen)[0]).forward.attention

    none, half, every = attention(), attention(window=16, window_layers=2), attention(window=16)
    assert 2 * half == none + every


def test_shared_keys_and_values_save_their_projections_only(settings):
    whole, shared = (settings({"kv_heads": heads}) for heads in (8, 2))
    one, other = (micro_batch(x, stages(x)[0]).forward for x in (whole, shared))
    assert one.attention == other.attention
    assert one.linear - other.linear == 4 * 2 * 128 * 256 * 2 * (256 - 64)


def test_a_token_costs_the_experts_it_is_sent_to(settings):
    experts = Experts(routed=8, per_token=2, ffn=512)
    chosen = settings({"experts": experts})
    counted = micro_batch(chosen, stages(chosen)[0]).forward
    assert counted.experts == 4 * 2 * 128 * 2 * 3 * 256 * 512


@pytest.mark.parametrize("name", ["llama-3-8b", "qwen2.5-7b", "mixtral-8x7b", "deepseek-v2"])
def test_a_forward_pass_is_two_flops_for_each_active_weight_and_token(settings, name):
    """Kaplan et al., arXiv 2001.08361 section 2.1: 2N, without embedding, norms and biases."""
    chosen = settings(name, sequence=64)
    counted = micro_batch(chosen, stages(chosen)[0]).forward
    a = chosen.architecture
    active = a.active_parameters - a.vocab * a.hidden
    assert (counted.total - counted.attention) / (2 * 64 * active) == pytest.approx(1, abs=1e-4)


def test_latent_attention_has_queries_wider_than_values(settings):
    latent = LatentAttention(
        query_rank=64, kv_rank=32, nope_head_dim=32, rope_head_dim=16, value_head_dim=24
    )
    chosen = settings({"latent": latent}, attention="eager")
    counted = micro_batch(chosen, stages(chosen)[0])
    assert counted.forward.attention == 4 * 2 * 8 * 128 * 128 * (48 + 24)
    assert counted.backward.attention == 2 * counted.forward.attention


@pytest.mark.parametrize("split", [{"tensor": 8}, {"context": 8}, {"tensor": 2, "context": 4}])
def test_ranks_share_the_flops_of_a_dense_model_evenly(settings, split):
    whole, part = (
        settings("llama-3-8b", sequence=8192),
        settings("llama-3-8b", sequence=8192, **split),
    )
    one, many = (micro_batch(x, stages(x)[0]).total for x in (whole, part))
    assert 8 * many == one


@pytest.mark.parametrize("pipeline", [2, 3, 4, 7, 32])
def test_stages_together_take_the_flops_of_the_model(settings, pipeline):
    whole, cut = settings("llama-3-8b"), settings("llama-3-8b", pipeline=pipeline)
    every = sum(micro_batch(cut, stage).total for stage in stages(cut))
    assert every == micro_batch(whole, stages(whole)[0]).total


def test_the_dense_layers_of_a_mixture_lie_in_the_first_stages(settings):
    chosen = settings("deepseek-v3", pipeline=30)
    assert [stage.dense for stage in stages(chosen)[:3]] == [3, 0, 0]
    assert [stage.layers for stage in stages(chosen)[:3]] == [3, 2, 2]


def test_key_heads_fewer_than_tensor_ranks_are_repeated(settings):
    shape = Architecture(layers=1, hidden=256, heads=8, kv_heads=1, ffn=1024, vocab=1024)
    one, many = settings(shape), settings(shape, tensor=8)
    counted = [micro_batch(x, stages(x)[0]).forward.linear for x in (one, many)]
    keys = 2 * 2 * 128 * 256 * 32
    assert counted[0] - keys == 8 * (counted[1] - keys)


def test_a_window_in_some_layers_of_a_stage_leaves_whole_pairs(settings):
    chosen = settings({"window": 16, "window_layers": 3}, pipeline=2)
    for stage in stages(chosen):
        assert isinstance(micro_batch(chosen, stage).forward.attention, int)


@pytest.mark.parametrize(("recompute", "again"), [("none", 0), ("full", 1)])
def test_frozen_matrices_have_no_gradient_of_their_own(settings, recompute, again):
    """Backward: one product a frozen matrix, two for each of an adapter's."""
    chosen = settings(implementation="fused", recompute=recompute)
    chosen = replace(chosen, adapters=Adapters(rank=8, targets="query,down"))
    counted = micro_batch(chosen, stages(chosen)[0])
    matrices = 4 * (4 * 256 * 256 + 3 * 256 * 1024)
    adapters = 4 * 8 * ((256 + 256) + (256 + 1024))
    head = 2 * 128 * 256 * 1024
    assert counted.forward.linear == 2 * 128 * (matrices + adapters)
    assert counted.backward.linear == 2 * 128 * (matrices + 2 * adapters)
    assert counted.recomputed.linear == again * counted.forward.linear
    assert (counted.forward.head, counted.backward.head) == (head, head)


# Parameters of one rank: norms, the router and small projections of latent attention are whole.
HELD = {
    "one rank": ({}, {}, 4 * (4 * 256 * 256 + 3 * 256 * 1024 + 2 * 256) + 256 + 2 * 1024 * 256, 0),
    "tensor ranks": (
        {},
        {"tensor": 4},
        4 * (256 * 256 + 3 * 256 * 256 + 2 * 256) + 256 + 2 * 256 * 256,
        0,
    ),
    "few key heads": (
        {"kv_heads": 1},
        {"tensor": 4},
        4 * (2 * 64 * 256 + 2 * 32 * 256 + 3 * 256 * 256 + 2 * 256) + 256 + 2 * 256 * 256,
        0,
    ),
    "experts": (
        {"experts": Experts(routed=8, per_token=2, ffn=512)},
        {"tensor": 2, "data": 4, "expert": 4},
        4 * (2 * 256 * 256 + 8 * 256 + 2 * 256) + 256 + 2 * 512 * 256,
        4 * 2 * 3 * 256 * 256,
    ),
    "biases": (
        {"norm": "layernorm", "qkv_bias": True, "gated": False, "tied": True},
        {"tensor": 4},
        4 * (4 * 64 * 256 + 3 * 256 + 2 * 256 * 256 + 4 * 256) + 2 * 256 + 256 * 256,
        0,
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_a_rank_holds_its_part_of_each_matrix_and_all_of_each_vector(settings, name):
    shape, values, shared, experts = HELD[name]
    chosen = settings(shape, **values)
    found = held(chosen, stages(chosen)[0])
    assert (found.shared, found.experts) == (shared, experts)
    assert all(isinstance(size, int) for size in (found.shared, found.experts, found.matrices))


def test_a_tied_head_is_a_copy_on_the_last_stage(settings):
    chosen = settings({"tied": True, "positions": 512}, pipeline=2)
    first, last = (held(chosen, stage) for stage in stages(chosen))
    assert first.shared - last.shared == 512 * 256 - 256  # positions there, the final norm here
    assert first.matrices == last.matrices
