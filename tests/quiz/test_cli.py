import json
import os
import signal
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from engine.catalog import models
from problems.registry import kinds
from quiz.__main__ import CRASHED, _code
from quiz.cli import COMMANDS
from quiz.cli import memquiz as cli
from quiz.release import VERSION

HEAVY = (
    "sympy",
    "numpy",
    "rich",
    "jinja2",
    "platformdirs",
    "importlib.metadata",
    "sqlite3",
    "torch",
)


def invoke(*arguments):
    result = CliRunner().invoke(cli, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def command(name):
    return cli.get_command(click.Context(cli), name)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_tables_line_is_the_first_sentence_of_the_commands_own_help(name):
    assert command(name).help.splitlines()[0] == COMMANDS[name][1]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_option_and_explains_it(name):
    page = invoke(name, "--help").output
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.opts[0] in page


def test_the_groups_help_names_every_command():
    page = " ".join(invoke("--help").output.split())
    for name, (_, says) in COMMANDS.items():
        assert f" {name} {says}" in page


@pytest.mark.parametrize("arguments", [(), ("--help",), ("catalog", "--help")])
def test_help_is_at_most_80_columns_wide(arguments):
    assert max(map(len, invoke(*arguments).output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("typed", "near"), [("practise", "practice"), ("sovle", "solve"), ("catalogue", "catalog")]
)
def test_a_command_that_is_not_known_is_answered_with_near_names(typed, near):
    result = invoke(typed)
    assert (result.exit_code, f"did you mean {near}" in result.stderr) == (2, True)


def test_a_command_like_none_is_answered_with_help():
    assert "see --help" in invoke("xyzzy").stderr


def test_help_imports_nothing_heavy(environment):
    code = (
        "import sys; from quiz.cli import memquiz; import quiz.__main__; "
        "memquiz.main(['--help'], standalone_mode=False); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "[]"


def test_version_is_told_without_a_command(memquiz):
    run = memquiz("--version")
    assert (run.returncode, run.stdout.startswith("memquiz ")) == (0, True)


def test_the_catalogue_lists_every_model():
    page = invoke("catalog", "models").output
    found = json.loads(invoke("catalog", "models", "--json").output)["models"]
    assert [model["name"] for model in found] == list(models())
    assert all(model["source"] and model["name"] in page for model in found)


def test_the_catalogue_lists_every_gpu_with_what_its_driver_reports():
    found = json.loads(invoke("catalog", "gpus", "--json").output)["gpus"]
    # 81,559 MiB: what nvidia-smi prints for an H100 SXM5 80GB.
    assert {g["name"]: g["memory_bytes"] for g in found}["h100-80gb"] == 81_559 * 2**20


def test_the_catalogue_lists_every_kind_of_question():
    found = json.loads(invoke("catalog", "kinds", "--json").output)["kinds"]
    assert [kind["name"] for kind in found] == list(kinds())


@pytest.mark.parametrize("what", ["models", "gpus", "kinds"])
@pytest.mark.parametrize("columns", ["20", "80"])
def test_behind_a_pipe_the_catalogue_cuts_nothing(monkeypatch, what, columns):
    monkeypatch.setenv("COLUMNS", columns)
    page = invoke("catalog", what).output
    found = json.loads(invoke("catalog", what, "--json").output)[what]
    assert "…" not in page
    assert all(any(row["title"] in line for line in page.splitlines()) for row in found)


def test_a_part_of_the_catalogue_that_is_not_known_is_told_like_any_fault():
    said = invoke("catalog", "gpu").stderr
    assert said == "memquiz: 1 thing to mend\n  catalog: 'gpu' is not known; did you mean gpus?\n"


@pytest.mark.parametrize("arguments", [("catalog", "planets"), ("catalog",), ("--nope",)])
def test_a_wrong_argument_exits_with_2(arguments):
    assert invoke(*arguments).exit_code == 2


@pytest.mark.skipif(os.name == "nt", reason="signals of pipes are POSIX's")
def test_a_closed_pipe_ends_it_quietly(environment):
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [sys.executable, "-m", "quiz", "catalog", "models"],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment,
        check=False,
    )
    os.close(writing)
    assert (run.returncode, run.stderr) == (-signal.SIGPIPE, b"")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_output_that_cannot_be_written_is_said(environment):
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device, not a path of ours
        run = subprocess.run(
            [sys.executable, "-m", "quiz", "catalog", "gpus"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            check=False,
        )
    assert run.returncode == 2
    assert run.stderr == "memquiz: the output could not be written: No space left on device\n"


def through_a_shell(environment, folder, line):
    return subprocess.run(
        ["sh", "-c", f"{sys.executable} -m quiz {line}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        check=False,
    )


SOLVE = "solve --model gpt2 --gpu t4 --sequence 128"


@pytest.mark.skipif(os.name == "nt", reason="the redirections are a POSIX shell's")
@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (f"{SOLVE} >&-", 2, "memquiz: standard output is closed; there is nowhere to write to\n"),
        ("--help >&-", 2, "memquiz: standard output is closed; there is nowhere to write to\n"),
        (f"{SOLVE} >&- 2>&-", 2, ""),
        (f"{SOLVE} <&-", 0, ""),
        (f"{SOLVE} 2>&-", 0, ""),
        ("solve --model nope 2>&-", 2, ""),
        ("nope 2>&-", 2, ""),
        ("practice <&-", 2, "  standard input: is closed; answers are read from it\n"),
        ("practice 0>/dev/null", 2, "  standard input: cannot be read: Bad file descriptor\n"),
        ("solve - <&-", 2, "  standard input: is closed; give a scenario file in TOML\n"),
        ("solve - 0>/dev/null", 2, "Bad file descriptor; give a scenario file in TOML\n"),
    ],
)
def test_a_standard_stream_that_is_closed_is_said_where_it_can_be(
    environment, tmp_path, line, code, says
):
    run = through_a_shell(environment, tmp_path, line)
    assert (run.returncode, run.stderr.endswith(says)) == (code, True), run.stderr
    assert "Traceback" not in run.stderr + run.stdout
    assert bool(run.stderr) == bool(says)


@pytest.mark.skipif(os.name == "nt", reason="the redirections are a POSIX shell's")
def test_no_file_of_ours_takes_the_place_of_a_closed_stream(environment, data, tmp_path):
    run = through_a_shell(environment, tmp_path, "practice --count 1 2>&-")
    assert run.returncode == 0
    assert (data / "memquiz.sqlite3").read_bytes().startswith(b"SQLite format 3")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
@pytest.mark.parametrize("line", ["solve --model nope", "nope", "practice --kind nope"])
def test_errors_that_cannot_be_written_leave_the_exit_code(environment, tmp_path, line):
    assert through_a_shell(environment, tmp_path, f"{line} 2>/dev/full").returncode == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
    ],
)
def test_a_terminal_without_unicode_gets_plain_characters(memquiz, changes):
    run = memquiz("practice", "--no-save", "--count", "2", typed="37 GB\nskip\n", **changes)
    assert run.returncode == 0, run.stderr
    assert "#" in run.stdout


def test_a_crash_is_no_answer(monkeypatch, capsys):
    def broken(**_options):
        raise RuntimeError("a bug")

    monkeypatch.setattr("quiz.cli.memquiz.main", broken)
    assert _code() == CRASHED
    *trace, last = capsys.readouterr().err.splitlines()
    assert trace[-1] == "RuntimeError: a bug"
    assert last.startswith("memquiz: this is a fault in memquiz, and no answer. A report of it")
    assert f"memquiz {VERSION}, Python 3." in last
