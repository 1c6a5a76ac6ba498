"""Excerpts are programs that run, and keep what they are said to keep."""

import ast
import importlib
from fractions import Fraction

import pytest

from engine.estimate import ledger
from engine.ledger import Category, Phase
from problems.artefacts.code import FAULTS, SHARING, excerpt
from problems.registry import build

SEEDS = range(20)
SENIOR = 2


@pytest.mark.parametrize("kept", FAULTS)
def test_an_excerpt_is_python(kept):
    tree = ast.parse("\n".join(FAULTS[kept].lines))
    assert any(isinstance(node, ast.For) for node in ast.walk(tree))


@pytest.mark.parametrize("kept", FAULTS)
def test_only_what_evaluates_without_no_grad_makes_graphs_there(kept):
    text = "\n".join(FAULTS[kept].lines)
    evaluates = "model.eval()" in text
    assert evaluates != ("model.train()" in text)
    if evaluates:
        assert ("graph" in FAULTS[kept].short) == ("no_grad" not in text)
    else:
        assert text.count(".backward(") == 1


@pytest.mark.parametrize(
    ("sign", "kept"),
    [
        ("append(out.logits)", "all logits"),
        ("total += out.loss\n", "all graphs"),
        ("retain_graph=True", "last graph"),
        ("set_to_none=False", "gradients"),
        ('map_location="cuda"', "checkpoint"),
        ("AdamW(model.parameters())\nfor layer", "whole weights"),
        ("get_state_dict(", "full save"),
    ],
)
def test_a_sign_of_a_fault_stands_in_one_excerpt(sign, kept):
    assert [name for name, fault in FAULTS.items() if sign in "\n".join(fault.lines)] == [kept]


@pytest.mark.parametrize("kept", SHARING)
def test_a_sharded_excerpt_shards_its_model_once(kept):
    text = excerpt(kept, sharded=True)
    assert (text.count("fully_shard(model)"), text.count("AdamW(")) == (1, 1)
    assert (text.index("AdamW(") < text.index("fully_shard(model)")) == (kept == "whole weights")


def test_sizes_are_those_of_the_run():
    for seed in SEEDS:
        problem = build("planted-fault", seed)
        x, book = problem.scenario, ledger(problem.scenario)
        logits = 4 * x.tokens * x.architecture.vocab
        weights = 4 * x.architecture.parameters
        of_save = {"full save": 3 * weights, "checkpoint": weights, "whole weights": weights}
        sizes = {
            "logits": logits,
            "saved": book.total(Category.ACTIVATIONS, phase=Phase.FORWARD) + logits,
            "gradients": Fraction(weights, x.parallel.data),
        }
        for choice in problem.answer.choices:
            # The ledger's log-softmax and graph have a few words a token besides.
            item = choice.item
            by_hand = of_save.get(item.aliases[0]) or sizes[item.name.split()[0]]
            assert abs(item.value / by_hand - 1) < 0.01


@pytest.mark.parametrize("first", [True, False])
def test_an_optimizer_built_before_the_sharding_keeps_whole_weights(first):
    torch = pytest.importorskip("torch")
    ranks = importlib.import_module("engine.verify.ranks")
    shard = importlib.import_module("torch.distributed.fsdp").fully_shard
    x = build("planted-fault", SENIOR).scenario
    with ranks.fake_ranks(x) as mesh:
        model = torch.nn.Linear(64, x.parallel.data, bias=False)
        optimizer = torch.optim.AdamW(model.parameters()) if first else None
        shard(model, mesh=mesh)
        optimizer = optimizer or torch.optim.AdamW(model.parameters())
        (held,) = optimizer.param_groups[0]["params"]
        rows = getattr(held, "_local_tensor", held).untyped_storage().size() // (4 * 64)
    assert rows == (x.parallel.data if first else 1)


def test_the_run_itself_fits_its_card():
    for seed in SEEDS:
        x = build("planted-fault", seed).scenario
        assert ledger(x).peak <= x.hardware.gpu.memory


@pytest.mark.parametrize(
    ("kept", "led_to"),
    [
        ("all logits", "What holds tensors from one batch to the next?"),
        ("all graphs", "holds what the layers saved"),
        ("one graph", "holds what the layers saved"),
        ("last logits", "A name keeps its tensor"),
        ("last graph", "What of a graph does backward() free"),
        ("gradients", "a tensor beside each weight"),
        ("checkpoint", "made before the loop"),
        ("whole weights", "Which line took hold of some"),
        ("full save", "makes whole tensors of shards"),
    ],
)
def test_the_second_hint_leads_to_the_fault_that_was_planted(kept, led_to):
    name = FAULTS[kept].name
    problem = next(
        found
        for found in (build("planted-fault", seed) for seed in range(80))
        if found.answer.right.item.name == name
    )
    assert led_to in problem.hints[1]
