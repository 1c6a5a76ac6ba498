"""Scenarios from TOML and back."""

import io
import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalog import models
from engine.errors import InputError
from engine.scenario_file import from_mapping, read, to_mapping

WHOLE = """
[model]
name = "llama-3-8b"
implementation = "fused"
[workload]
mode = "training"
micro_batch = 1
sequence = 8192
gradient_accumulation = 8
[recipe]
precision = "mixed"
optimizer = "adamw"
attention = "flash"
recompute = "none"
loss = "eager"
dropout = 0.0
[parallel]
data = 8
zero = 3
tensor = 1
sequence_parallel = false
pipeline = 1
context = 1
expert = 1
[offload]
optimizer = "none"
[hardware]
gpu = "h100-80gb"
gpus = 8
"""
SHORT = {
    "model": {"name": "gpt2"},
    "workload": {"sequence": 1024},
    "hardware": {"gpu": "t4"},
}


def faults(tables, **more):
    with pytest.raises(InputError) as caught:
        from_mapping(tables, **more)
    return {fault.where: fault.what for fault in caught.value.faults}


def test_the_whole_file_is_read(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(WHOLE)
    made = read(path)
    assert made.model.title == "Llama 3 8B"
    assert (made.parallel.data, made.parallel.zero, made.hardware.gpus) == (8, 3, 8)
    assert made.recipe.precision == "mixed"


@pytest.mark.parametrize("tables", [tomllib.loads(WHOLE), SHORT], ids=["whole", "short"])
def test_a_scenario_written_is_the_scenario_read(tables):
    made = from_mapping(tables)
    written = to_mapping(made)
    assert from_mapping(json.loads(json.dumps(written))) == made


def test_defaults_stand_for_what_is_left_out():
    made = from_mapping(SHORT)
    assert made.recipe.dropout == models()["gpt2"].architecture.dropout == 0.1
    assert (made.hardware.gpus, made.parallel.data, made.parallel.zero) == (1, 1, 0)


@pytest.mark.parametrize(
    ("parallel", "hardware", "expected"),
    [
        ({}, {"gpus": 8}, (8, 8)),
        ({"data": 8}, {}, (8, 8)),
        ({"data": 8}, {"gpus": 8}, (8, 8)),
    ],
)
def test_ranks_and_gpus_fill_each_other_in(parallel, hardware, expected):
    made = from_mapping(SHORT | {"parallel": parallel, "hardware": {"gpu": "t4"} | hardware})
    assert (made.parallel.data, made.hardware.gpus) == expected


def test_a_model_of_ones_own_needs_its_sizes_only():
    shape = {"layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 100}
    made = from_mapping(SHORT | {"model": shape})
    assert made.architecture.parameters == 2 * 100 * 64 + 2 * (4 * 64**2 + 3 * 64 * 128 + 128) + 64
    assert from_mapping(to_mapping(made)) == made


def test_a_config_is_found_beside_the_file(tmp_path):
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
        "vocab_size": 100,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    path = tmp_path / "run.toml"
    path.write_text(WHOLE.replace('name = "llama-3-8b"', 'config = "config.json"'))
    made = read(path)
    assert made.architecture.hidden == 64
    assert made.model.name == tmp_path.name


SIZES = {"layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 100}
CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}


@pytest.mark.parametrize("name", ["gpt2", "GPT-2", "meta-llama/Llama-3-8B"])
@pytest.mark.parametrize(
    ("model", "ways"),
    [
        (SIZES, "give the sizes another name, or leave them out"),
        ({"layers": 3}, "give the sizes another name, or leave them out"),
        ({"config": "config.json"}, "give the config another name, or leave it out"),
    ],
    ids=["sizes", "one size", "config"],
)
def test_a_catalogued_name_is_no_label(name, model, ways):
    with pytest.raises(InputError) as caught:
        from_mapping(SHORT | {"model": model | {"name": name}})
    (fault,) = caught.value.faults
    assert str(fault) == f"model.name: {name} is a catalogued model; {ways}"


def test_another_name_is_a_label_of_sizes_and_of_a_config(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for model in (SIZES, {"config": "config.json"}):
        made = from_mapping(SHORT | {"model": model | {"name": "mine"}}, folder=tmp_path)
        assert (made.model.name, made.model.title) == ("mine", "mine")
        assert from_mapping(to_mapping(made)) == made


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("llama/config.json", "llama"),
        ("llama/small.json", "small"),
        ("gpt2/config.json", "gpt2 (config)"),
        ("gpt-2.json", "gpt-2 (config)"),
    ],
)
def test_a_config_is_called_by_its_file_or_its_folder_and_never_like_a_catalogued_model(
    tmp_path, path, title
):
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(json.dumps(CONFIG))
    made = from_mapping(SHORT | {"model": {"config": path}}, folder=tmp_path)
    assert made.model.title == title
    assert from_mapping(to_mapping(made)) == made


def test_a_config_in_the_working_folder_is_called_by_it(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.chdir(tmp_path)
    assert from_mapping(SHORT | {"model": {"config": "config.json"}}).model.name == tmp_path.name


def test_a_catalogued_name_with_another_shape_is_written_as_changed():
    made = from_mapping(SHORT | {"model": SIZES})
    changed = replace(made, model=replace(made.model, name="gpt2"))
    written = to_mapping(changed)
    assert written["model"]["name"] == "gpt2 (changed)"
    assert from_mapping(written).architecture == changed.architecture


def test_a_closed_standard_input_is_said(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input: is closed"):
        read(Path("-"))


def test_every_fault_of_every_table_is_listed_at_once():
    found = faults(
        {
            "model": {"layers": -2, "hidden": 100, "heads": 3, "wide": 1},
            "workload": {"micro_batch": True, "seqence": 8},
            "recipe": {"precision": "fp9", "dropout": "none"},
            "parallel": {"zero": 7},
            "hardware": {"gpu": "h1000", "gpus": 0},
            "extra": {},
            "offload": 3,
        }
    )
    assert set(found) >= {
        "scenario",
        "offload",
        "model",
        "workload",
        "workload.micro_batch",
        "workload.sequence",
        "recipe.precision",
        "recipe.dropout",
        "parallel.zero",
        "hardware.gpu",
        "hardware.gpus",
    }


def test_sizes_are_checked_although_others_are_missing():
    found = faults(SHORT | {"model": {"layers": -2, "hidden": 100, "heads": 3}})
    assert found["model.layers"] == "-2 is less than 1"
    assert found["model.heads"] == "3 heads do not divide hidden = 100"
    assert found["model.ffn"] == "is missing"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ({}, "names no model"),
        ({"name": "lama-3-8b"}, "is not known"),
        ({"config": "no.json"}, "cannot be read"),
        ({"config": " "}, "is empty"),
        ({"config": "x.json", "layers": 3}, "has both config and sizes"),
        ({"name": 3}, "is not a name"),
    ],
    ids=str,
)
def test_a_model_that_cannot_be_had_is_said_so(model, says):
    assert any(says in what for what in faults(SHORT | {"model": model}).values())


def test_a_key_that_is_a_table_is_refused():
    assert (
        "is not a whole number"
        in faults(SHORT | {"workload": {"sequence": {"a": 1}}})["workload.sequence"]
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model = ", "is not TOML"),
        ("[model]\nname = 'a'\nname = 'b'", "is not TOML"),
        ("a = " + "[" * 5000, "is not TOML"),
        ("\udcff", "is not UTF-8"),
    ],
    ids=["cut", "twice", "deep", "bytes"],
)
def test_a_file_that_is_not_toml_is_refused(tmp_path, text, says):
    path = tmp_path / "run.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=says):
        read(path)


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder; name a scenario file"):
        read(tmp_path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read(tmp_path / "none.toml")


def test_a_file_of_100_mb_is_refused_by_its_size(tmp_path):
    path = tmp_path / "run.toml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(InputError, match=r"at most 1\.00 MiB"):
        read(path)


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WHOLE.encode())))
    assert read(Path("-")).model.name == "llama-3-8b"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
keys = st.sampled_from(
    ("name", "layers", "hidden", "experts", "sequence", "micro_batch", "zero", "data", "gpu",
     "gpus", "precision", "dropout", "optimizer", "tensor", "config", "x")
)  # fmt: skip
tables = st.dictionaries(
    st.sampled_from(("model", "workload", "recipe", "parallel", "offload", "hardware", "x")),
    st.dictionaries(keys, values, max_size=4) | values,
)


@settings(max_examples=300, deadline=None)
@given(tables=tables)
def test_any_tables_give_a_scenario_or_a_list_of_faults(tables):
    try:
        made = from_mapping(tables)
    except InputError as error:
        found = [str(fault) for fault in error.faults]
    else:
        found = ["none"] if from_mapping(to_mapping(made)) == made else []
    assert found
    assert all(found)
