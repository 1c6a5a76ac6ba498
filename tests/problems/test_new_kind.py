"""A file of the bank is a kind: it is drawn, marked, and held to what all kinds are held to."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from problems import bank
from problems.registry import build, kinds_with
from quiz.grading import grade
from quiz.practice.questions import chosen

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "tests" / "recipes"
EXAMPLE = RECIPES / "kind/problems/bank/everything_else/gathered_layer.py"
NAME = "gathered-layer"
# Tests that run over every kind.
GENERIC = (
    "tests/problems/test_content.py",
    "tests/problems/test_json_form.py",
    "tests/problems/test_registry.py",
    "tests/problems/test_scenarios.py",
    "tests/problems/test_whiteboard.py",
    "tests/quiz/marking/test_diagnosis.py",
)


@pytest.fixture
def with_example(monkeypatch):
    """The bank with one more file."""
    monkeypatch.setattr(bank, "__path__", [*bank.__path__, str(EXAMPLE.parent)])
    kinds_with.cache_clear()
    yield
    monkeypatch.undo()
    kinds_with.cache_clear()


@pytest.mark.usefixtures("with_example")
def test_a_further_file_is_drawn():
    ids = chosen(topic="everything else", level="junior", kind=None, count=50, seed=1)
    assert NAME in {name.partition("@")[0] for name in ids}


@pytest.mark.usefixtures("with_example")
@pytest.mark.parametrize("seed", range(5))
def test_a_further_file_is_marked(seed):
    problem = build(NAME, seed)
    assert grade(problem, f"{int(problem.answer.value)} bytes").score == 1
    for mistake in problem.mistakes:
        verdict = grade(problem, f"{int(mistake.value)} bytes")
        assert (verdict.mistake, verdict.score < 1) == (mistake.name, True)


@pytest.mark.parametrize(("recipe", "name"), [("kind", NAME), ("answer", "what-zero-shards")])
def test_a_further_file_is_held_to_what_every_kind_is_held_to(tmp_path, recipe, name):
    for folder in ("engine", "problems", "quiz"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for test in ("pyproject.toml", "tests/quiz/conftest.py", *GENERIC):
        (tmp_path / test).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / test, tmp_path / test)
    shutil.copytree(RECIPES / recipe, tmp_path, dirs_exist_ok=True)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", f"{name} or file", *GENERIC],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    passed = int(result.stdout.rpartition(" passed")[0].split()[-1])
    assert passed > 5
