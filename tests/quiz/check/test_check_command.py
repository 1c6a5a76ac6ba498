"""`memquiz check`: what it prints, as what it exits, and with whose kinds."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from problems.own_folders import using
from problems.registry import kinds
from quiz.check.checking import check
from quiz.check.report import lines
from quiz.cli import memquiz as cli
from quiz.commands.check import chosen

EXAMPLE = Path(__file__).parents[2] / "recipes" / "own-kinds" / "my-kinds"
FILE = "checkpoint_time.py"


def invoke(*arguments, **environment):
    result = CliRunner().invoke(cli, ["check", *map(str, arguments)], env=environment)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def folder(tmp_path):
    """A folder with the example, and a function that changes its code."""
    copy = Path(shutil.copytree(EXAMPLE, tmp_path / "kinds"))

    def change(before, after):
        code = (EXAMPLE / FILE).read_text(encoding="utf-8")
        assert before in code
        (copy / FILE).write_text(code.replace(before, after), encoding="utf-8")
        return copy

    change("", "")
    return change


def test_a_kind_in_which_nothing_is_found_exits_with_0():
    result = invoke("zero-states", "--seeds", 5)
    assert (result.exit_code, result.stdout) == (
        0,
        (
            "zero-states: 5 problems, nothing found\n"
            "zero-states: not judged below 40 problems: spread, two-mistakes\n"
            "1 kind, 5 problems: all well\n"
        ),
    )


@pytest.mark.parametrize("kind", ["zero-states", "rank-levers", "first-lever", "fits"])
def test_a_sound_kind_is_well_at_one_seed(kind):
    result = invoke(kind, "--seeds", 1)
    assert result.exit_code == 0
    assert result.stdout.endswith("1 kind, 1 problem: all well\n")


def test_what_is_not_judged_and_not_tried_is_in_the_json():
    found = json.loads(invoke("zero-states", "--seeds", 1, "--json").stdout)
    assert found["kinds"][0]["not_judged"] == ["spread", "two-mistakes"]
    assert found["kinds"][0]["left_out"] == 0


def test_rules_of_the_bank_that_want_more_problems_are_told():
    (*_, bank) = check([kinds()["peak"]], 1, bank=True)
    said = "bank: not judged below 200 problems of each kind: models-appear, cards-appear"
    assert said in list(lines(bank))


def test_a_kind_of_ones_own_is_held_to_the_same(folder):
    result = invoke("checkpoint-time", "--kinds", folder("", ""), "--seeds", 20)
    assert (result.exit_code, "nothing found" in result.stdout) == (0, True)


@pytest.mark.parametrize("variable", [True, False])
def test_a_folder_alone_has_its_own_kinds_checked_and_says_so(folder, variable):
    place = str(folder("", ""))
    options, named = ([], {"MEMQUIZ_KINDS": place}) if variable else (["--kinds", place], {})
    result = invoke(*options, "--seeds", 2, **named)
    assert result.stdout.startswith("kinds of your own: 1; those of the bank too: --all\n")
    assert result.stdout.endswith("1 kind, 2 problems: all well\n")


def test_with_all_the_bank_is_checked_too(folder):
    with using(folder("", "")):
        assert len(chosen((), every=True)) == len(kinds())
        assert [kind.name for kind in chosen((), every=False)] == ["checkpoint-time"]
    assert len(chosen((), every=False)) == len(kinds())


def test_the_json_of_a_folder_alone_is_an_object_and_nothing_else(folder):
    printed = invoke("--kinds", folder("", ""), "--seeds", 1, "--json").stdout
    assert [one["name"] for one in json.loads(printed)["kinds"]] == ["checkpoint-time"]


def test_the_variable_names_folders_too(folder):
    result = invoke("checkpoint-time", "--seeds", 5, MEMQUIZ_KINDS=str(folder("", "")))
    assert result.exit_code == 0


def test_what_is_found_is_a_line_with_the_problem_and_exits_with_1(folder):
    broken = folder("", "")
    (broken / "checkpoint-time.jinja").write_text("How long does it take? " * 9)
    result = invoke("checkpoint-time", "--kinds", broken, "--seeds", 9)
    assert result.exit_code == 1
    assert "checkpoint-time@0: prompt: does not say how near is full credit" in result.stdout
    assert "checkpoint-time: 6 more [band]" in result.stdout


def test_a_kind_that_raises_is_found_with_its_line(folder):
    broken = folder("seconds = Fraction(size, speed * GB)", "seconds = Fraction(size, 0)")
    result = invoke("checkpoint-time", "--kinds", broken, "--seeds", 9)
    assert result.exit_code == 1
    assert "checkpoint_time.py line 36: ZeroDivisionError" in result.stdout
    said = "checkpoint-time: 0 problems, 3 findings; it was tried no further: 6 seeds left out\n"
    assert said in result.stdout


def test_json_has_every_finding_and_nothing_else(folder):
    broken = folder("topic=", "allows={'feedback': 'no', 'nothing': 'no'},\n    topic=")
    result = invoke("checkpoint-time", "--kinds", broken, "--seeds", 5, "--json")
    found = json.loads(result.stdout)
    assert list(found) == ["kinds", "findings"]
    assert {one["where"] for one in found["findings"]} == {"allows 'feedback'", "allows 'nothing'"}
    assert list(found["findings"][0]) == ["id", "rule", "kind", "seed", "where", "what", "next"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["zero-state"], "did you mean zero-states"),
        (["--seeds", "many"], "is not a whole number"),
        (["--seeds", "0"], "is not in 1 to 10,000"),
        (["--kinds", "nowhere"], "is no folder"),
        (["zero-states", "--all"], "--all: takes every kind, and some are named"),
    ],
)
def test_bad_input_exits_with_2_and_says_what_to_do(arguments, said):
    result = invoke(*arguments)
    assert (result.exit_code, said in result.stderr) == (2, True)


def test_what_a_kind_allows_itself_is_told_with_its_reason(folder):
    many = folder("8 * draw.between(1, 64)", "8")
    reason = folder("8 * draw.between(1, 64)", "8") / FILE
    code = reason.read_text().replace("topic=", 'allows={"distinct": "few"},\n    topic=')
    reason.write_text(code.replace("draw.between(2, 250)", "100"))
    with using(many):
        (checked,) = check([kinds()["checkpoint-time"]], 100, bank=False)
    assert "checkpoint-time: distinct is not kept: few" in list(lines(checked))


def test_a_bad_folder_is_a_fault_of_the_variable_that_names_it():
    result = invoke("zero-states", MEMQUIZ_KINDS="nowhere")
    assert result.exit_code == 2
    assert "MEMQUIZ_KINDS: " in result.stderr
    assert "--kinds" not in result.stderr


def test_what_is_allowed_and_kept_is_found():
    kind = kinds()["zero-states"]
    object.__setattr__(kind, "allows", {"spread": "for no reason"})
    try:
        (checked,) = check([kind], 200, bank=False)
    finally:
        object.__setattr__(kind, "allows", {})
    assert [finding.where for finding in checked.findings] == ["allows 'spread'"]
