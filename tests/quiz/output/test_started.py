import importlib.util
import sys
from pathlib import Path

import pytest

from quiz.cli import COMMANDS
from quiz.output.started import VARIABLE, VERBS, typed_here

BOOTSTRAP = "python3 bootstrap.py"
HERE = {VARIABLE: BOOTSTRAP}


def test_every_command_is_known_by_its_verb():
    assert set(COMMANDS) <= set(VERBS)


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Next: memquiz practice --topic A", "Next: python3 bootstrap.py practice --topic A"),
        ("see `memquiz catalog gpus`", "see `python3 bootstrap.py catalog gpus`"),
        ("memquiz: 1 thing to mend", "memquiz: 1 thing to mend"),
        ("this is no memquiz database", "this is no memquiz database"),
    ],
)
def test_a_command_is_spelled_as_the_program_was_started(written, typed, monkeypatch):
    monkeypatch.setenv(VARIABLE, BOOTSTRAP)
    assert typed_here(written) == typed


def test_without_bootstrap_commands_stay_as_they_are(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert typed_here("memquiz practice") == "memquiz practice"


@pytest.mark.parametrize(
    ("arguments", "typed", "told"),
    [
        (("practice", "--no-save", "--count", 1), "q\n", "again: {} practice --no-save --count 1"),
        (("practice", "--no-save", "--problem", "claim@1"), "false\n", "Next: {} practice"),
        (
            ("practice", "--no-save", "--count", 1),
            "?\n",
            "again: {} practice --problem zero-states@7",
        ),
        (("practice", "--help"), "", "Usage: {} practice [OPTIONS]"),
        (("practice", "--help"), "", "see `{} catalog kinds`"),
        (("--help",), "", "Begin with `{} practice`"),
        (("catalog", "levers"), "", "{} levers ranks them"),
        (("explain", "fits"), "", "{} practice --kind fits"),
        (("practice", "--topic", "A", "--kind", "fits"), "", "see {} catalog kinds"),
        (("solve", "--nonsense"), "", "Try '{} solve --help'"),
    ],
)
def test_every_command_that_is_told_is_as_it_was_started(memquiz, arguments, typed, told):
    result = memquiz(*arguments, typed=typed, **HERE)
    assert told.format(BOOTSTRAP) in " ".join((result.stdout + result.stderr).split())


@pytest.mark.parametrize(
    ("typed", "verb", "said"),
    [
        (["python3", "bootstrap.py", "practice", "--new"], 2, "python3 bootstrap.py"),
        (["python3", "bootstrap.py"], 2, "python3 bootstrap.py"),
        (["py", "-X", "utf8", "../my quiz/bootstrap.py", "x"], 4, "py -X utf8 '../my quiz/boot"),
    ],
)
def test_bootstrap_says_what_it_was_started_with(typed, verb, said, monkeypatch):
    monkeypatch.setattr(sys, "orig_argv", typed)
    monkeypatch.setattr(sys, "argv", typed[verb - 1 :])
    assert bootstrap().started_with().startswith(said)


def bootstrap():
    path = Path(__file__).parents[3] / "bootstrap.py"
    spec = importlib.util.spec_from_file_location("bootstrap", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
