"""`memquiz generate`: what it writes, prints, refuses and as what it exits."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from quiz.cli import memquiz as cli
from quiz.formats.registry import formats
from quiz.sets.key import read_key

ROSTER = "id,name\nann@x.org,Ann\nbo,Bo\n"


@pytest.fixture
def generate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = CliRunner().invoke(cli, ["generate", *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run


ONE = ("--kind", "zero-states", "--count", "1")


def files(folder):
    return sorted(
        str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()
    )


def test_sheets_solutions_and_the_key_are_written(generate):
    result = generate(*ONE, "--seed", 3, "--out", "set")
    assert result.exit_code == 0, result.output
    assert files("set") == [
        "key.json", "sheets/everyone.html", "sheets/everyone.md",
        "solutions/everyone.html", "solutions/everyone.md",
    ]  # fmt: skip
    assert "for everyone: 1 question, 1 point, about" in result.output
    assert "memquiz grade set/key.json ANSWERS.csv" in result.output


def test_the_same_seed_writes_the_same_bytes_again(generate):
    for folder in ("one", "two"):
        generate(*ONE, "--seed", 3, "--out", folder)
    assert files("one") == files("two")
    assert all(
        Path("one", name).read_bytes() == Path("two", name).read_bytes() for name in files("one")
    )


def test_a_roster_gives_each_student_a_sheet(generate):
    Path("class.csv").write_text(ROSTER)
    generate(*ONE, "--students", "class.csv", "--format", "markdown", "--out", "set")
    assert files("set") == [
        "key.json", "sheets/ann-x.org.md", "sheets/bo.md",
        "solutions/ann-x.org.md", "solutions/bo.md",
    ]  # fmt: skip


def test_a_seed_that_was_drawn_is_said_and_draws_the_set_again(generate):
    said = generate(*ONE, "--out", "one").output
    seed = read_key(Path("one/key.json")).seed
    assert f"seed {seed}" in " ".join(said.split())
    generate(*ONE, "--seed", seed, "--out", "two")
    assert Path("one/key.json").read_bytes() == Path("two/key.json").read_bytes()


def test_the_count_is_shared_out_over_the_topics(generate):
    generate("--topic", "A", "--topic", "G", "--count", 3, "--seed", 1, "--out", "set")
    assert [slot.topic for slot in read_key(Path("set/key.json")).slots] == ["A", "A", "G"]


def test_json_is_the_key_and_nothing_is_written(generate):
    result = generate(*ONE, "--seed", 3, "--json", "--out", "set")
    assert json.loads(result.output)["seed"] == 3
    assert not Path("set").exists()


def test_a_key_is_written_again_in_another_format(generate):
    generate(*ONE, "--seed", 3, "--out", "set")
    result = generate("--from", "set/key.json", "--format", "json", "--out", "again")
    assert result.exit_code == 0
    assert Path("again/key.json").read_bytes() == Path("set/key.json").read_bytes()


def test_a_key_that_was_given_out_is_not_written_over(generate):
    generate(*ONE, "--seed", 3, "--out", "set")
    before = Path("set/key.json").read_bytes()
    result = generate(*ONE, "--seed", 4, "--out", "set")
    assert result.exit_code == 2
    assert "set/key.json is the key of another set" in result.output
    assert Path("set/key.json").read_bytes() == before


def test_the_same_set_may_be_written_again(generate):
    assert [generate(*ONE, "--seed", 3, "--out", "set").exit_code for _ in range(2)] == [0, 0]


def test_a_changed_key_whose_mistake_is_right_is_refused(generate):
    generate(*ONE, "--seed", 3, "--out", "set")
    key = json.loads(Path("set/key.json").read_text())
    problem = key["variants"][0]["problems"][0]
    problem["mistakes"][0]["value"] = problem["answer"]["value"]
    Path("changed.json").write_text(json.dumps(key))
    result = generate("--from", "changed.json", "--out", "again")
    assert result.exit_code == 2
    assert "gives what is right within its tolerance" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--format", "docx"), "--format: 'docx' is not known"),
        (("--count", "x"), "--count: 'x' is not a whole number"),
        (("--count", "0"), "count: 0 is not in 1 to 200"),
        (("--seed", "-1"), "--seed: -1 is not in 0 to"),
        (("--topic", "Z"), "'Z' is no topic"),
        (("--kind", "zero"), "kinds: 'zero' is not known"),
        (("--students", "none.csv"), "none.csv: cannot be read"),
        (("--blueprint", "none.toml"), "none.toml: cannot be read"),
        (("--blueprint", "x.toml", "--topic", "A"), "stands beside --topic"),
        (("--from", "key.json", "--seed", "1"), "stands beside --seed"),
        (("--from", "none.json"), "none.json: cannot be read"),
        (("--out", ""), "--out: is empty"),
        (("--out", "plain.txt"), "plain.txt is no folder"),
        (("--out", "a\0b"), "--out: "),
        (
            ("--kind", "fits", "--count", "2", "--minutes", "1"),
            "minutes by estimate, and 1 are given",
        ),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(generate, arguments, says):
    Path("plain.txt").write_text("mine")
    result = generate(*arguments)
    assert result.exit_code == 2
    assert says in result.output
    assert files(".") == ["plain.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_told_before_the_work(generate):
    Path("locked").mkdir(mode=0o500)
    result = generate("--out", "locked/set")
    assert result.exit_code == 2
    assert "cannot be written to" in result.output


def test_the_help_says_what_each_format_leaves_out(generate):
    said = " ".join(generate("--help").output.split())
    for one in formats().values():
        assert f"{one.says}. Leaves out: {'; '.join(one.cannot) or 'nothing'}." in said


def test_every_format_but_the_key_has_what_it_does_not_carry():
    assert [one.name for one in formats().values() if not one.cannot] == ["json"]
