"""The picture of the project: its layers as they are checked, and the way of a scenario."""

import ast
import inspect
import textwrap
import tomllib
from pathlib import Path
from pkgutil import resolve_name

ROOT = Path(__file__).parents[1]
PACKAGES = ("quiz", "problems", "engine")
WIDTH = 78
# From what is typed to what is kept: each function takes what the one above it returns.
WAY = (
    "engine.scenario_file:read_tables",
    "engine.scenario_file:from_mapping",
    "engine.estimate:ledger",
    "problems.registry:build",
    "quiz.grading:grade",
    "quiz.practice.session:respond",
    "quiz.history.store:Store.record",
)


def picture():
    """Yield the lines of the picture: a box for each package, its layers from top to bottom."""
    for package in PACKAGES:
        what = _says(ROOT / package / "__init__.py").partition(":")[0].lower()
        title = f" {package}/ {what} "
        yield f"┌{title:─<{WIDTH - 2}}┐"
        for layer in layers(package):
            names = [name.strip("() ") for name in layer.split("|")]
            for line in _wrapped(names):
                yield f"│ {line:<{WIDTH - 4}} │"
        yield f"└{'─' * (WIDTH - 2)}┘"
        if package != PACKAGES[-1]:
            yield f"{'':{WIDTH // 2}}▼ imports, never the other way"


def layers(package):
    """Return the layers of a package as import-linter checks them, the highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (found,) = (
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract.get("containers") == [package]
    )
    return found


def _wrapped(names):
    line = ""
    for name in names:
        joined = f"{line} · {name}" if line else name
        if len(joined) > WIDTH - 4:
            yield line
            joined = f"  {name}"
        line = joined
    yield line


def _says(path):
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")


def way():
    """Yield each step of the way: the function, what it takes, what it returns."""
    yield "step", "takes", "returns"
    for dotted in WAY:
        source = textwrap.dedent(inspect.getsource(resolve_name(dotted)))
        (function,) = ast.parse(source).body
        given = [one for one in function.args.args if one.arg != "self"]
        takes = ", ".join(f"{one.arg}: {ast.unparse(one.annotation)}" for one in given)
        yield f"`{dotted.replace(':', '.')}`", f"`{takes}`", f"`{ast.unparse(function.returns)}`"


def folders():
    """Yield every folder of code, in which files stand, and what its docstring says."""
    yield "folder", "what stands there"
    for package in reversed(PACKAGES):
        for path in sorted((ROOT / package).rglob("__init__.py")):
            yield f"`{path.parent.relative_to(ROOT)}/`", _says(path)
