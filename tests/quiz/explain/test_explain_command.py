"""`memquiz explain`: everything that has a name is found, and told from the code."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.architecture import Architecture, Experts, LatentAttention
from engine.catalog import accelerators, models
from engine.every_line import every_line
from engine.ledger import Category
from engine.levers.registry import levers
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.scenario import (
    Adapters,
    Hardware,
    Offload,
    Parallel,
    Recipe,
    Serving,
    Workload,
)
from engine.scenario_file import MODEL_KEYS
from problems.mistakes import mistakes
from problems.problem import TOPICS
from problems.registry import kinds
from quiz.cli import memquiz as cli
from quiz.explain.finding import explained
from quiz.explain.questions import TOPIC_OF
from quiz.explain.things import things
from quiz.options.scenario import ENTRIES


def invoke(*arguments):
    result = CliRunner().invoke(cli, ["explain", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_everything_that_has_a_name_can_be_explained():
    named = {name for thing in things() for name in thing.names}
    lines = {line.name for line in every_line().values()}
    for known in (
        TOPICS,
        Category,
        lines,
        optimizers(),
        PRECISIONS,
        levers(),
        kinds(),
        mistakes(),
    ):
        assert set(known) <= named


def test_every_category_has_a_topic_whose_kinds_ask_about_it():
    assert set(TOPIC_OF) == set(Category)
    assert set(TOPIC_OF.values()) <= set(TOPICS)


@pytest.mark.parametrize(
    ("typed", "sort", "name"),
    [
        ("a", "topic", "model states"),
        ("Activations", "topic", "activations"),
        ("optimizer_state", "category", "optimizer state"),
        ("optimizer states", "line", "optimizer states"),
        ("AdamW", "optimizer", "adamw"),
        ("pure-bf16", "precision", "pure-bf16"),
        ("pure bf16", "precision", "pure-bf16"),
        ("zero2", "lever", "ZeRO-2"),
        ("logits-spike", "kind", "logits-spike"),
        ("master copy forgotten", "mistake", "master copy forgotten"),
        ("topic A", "topic", "model states"),
        ("fp8", "precision", "fp8"),
        ("ema", "setting", "recipe.ema"),
        ("moving average", "setting", "recipe.ema"),
        ("hsdp", "setting", "parallel.shard"),
        ("dropout", "setting", "recipe.dropout"),
        ("--utilization", "setting", "serving.utilization"),
        ("serving.cache", "setting", "serving.cache"),
        ("reserved", "size", "reserved"),
        ("nvidia-smi", "size", "nvidia-smi"),
        ("shared by layers tables", "line", "tables shared by the layers"),
        ("rotary_dim", "setting", "model.rotary_dim"),
        ("adapters.dropout", "setting", "adapters.dropout"),
        ("kv_rank", "setting", "model.latent.kv_rank"),
        ("workload.gradient_accumulation", "setting", "workload.gradient_accumulation"),
        ("llama-3-8b", "model", "llama-3-8b"),
        ("Llama 3 8B", "model", "llama-3-8b"),
        ("meta-llama/Meta-Llama-3-8B", "model", "llama-3-8b"),
        ("h100-80gb", "GPU", "h100-80gb"),
        ("H100", "GPU", "h100-80gb"),
        ("A100 80GB", "GPU", "a100-80gb"),
        ("h100 80 gb", "GPU", "h100-80gb"),
        ("NVIDIA A100-SXM4-80GB", "GPU", "a100-80gb"),
    ],
)
def test_a_thing_is_found_by_its_names_in_any_case_and_by_all_words_of_one(typed, sort, name):
    first = explained(typed)[0]
    assert (first.sort, first.name) == (sort, name)


def test_every_key_of_a_scenario_file_can_be_explained():
    named = {name for thing in things() for name in thing.names}
    parts = {"model": Architecture, "model.experts": Experts, "model.latent": LatentAttention}
    parts |= {"workload": Workload, "recipe": Recipe, "adapters": Adapters, "serving": Serving}
    parts |= {"parallel": Parallel, "offload": Offload, "hardware": Hardware}
    keys = {f"{table}.{field.name}" for table, part in parts.items() for field in fields(part)}
    assert keys | {f"model.{key}" for key in MODEL_KEYS} <= named


def test_every_model_and_card_has_its_name_and_its_title():
    named = {names for thing in things() if thing.catalogued for names in [thing.names]}
    assert named == {(one.name, one.title) for t in (models, accelerators) for one in t().values()}


def test_cards_of_one_name_are_told_one_after_another():
    assert [one.name for one in explained("H100")] == ["h100-80gb", "h100-80gb-pcie", "h100-nvl"]


def test_a_card_and_a_model_are_told_with_their_sizes_and_how_to_name_them():
    (card,), (model,) = explained("t4"), explained("gpt2")
    assert card.says[0] == "Tesla T4 (NVIDIA): 15,360 MiB = 16.11 GB, as its driver reports."
    assert 'gpu = "t4" in [hardware]' in card.says[-1]
    assert model.says[0] == "GPT-2: 124,439,808 parameters, up to 1,024 tokens."
    assert "--model gpt2" in model.says[-1]


def test_a_line_is_told_with_formula_derivation_phases_source_and_evidence():
    (one,) = explained("log-softmax")
    (line,) = one.lines
    assert line.why == "Cross entropy keeps fp32 log-probabilities of the whole vocabulary."
    assert line.forms[0][0] == "`4*V*b*s`"
    assert line.phases == "forward, loss"
    assert line.known[0][0] == "traced"
    assert one.symbols["V"] == "vocabulary entries"
    assert "logits-spike" in one.kinds


def test_two_things_of_one_name_are_both_told_and_a_line_of_the_first_once():
    assert [one.sort for one in explained("activations")] == ["topic", "category"]
    assert [one.sort for one in explained("weights")] == ["category", "setting"]


def test_an_optimizer_is_told_with_the_lines_of_a_run_with_it():
    (one,) = explained("sgd-momentum")
    assert {line.name: line.forms[0][0] for line in one.lines}["optimizer states"] == "`4*P`"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sgd", ("SGD without momentum.", "It keeps no state from step to step.")),
        ("adamw-fused", ("It keeps 2 states (moments) for a parameter.",)),
        ("adafactor", ("It keeps 1 state (second moment) for a row and column of a matrix.",)),
        (
            "muon",
            (
                (
                    "It keeps 1 state (momentum) for a parameter of the layers' matrices, and "
                    "AdamW's 2 moments for each of the others (embedding, head, norms, biases)."
                ),
            ),
        ),
    ],
)
def test_an_optimizer_is_told_with_what_it_keeps_of_what(name, said):
    assert set(said) <= set(explained(name)[0].says)


def test_fp8_is_told_as_a_precision_and_as_a_format_of_what_is_served():
    (one,) = explained("fp8")
    assert "weights 2, gradients 2, master copy 4" in one.says[1]
    assert "serving.weights" in one.says[2]


def test_every_setting_that_is_an_option_can_be_explained():
    named = {name for thing in things() for name in thing.names}
    assert {f"{entry.table}.{entry.key}" for entry in ENTRIES} <= named


def test_the_command_for_a_kind_of_ones_own_names_its_folder():
    folder = Path(__file__).parents[2] / "recipes" / "own-kinds" / "my-kinds"
    page = invoke("checkpoint-time", "--kinds", str(folder)).stdout
    assert "memquiz practice --kind checkpoint-time --kinds " in page
    bank = invoke("--json", "peak", "--kinds", str(folder)).stdout
    assert "--kinds" not in bank


def test_a_precision_is_told_with_its_model_states():
    (one,) = explained("fp32")
    states = {line.name: line.forms[0][0] for line in one.lines}
    assert (states["weights"], states["optimizer states"]) == ("`4*P`", "`8*P`")


def test_a_lever_is_told_by_the_lines_that_it_changes():
    (one,) = explained("ZeRO-1")
    assert ("optimizer states", "`8*P`", "`8*ceil_div(P, N)`") in one.changed


# They change sizes and no formula, a wait, or runs of which no example is one.
NO_LINES = {"smaller micro-batch"}


@pytest.mark.parametrize("name", levers())
def test_a_lever_is_told_by_lines_of_some_run(name):
    (one, *_) = (x for x in explained(name) if x.sort == "lever")
    assert one.says[0].startswith("In a scenario file: ")
    assert bool(one.changed) == (name not in NO_LINES)


def test_the_whiteboard_of_related_questions_is_shown():
    (one,) = explained("bytes-per-parameter")
    assert one.on_paper[0].problem == "bytes-per-parameter@1"
    assert one.on_paper[0].steps


def test_a_mistake_is_told_with_its_credit_and_the_kinds_that_know_it():
    (one,) = explained("master copy forgotten")
    assert "earns 1/4 of the credit" in one.says[1]
    assert "model-states" in one.kinds


def test_what_is_not_known_is_answered_with_near_names():
    result = invoke("adamww")
    assert result.exit_code == 2
    assert result.stderr.count("adamw ") == 1
    assert "did you mean adamw or adamw-8bit" in result.stderr


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "TOPIC: is empty; names are in memquiz catalog kinds"),
        ("qwertzuiop", "models and cards in memquiz catalog models or gpus"),
        ("lama 3 8b", "did you mean llama-3-8b"),
        ("h1000-80gb", "did you mean h100-80gb"),
        ("qwen2.5", "'qwen2.5' is a part of 7 names; type one of qwen2.5-0.5b, qwen2.5-1.5b"),
    ],
)
def test_what_is_not_known_is_answered_with_where_names_are(typed, said):
    result = invoke(typed)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_a_page_has_what_is_known_and_who_asks():
    page = invoke("reduce", "bucket").stdout
    for said in ("reduce bucket · communication", "1,000,000,000 bytes", "traced: ", "asked by: "):
        assert said in page


def test_json_has_the_same_and_nothing_else():
    (one,) = json.loads(invoke("--json", "log-softmax").stdout)["explanations"]
    assert one["lines"][0]["formulas"][0]["bytes"] == "4*V*b*s"
    assert list(one) == [
        *("sort", "name", "says", "sources", "lines", "changed", "symbols", "on_paper", "kinds")
    ]
