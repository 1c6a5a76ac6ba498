"""`memquiz check`."""

import json
import sys
from collections.abc import Sequence

import click

from engine.errors import Fault, InputError, unknown
from problems.kind import Kind
from problems.registry import kinds
from quiz.check.checking import check
from quiz.check.report import as_json, lines, summary
from quiz.exits import Exit, exits
from quiz.options.kinds import with_kinds
from quiz.options.values import whole
from quiz.output.started import typed_here

SEEDS = 200
MOST = 10_000


@click.command()
@click.argument("names", metavar="[KIND]...", nargs=-1)
@click.option("--seeds", metavar="N", default=str(SEEDS), help=f"Problems a kind; else {SEEDS}.")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object and nothing else.")
@exits
@with_kinds
def command(names: tuple[str, ...], *, seeds: str, as_object: bool) -> Exit:
    """Hold kinds of question to the rules of the bank.

    Each KIND, or every one, makes a problem of each seed from 0 on. What a rule does not let pass
    is a line: where it stands, what it is, what to do next. The exit code is 0 where all is well,
    1 where something was found.
    """
    wanted, number = _wanted(names), _number(seeds)
    found = []
    for checked in check(wanted, number, bank=len(wanted) == len(kinds())):
        found.append(checked)
        if not as_object:
            sys.stdout.writelines(f"{typed_here(line)}\n" for line in lines(checked))
            sys.stdout.flush()
    if as_object:
        sys.stdout.write(json.dumps(as_json(found), indent=2) + "\n")
    else:
        sys.stdout.write(f"{summary(found)}\n")
    return Exit.NO if any(checked.findings for checked in found) else Exit.DONE


def _wanted(names: Sequence[str]) -> tuple[Kind, ...]:
    """Return the kinds that are named, each once; all where none is."""
    faults = [unknown("KIND", name[:40], tuple(kinds())) for name in names if name not in kinds()]
    if faults:
        raise InputError(*faults)
    return tuple(kinds()[name] for name in dict.fromkeys(names or kinds()))


def _number(typed: str) -> int:
    number = whole("--seeds", typed)
    if isinstance(number, Fault):
        raise InputError(number)
    if not 1 <= number <= MOST:
        raise InputError(Fault("--seeds", f"{number:,} is not in 1 to {MOST:,}"))
    return number
