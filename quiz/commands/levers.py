"""`memquiz levers`."""

import json
import sys

import click

from engine.errors import Fault, InputError
from quiz.exits import Exit, exits
from quiz.levers.report import as_json, report
from quiz.levers.screen import show
from quiz.options.plain import with_plain
from quiz.options.scenario import scenario_from, scenario_options
from quiz.options.values import whole
from quiz.output.screen import open_console

MOST = 90


@click.command()
@scenario_options
@click.option("--headroom", metavar="PERCENT", help="Of the card, that is to stay free; else 0.")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object and nothing else.")
@exits
@with_plain
def command(
    scenario: str | None, *, headroom: str | None, as_object: bool, **options: object
) -> Exit:
    """Print what each change saves and costs, and which combinations fit.

    SCENARIO is a TOML file, or - for standard input. Options stand for a file or change what is
    in it. The exit code is 0 where the step or a change of it fits, 1 where none does, 3 where it
    is tight at best.
    """
    free = _percent(headroom)
    found = report(scenario_from(scenario, options), headroom=free)
    if as_object:
        sys.stdout.write(json.dumps(as_json(found), indent=2) + "\n")
    else:
        show(open_console(), found)
    return found.code


def _percent(typed: str | None) -> int:
    value = 0 if typed is None else whole("--headroom", typed)
    if isinstance(value, Fault):
        raise InputError(value)
    if not 0 <= value <= MOST:
        raise InputError(Fault("--headroom", f"{value:,} is not from 0 to {MOST}"))
    return value
