"""`memquiz check`."""

import json
import sys
from collections.abc import Sequence

import click

from engine.errors import Fault, InputError, unknown
from problems.kind import Kind
from problems.own_folders import own_folders
from problems.own_kinds import kinds_of
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
@click.option(
    "--all", "every", is_flag=True, help="The kinds of the bank beside those of --kinds."
)
@exits
@with_kinds
def command(names: tuple[str, ...], *, seeds: str, as_object: bool, every: bool) -> Exit:
    """Hold kinds of question to the rules of the bank.

    Each KIND makes a problem of each seed from 0 on; where none is named, each kind of the
    folders of --kinds, or of the bank where no folder is given. What a rule does not let pass is
    a line: where it stands, what it is, what to do next. The exit code is 0 where all is well, 1
    where something was found.
    """
    wanted, number = chosen(names, every=every), _number(seeds)
    if own_folders() and not (names or every or as_object):
        sys.stdout.write(f"kinds of your own: {len(wanted)}; those of the bank too: --all\n")
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


def chosen(names: Sequence[str], *, every: bool) -> tuple[Kind, ...]:
    """Return the kinds that are named, each once; where none is, those of the folders in use."""
    faults = [unknown("KIND", name[:40], tuple(kinds())) for name in names if name not in kinds()]
    if names and every:
        faults.append(
            Fault("--all", "takes every kind, and some are named", "give one of the two")
        )
    if faults:
        raise InputError(*faults)
    own = [] if every else [kind.name for folder in own_folders() for kind in kinds_of(folder)]
    return tuple(kinds()[name] for name in dict.fromkeys(names or own or kinds()))


def _number(typed: str) -> int:
    number = whole("--seeds", typed)
    if isinstance(number, Fault):
        raise InputError(number)
    if not 1 <= number <= MOST:
        raise InputError(Fault("--seeds", f"{number:,} is not in 1 to {MOST:,}"))
    return number
