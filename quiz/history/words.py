"""What the file holds and what came to it, in the words of a report."""

from collections.abc import Iterator, Mapping

from engine.units import decimal
from quiz.history.merging import Merged
from quiz.history.overview import Overview
from quiz.history.schema import SCHEMA

NAMED = {
    "sets": ("set", "sets"),
    "attempts": ("answer", "answers"),
    "interviews": ("interview", "interviews"),
    "interview_lines": ("line of interviews", "lines of interviews"),
}


def described(kept: Overview) -> Iterator[tuple[str, str]]:
    """Yield a label and what is to be said behind it."""
    yield "file", str(kept.path.absolute())
    if not kept.format:
        yield "kept", "nothing yet; the file is made by the first answers"
        return
    if kept.first:
        yield "answers", f"{kept.first} to {kept.last} UTC"
    yield "size", f"{decimal(kept.size)}, sound"
    yield "format", str(kept.format) + _old(kept.format)
    back = f"; {kept.undone:,} taken back" if kept.undone else ""
    yield "kept", f"{counted(kept.counts)}{back}"
    for copy in kept.backups:
        yield "backup", copy.name


def _old(number: int) -> str:
    if number == SCHEMA:
        return ""
    return f"; the next practice brings it to {SCHEMA} and leaves a backup"


def counted(counts: Mapping[str, int]) -> str:
    """Return "12 sets, 118 answers"; interviews where there are some."""
    return ", ".join(
        f"{counts.get(table, 0):,} {NAMED[table][counts.get(table, 0) != 1]}"
        for table in NAMED
        if counts.get(table, 0) or table in {"sets", "attempts"}
    )


def merged(done: Merged) -> str:
    """Return what an import added, and what was there already."""
    were = "was" if done.there == 1 else "were"
    said = f"Added {counted(done.added)}; {done.there:,} {were} there already."
    if not done.further:
        return said
    rows = "row was" if done.further == 1 else "rows were"
    return f"{said} {done.further:,} {rows} brought to the later state of the file."
