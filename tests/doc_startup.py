"""What each command imports, out of processes that say what they load."""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = ("engine", "problems", "quiz")
HEAVY = (
    *("click", "rich", "jinja2", "platformdirs", "sqlite3", "sympy", "numpy"),
    *("torch", "transformers"),
)
SOLVED = "--model gpt2 --sequence 64 --gpu t4"
TINY = "--layers 2 --hidden 16 --heads 1 --ffn 16 --vocab 16 --sequence 16 --gpu t4"
# What a document says of a command, and what is typed.
COMMANDS = {
    "`memquiz --help`": "--help",
    "`memquiz practice`, to the first question": "practice --seed 1 --count 1",
    "`memquiz practice --kind claim`, the same": "practice --kind claim --seed 1 --count 1",
    "`memquiz interview`, to the first question": "interview --seed 1",
    "`memquiz progress`": "progress",
    "`memquiz history`": "history",
    "`memquiz solve`": f"solve {SOLVED}",
    "`memquiz solve --json`": f"solve --json {SOLVED}",
    "`memquiz levers`": f"levers {SOLVED}",
    "`memquiz check`": "check claim --seeds 1",
    "`memquiz catalog models`": "catalog models",
    "`memquiz catalog gpus`": "catalog gpus",
    "`memquiz catalog kinds`": "catalog kinds",
    "`memquiz catalog levers`": "catalog levers",
    "`memquiz catalog claims`": "catalog claims",
    "`memquiz catalog mistakes`": "catalog mistakes",
    "`memquiz verify --help`": "verify --help",
    "`memquiz verify --device fake`": f"verify --device fake {TINY}",
}


def startup():
    """Yield the heavy modules that each command imports, and how many of memquiz's own."""
    yield "command", "imports", "modules of its own"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for said, found in zip(COMMANDS, pool.map(imported, COMMANDS.values()), strict=True):
            heavy = ", ".join(f"`{name}`" for name in HEAVY if name in found)
            yield said, heavy, sum(name.split(".")[0] in OURS for name in found)


def imported(typed):
    """Return the names of the modules that a command imports until it ends."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "quiz", *typed.split()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT), "MEMQUIZ_DATA": folder},
            cwd=folder,
            check=False,
            timeout=60,
        )
    rows = (line.rsplit("|", 1) for line in done.stderr.decode().splitlines())
    return {row[1].strip() for row in rows if row[0].startswith("import time:")}
