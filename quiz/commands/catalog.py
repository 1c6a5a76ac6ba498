"""`memquiz catalog`."""

import json
import sys

import click

from engine.errors import InputError, unknown
from quiz.catalog import TABLES
from quiz.exits import Exit, exits
from quiz.options.kinds import with_kinds
from quiz.options.plain import with_plain
from quiz.output.screen import columns, open_console, paragraph


@click.command()
@click.argument("what", metavar=f"{{{'|'.join(TABLES)}}}")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object and nothing else.")
@exits
@with_kinds
@with_plain
def command(what: str, *, as_object: bool) -> Exit:
    """List models, GPUs, kinds of question, levers, mistakes or claims."""
    if what not in TABLES:
        raise InputError(unknown("catalog", what[:40], tuple(TABLES)))
    table = TABLES[what]()
    if as_object:
        sys.stdout.write(json.dumps({what: table.values}, indent=2) + "\n")
    else:
        console = open_console()
        columns(console, table.heads, table.rows)
        paragraph(console, table.note)
    return Exit.DONE
