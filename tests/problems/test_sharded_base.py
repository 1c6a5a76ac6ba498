"""A base in 4 bits that GPUs share: its bytes are the ledger's, its sums done by hand."""

import re

from engine.architecture import Architecture
from engine.catalog import accelerators
from engine.estimate import ledger
from engine.ledger import Category
from engine.scenario import Adapters, Hardware, Model, Scenario, Workload
from problems.bank.levers.sharded_base import Case
from problems.registry import build
from problems.scenarios import modelled

SEEDS = range(60)
GB = 10**9


def case(gpu="rtx-4090", gpus=2, model=None, **more):
    return Case(
        model=model or modelled("llama-3-70b"),
        gpu=accelerators()[gpu],
        gpus=gpus,
        **{"percent": 95, "tokens": 0, "beside": GB, **more},
    )


def test_two_cards_of_24_gb_hold_a_70b_base_and_1024_tokens():
    # kaitchup.substack.com: 36.4 GB of 4-bit weights over two cards, and little else.
    x = case(tokens=1024)
    assert round(4.127 / 8 * x.model.architecture.parameters / GB, 1) == 36.4
    assert round(x.share / GB, 1) == 19.8  # not 18.2: embedding and head stay in 16 bits
    assert x.fits


def test_long_sequences_or_one_card_do_not_fit():
    assert not case(tokens=8192).fits
    assert not case(gpus=1).fits


def test_the_base_is_the_frozen_weights_of_the_ledger():
    model = modelled("llama-3-8b")
    x = Scenario(
        model=model,
        workload=Workload(sequence=512),
        adapters=Adapters(rank=16, base="4-bit"),
        hardware=Hardware(gpu=accelerators()["h100-80gb"]),
    )
    book = ledger(x)
    frozen = sum(
        size
        for line, size in zip(book.lines, book.sizes, strict=True)
        if line.category is Category.WEIGHTS and "adapter" not in line.name
    )
    assert abs(case(model=model).base / frozen - 1) < 1e-4


def test_embedding_and_head_stay_in_16_bits():
    a = Architecture(layers=2, hidden=64, heads=1, head_dim=64, ffn=128, vocab=1000, tied=True)
    x = case(model=Model(name="small", title="small", architecture=a, max_sequence=512))
    assert x.held.elements == 2 * (4 * 64 * 64 + 3 * 64 * 128)
    assert x.rest == 1000 * 64 + 5 * 64


def test_the_answer_follows_from_what_the_prompt_says():
    for seed in SEEDS:
        problem = build("sharded-base", seed)

        def said(pattern, text=problem.prompt):
            found = re.search(pattern, text)
            return float(found[1].replace(",", "")) if found else 0

        held, layers = said(r"frozen: ([\d,]+) parameters of the layers'"), said(r"L = (\d+)")
        rest, gpus = said(r"P = ([\d,]+)") - held, said(r"over (\d+) ×")
        base = held * (0.5 + 1 / 64 + 4 / 64 / 256) + 2 * rest
        kept = 2 * layers * said(r"input of ([\d,]+) tokens") * said(r"h = ([\d,]+)")
        beside = said(r"logits take ([\d.,]+) GB") * GB
        size = base / gpus + 2 * held / layers + kept + beside
        answer = problem.answer
        assert abs(float(answer.proof.value) / size - 1) < 0.005, problem.id
        room = said(r"with ([\d,]+) MiB") * 2**20 * said(r"which (\d+)%") / 100
        assert answer.value == (size <= room)
