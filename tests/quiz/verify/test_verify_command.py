import json
import pickle
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.ledger import Phase
from engine.scenario_file import to_mapping
from problems.registry import build, from_id, kinds
from quiz.cli import memquiz as cli
from quiz.exits import Exit

pytest.importorskip("torch")

from engine.verify.measure import DEVICES as RUN_ON
from engine.verify.measure import chosen
from engine.verify.processes import ENVIRONMENT
from quiz.commands.verify import DEVICES

SIZES = (
    *("--layers", 2, "--hidden", 64, "--heads", 4, "--ffn", 128, "--vocab", 1000),
    *("--sequence", 128, "--gpu", "t4"),
)
OWN_KINDS = Path(__file__).parents[2] / "recipes" / "own-kinds" / "my-kinds"
ACCUMULATES = (*SIZES, "--gradient-accumulation", 4)
# Three fp32 tensors of 65,536 x 50,000 alone are 39 GB; the card has 16.
DOES_NOT = (*SIZES, "--vocab", 50_000, "--sequence", 65_536)
FSDP = (*SIZES, "--gpus", 4, "--zero", 3)


def verify(*arguments, typed=None):
    result = CliRunner().invoke(cli, ["verify", *map(str, arguments)], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def verified(*arguments, typed=None):
    result = verify(*arguments, "--json", typed=typed)
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def fits():
    return verified(*SIZES)


@pytest.fixture(scope="module")
def ends():
    return verified(*DOES_NOT)


@pytest.fixture(scope="module")
def accumulates():
    return verified(*ACCUMULATES)


def test_the_object_begins_with_the_stable_keys(fits):
    assert list(fits)[:8] == [
        "device", "torch", "predicted_peak_bytes", "measured_peak_bytes", "relative_error",
        "phases", "gap", "reserved_bytes",
    ]  # fmt: skip
    assert set(fits) >= {
        "first_step", "left_out", "peak", "largest", "groups", "no_room", "scenario", "fits",
    }  # fmt: skip
    assert [set(row) for row in fits["phases"]] == [
        {"name", "predicted_bytes", "measured_bytes"} for _ in fits["phases"]
    ]
    assert all(set(part) == {"name", "bytes", "why"} for part in fits["gap"])


@pytest.mark.parametrize("run", ["fits", "ends", "accumulates"])
def test_the_peak_is_the_highest_phase_and_the_gap_is_what_it_differs_by(run, request):
    found = request.getfixturevalue(run)
    measured, predicted = found["measured_peak_bytes"], found["predicted_peak_bytes"]
    assert measured == max(row["measured_bytes"] for row in found["phases"])
    assert predicted == max(row["predicted_bytes"] for row in found["phases"])
    assert sum(part["bytes"] for part in found["gap"]) == measured - predicted
    assert found["relative_error"] == pytest.approx(predicted / measured - 1)
    assert abs(found["relative_error"]) < 0.02
    assert found["reserved_bytes"] >= measured == found["peak"]["bytes"]


@pytest.mark.parametrize("run", ["fits", "ends", "accumulates"])
def test_the_timeline_reaches_the_measured_peak_of_each_phase(run, request):
    found = request.getfixturevalue(run)
    highest = {}
    for strip in found["timeline"]:
        assert sum(strip["categories"].values()) == strip["bytes"]
        highest[strip["phase"]] = max(strip["bytes"], highest.get(strip["phase"], 0))
    for row in found["phases"]:
        drawn = max(highest[row["name"]], highest.get(None, 0))
        assert drawn >= row["measured_bytes"]
    assert max(highest.values()) == found["measured_peak_bytes"]


def test_two_of_four_micro_batches_are_run(accumulates):
    assert {strip["micro_batch"] for strip in accumulates["timeline"]} == {1, 2, None}


def test_the_ten_largest_tensors_come_largest_first(fits):
    sizes = [one["bytes"] for one in fits["largest"]]
    assert (len(sizes), sizes) == (10, sorted(sizes, reverse=True))


def test_groups_are_larger_than_their_tensors_and_name_all_layers(ends):
    for group in ends["groups"]:
        assert group["bytes"] == group["count"] * group["each_bytes"]
    in_layers = [
        group["module"] for group in ends["groups"] if group["module"].startswith("layers")
    ]
    assert in_layers
    assert all(module.startswith("layers.0-1") for module in in_layers)


def test_the_moment_of_the_peak_names_what_was_being_made(ends):
    peak = ends["peak"]
    assert set(peak) >= {"phase", "operator", "module", "backward", "shape", "dtype"}
    assert peak["phase"] in set(Phase)
    assert (peak["dtype"], peak["shape"]) == ("float32", [65_536, 50_000])


def test_without_a_gpu_the_cublas_workspace_is_left_out_and_said(fits):
    assert [line["name"] for line in fits["left_out"]] == ["cuBLAS workspace"]
    solved = CliRunner().invoke(cli, ["solve", *map(str, SIZES), "--json"])
    assert json.loads(solved.stdout)["peak"]["bytes"] == (
        fits["predicted_peak_bytes"] + fits["left_out"][0]["bytes"]
    )


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_a_rank_that_shares_gradients_or_states_is_traced(stage):
    found = verified(*SIZES, "--gpus", 4, "--zero", stage)
    assert [line["name"] for line in found["left_out"]] == ["cuBLAS workspace"]
    assert abs(found["relative_error"]) < 0.02


def test_a_rank_of_fsdp_is_traced():
    found = verified(*FSDP)
    assert abs(found["relative_error"]) < 0.02
    assert "communication" in {name for strip in found["timeline"] for name in strip["categories"]}


def test_the_step_can_be_executed_on_the_cpu():
    found = verified(*SIZES, "--attention", "eager", "--device", "cpu")
    assert (found["device"], abs(found["relative_error"]) < 0.02) == ("cpu", True)


def test_a_run_that_fits_exits_with_0(fits):
    result = verify(*SIZES)
    assert (result.exit_code, result.stderr) == (Exit.DONE, "")
    assert (fits["fits"], fits["no_room"]) == ("yes", None)


def test_a_run_that_does_not_fit_exits_with_1_and_tells_where_it_ends(ends):
    result = verify(*DOES_NOT)
    assert (result.exit_code, ends["fits"]) == (Exit.NO, "no")
    ended = ends["no_room"]
    assert (ended["step"], ended["phase"], ended["dtype"]) == (1, "forward", "float32")
    assert ended["shape"][-2:] == [65_536, 50_000]
    assert ended["missing_bytes"] == ended["tried_to_allocate_bytes"] - ended["free_bytes"] > 0
    assert "out of memory  in the first step, forward" in result.stdout
    assert re.search(r"message +Tried to allocate 12\.21 GiB", result.stdout)
    assert "fits           no: the run ends for want of memory" in result.stdout


def test_one_lever_that_makes_it_fit_is_named():
    batch = (*SIZES, "--vocab", 50_000, "--sequence", 8192, "--micro-batch", 8)
    named = verified(*batch)["no_room"]["levers"]
    assert any(one.startswith("micro_batch = ") for one in named)


def test_the_page_tells_every_phase_the_timeline_the_peak_and_the_three_numbers(fits):
    page = verify(*SIZES).stdout
    for row in fits["phases"]:
        number = r" +[\d.]+ MB"
        assert re.search(rf"^{row['name']}{number}{number} +\+[\d.]+ kB", page, re.MULTILINE)
        assert re.search(rf"^{row['name']} +[A-Z]+ .*[\d.]+ MB", page, re.MULTILINE)
    peak = fits["peak"]
    assert re.search(rf"^the peak +[\d.]+ MB = [\d.]+ MiB in {peak['phase']}$", page, re.MULTILINE)
    for name in ("first step", "left out here", "allocated", "reserved", "nvidia-smi", "card"):
        assert re.search(rf"^{name}  ", page, re.MULTILINE), name


def test_a_step_of_several_micro_batches_is_drawn_by_micro_batch():
    page = verify(*ACCUMULATES).stdout
    for line in ("micro-batch 1 of 4", "micro-batches 2 to 4, which are alike"):
        assert re.search(rf"^{line}", page, re.MULTILINE)


def test_the_page_keeps_to_the_terminal(monkeypatch):
    for columns in (20, 39, 40, 66, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        page = verify(*DOES_NOT, "--gradient-accumulation", 3, "--layers", 1).stdout
        assert max(map(len, page.splitlines())) <= columns


def test_the_phases_are_told_as_formulas_when_asked():
    found = verified(*SIZES, "--symbolic")
    assert [formula["phase"] for formula in found["symbolic"]] == [
        row["name"] for row in found["phases"]
    ]
    for formula in found["symbolic"]:
        assert re.search(r"\b[bs]\b", formula["traced"])
        assert formula["difference"] == "0"
        assert set(formula) >= {"predicted", "leftovers", "difference"}


def test_formulas_stand_on_the_page_too():
    page = verify(*SIZES, "--symbolic").stdout
    assert re.search(r"^loss, bytes over b and s\ntraced +\d", page, re.MULTILINE)
    assert re.search(r"^difference +\S", page, re.MULTILINE)


FILE = """
[model]
layers = 2
hidden = 64
heads = 4
ffn = 128
vocab = 1000
[workload]
sequence = 64
[hardware]
gpu = "t4"
"""
A_PROBLEM = "logits-spike@2"
A_PEAK = "peak@294"
CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 1,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def test_a_file_its_text_on_standard_input_and_options_are_the_same(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(FILE)
    assert verified(path) == verified("-", typed=FILE) == verified(*SIZES, "--sequence", 64)


def test_a_problem_is_run_by_its_id_with_options_in_place_of_its_keys(tmp_path):
    config = tmp_path / "small.json"
    config.write_text(json.dumps(CONFIG))
    asked = to_mapping(from_id(A_PROBLEM).scenario)
    found = verified(A_PROBLEM, "--config", config, "--sequence", 64)["scenario"]
    assert (found["model"]["hidden"], found["workload"]["sequence"]) == (64, 64)
    for table in ("recipe", "parallel", "hardware"):
        assert found[table] == asked[table]


def test_a_problem_that_asks_for_a_peak_stands_beside_the_measured_one():
    found = verified(A_PEAK)
    asked = found["question"]
    assert (asked["id"], asked["asks_for_peak"]) == (A_PEAK, True)
    assert asked["answer_bytes"] == (
        found["predicted_peak_bytes"] + sum(line["bytes"] for line in found["left_out"])
    )
    assert asked["answer_bytes"] == from_id(A_PEAK).answer.value


def test_options_that_change_a_problems_step_are_told():
    page = verify(A_PEAK, "--sequence", 64).stdout
    assert re.search(
        rf"^question +{A_PEAK}: Peak of allocated memory in a step$", page, re.MULTILINE
    )
    assert re.search(r"^measured +\S+ .*, but of another step: options", page, re.MULTILINE)


def test_a_file_that_is_called_like_a_problem_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / A_PROBLEM).write_text(FILE)
    assert verified(A_PROBLEM)["scenario"]["workload"]["sequence"] == 64


@pytest.mark.parametrize("variable", [True, False])
def test_a_problem_of_ones_own_is_found_in_its_folder(variable, monkeypatch):
    options = () if variable else ("--kinds", OWN_KINDS)
    if variable:
        monkeypatch.setenv("MEMQUIZ_KINDS", str(OWN_KINDS))
    small = ("--model", "gpt2", "--gpus", 1, "--data", 1, "--sequence", 64)
    found = verified("checkpoint-time@1", *small, *options)
    assert found["question"]["id"] == "checkpoint-time@1"
    assert found["scenario"]["model"]["name"] == "gpt2"


def test_a_problem_of_ones_own_is_not_known_without_its_folder():
    assert "'checkpoint-time' is not known" in verify("checkpoint-time@1").stderr


def test_a_problem_without_a_scenario_is_refused_with_the_kinds_that_have_one():
    result = verify("parameter-count@3")
    assert result.exit_code == Exit.BAD_INPUT
    _, fault = result.stderr.splitlines()
    assert "SCENARIO: this problem, parameter-count@3, has no scenario to run; kinds" in fault
    named = fault.rpartition(": ")[2].split(", ")
    assert set(named) < set(kinds())
    assert all(any(build(kind, seed).scenario for seed in range(4)) for kind in named)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "SCENARIO: is missing"),
        ((*SIZES, "--device", "cudda"), "--device: 'cudda' is not known; did you mean cuda?"),
        ((*SIZES, "--device", "X"), "'X' is not known; one of auto, cuda, cpu, fake"),
        ((*SIZES, "--gpus", 4, "--symbolic"), "--symbolic: DDP makes buckets"),
        (("peek@3",), "problem kind: 'peek' is not known; did you mean peak?"),
        (("peak@three",), "problem seed: 'three' is not a seed"),
        (("runs@home.toml",), "runs@home.toml: cannot be read"),
        (("/nowhere.toml",), "cannot be read"),
    ],
)
def test_bad_input_is_named_and_exits_with_2(arguments, says):
    result = verify(*arguments)
    assert (result.exit_code, result.stdout) == (Exit.BAD_INPUT, "")
    assert says in result.stderr


def test_every_fault_is_told_at_once():
    arguments = ("--sequence", "x", "--device", "gpuu", "--html", "/nowhere/page.html")
    result = verify(*SIZES, *arguments)
    assert result.stderr.startswith("memquiz: 3 things to mend\n")


def test_the_devices_that_are_offered_are_those_that_there_are():
    assert set(DEVICES) == {"auto", *RUN_ON}
    assert chosen("auto") in RUN_ON


@pytest.mark.parametrize(("run", "code"), [(SIZES, Exit.DONE), (DOES_NOT, Exit.DONE)])
def test_for_torchrun_every_answer_is_a_success(monkeypatch, run, code):
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, "0")
    result = verify(*run)
    assert (result.exit_code, "\nfits  " in result.stdout) == (code, True)


def test_of_the_ranks_that_torchrun_starts_only_the_first_tells(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    result = verify(*SIZES, "--html", tmp_path / "page")
    assert (result.exit_code, result.stdout, list(tmp_path.iterdir())) == (Exit.DONE, "", [])


def test_a_snapshot_and_a_page_are_written_where_they_are_asked_for(tmp_path):
    files = tmp_path / "run.pickle", tmp_path / "run.html"
    result = verify(*SIZES, "--snapshot", files[0], "--html", files[1])
    assert (result.exit_code, set(tmp_path.iterdir())) == (Exit.DONE, set(files))
    assert set(pickle.loads(files[0].read_bytes())) >= {"segments", "device_traces"}  # noqa: S301 - it was written here
    assert files[1].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert result.stdout.splitlines()[-2:] == [
        f"snapshot       {files[0]}",
        f"page           {files[1]}",
    ]


def test_the_snapshot_of_a_run_that_ends_shows_its_end(tmp_path):
    verify(*DOES_NOT, "--snapshot", tmp_path / "s")
    taken = pickle.loads((tmp_path / "s").read_bytes())  # noqa: S301 - it was written here
    assert taken["device_traces"][0][-1]["action"] == "oom"


def test_beside_the_object_nothing_is_said_of_files(tmp_path):
    assert verified(*SIZES, "--html", tmp_path / "page.html")["fits"] == "yes"
