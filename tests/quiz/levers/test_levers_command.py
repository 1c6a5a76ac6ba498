"""`memquiz levers`: the table, the plans, the bars, and one object for programs."""

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from engine.estimate import fits
from engine.levers.registry import levers as known
from engine.scenario_file import from_mapping
from quiz.cli import memquiz as cli
from quiz.exits import Exit

NODE = ("--model", "llama-3-8b", "--gpu", "h100-80gb", "--gpus", 8, "--sequence", 4096)
BATCH = ("--micro-batch", 4, "--gradient-accumulation", 2)
ONE = ("--model", "llama-3.2-1b", "--gpu", "h100-80gb", "--sequence", 512)
HUGE = ("--model", "llama-3.1-405b", "--gpu", "h100-80gb", "--gpus", 8, "--sequence", 8192)
LEVER_KEYS = {
    "name", "applicable", "why_not", "peak_bytes", "saved_bytes", "categories",
    "step_time_overhead", "extra_compute", "extra_communication_bytes", "extra_host_bytes",
    "changes_numerics", "rank",
}  # fmt: skip
FILE = """
[model]
name = "llama-3-8b"
[workload]
sequence = 4096
micro_batch = 4
[hardware]
gpu = "h100-80gb"
gpus = 8
"""


def levers(*arguments, typed=None):
    result = CliRunner().invoke(cli, ["levers", *map(str, arguments)], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="module")
def node():
    return json.loads(levers(*NODE, *BATCH, "--json").stdout)


@pytest.fixture(scope="module")
def page():
    return levers(*NODE, *BATCH).stdout


def test_the_object_has_the_keys_that_other_programs_read(node):
    assert {"baseline_peak_bytes", "capacity_bytes", "fits", "levers", "plans"} == set(node)
    for row in node["levers"]:
        assert set(row) >= LEVER_KEYS
    for plan in node["plans"]:
        assert set(plan) >= {"levers", "peak_bytes", "step_time_overhead"}
    assert [row["name"] for row in node["levers"]] != []
    assert {row["name"] for row in node["levers"]} == set(known())


def test_ranks_count_from_one_and_what_does_not_apply_has_none(node):
    ranks = [row["rank"] for row in node["levers"] if row["rank"]]
    assert ranks == list(range(1, len(ranks) + 1))
    for row in node["levers"]:
        assert (row["why_not"] is None) == row["applicable"] == (row["peak_bytes"] is not None)
        if row["rank"]:
            assert row["saved_bytes"] == node["baseline_peak_bytes"] - row["peak_bytes"] > 0
            assert sum(row["categories"].values()) == row["saved_bytes"]


def test_what_a_plan_changes_written_into_the_file_fits(node):
    names = {"gradient_accumulation", "micro_batch"}
    plan = next(p for p in node["plans"] if "tensor parallel" not in p["levers"])
    assert names & {change.partition(" = ")[0] for change in plan["changes"]}
    tables = {"model": {"name": "llama-3-8b"}, "hardware": {"gpu": "h100-80gb", "gpus": 8}}
    tables |= {"workload": {"sequence": 4096, "micro_batch": 4, "gradient_accumulation": 2}}
    where = {"zero": "parallel", "loss": "recipe", "optimizer": "recipe", "data": "parallel"}
    for change in plan["changes"]:
        key, _, value = change.partition(" = ")
        table = "workload" if key in names else where[key]
        tables.setdefault(table, {})[key] = json.loads(value)
    assert fits(from_mapping(tables)) == "yes"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((*NODE, *BATCH), Exit.DONE), (ONE, Exit.DONE), (HUGE, Exit.NO)],
    ids=["a plan fits", "it fits as it is", "nothing fits"],
)
def test_the_exit_code_says_whether_anything_fits(arguments, code):
    assert levers(*arguments, "--json").exit_code == code


def test_what_is_tight_at_best_has_a_code_of_its_own():
    codes = {
        levers(*ONE, "--precision", "fp32", "--recompute", "full", "--optimizer", "sgd",
               "--loss", "fused", "--gpu", "t4", "--sequence", n, "--json").exit_code
        for n in range(10_000, 34_000, 1_500)
    }  # fmt: skip
    assert codes == {Exit.DONE, Exit.TIGHT, Exit.NO}


def test_the_page_names_every_lever_and_both_ledgers(page):
    for name in known():
        assert name in page
    assert re.search(r"^as it is$", page, re.MULTILINE)
    assert re.search(r"^with plan 1$", page, re.MULTILINE)
    assert page.count(" peak\n") >= 2
    assert "do not apply" in page


def test_lines_are_no_longer_than_80_columns_and_plain(page):
    assert all(len(line) <= 80 for line in page.splitlines())
    assert "\x1b" not in page


def test_every_row_tells_bytes_with_their_unit(page):
    rows = re.findall(r"^ ?[\d-]+ \w[\w ~-]+?  +(.*%)$", page, re.MULTILINE)
    assert len(rows) > 10
    for row in rows:
        pattern = r"-?[\d.,]+ (GB|MB|kB|B) +[\d.,]+ GB +(yes|no|tight) +[+-][\d.,]+%"
        assert re.fullmatch(pattern, row), row


def test_a_scenario_comes_through_a_pipe():
    told = levers("-", "--json", typed=FILE)
    assert told.exit_code == Exit.DONE
    assert json.loads(told.stdout) == json.loads(
        levers(*NODE, "--micro-batch", 4, "--json").stdout
    )


def test_headroom_takes_plans_away(node):
    roomy = json.loads(levers(*NODE, *BATCH, "--headroom", 40, "--json").stdout)
    plain = [{k: v for k, v in row.items() if k != "fits"} for row in node["levers"]]
    assert [{k: v for k, v in row.items() if k != "fits"} for row in roomy["levers"]] == plain
    assert all(p["peak_bytes"] < 0.6 * node["capacity_bytes"] for p in roomy["plans"])


def test_what_fits_is_told_within_the_headroom():
    told = levers(*NODE, *BATCH, "--headroom", 90)
    assert "8.55 GB of the card's 85.52 GB; it fits: no" in told.stdout
    assert told.exit_code == Exit.NO
    found = json.loads(levers(*NODE, *BATCH, "--headroom", 90, "--json").stdout)
    assert {row["fits"] for row in found["levers"]} <= {"no", None}


@pytest.mark.parametrize("typed", ["x", "-1", "91", "5%"])
def test_a_headroom_that_is_none_is_refused(typed):
    told = levers(*ONE, "--headroom", typed)
    assert told.exit_code == Exit.BAD_INPUT
    assert "--headroom" in told.stderr


def test_a_step_that_fits_and_cannot_be_faster_has_no_plan():
    told = levers(*ONE, "--optimizer", "adamw-fused", "--loss", "fused").stdout
    assert "as it is it fits, and nothing makes it more than 5% faster" in told


def test_the_catalogue_lists_the_levers():
    told = json.loads(CliRunner().invoke(cli, ["catalog", "levers", "--json"]).stdout)
    assert [row["name"] for row in told["levers"]] == list(known())


def test_a_question_and_a_ledger_start_without_numpy():
    code = (
        "import sys; from quiz.commands import practice, solve, catalog; "
        "from problems.registry import kinds; kinds(); sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
