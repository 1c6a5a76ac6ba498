"""What lines say of themselves: a reason that is true of the case, when they live, their kind."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sympy import Integer, expand

from engine.architecture import Experts, LatentAttention
from engine.estimate import ledger, ledgers
from engine.ledger import ALL_PHASES, Category, Phase
from engine.symbols import V, b, compiled, h, s
from engine.units import MIB

MEGATRON = {
    "implementation": "megatron",
    "precision": "mixed-fp32-grad",
    "optimizer": "adamw-fused",
    "loss": "fused",
}
PIPELINE = MEGATRON | {"pipeline": 2, "gradient_accumulation": 4, "shape": {"layers": 4}}
FSDP, ZERO_1, ZERO_2 = ({"data": 8, "zero": zero} for zero in (3, 1, 2))
HSDP = FSDP | {"shard": 4}
EXPERTS = Experts(routed=4, per_token=2, ffn=128, dense_layers=1)
PAGE = Path(__file__).parents[2] / "docs" / "model.md"
LATENT = LatentAttention(
    query_rank=96, kv_rank=64, nope_head_dim=32, rope_head_dim=16, value_head_dim=32
)
WHOLE, SHARE = "whole on every rank", "a share on each of the N ranks"
OTHERS = ", experts' on each of those that have them"


def lines(made):
    """Return the lines of all stages by name, as the first stage that has one has it."""
    return {line.name: line for book in reversed(ledgers(made)) for line in book.lines}


# A line's name, a scenario, words that its reason has and words that it has not.
REASONS = [
    ("gradients", {}, "alive after the backward", "every phase"),
    ("gradients", {"gradient_accumulation": 2}, "in every phase, since they add up", "after"),
    ("optimizer temporaries", {}, "since all tensors are stepped at once", "one tensor"),
    (
        "optimizer temporaries",
        {"optimizer": "adafactor", "data": 4, "zero": 1},
        "bytes a parameter",
        "stepped at once",
    ),
    ("residual stream", {}, "in each of the L layers", "micro-batches"),
    ("weights", {}, "2 bytes a parameter", "rank"),
    ("weights", {"data": 8}, WHOLE, SHARE),
    ("weights", ZERO_2, WHOLE, SHARE),
    ("weights", FSDP, "4 bytes a parameter in fp32, which is the master copy too; each", WHOLE),
    ("weights", FSDP | {"precision": "pure-bf16"}, "2 bytes a parameter; each rank", "fp32"),
    ("master copy", {}, "4 bytes a parameter", "rank"),
    ("master copy", {"data": 8}, WHOLE, SHARE),
    ("master copy", ZERO_1, f"{SHARE} (ZeRO-1)", WHOLE),
    ("optimizer states", ZERO_1, f"{SHARE} (ZeRO-1)", WHOLE),
    ("optimizer states", FSDP, f"{SHARE} (ZeRO-3)", WHOLE),
    ("optimizer states", {"optimizer": "adamw"}, "two moments of 4 bytes", "rank"),
    ("optimizer states", {"optimizer": "sgd-momentum"}, "one momentum", "rank"),
    ("gradients", {}, "2 bytes a parameter; alive after the backward", "add up"),
    ("gradients", ZERO_1, f"{WHOLE}; alive after the backward", SHARE),
    ("gradients", ZERO_2, f"{SHARE} (ZeRO-2)", WHOLE),
    ("gradients", {"gradient_accumulation": 2}, "in every phase, since they add up", "after"),
    ("gradients", {"precision": "mixed-fp32-grad"}, "in every phase", "after"),
    ("residual stream", {}, "in each of the L layers", "micro-batches"),
    ("residual stream", PIPELINE, "in each of the layers, for each of m micro-batches", "L "),
    ("residual stream", {"recompute": "full"}, "keeps its input alone", "a norm"),
    ("gradients as the step needs them", ZERO_1, "flat, 4 bytes a parameter, cast", ";"),
    (
        "gradients as the step needs them",
        ZERO_1 | {"precision": "pure-bf16"},
        "flat, 2 bytes a parameter",
        "cast",
    ),
    (
        "reduced gradients of the layers above",
        HSDP | {"gradient_accumulation": 2},
        "beside the older one",
        "host",
    ),
    (
        "reduced gradients of the layers above",
        HSDP | {"parameters_on": "cpu"},
        "though it has gone to the host",
        "older one",
    ),
    (
        "optimizer temporaries",
        {"optimizer": "adamw"},
        "since all tensors are stepped at once",
        ";",
    ),
    ("optimizer temporaries of one tensor", {"optimizer": "adafactor"}, ": 4 bytes", "at once"),
    ("kept by final norm and head", {}, "input and output of the final norm", ";"),
    ("tables shared by the layers", {}, "once for all layers", "its own"),
    (
        "tables shared by the layers",
        MEGATRON | {"shape": {"latent": LATENT}},
        "each layer has its own rotary angles",
        "once",
    ),
    (
        "MLP gate and up",
        MEGATRON | {"shape": {"experts": EXPERTS}},
        "in each of the D layers without experts",
        "L",
    ),
    (
        "expert gates and ups",
        MEGATRON | {"shape": {"experts": EXPERTS}},
        "in each of the L - D layers with experts",
        "D layers without",
    ),
    (
        "master copy",
        MEGATRON | {"shape": {"experts": EXPERTS}, "data": 4, "expert": 2, "zero": 1},
        f"{SHARE}{OTHERS} (ZeRO-1)",
        WHOLE,
    ),
    ("fp32 copy of one gradient", {"optimizer": "adamw-fused"}, "one gradient at a time", "first"),
    ("more of that copy", {"optimizer": "adamw-fused"}, "; the first step has the largest", ", ;"),
]


@pytest.mark.parametrize(("name", "values", "has", "lacks"), REASONS)
def test_a_reason_is_true_of_the_case(scenario, name, values, has, lacks):
    why = lines(scenario(**values))[name].why
    assert has in why
    assert lacks not in why
    assert "XX" not in why


@pytest.mark.parametrize(("ranks", "said"), [(1, False), (2, True)])
@pytest.mark.parametrize("base", ["16-bit", "4-bit"])
def test_frozen_weights_are_whole_on_every_rank_where_there_are_several(
    adapted, ranks, said, base
):
    found = lines(adapted(data=ranks, base=base))
    names = ("frozen weights", "adapters", *(["4-bit weights"] if base == "4-bit" else []))
    assert {WHOLE in found[name].why for name in names} == {said}
    assert ("the rest" in found["frozen weights"].why) == (base == "4-bit")
    assert ("all of the model" in found["frozen weights"].why) == (base == "16-bit")
    assert found["kept by final norm and head"].why == "input of the final norm"


FORWARD_TO_LOSS = (Phase.FORWARD, Phase.LOSS)
BACKWARD = (Phase.BACKWARD_FIRST, Phase.BACKWARD_LAST)
AFTER = (Phase.REDUCE, Phase.STEP)
BEFORE_STEP = tuple(phase for phase in ALL_PHASES if phase is not Phase.STEP)
CHUNKED = {"loss": "chunked"}
BUCKET = "reduce bucket"
KINDS = [
    ("gradients", {}, Category.GRADIENTS, AFTER),
    ("gradients", ZERO_1, Category.GRADIENTS, (Phase.REDUCE,)),
    ("gradients", ZERO_1 | {"gradient_accumulation": 2}, Category.GRADIENTS, BEFORE_STEP),
    ("gradients", FSDP, Category.GRADIENTS, AFTER),
    ("gradients", FSDP | {"gradient_accumulation": 2}, Category.GRADIENTS, ALL_PHASES),
    ("gradients", ZERO_1 | {"precision": "mixed-fp32-grad"}, Category.GRADIENTS, ALL_PHASES),
    ("the head's gradient, made early", CHUNKED, Category.GRADIENTS, FORWARD_TO_LOSS),
    ("gradient of the final norm's output", CHUNKED, Category.TEMPORARY, FORWARD_TO_LOSS),
    ("logits of a chunk", CHUNKED, Category.LOGITS, (Phase.FORWARD,)),
    ("log-softmax", {}, Category.LOGITS, FORWARD_TO_LOSS),
    ("gradients of log-softmax and logits", {}, Category.LOGITS, (Phase.LOSS,)),
    ("DDP buckets", {"data": 8}, Category.COMMUNICATION, ALL_PHASES),
    (BUCKET, ZERO_2, Category.COMMUNICATION, (*BACKWARD, Phase.REDUCE)),
    (BUCKET, ZERO_1, Category.COMMUNICATION, (*BACKWARD, Phase.REDUCE)),
    (BUCKET, ZERO_1 | {"gradient_accumulation": 2}, Category.COMMUNICATION, BEFORE_STEP),
    (
        "tables shared by the layers",
        {},
        Category.TEMPORARY,
        ALL_PHASES,
    ),
    (
        "tables shared by the layers",
        {"implementation": "hf"},
        Category.TEMPORARY,
        (*FORWARD_TO_LOSS, *BACKWARD),
    ),
]


@pytest.mark.parametrize(("name", "values", "category", "phases"), KINDS)
def test_a_line_is_of_its_kind_and_alive_in_its_phases(scenario, name, values, category, phases):
    line = lines(scenario(**values))[name]
    assert line.category is category
    assert line.phases == phases


# Lines that a switch brings, and scenarios that are like it but do not have them.
ABSENT = [
    ("DDP buckets", [{}, ZERO_1, FSDP, {"data": 8, "precision": "mixed-fp32-grad"}]),
    (BUCKET, [{}, {"data": 8}, FSDP, ZERO_1 | {"precision": "mixed-fp32-grad"}]),
    (
        "reduced gradients of the layers above",
        [FSDP, HSDP, FSDP | {"gradient_accumulation": 2}, FSDP | {"parameters_on": "cpu"}],
    ),
    ("NCCL communicator", [{}, {"offload": "cpu"}]),
    ("kept by the embedding", [{}, {"implementation": "hf", "dropout": 0.1}]),
    ("bias casts", [{}, {"precision": "autocast"}]),
    ("weight cast of the head", [{}, {"precision": "fp32"}]),
    ("room for one gradient", [ZERO_2, {}]),
    ("fp32 copies of the gradients", [ZERO_1, FSDP, {"precision": "pure-bf16"}]),
    ("optimizer states", [{"optimizer": "sgd"}, {"offload": "cpu"}]),
    ("workspaces of the experts' products", [MEGATRON]),
    ("saved for the other micro-batches", [{}, MEGATRON]),
    ("a gradient between stages", [MEGATRON]),
    ("the head's gradient, waiting", [{}, {"shape": {"tied": True}}]),
    ("this rank's gradients, last layer", [ZERO_1, FSDP, {}]),
    ("gradients beyond the share", [ZERO_2, FSDP | {"gradient_accumulation": 2}]),
    ("gradients of the head", [ZERO_2, FSDP, {"gradient_accumulation": 2}]),
]


@pytest.mark.parametrize(
    ("name", "values"), [(name, one) for name, rows in ABSENT for one in rows]
)
def test_a_line_is_not_there_without_what_brings_it(scenario, name, values):
    assert name not in lines(scenario(**values))


PRESENT = [
    ("DDP buckets", {"data": 8}),
    ("NCCL communicator", {"data": 2}),
    ("bias casts", {"precision": "autocast", "shape": {"qkv_bias": True}}),
    ("weight cast of the head", {"precision": "autocast"}),
    ("room for one gradient", {"offload": "cpu"}),
    ("fp32 copies of the gradients", {"optimizer": "adamw"}),
    ("the head's gradient, waiting", {"shape": {"tied": True}, "gradient_accumulation": 2}),
    ("the head's gradient, waiting", FSDP),
    ("kept by the embedding", {"dropout": 0.1}),
    ("this rank's gradients, last layer", ZERO_2),
    ("this rank's gradients, first layer", ZERO_2),
    ("gradients beyond the share", ZERO_2 | {"gradient_accumulation": 2}),
    ("gradients of the head", ZERO_1),
]


@pytest.mark.parametrize(("name", "values"), PRESENT)
def test_a_line_is_there_with_what_brings_it(scenario, name, values):
    assert name in lines(scenario(**values))


@pytest.mark.parametrize("dense", [0, 3])
def test_experts_have_workspaces_where_a_layer_has_experts(scenario, dense):
    shape = {"experts": replace(EXPERTS, dense_layers=dense)}
    found = lines(scenario(shape=shape, **MEGATRON))
    assert ("workspaces of the experts' products" in found) == (dense < 3)
    if dense < 3:
        assert found["workspaces of the experts' products"].size == Integer(4 * 32 * MIB)


def test_the_last_stage_refers_to_a_gradient_where_it_goes_on_and_others_to_theirs(scenario):
    first, last = ledgers(scenario(**PIPELINE))
    name = "a gradient between stages"
    kinds = [
        next(line for line in book.lines if line.name == name).phases for book in (first, last)
    ]
    assert kinds == [(Phase.FORWARD,), ALL_PHASES[:4]]
    first, last = ledgers(scenario(**PIPELINE | {"gradient_accumulation": 1}))
    assert name in {line.name for line in first.lines}
    assert name not in {line.name for line in last.lines}
    assert first.size(name) == 2 * 128 * 256


def test_only_the_last_stage_has_a_loss_and_only_the_first_an_embedding(scenario):
    first, last = ledgers(scenario(**PIPELINE | {"dropout": 0.1}))
    names = [{line.name for line in book.lines} for book in (first, last)]
    ends = {"kept by final norm and head", "backward of the head", "logits, then their gradient"}
    assert not ends & names[0]
    assert ends <= names[1]
    assert "kept by the embedding" in names[0] - names[1]


def test_what_is_outside_of_tensors_is_an_interval_that_begins_below_it(scenario):
    """2 to 10% of slack; a context of 300 to 600 MiB where none was read; NCCL 544 to 688."""
    book = ledger(scenario(data=8, gpu="h100-80gb"))
    slack = -(-2 * book.peak // 100), -(-10 * book.peak // 100)
    assert book.reserved == (book.peak + slack[0], book.peak + slack[1])
    assert book.nvidia_smi == (
        book.reserved[0] + (300 + 544) * MIB,
        book.reserved[1] + (600 + 688) * MIB,
    )


def test_a_context_that_was_read_is_no_interval(scenario):
    book = ledger(scenario(gpu="a100-80gb"))
    assert [shown - held for shown, held in zip(book.nvidia_smi, book.reserved, strict=True)] == [
        500 * MIB,
        500 * MIB,
    ]
    assert book.size("cuBLAS workspace") > 0


def test_what_is_alive_at_the_peak_is_listed_from_the_largest_on(scenario):
    book = ledger(scenario())
    sizes = [size for _, size in book.alive]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == book.peak == book.phases[book.peak_phase]
    assert all(size and book.peak_phase in line.phases for line, size in book.alive)


def test_a_ledger_has_a_size_for_each_of_its_lines(scenario):
    book = ledger(scenario())
    with pytest.raises(ValueError, match="shorter"):
        replace(book, sizes=book.sizes[1:]).total(Category.WEIGHTS)


def test_the_formula_of_a_phase_has_the_lines_that_are_alive_in_it(scenario):
    book = ledger(scenario())
    for phase, size in book.phases.items():
        assert compiled(book.formula(phase))(book.values) == size


@pytest.mark.parametrize(("ranks", "stage"), [(1, "only"), (8, "only")])
def test_gradients_are_reduced_where_there_are_ranks_to_reduce_with(scenario, ranks, stage):
    book = ledger(scenario(data=ranks))
    assert (Phase.REDUCE in book.phases) == (ranks > 1)
    assert book.stage.name == stage


def test_a_chunked_loss_makes_the_gradients_of_head_and_its_bias(scenario):
    for bias, columns in ((False, h), (True, h + 1)):
        found = lines(scenario(loss="chunked", shape={"head_bias": bias}))
        size = found["the head's gradient, made early"].size
        assert expand(size - 2 * V * columns) == 0


def test_logits_are_16_bit_ones_with_an_fp32_copy_or_fp32_alone(scenario):
    mixed, fp32 = (lines(scenario(precision=name)) for name in ("mixed", "fp32"))
    assert expand(mixed["logits and their fp32 copy"].size - 6 * b * s * V) == 0
    assert expand(fp32["logits"].size - 4 * b * s * V) == 0


# Steps of this stack are not traced, so what they have is not in traced_steps.toml.
@pytest.mark.parametrize(
    "values",
    [
        {"shape": {"latent": LATENT}},
        {"shape": {"latent": replace(LATENT, query_rank=0), "experts": EXPERTS}},
        {"shape": {"experts": EXPERTS}, "data": 4, "expert": 2, "zero": 1},
        {"attention": "eager", "dropout": 0.1, "shape": {"gated": False, "norm": "layernorm"}},
        {"pipeline": 3, "gradient_accumulation": 4},
        {"context": 2, "exchange": "a2a"},
        {"shape": {"experts": replace(EXPERTS, shared_ffn=64)}, "data": 8, "expert": 2},
    ],
)
def test_every_line_of_megatron_has_an_entry_on_the_page(scenario, values):
    entries = set(re.findall(r"^### (.+)$", PAGE.read_text("utf-8"), re.MULTILINE))
    assert set(lines(scenario(**MEGATRON | values))) <= entries


def test_an_optimizer_on_the_host_of_one_gpu_is_as_under_zero_2(scenario):
    alone, first = (ledger(scenario(offload="cpu", zero=zero)) for zero in (0, 1))
    assert alone.phases == first.phases
