"""Writes today's output and today's tables into the documents: python tests/renew_docs.py.

What changed is for a person to read (`git diff`) before it is kept.
"""

import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from doc_console import blocks, documents, files, prepare, run, shortened
from doc_tables import generated, places


def main() -> None:
    for document in documents():
        old = document.read_text(encoding="utf-8")
        new = _consoles(_files(_tables(old)))
        if new != old:
            document.write_text(new, encoding="utf-8")
            sys.stdout.write(f"renewed {document.name}\n")


def _tables(text):
    lines = text.splitlines()
    for name, first, last in reversed(places(text)):
        lines[first:last] = generated(name)
    return "\n".join([*lines, ""])


def _files(text):
    lines = text.splitlines()
    for file in reversed(files(text)):
        lines[file.first : file.last] = file.source.read_text(encoding="utf-8").splitlines()
    return "\n".join([*lines, ""])


def _consoles(text):
    lines = text.splitlines()
    for block in reversed(blocks(text)):
        with tempfile.TemporaryDirectory() as name:
            prepare(Path(name), block.files)
            now = []
            for step in block.steps:
                now += [*step.typed, *shortened(step, run(step, Path(name)))]
        lines[block.first : block.last] = now
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
