"""`memquiz explain`."""

import json
import sys

import click

from quiz.exits import Exit, exits
from quiz.explain.finding import explained
from quiz.explain.screen import show
from quiz.options.kinds import with_kinds
from quiz.options.plain import with_plain
from quiz.output.screen import open_console


@click.command()
@click.argument("topic", metavar="TOPIC", nargs=-1, required=True)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object and nothing else.")
@exits
@with_kinds
@with_plain
def command(topic: tuple[str, ...], *, as_object: bool) -> Exit:
    """Explain a topic, a line of the ledger, a lever or a mistake.

    TOPIC is the letter or the title of a topic, a category of memory, or the name of a line, an
    optimizer, a precision, a lever, a kind of question, a mistake, a key of a scenario file, a
    model or a GPU. Of lines there are the formula, where it comes from, its source and how it is
    known.
    """
    found = explained(" ".join(topic))
    if as_object:
        values = {"explanations": [one.as_json for one in found]}
        sys.stdout.write(json.dumps(values, indent=2) + "\n")
        return Exit.DONE
    console = open_console()
    for place, one in enumerate(found):
        if place:
            console.print()
        show(console, one)
    return Exit.DONE
