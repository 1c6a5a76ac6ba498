"""How long communication takes, and how much of it hides behind computing."""

from dataclasses import replace
from itertools import product

import pytest

from engine.architecture import Experts, LatentAttention
from engine.catalog import accelerator
from engine.costs import communication, traffic
from engine.costs.computing import Computing
from engine.costs.held import held
from engine.stages import stages

# In a node of H100s: 450 GB/s, of which a ring gets 0.8; 40 µs for each collective.
NVLINK, LATENCY = 450e9 * 0.8, 40e-6
EXPERTS = {"experts": Experts(routed=8, per_token=2, ffn=512)}
LATENT = LatentAttention(
    query_rank=64, kv_rank=32, nope_head_dim=32, rope_head_dim=16, value_head_dim=24
)


def computes(forward=0.0, backward=0.0, attention=0.0, column=0.0):
    """What others may hide behind."""
    return Computing(
        terms=(), forward=forward, backward=backward, attention=attention, column=column
    )


def at_the_end(chosen, work):
    stage = stages(chosen)[0]
    found = communication.at_the_end(chosen, stage, held(chosen, stage), work)
    return {term.name: term for term in found}


def in_a_micro_batch(chosen, work, stage=0):
    found = communication.in_a_micro_batch(chosen, stages(chosen)[stage], work)
    return {term.name: term for term in found}


@pytest.mark.parametrize(
    ("zero", "layers", "elements"), [(0, 4, 2), (1, 4, 1), (2, 4, 1), (3, 4, 2), (3, 1, 2)]
)
def test_gradients_go_in_a_message_a_layer_over_nvlink(settings, zero, layers, elements):
    """A ring sends (N-1)/N: twice for an all-reduce, once to scatter; fp32 where it shards."""
    chosen = settings({"layers": layers}, data=8, zero=zero)
    term = at_the_end(chosen, computes())["gradients reduced"]
    size = 2 * elements * chosen.architecture.parameters * 7 / 8
    assert term.busy_seconds == pytest.approx(size / NVLINK + layers * LATENCY)


@pytest.mark.parametrize("zero", [0, 1, 2])
def test_gradients_of_all_layers_but_one_hide_behind_the_backward_pass(settings, zero):
    terms = at_the_end(settings(data=8, zero=zero, passes=3), computes(backward=1e9))
    assert terms["gradients reduced"].hidden == pytest.approx(3 / 4)
    assert all(term.hidden == 0 for name, term in terms.items() if name != "gradients reduced")


@pytest.mark.parametrize(("zero", "passes"), [*product((0, 1, 2), (1, 4))])
def test_a_short_backward_pass_hides_as_much_as_it_is_long(settings, zero, passes):
    """ZeRO-2 reduces in each micro-batch, DDP and ZeRO-1 in the last only."""
    window = 1e-5
    term = at_the_end(settings(data=8, zero=zero, passes=passes), computes(backward=window))[
        "gradients reduced"
    ]
    times = passes if zero == 2 else 1
    assert term.busy_seconds - term.seconds == pytest.approx(times * window)


def test_zero_3_hides_half_of_its_gathers_behind_each_pass(settings):
    """Gathered for forward, and for backward together with the gradients; 3 of 4 layers hide."""
    chosen = settings(data=8, zero=3, passes=2)
    for long, share in (("forward", 3 / 8), ("backward", 3 / 8)):
        terms = at_the_end(chosen, computes(**{long: 1e9}))
        assert terms["weights gathered"].hidden == pytest.approx(share)
        of_gradients = 3 / 4 if long == "backward" else 0
        assert terms["gradients reduced"].hidden == pytest.approx(of_gradients)


def test_zero_3_hides_as_much_as_both_passes_of_every_micro_batch_are_long(settings):
    forward, backward = 2e-5, 3e-5
    terms = at_the_end(settings(data=8, zero=3, passes=5), computes(forward, backward))
    hidden = sum(term.busy_seconds - term.seconds for term in terms.values())
    assert hidden == pytest.approx(5 * (forward + backward))


def test_one_layer_has_nothing_to_hide_behind(settings):
    terms = at_the_end(settings({"layers": 1}, data=8, zero=3), computes(1e9, 1e9))
    assert {term.hidden for term in terms.values()} == {0.0}


def test_experts_are_exchanged_by_themselves_where_other_ranks_have_the_same(settings):
    chosen = settings(EXPERTS, data=8, expert=4, zero=1)
    terms = at_the_end(chosen, computes())
    of_rank = held(chosen, stages(chosen)[0])
    for name in ("gradients reduced", "weights gathered"):
        assert terms[name].amount == pytest.approx(2 * of_rank.shared * 7 / 8, abs=1)
        assert terms[f"{name}, experts"].amount == 2 * of_rank.experts / 2
        assert terms[f"{name}, experts"].messages == 4


def test_one_rank_has_nothing_to_send(settings):
    chosen = settings(EXPERTS, zero=3)
    assert at_the_end(chosen, computes()) == in_a_micro_batch(chosen, computes()) == {}


SUMS = ("tensor parallel, forward", "tensor parallel, backward")


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("split", [False, True])
def test_sums_of_tensor_ranks_go_over_nvlink(settings, recompute, split):
    """Two a layer in each pass, and embedding's and head's; full recomputation has two more."""
    chosen = settings(tensor=4, recompute=recompute, sequence_parallel=split)
    terms = in_a_micro_batch(chosen, computes())
    one = 2 * (128 * 256 * 2) * 3 / 4
    more = 8 if recompute == "full" else 0
    for name, sums in zip(SUMS, (9 + more, 9), strict=True):
        messages = sums * (2 if split else 1)
        assert terms[name].messages == messages
        assert terms[name].busy_seconds == pytest.approx(sums * one / NVLINK + messages * LATENCY)
        assert ("reduce-scatter" in terms[name].why) == split


@pytest.mark.parametrize(("split", "most"), [(False, 1.0), (True, 0.5)])
def test_megatron_hides_sums_of_input_gradients_behind_weight_gradients(settings, split, most):
    """Of a reduce-scatter and an all-gather one half hides; what is gathered again hides whole."""
    chosen = settings(tensor=4, sequence_parallel=split)
    terms = in_a_micro_batch(chosen, computes(column=1e9))
    assert terms[SUMS[0]].hidden == 0
    assert terms[SUMS[1]].hidden == pytest.approx(most)
    again = terms.get("sequence parallel, gathered again")
    assert (again.hidden == 1.0) if split else (again is None)


def test_what_hides_behind_weight_gradients_is_no_more_than_they_take(settings):
    term = in_a_micro_batch(settings(tensor=4), computes(column=1e-5))[SUMS[1]]
    assert term.busy_seconds - term.seconds == pytest.approx(1e-5)


def test_modules_of_pytorch_hide_no_sums(settings):
    chosen = settings(tensor=4, implementation="fused")
    assert in_a_micro_batch(chosen, computes(column=1e9))[SUMS[1]].hidden == 0


@pytest.mark.parametrize(("attention", "hidden"), [(1e9, None), (2e-5, 2e-5), (0.0, 0.0)])
def test_a_ring_hides_behind_attention(settings, attention, hidden):
    term = in_a_micro_batch(settings(context=4), computes(attention=attention))[
        "context parallel ring"
    ]
    expected = term.busy_seconds if hidden is None else hidden
    assert term.busy_seconds - term.seconds == pytest.approx(expected)
    assert term.messages == 4 * 3 * 2  # layers, other ranks, passes


def test_an_exchange_of_heads_waits(settings):
    chosen = settings(context=4, exchange="a2a")
    terms = in_a_micro_batch(chosen, computes(attention=1e9))
    assert "context parallel ring" not in terms
    assert terms["context parallel all-to-all"].hidden == 0
    assert terms["context parallel all-to-all"].messages == 4 * 2 * 2


# What runs again in the backward pass sends again what its forward pass sent.
@pytest.mark.parametrize(("recompute", "passes"), [("none", 2), ("selective", 3), ("full", 3)])
def test_recomputed_attention_exchanges_heads_again(settings, recompute, passes):
    chosen = settings(context=4, exchange="a2a", recompute=recompute)
    sent = traffic.context(chosen, stages(chosen)[0])
    assert sent.total.size == passes * sent.forward.size


@pytest.mark.parametrize(("recompute", "passes"), [("none", 2), ("selective", 2), ("full", 3)])
def test_recomputed_experts_are_sent_their_tokens_again(settings, recompute, passes):
    chosen = settings(EXPERTS, data=4, expert=4, recompute=recompute)
    sent = traffic.experts(chosen, stages(chosen)[0])
    assert sent.total.size == passes * sent.forward.size > 0


def test_experts_and_stages_wait_for_what_they_are_sent(settings):
    chosen = settings(EXPERTS, data=4, expert=4, pipeline=2, passes=2)
    terms = in_a_micro_batch(chosen, computes(1e9, 1e9, 1e9, 1e9))
    assert {name: term.hidden for name, term in terms.items()} == {
        "expert all-to-all": 0,
        "between pipeline stages": 0,
    }


def test_branches_that_add_up_together_have_one_sum_a_layer(settings):
    chosen = settings({"parallel_residual": True}, tensor=4)
    sent = traffic.tensor(chosen, stages(chosen)[0])
    assert (sent.forward.messages, sent.backward.messages) == (4 + 1, 4 + 1)


@pytest.mark.parametrize(("stage", "sums"), [(0, (5, 4)), (1, (4, 4)), (2, (4, 5))])
def test_the_embedding_s_sum_is_the_first_stage_s_and_the_head_s_the_last_one_s(
    settings, stage, sums
):
    chosen = settings({"layers": 6}, tensor=2, pipeline=3)
    sent = traffic.tensor(chosen, stages(chosen)[stage])
    assert (sent.forward.messages, sent.backward.messages) == sums


def test_groups_that_share_a_model_each_sum_their_shards_in_every_micro_batch(settings):
    """2 · (groups - 1) / groups of each rank's shard in fp32, a message a layer."""
    chosen = settings(data=8, zero=3, shard=2, passes=3)
    stage = stages(chosen)[0]
    sent = traffic.reduced(chosen, stage, held(chosen, stage)).between
    shard = 4 * chosen.architecture.parameters / 2
    assert sent.size == pytest.approx(3 * 2 * shard * 3 / 4, abs=3)
    assert sent.messages == 3 * 4


def test_latent_attention_exchanges_its_wide_queries_and_keys(settings):
    shape = {"latent": LATENT}
    exchanged, ring = (settings(shape, context=2, exchange=how) for how in ("a2a", "p2p"))
    # 8 heads of 48 for queries and for keys, 8 of 24 for values and for the output
    sent = traffic.context(exchanged, stages(exchanged)[0]).forward.size
    assert sent == 4 * 64 * 2 * (2 * 8 * 48 + 2 * 8 * 24) / 2
    sent = traffic.context(ring, stages(ring)[0]).forward.size
    assert sent == 4 * 64 * 2 * (8 * 48 + 8 * 24)


def test_a_slower_network_carries_what_leaves_the_node(settings):
    slow = replace(accelerator("h100-80gb"), network_gb_s=1.0)
    chosen = settings(data=16, gpu=slow)
    term = at_the_end(chosen, computes())["gradients reduced"]
    size = 2 * 2 * chosen.architecture.parameters * 15 / 16
    # 8 cards of 1 GB/s in each node, and 68 µs for a collective between nodes
    assert term.busy_seconds == pytest.approx(size / (8e9 * 0.8) + 4 * 68e-6)


@pytest.mark.parametrize(
    ("split", "said"), [(False, "two all-reduces a layer"), (True, "two reduce-scatter and all-")]
)
def test_what_tensor_ranks_do_is_named(settings, split, said):
    terms = in_a_micro_batch(settings(tensor=4, sequence_parallel=split), computes())
    for way in ("forward", "backward"):
        assert terms[f"tensor parallel, {way}"].why.startswith(said)
