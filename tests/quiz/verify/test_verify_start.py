"""What happens before and around a run: PyTorch missing, old or broken; Ctrl-C; progress."""

import hashlib
import io
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from quiz.commands.verify import LOOKING
from quiz.exits import Exit
from quiz.verify.progress import ERASE, progress, saying, terminal, watched
from quiz.verify.pytorch import OLDEST

ROOT = Path(__file__).parents[3]
RUN = ("verify", "--model", "gpt2", "--gpu", "t4", "--sequence", "64")
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


@pytest.fixture
def before_all(environment, tmp_path):
    """Run memquiz with files in a folder that Python looks into first."""

    def run(*arguments, files):
        for name, text in files.items():
            path = tmp_path / "first" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        paths = os.pathsep.join((str(tmp_path / "first"), environment["PYTHONPATH"]))
        return subprocess.run(
            [sys.executable, "-m", "quiz", *arguments],
            env=environment | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_without_pytorch_one_line_names_the_extra(before_all):
    run = before_all(*RUN, files={"sitecustomize.py": WITHOUT})
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        'memquiz: verify needs PyTorch: pip install "memquiz[verify]" '
        "(pytorch.org/get-started has the build for CPUs, which is enough)\n"
    )


def test_the_hf_stack_without_pytorch_names_the_extra_that_has_transformers_too(before_all):
    run = before_all(*RUN, "--implementation", "hf", files={"sitecustomize.py": WITHOUT})
    assert run.returncode == 2
    assert run.stderr.startswith(
        'memquiz: verify needs PyTorch and Transformers: pip install "memquiz[hf]" ('
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("verify", "--help"),
        ("solve", *RUN[1:]),
        ("catalog", "models"),
        ("practice", "--no-save", "--count", "1"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_nothing_but_a_run_of_verify_needs_pytorch(before_all, arguments):
    run = before_all(*arguments, files={"sitecustomize.py": WITHOUT})
    assert (run.returncode, run.stderr) == (0, "")


def test_bad_input_is_told_without_pytorch_too(before_all):
    run = before_all(*RUN, "--gpus", "x", files={"sitecustomize.py": WITHOUT})
    assert "--gpus: 'x' is not a whole number" in run.stderr


SERVED = (*RUN, "--mode", "inference")
MEGATRON = ("verify", "--model", "llama-3-8b", "--gpu", "h100-80gb", "--sequence", "64")
MEGATRON = (*MEGATRON, "--implementation", "megatron")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (SERVED, "memquiz solve has its ledger"),
        (MEGATRON, "megatron is not run here"),
        (("verify", "claim@1"), "has no scenario to run"),
    ],
    ids=["served", "megatron", "no scenario"],
)
def test_what_is_never_run_is_refused_without_pytorch(before_all, arguments, said):
    run = before_all(*arguments, files={"sitecustomize.py": WITHOUT})
    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr
    assert "PyTorch" not in run.stderr


@pytest.mark.skipif(os.name == "nt", reason="the script that stands for Python is POSIX's")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(SERVED, Exit.BAD_INPUT, "has its ledger"), (("verify", "--help"), Exit.DONE, "Usage: ")],
    ids=["served", "help"],
)
def test_bootstrap_sets_nothing_up_for_what_is_refused_or_for_help(
    environment, tmp_path, arguments, code, said
):
    for name in ("bootstrap.py", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    said_by = (ROOT / "pyproject.toml").read_bytes() + sys.version.encode()
    (tmp_path / ".venv" / "ready").write_text(hashlib.sha256(said_by).hexdigest())
    run = subprocess.run(
        [sys.executable, "bootstrap.py", *arguments],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == code
    assert said in run.stdout + run.stderr
    assert "setting up" not in run.stderr


def test_who_only_looks_leaves_before_pytorch_is_needed(memquiz):
    run = memquiz(*RUN, **{LOOKING: "1"})
    assert (run.returncode, run.stdout, run.stderr) == (Exit.SOUND, "", "")


def test_bootstrap_and_memquiz_agree_on_how_they_look():
    text = (ROOT / "bootstrap.py").read_text()
    assert f"SOUND = {Exit.SOUND.value}\n" in text
    assert f'{LOOKING}="1"' in text


def test_a_pytorch_that_is_too_old_is_told_with_its_version(before_all):
    described = "Metadata-Version: 2.1\nName: torch\nVersion: 2.4.1+cpu\n"
    files = {"torch-2.4.1.dist-info/METADATA": described, "torch/__init__.py": "broken"}
    run = before_all(*RUN, files=files)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "memquiz: verify needs PyTorch 2.9 or newer, and 2.4.1+cpu is installed: "
        'pip install "memquiz[verify]"\n'
    )


def test_a_pytorch_that_does_not_load_is_told_with_the_reason(before_all):
    broken = "raise OSError('libcudart.so.13: cannot open shared object file')"
    described = "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n"
    files = {"torch-2.13.0.dist-info/METADATA": described, "torch/__init__.py": broken}
    run = before_all(*RUN, files=files)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "memquiz: PyTorch 2.13.0 is installed but does not load: libcudart.so.13: cannot open "
        "shared object file\n"
    )


def test_the_oldest_pytorch_is_the_one_of_the_project_file():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extras["optional-dependencies"]["verify"] == [f"torch>={'.'.join(map(str, OLDEST))}"]


# A background job inherits that Ctrl-C is ignored.
INTERRUPTIBLE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.execv(sys.executable, [sys.executable, "-m", "quiz", *sys.argv[1:]])
"""


@pytest.mark.skipif(os.name == "nt", reason="the signal is POSIX's")
@pytest.mark.parametrize("seconds", [0.8, 2.5])
def test_ctrl_c_ends_it_at_once_and_leaves_nothing(environment, tmp_path, seconds):
    pytest.importorskip("torch")
    large = ("verify", "--model", "llama-3-8b", "--gpu", "h200", "--sequence", "8192")
    files = ("--html", str(tmp_path / "page"), "--snapshot", str(tmp_path / "taken"))
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *large, *files],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10) == (b"", b"")
    assert (process.returncode, list(tmp_path.iterdir())) == (130, [])


INTERRUPTING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.skipif(os.name == "nt", reason="the signal is POSIX's")
@pytest.mark.parametrize(
    "name", ["click", "quiz.cli", "quiz.output.plain", "quiz.commands.verify", "sympy", "torch"]
)
def test_ctrl_c_is_quiet_while_anything_loads(before_all, name):
    run = before_all(*RUN, files={"sitecustomize.py": INTERRUPTING.format(name=name)})
    # Where click hears it, it ends the line that holds the terminal's ^C.
    assert (run.returncode, run.stdout, run.stderr.strip()) == (130, "", "")


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def shown(*seconds, total=20):
    """What stands on the terminal when a layer is done at each of these seconds."""
    stream, clock = io.StringIO(), Clock()
    with progress(total, stream, clock) as tell:
        for done, second in enumerate(seconds, start=1):
            clock.now = 100.0 + second
            tell(done)
    return stream.getvalue()


def test_work_that_is_short_shows_no_progress():
    assert shown(0.1, 0.5, 0.9) == ""


def test_what_comes_before_the_first_layer_is_shown_at_once_and_taken_away():
    stream, clock = io.StringIO(), Clock()
    with progress(20, stream, clock, before="building the model") as tell:
        assert stream.getvalue() == f"{ERASE}building the model"
        clock.now += 2
        tell(1)
    assert stream.getvalue().endswith(f"model{ERASE}traced 1 of 20 layers{ERASE}")


def test_what_is_done_is_said_while_it_is_done():
    stream = io.StringIO()
    with saying("loading PyTorch", stream):
        assert stream.getvalue() == f"{ERASE}loading PyTorch"
    assert stream.getvalue().endswith(ERASE)


def test_longer_work_shows_its_progress_and_takes_it_away():
    assert shown(0.5, 1.1, 5.0) == (
        f"{ERASE}traced 2 of 20 layers{ERASE}traced 3 of 20 layers{ERASE}"
    )


def test_progress_is_not_written_more_often_than_it_is_read():
    page = shown(*(1 + n / 1000 for n in range(200)), total=200)
    assert page.count("traced") == 2


def test_more_layers_than_foreseen_are_all_of_them():
    assert "traced 3 of 3 layers" in shown(1, 2, 3, 4, total=3)


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "kind", "seen"),
    [
        (Screen(), "xterm", True),
        (Screen(), "dumb", False),
        (Screen(), "", False),
        (io.StringIO(), "xterm", False),
    ],
)
def test_only_a_terminal_that_can_erase_a_line_is_shown_progress(monkeypatch, stream, kind, seen):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", kind)
    assert terminal() is (stream if seen else None)


@pytest.mark.parametrize(
    ("rank", "quiet", "output", "seen"),
    [
        ("0", False, io.StringIO(), True),
        ("0", True, io.StringIO(), False),
        ("0", True, Screen(), True),
        ("1", False, Screen(), False),
    ],
)
def test_the_first_rank_shows_progress_where_someone_watches(
    monkeypatch, rank, quiet, output, seen
):
    stream = Screen()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("sys.stdout", output)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("RANK", rank)
    assert watched(quiet=quiet) is (stream if seen else None)
