"""The tensor of a message: published messages are traced to theirs, drawn ones add up."""

import re

import pytest

from engine.architecture import Architecture
from engine.catalog import accelerators, models
from engine.settings import Hardware, Model, Parallel, Recipe, Settings, Workload
from engine.units import GIB, MIB
from problems.artefacts.message import OutOfMemory, size
from problems.artefacts.tensors import tensors
from problems.registry import build

SEEDS = range(20)
NUMBER = r"([\d.]+) (MiB|GiB)"


def shape(layers, hidden, heads, ffn, vocab, *, gated=True, kv_heads=0, head_dim=0):
    return Architecture(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads or heads,
        head_dim=head_dim or hidden // heads,
        ffn=ffn,
        vocab=vocab,
        gated=gated,
        norm="rmsnorm",
        tied=False,
    )


def step(architecture, *, batch=1, sequence=1, ranks=1, zero=0, attention="flash"):
    return Settings(
        model=Model(name="m", title="M", architecture=architecture),
        workload=Workload(micro_batch=batch, sequence=sequence),
        recipe=Recipe(attention=attention),
        parallel=Parallel(data=ranks, zero=zero),
        hardware=Hardware(gpu=accelerators()["a100-80gb"], gpus=ranks),
    )


LLAMA = shape(32, 4096, 32, 11008, 32000)
GPT2 = shape(12, 768, 12, 3072, 50304, gated=False)
# Who posted it, the request as it was printed, the run, and the tensor that it was.
MESSAGES = [
    ("tatsu-lab/stanford_alpaca#221", "86.00 MiB", step(LLAMA), "gradient of one MLP matrix"),
    (
        "tatsu-lab/stanford_alpaca#223",
        "388.00 MiB",
        step(LLAMA, ranks=5, zero=3),
        "weights of one layer, gathered",
    ),
    (
        "NVIDIA/Megatron-LM#525",
        "786.00 MiB",
        step(shape(36, 1280, 20, 5120, 50304, gated=False), batch=4, sequence=1024),
        "logits cast to fp32",
    ),
    (
        "karpathy/nanoGPT#88",
        "6.14 GiB",
        step(GPT2, batch=32, sequence=1024),
        "logits cast to fp32",
    ),
    (
        "karpathy/nanoGPT#88, the first report",
        "394.00 MiB",
        step(GPT2, batch=2, sequence=1024),
        "logits cast to fp32",
    ),
    (
        "karpathy/nanoGPT#61",
        "786.00 MiB",
        step(GPT2, batch=4, sequence=1024),
        "logits cast to fp32",
    ),
    (
        "simplescaling/s1#106",
        "9.37 GiB",
        step(shape(64, 5120, 40, 27648, 152064, kv_heads=8), sequence=16540, ranks=8, zero=3),
        "logits cast to fp32",
    ),
    (
        "pytorch/pytorch#133206",
        "48.45 GiB",
        step(shape(1, 32, 16, 64, 64), sequence=40320, attention="eager"),
        "attention scores of one layer",
    ),
]


@pytest.mark.parametrize(
    ("printed", "run", "name"), [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES]
)
def test_a_published_message_is_traced_to_its_tensor(printed, run, name):
    assert named(run, printed) == [name]


def named(run, printed):
    asked = [(OutOfMemory(tensor=one.size, **EMPTY).request, one.name) for one in tensors(run)]
    return [name for request, name in asked if size(request) == printed]


EMPTY = {"total": 80 * GIB, "allocated": 0, "reserved": 0, "outside": 0}


@pytest.mark.parametrize(
    ("asked", "vocab"),
    [
        (1_050_673_152, 128256),  # tenstorrent/tt-forge#855
        (1_587_609_600, 193800),  # tenstorrent/tt-xla#5371
    ],
)
def test_a_published_request_in_bytes_is_a_table_of_the_vocabulary(asked, vocab):
    run = step(shape(32, 4096, 32, 14336, vocab, kv_heads=8))
    assert [one.name for one in tensors(run) if one.size == asked] == ["gradient of the head"]


def test_a_published_share_of_zero_2_is_a_flat_fp32_partition():
    # ZHZisZZ/dllm#9: LLaDA-8B over 2 GPUs, printed as 14.9 GiB with one digit.
    run = step(shape(32, 4096, 32, 12288, 126464), ranks=2, zero=2)
    assert run.architecture.parameters == 8_015_581_184
    found = [one.name for one in tensors(run) if f"{one.size / GIB:.1f}" == "14.9"]
    assert found == ["flat fp32 moment of this rank's share"]


def test_three_copies_of_a_small_models_logits_are_six_gigabytes():
    # Qwen2.5-3B, one sequence of 4,096: a request of 6.5 GiB is the loss, and not one copy alone.
    run = step(models()["qwen2.5-3b"].architecture, sequence=4096)
    found = {one.name: one.size for one in tensors(run)}
    wide, narrow = found["logits cast to fp32"], found["logits in 16 bits"]
    assert round(wide / 1e9, 1) == 2.5
    assert round((narrow + 2 * wide) / 1e9, 1) == 6.2


def test_a_message_adds_up():
    for seed in SEEDS:
        text = build("which-tensor", seed).exhibit.replace("\n", " ")
        asked, total, free, used, live, cached = (
            float(number) * (GIB if unit == "GiB" else MIB)
            for number, unit in re.findall(NUMBER, text)
        )
        assert free < asked
        assert abs(total - free - used) < 0.02 * GIB
        assert live + cached < used < total


def test_only_the_right_tensor_has_the_size_asked_for():
    for seed in SEEDS:
        problem = build("which-tensor", seed)
        printed = re.search(f"allocate {NUMBER}", problem.exhibit.replace("\n", " "))[0]
        for choice in problem.answer.choices:
            request = OutOfMemory(tensor=int(choice.item.value), **EMPTY).request
            right = choice is problem.answer.right
            assert (printed == f"allocate {size(request)}") == right


def test_lines_of_a_message_fit_a_terminal():
    for seed in SEEDS:
        assert all(len(line) <= 77 for line in build("which-tensor", seed).exhibit.splitlines())
