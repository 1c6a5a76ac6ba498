import json
import re

import pytest
from click.testing import CliRunner

from engine.ledger import ALL_PHASES
from quiz.cli import memquiz as cli
from quiz.exits import Exit

LLAMA = ("--model", "llama-2-7b", "--gpu", "a100-80gb", "--gpus", "8", "--sequence", "4096")
FITS = (*LLAMA, "--zero", "2")
SMALLER = ("--model", "llama-2-7b", "--gpu", "a100-40gb", "--gpus", "8", "--sequence", "4096")
DOES_NOT = (*SMALLER, "--zero", "2")

FILE = """
[model]
name = "gpt2"
[workload]
sequence = 1024
micro_batch = 8
[recipe]
dropout = 0.1
[hardware]
gpu = "t4"
"""

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def solve(*arguments, typed=None):
    result = CliRunner().invoke(cli, ["solve", *map(str, arguments)], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def solved(*arguments, typed=None):
    return json.loads(solve(*arguments, "--json", typed=typed).stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "fits"), [(FITS, Exit.DONE, "yes"), (DOES_NOT, Exit.NO, "no")]
)
def test_the_exit_code_says_whether_it_fits(arguments, code, fits):
    result = solve(*arguments, "--json")
    assert (result.exit_code, json.loads(result.stdout)["fits"]) == (code, fits)


def test_between_allocated_and_the_card_it_is_tight():
    results = [solve(*DOES_NOT, "--sequence", n) for n in range(3072, 4096, 64)]
    codes = [result.exit_code for result in results]
    assert sorted(codes, key=[Exit.DONE, Exit.TIGHT, Exit.NO].index) == codes
    tight = results[codes.index(Exit.TIGHT)].stdout
    assert re.search(r"tight: [\d.]+ GB = [\d.]+ GiB beyond what is allocated", tight)


def test_the_object_has_the_stable_keys():
    found = solved(*FITS)
    assert set(found) >= {
        "scenario", "parameters", "ledger", "phases", "peak", "reserved_bytes",
        "nvidia_smi_bytes", "capacity_bytes", "fits",
    }  # fmt: skip
    assert set(found["ledger"][0]) >= {
        "name", "category", "bytes", "formula", "why", "source", "phases",
    }  # fmt: skip
    assert found["parameters"] == 6_738_415_616


def test_the_numbers_of_the_object_agree_with_each_other():
    found = solved(*FITS)
    outside = {"allocator_slack", "cuda_context"}
    for phase in found["phases"]:
        alive = [
            line["bytes"]
            for line in found["ledger"]
            if phase["name"] in line["phases"] and line["category"] not in outside
        ]
        assert sum(alive) == phase["bytes"]
    assert found["peak"]["bytes"] == max(phase["bytes"] for phase in found["phases"])
    assert found["reserved_low_bytes"] <= found["reserved_bytes"] <= found["nvidia_smi_bytes"]


def test_lines_come_largest_first():
    sizes = [line["bytes"] for line in solved(*FITS)["ledger"]]
    assert sizes == sorted(sizes, reverse=True)


def test_the_scenario_of_the_object_gives_the_object_again(tmp_path):
    found = solved(*FITS)
    tables = "\n".join(
        f"[{table}]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
        for table, keys in found["scenario"].items()
    )
    path = tmp_path / "again.toml"
    path.write_text(tables)
    assert solved(path) == found


def test_a_file_and_its_text_on_standard_input_are_the_same(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(FILE)
    assert solved(path) == solved("-", typed=FILE)


def test_an_option_takes_the_place_of_the_files_key(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(FILE)
    assert solved(path, "--micro-batch", 2)["scenario"]["workload"]["micro_batch"] == 2
    assert solved(path, "--model", "gpt2-medium")["parameters"] == 354_823_168


def test_another_model_takes_the_place_of_the_files_sizes(tmp_path):
    path = tmp_path / "scenario.toml"
    sizes = "layers = 2\nhidden = 64\nheads = 4\nffn = 128\nvocab = 1000"
    path.write_text(FILE.replace('name = "gpt2"', sizes))
    assert solved(path, "--model", "gpt2")["parameters"] == 124_439_808


def test_a_config_on_the_command_line_is_found_from_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "scenario.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    found = solved("elsewhere/scenario.toml", "--config", "config.json", "--dropout", 0)
    assert found["scenario"]["model"]["hidden"] == 64


def test_a_model_of_ones_own_is_given_by_its_sizes():
    sizes = ("--layers", 2, "--hidden", 64, "--heads", 4, "--ffn", 128, "--vocab", 1000)
    found = solved(*sizes, "--gpu", "t4", "--sequence", 128)
    # 2·V·h + L·(4·h² + 3·h·f + 2·h) + h
    assert found["parameters"] == 2 * 64_000 + 2 * (4 * 64**2 + 3 * 64 * 128 + 128) + 64


@pytest.mark.parametrize("arguments", [FITS, DOES_NOT, (*FITS, "--formula")])
def test_what_is_printed_is_at_most_80_columns_wide(arguments):
    assert max(map(len, solve(*arguments).stdout.splitlines())) <= 80


@pytest.mark.parametrize("columns", [20, 30, 39, 40, 60, 80, 200])
def test_the_page_keeps_to_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert max(map(len, solve(*FITS).stdout.splitlines())) <= columns


def test_the_page_tells_every_phase_the_peak_and_the_verdict():
    page = solve(*DOES_NOT).stdout
    found = solved(*DOES_NOT)
    for phase in found["phases"]:
        assert re.search(rf"^{phase['name']} +[A-Z| ]+ [\d.]+ GB", page, re.MULTILINE)
    assert f"* alive at the peak, {found['peak']['phase']}" in page
    assert "6,738,415,616 parameters" in page
    assert "fits           no: what is allocated alone is" in page


@pytest.mark.parametrize("columns", [30, 45, 80])
def test_every_line_with_bytes_stands_uncut_on_the_page(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    words = solve(*FITS).stdout.split()
    for line in solved(*FITS)["ledger"]:
        if line["bytes"]:
            assert set(line["name"].split()) <= set(words)


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (("--model", "gpt2", "--config", "x.json"), "--model and --config are given"),
        (("--model", "gpt2", "--layers", 3), "--model and --layers are given"),
        (
            ("--config", "x.json", "--hidden", 8, "--ffn", 8),
            "--config, --hidden and --ffn are given",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(map(str, value)),
)
def test_a_model_that_is_given_twice_is_refused_by_its_options(models, said):
    result = solve(*models, "--gpu", "t4", "--sequence", 128)
    assert result.exit_code == Exit.BAD_INPUT
    head, fault = result.stderr.splitlines()
    assert head == "memquiz: 1 thing to mend"
    assert f"model: {said}; give one of --model, --config and the sizes" in fault


def test_sizes_beside_the_files_catalogued_name_are_refused(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(FILE)
    result = solve(path, "--layers", 3)
    assert result.stderr == (
        "memquiz: 1 thing to mend\n  model.name: gpt2 is a catalogued model; "
        "give the sizes another name, or leave them out\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sequence", "1e3"), "--sequence: '1e3' is not a whole number; write digits"),
        (("--gpus", ""), "--gpus: '' is not a whole number"),
        (("--dropout", "some"), "--dropout: 'some' is not a number; write one such as 0.1"),
        (("--config", ""), "model.config: is empty; name a config.json"),
        (("",), "SCENARIO: is empty; name a TOML file"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_like_any_fault(arguments, said):
    result = solve("--gpu", "t4", "--sequence", 128, *arguments)
    head, fault = result.stderr.splitlines()
    assert (result.exit_code, head) == (Exit.BAD_INPUT, "memquiz: 1 thing to mend")
    assert said in fault


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("cfg/config.json", "cfg"),
        ("cfg/llama.json", "llama"),
        ("llama.v2.json", "llama.v2"),
        ("cfg/sub/../config.json", "cfg"),
        ("gpt2/config.json", "gpt2 (config)"),
    ],
)
def test_a_config_is_titled_by_its_file_or_else_by_its_folder(tmp_path, monkeypatch, path, title):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cfg" / "sub").mkdir(parents=True)
    (tmp_path / "gpt2").mkdir()
    (tmp_path / path).write_text(json.dumps(CONFIG))
    page = solve("--config", path, "--gpu", "t4", "--sequence", 128).stdout
    assert page.startswith(f"{title} (")


def test_terabytes_on_paper_are_written_without_an_exponent():
    big = ("--model", "llama-3.1-405b", "--gpu", "h200", "--sequence", 4096)
    paper = solve(*big).stdout.partition("on paper")[2].partition("reserved")[0]
    assert re.search(r"optimizer state \d,\d{3}", " ".join(paper.split()))
    assert "e+" not in paper


def test_the_formulas_name_every_line_and_explain_every_symbol():
    page = solve(*FITS, "--formula").stdout
    found = solved(*FITS)
    _, _, formulas = page.partition("fits  ")
    for line in found["ledger"]:
        assert f"{line['name']} = " in formulas
    for phase in ALL_PHASES:
        assert f"{phase} = " in formulas
    assert "peak = Max(forward, loss, " in formulas
    symbols = set(re.findall(r"\b[A-Za-z_]+\b", " ".join(x["formula"] for x in found["ledger"])))
    for symbol in symbols - {"Max", "Min", "ceil_div"}:
        assert re.search(rf"^{symbol} = [\d,]+: \w", formulas, re.MULTILINE), symbol


def write(path, content):
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "SCENARIO: is missing"),
        (("--gpu", "t4", "--sequence", 128), "names no model"),
        (("--model", "gpt2", "--gpu", "t4"), "workload.sequence: is missing"),
        (("--model", "gpt2", "--gpu", "t4", "--sequence", -5), "-5 is less than 1"),
        (("--model", "gpt2", "--gpu", "t44", "--sequence", 128), "did you mean t4"),
        (("--model", "gpt-22", "--gpu", "t4", "--sequence", 128), "did you mean gpt2"),
        ((*FITS, "--gpus", 7, "--data", 8), "7 GPUs, but"),
        ((*FITS, "--precision", "fp64"), "recipe.precision: 'fp64' is not known"),
        ((*FITS, "--zero", 4), "4 is not a ZeRO stage"),
        (("/nowhere.toml",), "cannot be read"),
        (("/",), "is a folder"),
    ],
)
def test_bad_input_is_named_and_exits_with_2(arguments, says):
    result = solve(*arguments)
    assert result.exit_code == Exit.BAD_INPUT
    assert says in result.stderr
    assert result.stderr.startswith("memquiz: ")
    assert result.stdout == ""


def test_heads_that_do_not_divide_are_named():
    sizes = ("--layers", 2, "--hidden", 10, "--heads", 3, "--ffn", 4, "--vocab", 5)
    result = solve(*sizes, "--gpu", "t4", "--sequence", 128)
    assert (result.exit_code, "3 heads do not divide" in result.stderr) == (2, True)


@pytest.mark.parametrize("content", ["not json", "[]", "{}", '{"model_type": 7}', "\x00\xff"])
def test_a_config_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / "config.json"
    path.write_bytes(content.encode("latin-1"))
    result = solve("--config", path, "--gpu", "t4", "--sequence", 128)
    assert (result.exit_code, result.stdout) == (Exit.BAD_INPUT, "")


def test_a_config_of_100_mb_is_refused_unread(tmp_path):
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    result = solve("--config", path, "--gpu", "t4", "--sequence", 128)
    assert result.exit_code == Exit.BAD_INPUT
    assert str(path) in result.stderr


@pytest.mark.parametrize("content", ["[model", "model = 3", "[modle]\nname = 'gpt2'", "\x1b[2J"])
def test_a_file_that_is_no_scenario_is_refused(tmp_path, content):
    result = solve(write(tmp_path / "s.toml", content))
    assert result.exit_code == Exit.BAD_INPUT
    assert "\x1b" not in result.stderr


def test_a_table_that_is_none_is_refused_also_under_an_option(tmp_path):
    path = write(tmp_path / "s.toml", "recipe = 3\n" + FILE.replace("[recipe]\ndropout = 0.1", ""))
    result = solve(path, "--precision", "fp32")
    assert (result.exit_code, "recipe: 3 is not a table" in result.stderr) == (2, True)


def test_every_fault_is_counted_and_told():
    bad = ("--gpu", "t4", "--sequence", 0, "--zero", 9, "--precision", "fp64")
    result = solve("--model", "gpt2", *bad)
    head, *faults = result.stderr.splitlines()
    assert head == "memquiz: 3 things to mend"
    assert len(faults) == 3


def test_a_line_is_alive_only_in_phases_that_the_step_has():
    alone, many = solved("--model", "gpt2", "--gpu", "t4", "--sequence", 128), solved(*FITS)
    for found, has_reduce in ((alone, False), (many, True)):
        names = {phase["name"] for phase in found["phases"]}
        assert ("reduce" in names) == has_reduce
        assert all(set(line["phases"]) <= names for line in found["ledger"])


@pytest.mark.parametrize(
    ("option", "table", "key", "value"),
    [
        ("--loss", "recipe", "loss", "chunked"),
        ("--optimizer", "recipe", "optimizer", "adamw-8bit"),
        ("--offload", "offload", "optimizer", "nvme"),
    ],
)
def test_an_option_that_saves_memory_is_in_the_scenario_and_lowers_the_peak(
    option, table, key, value
):
    plain, less = solved(*FITS), solved(*FITS, option, value)
    assert less["scenario"][table][key] == value
    assert less["phases"] != plain["phases"]
    assert less["peak"]["bytes"] < plain["peak"]["bytes"]


def test_what_the_ledger_does_not_model_is_no_mistake_of_the_user():
    result = solve(
        "--model",
        "llama-3-8b",
        "--sequence",
        4096,
        "--gpu",
        "h100-80gb",
        "--gpus",
        2,
        "--tensor",
        2,
    )
    assert result.exit_code == Exit.BAD_INPUT
    assert result.stderr.startswith("memquiz: the ledger has no lines for this yet\n")
    assert "parallel.tensor: 2 with fused is not modelled" in result.stderr
