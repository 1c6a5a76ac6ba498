"""`memquiz practice`."""

import sys
from contextlib import nullcontext
from time import monotonic
from typing import TypedDict, Unpack

import click

from engine.errors import Fault, InputError
from problems.registry import from_id
from quiz.exits import Exit, exits
from quiz.history.store import Store, data_folder
from quiz.options.kinds import kinds_typed, with_kinds
from quiz.options.values import whole
from quiz.output.screen import open_console, paragraph, whole_lines
from quiz.practice.closing import closing, onward
from quiz.practice.dialogue import Dialogue
from quiz.practice.questions import LEVELS, MOST, unknown_names
from quiz.practice.sitting import COUNT, Asked, Sitting, sit_down
from quiz.practice.terminal import Terminal


class Options(TypedDict):
    """What is asked for, as click passes it."""

    topic: str | None
    level: str | None
    kind: str | None
    count: str | None
    seed: str | None
    problem: tuple[str, ...]


@click.command()
@click.option("--topic", metavar="T", help="A topic's letter or a part of its title.")
@click.option("--level", metavar="L", help=f"One of {', '.join(LEVELS)}.")
@click.option("--kind", metavar="K", help="One kind of question; see `memquiz catalog kinds`.")
@click.option("--count", metavar="N", help=f"Number of questions, 1 to {MOST}; else {COUNT}.")
@click.option("--seed", metavar="S", help="The same seed gives the same questions.")
@click.option(
    "--problem",
    metavar="ID",
    multiple=True,
    help="This question, such as zero-states@7, and no other; may be given again.",
)
@click.option("--new", is_flag=True, help="Begin a new set, whatever was left unfinished.")
@click.option("--no-save", is_flag=True, help="Keep nothing of this set on disk.")
@exits
@with_kinds
def command(*, new: bool, no_save: bool, **options: Unpack[Options]) -> Exit:
    """Answer questions and be told what went wrong.

    A set that was left unfinished goes on where it stopped, if it has the options given. Answers
    are kept in the user's data folder, or in the folder that MEMQUIZ_DATA names.
    """
    asked = _asked(options)
    if sys.stdin is None:  # closed before the process began
        raise InputError(Fault("standard input", "is closed", "answers are read from it"))
    with nullcontext() if no_save else Store(data_folder()) as store:
        return _practise(sit_down(asked, store=store, new=new), store)


def _asked(options: Options) -> Asked:
    count = None if options["count"] is None else whole("--count", options["count"])
    seed = None if options["seed"] is None else whole("--seed", options["seed"])
    names = options["topic"], options["level"], options["kind"]
    if isinstance(count, Fault) or isinstance(seed, Fault):
        faults = [number for number in (count, seed) if isinstance(number, Fault)]
        raise InputError(*unknown_names(*names), *faults)
    topic, level, kind = names
    problem = options["problem"] or None
    return Asked(topic=topic, level=level, kind=kind, count=count, seed=seed, problem=problem)


def _practise(sitting: Sitting, store: Store | None) -> Exit:
    console = open_console()
    learner = Terminal(console, sys.stdin)
    if store is not None and store.notice:
        whole_lines(console, store.notice)
    if sitting.resumed:
        done, whole_set = sitting.session.position, len(sitting.session.problems)
        paragraph(console, f"Going on: {done} of {whole_set} answered. A new set: --new")
    dialogue = Dialogue(
        sitting.session,
        learner=learner,
        journal=sitting.journal,
        build=from_id,
        clock=monotonic,
    )
    ending = dialogue.run()
    console.print()
    ever = None if store is None else store.ranges()
    paragraph(console, closing(dialogue.session, ending, ever))
    next_ = onward(dialogue.session, ending, again=sitting.again, saved=sitting.saved)
    whole_lines(console, next_ + kinds_typed())
    return Exit.INTERRUPTED if ending == "interrupted" else Exit.DONE
