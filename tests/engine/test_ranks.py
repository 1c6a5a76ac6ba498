"""One rank of several: what PyTorch's own parts allocate, and the ledger's lines for it."""

import sys
from itertools import product
from statistics import median

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Generating
from hypothesis import strategies as st
from long_rows import first

from engine import symbols
from engine.estimate import ledger
from engine.ledger import Category, Phase
from engine.partition import flat_of, fullest

torch = pytest.importorskip("torch")

from engine.verify.fsdp import _Chunks
from engine.verify.models import build
from engine.verify.ranks import fsdp2, zero
from engine.verify.stepper import optimizer
from engine.verify.trace import executed, traced
from engine.verify.verification import verify

SAMPLE = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Generating.generate,),  # shrinking would trace hundreds of steps
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)

blocks = st.sampled_from(
    (
        {},
        {"gated": False, "norm": "layernorm", "activation": "gelu-tanh", "qkv_bias": True,
         "output_bias": True, "mlp_bias": True, "positions": 4096, "tied": True},
        {"gated": False, "norm": "layernorm", "activation": "gelu-tanh", "qkv_bias": True,
         "output_bias": True, "mlp_bias": True, "parallel_residual": True, "shared_norm": True,
         "head_bias": True},
        {"kv_heads": 2, "qkv_bias": True, "tied": True},
        {"norm": "layernorm-no-weight"},
        {"norm_inputs": False, "norm_outputs": True, "qk_norm": "full", "kv_heads": 8},
        {"norm_outputs": True, "soft_cap": True, "kv_heads": 8, "head_dim": 64, "tied": True},
    )
)  # fmt: skip
# Up to a few billion parameters, so that a bucket of 500 million elements is filled several times.
sizes = st.fixed_dictionaries(
    {
        "layers": st.sampled_from((3, 5, 9)),
        "hidden": st.sampled_from((512, 2048, 4096)),
        "heads": st.just(32),
        "ffn": st.sampled_from((1408, 8192, 14336)),
        "vocab": st.sampled_from((5000, 32000, 128256)),
    }
)
works = st.fixed_dictionaries(
    {
        "precision": st.sampled_from(
            ("fp32", "mixed", "mixed-fp32-grad", "autocast", "pure-bf16")
        ),
        "optimizer": st.sampled_from(("adamw", "adamw-fused", "sgd", "sgd-momentum")),
        "data": st.sampled_from((2, 3, 8, 64)),
        "micro_batch": st.integers(1, 2),
        "sequence": st.sampled_from((128, 1024, 4096)),
        "gradient_accumulation": st.integers(1, 2),
        "attention": st.sampled_from(("flash", "eager")),
        "recompute": st.sampled_from(("none", "selective", "full")),
        "dropout": st.sampled_from((0.0, 0.1)),
    }
)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def sizes_of(timeline, step):
    return {phase: moment.size for phase, moment in timeline.peaks(step).items()}


def gaps(predicted, measured, outside_torch):
    """Predicted over measured bytes, less 1."""
    return {
        phase: (predicted[phase] - outside_torch) / size - 1 for phase, size in measured.items()
    }


@pytest.mark.parametrize(
    ("stack", "stage"),
    first({("fused", 2), ("hf", 1)}, product(("fused", "hf"), (1, 2))),
)
def test_every_phase_of_zero_meets_its_traced_step(scenario, stage, stack):
    if stack == "hf":
        pytest.importorskip("transformers")
    errors = []

    @(SAMPLE if stack == "fused" else settings(SAMPLE, max_examples=1))
    @given(block=blocks if stack == "fused" else st.just({"kv_heads": 8}), shape=sizes, work=works)
    def holds(block, shape, work):
        work = work | (
            {"recompute": "full"} if stack == "hf" and work["recompute"] != "none" else {}
        )
        made = scenario(shape=shape | block, zero=stage, implementation=stack, **work)
        timeline, book = traced(made), ledger(made)
        outside = book.size("cuBLAS workspace")
        steady = gaps(book.phases, sizes_of(timeline, 1), outside)
        first = gaps(book.first_step, sizes_of(timeline, 0), outside)
        errors.extend(map(abs, (*steady.values(), *first.values())))
        assert max(errors) < 0.06, (steady, first)
        # No moment between the phases is above the peak.
        most = max(timeline.at(events).size for events in timeline.span(1))
        assert abs((book.peak - outside) / most - 1) < 0.06

    holds()
    assert median(errors) < 0.0001


@pytest.mark.parametrize(
    ("precision", "accumulation", "tied"),
    first(
        {("mixed", 1, True), ("pure-bf16", 1, False)},
        [("fp32", 1, False), ("mixed", 1, True), ("mixed", 2, False), ("pure-bf16", 1, False)],
    ),
)
def test_ddp_on_fake_tensors_takes_what_it_takes_when_executed(
    scenario, precision, accumulation, tied
):
    made = scenario(
        data=4,
        precision=precision,
        gradient_accumulation=accumulation,
        attention="eager",
        shape={"vocab": 4000, "tied": tied},
    )
    fake, real = traced(made, steps=3), executed(made)
    for step in range(3):
        assert sizes_of(fake, step) == sizes_of(real, step)


def test_the_ledger_has_the_buckets_that_ddp_makes_on_fake_tensors(scenario):
    made = scenario("llama-3.2-1b", data=4, sequence=2048)
    timeline, book = traced(made), ledger(made)
    outside = book.size("cuBLAS workspace")
    found = gaps(book.phases, sizes_of(timeline, 1), outside)
    assert max(map(abs, found.values())) < 0.0002, found
    alive = timeline.by_category(timeline.peaks(1)[Phase.LOSS].events)
    assert alive[Category.COMMUNICATION] == pytest.approx(book.size("DDP buckets"), rel=0.001)


def test_fp32_gradients_beside_16_bit_weights_are_summed_up_without_buckets(scenario):
    made = scenario(data=4, precision="mixed-fp32-grad", shape={"vocab": 32000})
    timeline, book = traced(made), ledger(made)
    found = gaps(book.phases, sizes_of(timeline, 1), book.size("cuBLAS workspace"))
    assert max(map(abs, found.values())) < 0.003, found
    moment = timeline.peaks(1)[Phase.REDUCE]
    assert Category.COMMUNICATION not in timeline.by_category(moment.events)


@pytest.mark.parametrize(
    ("stage", "precision", "accumulation"),
    first(
        {(1, "mixed", 2), (2, "mixed", 1), (2, "mixed-fp32-grad", 2)},
        [
            (1, "mixed", 2),
            (1, "mixed-fp32-grad", 1),
            (2, "mixed", 1),
            (2, "fp32", 2),
            (2, "mixed-fp32-grad", 2),
        ],
    ),
)
def test_zero_holds_in_memory_what_its_trace_says(scenario, stage, precision, accumulation):
    made = scenario(
        data=3,
        zero=stage,
        precision=precision,
        gradient_accumulation=accumulation,
        attention="eager",
    )

    def small(scenario, _mesh):
        return zero(scenario, bucket=300_000)

    fake, real = traced(made, strategy=small), executed(made, strategy=small)
    assert sizes_of(fake, 1) == sizes_of(real, 2)


@pytest.mark.parametrize("ranks", [2, 3, 64])
@pytest.mark.parametrize("tied", [False, True])
def test_the_fullest_part_is_that_of_the_flat_weights(scenario, ranks, tied):
    made = scenario(data=ranks, zero=2, shape={"tied": tied, "vocab": 5000})
    part = fullest(flat_of(made))
    with torch.device("meta"):
        weights = list(build(made, torch.bfloat16).parameters())
    total = sum(weight.numel() for weight in weights)
    size = 2 * -(-total // (2 * ranks))
    touched, begin = [0] * ranks, 0
    for weight in weights:
        end = begin + weight.numel()
        for rank in range(begin // size, -(-end // size)):
            touched[rank] += weight.numel()
        begin = end
    assert part.touched == max(touched) == touched[part.rank]


def test_without_resharding_all_layers_stay_gathered_until_their_backward(scenario):
    made = scenario(data=4, zero=3, sequence=1024, shape={"layers": 5, "vocab": 32000})
    resharded = sizes_of(traced(made), 1)
    whole = sizes_of(
        traced(made, strategy=lambda scenario, mesh: fsdp2(scenario, mesh, reshard=False)), 1
    )
    layer = 2 * ledger(made).values[symbols.P_layer]
    more = {phase: (whole[phase] - resharded[phase]) / layer for phase in whole}
    # The last layer's weights and its buffer are there in both.
    assert more[Phase.FORWARD] == pytest.approx(5, abs=0.05)
    assert more[Phase.LOSS] == pytest.approx(4, abs=0.05)
    assert 2 < more[Phase.BACKWARD_FIRST] < 4
    assert more[Phase.BACKWARD_LAST] == more[Phase.STEP] == 0


@pytest.mark.parametrize("name", first({"adamw"}, ["adamw", "adamw-fused", "sgd-momentum"]))
def test_shards_stepped_as_plain_tensors_take_what_distributed_ones_take(scenario, name):
    made = scenario(data=4, zero=3, optimizer=name, precision="mixed", shape={"vocab": 4000})

    def distributed(scenario, mesh):
        parts = fsdp2(scenario, mesh)
        stepper = parts.stepper
        stepper.shards = []
        stepper.optimizer = optimizer(name, stepper.weights)
        return parts

    assert sizes_of(traced(made), 1) == sizes_of(traced(made, strategy=distributed), 1)


def calls(scenario):
    """How many Python functions run in a trace; unlike its time, this is the same every time."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        traced(scenario, steps=1)
    finally:
        sys.setprofile(None)
    return count


def test_tracing_fsdp2_costs_the_same_for_each_layer_and_rank(scenario):
    """Nothing is done for each pair of tensors, or for each tensor and rank."""

    def cost(layers, ranks):
        made = scenario(data=ranks, zero=3, shape={"layers": layers})
        traced(made, steps=1)  # fake tensors remember what they have seen
        return calls(made)

    two, three, four = (cost(layers, 8) for layers in (2, 3, 4))
    assert (four - three) / (three - two) == pytest.approx(1, rel=0.1)
    for ranks in (256, 100_000):
        assert cost(4, ranks) == pytest.approx(four, rel=0.05)


@given(st.integers(1, 300), st.integers(1, 40))
def test_a_tensor_is_cut_for_ranks_as_pytorch_cuts_it(rows, ranks):
    tensor = torch.arange(2 * rows).view(rows, 2)
    cut = _Chunks(tensor, ranks, dim=0)
    whole = torch.chunk(tensor, ranks)
    for rank in range(ranks):
        assert torch.equal(cut[rank], whole[rank] if rank < len(whole) else tensor.new_empty(0))


GROUPS = [
    {"data": 8, "shard": 4},
    {"data": 8, "shard": 2, "recompute": "full"},
    {"data": 16, "shard": 4, "gradient_accumulation": 2},
    {"data": 8, "shard": 8, "precision": "fp32", "attention": "eager"},
]


@pytest.mark.parametrize("recipe", first(GROUPS[:1] + GROUPS[2:3], GROUPS), ids=str)
def test_groups_that_shard_a_model_each_meet_their_traced_step(scenario, recipe):
    found = verify(
        scenario(
            shape={"layers": 5, "hidden": 512}, zero=3, micro_batch=2, sequence=256, **recipe
        ),
        "fake",
    )
    for row in found.steady:
        assert row.predicted == pytest.approx(found.tensors(row.phase), rel=1e-4)
