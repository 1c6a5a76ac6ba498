#!/usr/bin/env python3
"""How long a process of memquiz takes, beside what it cannot do without.

    python3 bootstrap.py python benchmarks/startup.py [ROUNDS]

Whole processes, from their start to their exit. The commands take turns, so that a machine that
is busy for a while slows all of them; what counts is the ratio of the medians.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROUNDS = 15
ROOT = Path(__file__).parents[1]
SCRIPT = shutil.which("memquiz", path=str(Path(sys.executable).parent))
MEMQUIZ = (SCRIPT,) if SCRIPT else (sys.executable, "-m", "quiz")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A command, and how many times as long as another one it may take."""

    name: str
    command: tuple[str, ...]
    beside: str = ""
    aim: float = 0.0


RUNS = (
    Run(name="import click", command=(sys.executable, "-c", "import click")),
    Run(name="import sympy", command=(sys.executable, "-c", "import sympy")),
    Run(name="memquiz --help", command=(*MEMQUIZ, "--help"), beside="import click", aim=1.5),
    Run(
        name="first question",
        command=(*MEMQUIZ, "practice", "--no-save", "--seed", "1", "--count", "1"),
        beside="import sympy",
        aim=1.6,
    ),
    Run(
        name="memquiz solve",
        command=(
            *(*MEMQUIZ, "solve", "--model", "llama-3-8b", "--gpu", "h100-80gb"),
            *("--gpus", "8", "--zero", "3", "--sequence", "8192", "--recompute", "full"),
        ),
        beside="import sympy",
        aim=1.3,
    ),
)


def main(rounds: int) -> None:
    """Time every command `rounds` times in turn and print medians and ratios."""
    seconds: dict[str, list[float]] = {run.name: [] for run in RUNS}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"MEMQUIZ_DATA": folder}
        for run in RUNS:
            timed(run.command, environment)  # compiles what is not compiled yet
        for _ in range(rounds):
            for run in RUNS:
                seconds[run.name].append(timed(run.command, environment))
    sys.stdout.write(f"memquiz is {SCRIPT or 'python -m quiz'}; {rounds} rounds\n")
    medians = {name: median(taken) for name, taken in seconds.items()}
    for run in RUNS:
        sys.stdout.write(f"{row(run, medians, min(seconds[run.name]))}\n")


def timed(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the seconds that `command` takes, with nothing on its standard input."""
    started = time.perf_counter()
    subprocess.run(  # noqa: S603 - the commands are those of the table above
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment,
        check=True,
    )
    return time.perf_counter() - started


def row(run: Run, medians: Mapping[str, float], best: float) -> str:
    """Return a line of the table."""
    said = f"{run.name:<16}median {medians[run.name] * 1e3:4.0f} ms   best {best * 1e3:4.0f} ms"
    if not run.beside:
        return said
    ratio = medians[run.name] / medians[run.beside]
    return f"{said}   {ratio:.2f} x {run.beside}, aim at most {run.aim}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
