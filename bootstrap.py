"""Set memquiz up in a virtual environment of its own and run it: `python3 bootstrap.py practice`.

Needs Python 3.11 or newer and nothing else. The environment lies in `.venv` beside this file;
it is made at the first call and renewed when `pyproject.toml` changes.

    python3 bootstrap.py test [PYTEST ARGUMENTS]   the tests, with all that they need
    python3 bootstrap.py lint                      ruff, mypy, import-linter, codespell
    python3 bootstrap.py python FILE …             a script, with the tests' environment
    python3 bootstrap.py ANYTHING ELSE             the same as `memquiz ANYTHING ELSE`
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

LINTERS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("importlinter.cli",),
    ("codespell_lib",),
)


def fingerprint(extra: str) -> str:
    """Return what the environment was made for: the project file, the interpreter, the extra."""
    project = (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(project + sys.version.encode() + extra.encode()).hexdigest()


def set_up(extra: str) -> None:
    """Install memquiz with `extra` (empty: none) into `.venv`, unless that is done already."""
    stamp = HOME / f"ready{'-' + extra if extra else ''}"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == fingerprint(extra):
        return
    print("setting up .venv (once) …", file=sys.stderr)
    if not PYTHON.exists():
        venv.create(HOME, with_pip=True)
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    install = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*install, "--editable", target], check=False)
    if done.returncode:
        sys.exit(f"bootstrap: pip could not install memquiz (exit {done.returncode}); see above")
    stamp.write_text(fingerprint(extra))


def lint() -> int:
    """Run every linter, also after one has failed; return the worst exit code."""
    codes = []
    for command in LINTERS:
        name = "lint-imports" if command[0] == "importlinter.cli" else command[0]
        print(f"lint: {name}", flush=True)
        run = [BIN / "lint-imports"] if name == "lint-imports" else [PYTHON, "-m", *command]
        codes.append(subprocess.run(run, cwd=ROOT, check=False).returncode)
    return max(codes)


def main(arguments: list[str]) -> int:
    """Do what the module's docstring says; return the exit code of what was run."""
    if sys.version_info < (3, 11):
        sys.exit(
            f"bootstrap: memquiz needs Python 3.11 or newer, this is {sys.version.split()[0]}"
        )
    verb = arguments[0] if arguments else "practice"
    set_up("dev" if verb in {"test", "lint", "python"} else "")
    if verb == "lint":
        return lint()
    commands = {"test": ["-m", "pytest", "-n", "auto"], "python": []}
    start = commands.get(verb)
    if start is None:
        run = [PYTHON, "-m", "quiz", *(arguments or ["practice"])]
        return subprocess.run(run, check=False).returncode
    return subprocess.run([PYTHON, *start, *arguments[1:]], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
