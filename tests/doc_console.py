"""The `console` blocks of a document: what stands in them, and what the commands print now.

A line that begins with "$ " is a command for a shell (a backslash at its end continues it); what
follows, up to the next one, is its output. A line "…" stands for lines that were left out.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
OPENING, CLOSING = "```console", "```"
SKIPPED = "…"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A command as it stands in a document, and the lines below it."""

    typed: tuple[str, ...]
    printed: tuple[str, ...]

    @property
    def command(self):
        return "\n".join(self.typed).removeprefix("$ ")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A console block: its steps, and the lines of the document between its fences."""

    first: int
    last: int
    steps: tuple[Step, ...]


def documents():
    """Return every document of the project."""
    return [ROOT / name for name in DOCUMENTS] + sorted((ROOT / "docs").glob("*.md"))


def blocks(text):
    """Return the console blocks of a document."""
    lines = text.splitlines()
    found = []
    for first, line in enumerate(lines):
        if line == OPENING:
            last = lines.index(CLOSING, first)
            found.append(Block(first=first + 1, last=last, steps=_steps(lines[first + 1 : last])))
    return found


def _steps(lines):
    steps = []
    while lines:
        size = 1
        while lines[size - 1].endswith("\\"):
            size += 1
        end = next(
            (i for i, x in enumerate(lines) if i >= size and x.startswith("$ ")), len(lines)
        )
        steps.append(Step(typed=tuple(lines[:size]), printed=tuple(lines[size:end])))
        lines = lines[end:]
    return tuple(steps)


def prepare(folder):
    """Put into `folder` what a reader has: the example files, and `memquiz` among the programs."""
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    program = folder / "bin" / "memquiz"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m quiz "$@"\n')
    program.chmod(0o755)


def run(step, folder):
    """Return the lines that a step's command prints, errors among them."""
    environment = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "MEMQUIZ_DATA": str(folder / "data"),
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["sh", "-c", step.command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=folder,
        check=False,
        timeout=60,
    )
    return tuple(done.stdout.decode().splitlines())


def shortened(step, actual):
    """Return `actual` with as much left out as the document leaves out.

    Each run of lines between two "…" is as long as in the document: the first begins where the
    output does, the last ends where it does, one between begins at the line that it begins with
    in the document.
    """
    if SKIPPED not in step.printed:
        return actual
    head, *middles, tail = _split(step.printed)
    kept, rest = [*actual[: len(head)]], actual[len(head) : len(actual) - len(tail)]
    for piece in middles:
        start = rest.index(piece[0]) if piece[0] in rest else 0
        kept += [SKIPPED, *rest[start : start + len(piece)]]
        rest = rest[start + len(piece) :]
    return (*kept, SKIPPED, *(actual[-len(tail) :] if tail else ()))


def _split(printed):
    pieces = [[]]
    for line in printed:
        if line == SKIPPED:
            pieces.append([])
        else:
            pieces[-1].append(line)
    return pieces
