"""`memquiz history`."""

import sys
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import click

from engine.errors import Fault, InputError
from quiz.exits import Exit, exits
from quiz.history.database import FILE, Database
from quiz.history.exchange import counts_of, exported, kept_rows, read_rows
from quiz.history.merging import merge
from quiz.history.overview import overview
from quiz.history.rows import Row
from quiz.history.store import data_folder
from quiz.history.words import counted, described, merged
from quiz.output.files import output_faults, write_text, writing
from quiz.output.screen import open_console, paragraph, whole_lines

DASH = "-"
LABEL = 9


@click.group(invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Say where the answers are kept; write them to a file, or read one.

    Answers are kept in the user's data folder, or in the folder that MEMQUIZ_DATA names.
    """
    if context.invoked_subcommand is None:
        exits(_shown)()


def _shown() -> Exit:
    console = open_console()
    for label, said in described(overview(data_folder())):
        whole_lines(console, f"{label:<{LABEL}}{said}")
    return Exit.DONE


@command.command("export")
@click.argument("file", required=False)
@exits
def _export(file: str | None) -> Exit:
    """Write every answer as JSON lines, to FILE or to standard output.

    It is standard output too where FILE is -. Nothing is left out: also what was taken back, marks
    of your own, and interviews.
    """
    folder = data_folder()
    file = None if file == DASH else file
    faults = [*output_faults({"FILE": file}, {"the learner's file": str(folder / FILE)})]
    if faults:
        raise InputError(*faults)
    with closing(Database(folder, only_read=True)) as database, database.reading() as connection:
        rows = kept_rows(connection)
    lines = "".join(exported(rows))
    if file is None:
        sys.stdout.write(lines)
        return Exit.DONE
    with writing("FILE", file) as path:
        write_text(path, lines)
    whole_lines(open_console(), f"Wrote {counted(counts_of(rows))} to {file}")
    return Exit.DONE


@command.command("import")
@click.argument("file")
@exits
def _import(file: str) -> Exit:
    """Add the answers of an exported FILE, or of standard input where it is -.

    What is there already stays, and is not added again. All of the file is taken, or nothing.
    """
    said = "standard input" if file == DASH else file
    rows = _read(file, said)
    with closing(Database(data_folder())) as database:
        console = open_console()
        if database.notice:
            whole_lines(console, database.notice)
        paragraph(console, merged(merge(database, rows, said)))
    return Exit.DONE


def _read(file: str, said: str) -> tuple[Row, ...]:
    try:
        if file != DASH:
            with Path(file).open("rb") as stream:
                return read_rows(stream, said)
        return read_rows(_standard_input(), said)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        what = f"cannot be read: {reason}"
        raise InputError(Fault(said, what, "name a file of memquiz history export")) from error


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # closed before the process began
        raise InputError(Fault("standard input", "is closed", "an exported file is read from it"))
    return sys.stdin.buffer
