"""Set memquiz up in a virtual environment of its own and run it: `python3 bootstrap.py practice`.

Needs Python 3.11 or newer and nothing else. The environment lies in `.venv` beside this file;
it is made at the first call and renewed when `pyproject.toml` changes.

    python3 bootstrap.py test [PYTEST ARGUMENTS]   the tests, with all that they need
    python3 bootstrap.py lint                      ruff, mypy, import-linter, codespell
    python3 bootstrap.py interop                   sets, read by the programs they are for
    python3 bootstrap.py python FILE …             a script, with the tests' environment
    python3 bootstrap.py ANYTHING ELSE             the same as `memquiz ANYTHING ELSE`

`verify` brings PyTorch and Transformers along once it has something to run, the tests do too;
nothing else does. A PyTorch that lies in `.venv` already stays, such as the build for CPUs.
"""

from __future__ import annotations  # an older Python must get as far as being told

import hashlib
import os
import shlex
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

# The verbs that are not memquiz's own commands, and what they start.
VERBS = {
    "test": ("-m", "pytest", "-n", "auto"),
    "lint": (),
    "python": (),
    "mutants": ("benchmarks/mutants.py",),
    "interop": ("interop/run.py",),
}

# What a command of memquiz needs beyond memquiz itself: an extra of pyproject.toml.
EXTRAS = {"verify": "hf"}
# How such a command leaves that was told only to look and finds nothing wrong with what is asked.
SOUND = 75

LINTERS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("importlinter.cli",),
    ("codespell_lib",),
)


def set_up(extra: str) -> None:
    """Install memquiz with `extra` (empty: none) into `.venv`, unless that is done already."""
    if any(map(is_ready, enough(extra))):
        return
    size = ", with PyTorch, which takes minutes" if extra else ""
    print(f"setting up .venv{size}; this happens once …", file=sys.stderr, flush=True)
    make_environment()
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    install = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*install, "--no-compile", "--editable", target], check=False)
    if done.returncode:
        sys.exit(f"bootstrap: pip could not install memquiz (exit {done.returncode}); see above")
    compile_installed()
    stamp(extra).write_text(fingerprint())


def compile_installed() -> None:
    """Compile what was installed, and memquiz, on all cores: pip does it on one, file by file.

    A file that cannot be compiled is one of those that packages bring for their own tests. What is
    not compiled here is compiled when it is imported; on a disk that is full, Python keeps half of
    such a module, and no process can import it after that.
    """
    packages = sysconfig.get_path("purelib", "venv", vars={"base": str(HOME)})
    own = [ROOT / package for package in ("engine", "problems", "quiz")]
    run = [PYTHON, "-m", "compileall", "-qq", "-j", "0", packages, *own]
    subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def enough(extra: str) -> set[str]:
    """Return the extras that have all of `extra`: the tests' has all but the mutants' tool."""
    wider = {"dev", "mutants"} - ({"dev"} if extra == "mutants" else set())
    return {extra, *wider} if extra else {"", *wider, *EXTRAS.values()}


def is_ready(extra: str) -> bool:
    """Return whether memquiz was installed with `extra` as the project file has it now."""
    done = stamp(extra)
    return PYTHON.exists() and done.exists() and done.read_text() == fingerprint()


def stamp(extra: str) -> Path:
    """Return the file that says what the environment was made for."""
    return HOME / f"ready{'-' + extra if extra else ''}"


def fingerprint() -> str:
    """Return what an environment depends on: the project file and the interpreter."""
    project = (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(project + sys.version.encode()).hexdigest()


def make_environment() -> None:
    """Make `.venv`, or mend one that is half made or was made by another Python."""
    maker = HOME / "made-by"
    if PYTHON.exists() and maker.exists() and maker.read_text() == sys.version:
        return
    try:
        venv.create(HOME, with_pip=True)
    except subprocess.CalledProcessError:
        sys.exit(
            "bootstrap: this Python has venv but no ensurepip, so it cannot set up .venv; "
            "on Debian and Ubuntu: apt install python3-venv"
        )
    maker.write_text(sys.version)


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
    if verb not in VERBS:
        return memquiz(verb, arguments[1:])
    set_up("mutants" if verb == "mutants" else "dev")
    if verb == "lint":
        return lint()
    return code_of([PYTHON, *VERBS[verb], *arguments[1:]], ROOT)


def memquiz(verb: str, arguments: list[str]) -> int:
    """Run a command of memquiz; return its exit code.

    What it needs besides is set up when it has been asked whether it can do what is wanted, which
    takes seconds. Standard input can be read once only, so that what comes there is not looked at.
    """
    # -P: a folder called quiz where the learner stands is not ours.
    run = [PYTHON, "-P", "-m", "quiz", verb, *arguments]
    extra = EXTRAS.get(verb, "")
    os.environ["MEMQUIZ_COMMAND"] = started_with()
    if extra and "-" not in arguments and not any(map(is_ready, enough(extra))):
        set_up("")
        code = code_of(run, Path.cwd(), MEMQUIZ_LOOKING="1")
        if code != SOUND:
            return code
    set_up(extra)
    return code_of(run, Path.cwd())


def started_with() -> str:
    """Return what was typed before the verb, for the commands that memquiz tells to type."""
    typed = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv[1:])]
    return subprocess.list2cmdline(typed) if os.name == "nt" else shlex.join(typed)


def code_of(command: list[str | Path], folder: Path, **changes: str) -> int:
    """Run `command` in `folder`; return its exit code (128 + n where signal n ended it)."""
    code = subprocess.run(
        command, cwd=folder, env={**os.environ, **changes}, check=False
    ).returncode
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
