"""The `console` blocks of a document: what stands in them, and what the commands print now.

A line that begins with "$ " is a command for a shell (a backslash at its end continues it); what
follows, up to the next one, is its output. A line "…" stands for lines that were left out.

A block whose fence names a file, as "```python file=engine/levers/known/x.py" or "```toml
append=engine/data/models.toml", is written into a copy of the project, or behind what stands
there; the console blocks below it, up to the next heading, are run in that copy.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
OPENING, CLOSING = "```console", "```"
FILE = re.compile(r"```\w+ (file|append)=(\S+)")
PACKAGES = ("engine", "problems", "quiz")
TREE = "tree"
RECIPES = Path(__file__).parent / "recipes"
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
class File:
    """A file that a document adds to the project, or lines that it adds to one.

    It stands in `RECIPES` too, where it is linted and tested, and is written from there into the
    lines `first` to `last` of the document.
    """

    path: str
    text: str
    appended: bool
    first: int
    last: int

    @property
    def source(self):
        (found,) = RECIPES.glob(f"*/{self.path}")
        return found


@dataclass(frozen=True, kw_only=True)
class Block:
    """A console block: its steps, and the lines of the document between its fences."""

    first: int
    last: int
    steps: tuple[Step, ...]
    files: tuple[File, ...] = ()


def documents():
    """Return every document of the project."""
    return [ROOT / name for name in DOCUMENTS] + sorted((ROOT / "docs").glob("*.md"))


def blocks(text):
    """Return the console blocks of a document."""
    return _read(text)[0]


def files(text):
    """Return the files that a document adds to the project."""
    return _read(text)[1]


def _read(text):
    lines = text.splitlines()
    found, every, files, first = [], [], [], 0
    while first < len(lines):
        line = lines[first]
        if line.startswith("#"):
            files = []
        if line.startswith(CLOSING):
            last = lines.index(CLOSING, first + 1)
            inside = lines[first + 1 : last]
            if named := FILE.fullmatch(line):
                file = File(
                    path=named[2],
                    text="\n".join([*inside, ""]),
                    appended=named[1] == "append",
                    first=first + 1,
                    last=last,
                )
                files.append(file)
                every.append(file)
            elif line == OPENING:
                steps = _steps(inside)
                block = Block(first=first + 1, last=last, steps=steps, files=tuple(files))
                found.append(block)
            first = last
        first += 1
    return found, every


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


def prepare(folder, files=()):
    """Put into `folder` what a reader has: the example files, and `memquiz` among the programs.

    With `files` to add to the project, a copy of it that has them too; other files lie where the
    reader is.
    """
    if any(_of_project(file) for file in files):
        for package in PACKAGES:
            shutil.copytree(ROOT / package, folder / TREE / package)
    for file in files:
        path = (folder / TREE if _of_project(file) else folder) / file.path
        assert path.exists() == file.appended, file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as target:
            target.write(f"\n{file.text}" if file.appended else file.text)
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    program = folder / "bin" / "memquiz"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m quiz "$@"\n')
    program.chmod(0o755)


def _of_project(file):
    return file.path.split("/")[0] in PACKAGES


def run(step, folder):
    """Return the lines that a step's command prints, errors among them."""
    tree = folder / TREE
    environment = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "PYTHONPATH": str(tree if tree.exists() else ROOT),
        "PYTHONUTF8": "1",
        "MEMQUIZ_DATA": str(folder / "data"),
        "COLUMNS": "80",
        "TZ": "UTC",
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
