"""`memquiz solve`."""

import json
import sys

import click

from quiz.exits import Exit, exits
from quiz.options.plain import with_plain
from quiz.options.scenario import scenario_from, scenario_options
from quiz.output.screen import open_console
from quiz.solve.report import as_json, solve
from quiz.solve.screen import show, show_formulas


@click.command()
@scenario_options
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--formula", is_flag=True, help="Print the formulas behind the numbers too.")
@exits
@with_plain
def command(scenario: str | None, *, as_object: bool, formula: bool, **options: object) -> Exit:
    """Print the memory of a training step or of inference, line by line.

    SCENARIO is a TOML file, or - for standard input. Options stand for a file or change what is
    in it. The exit code is 0 where it fits, 1 where it does not, 3 where it is tight.
    """
    solved = solve(scenario_from(scenario, options))
    if as_object:
        sys.stdout.write(json.dumps(as_json(solved), indent=2) + "\n")
        return solved.code
    console = open_console()
    show(console, solved)
    if formula:
        console.print()
        show_formulas(console, solved)
    return solved.code
