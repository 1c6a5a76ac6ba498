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
from quiz.options.plain import with_plain
from quiz.options.values import whole
from quiz.output.screen import open_console, paragraph, whole_lines
from quiz.practice.closing import closing, onward
from quiz.practice.dialogue import Dialogue, Ending, Learner
from quiz.practice.due_said import due_said, nothing_due
from quiz.practice.json_lines import JsonLines
from quiz.practice.questions import LEVELS, MOST, unknown_names
from quiz.practice.session import Session
from quiz.practice.sitting import COUNT, Asked, NothingDue, Sitting, now, sit_down
from quiz.practice.terminal import Terminal


class Options(TypedDict):
    """What is asked for, as click passes it."""

    topic: str | None
    level: str | None
    kind: str | None
    count: str | None
    seed: str | None
    problem: tuple[str, ...]
    due: bool


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
@click.option("--due", is_flag=True, help="Ask what is due again, and nothing else.")
@click.option("--new", is_flag=True, help="Begin a new set, whatever was left unfinished.")
@click.option("--no-save", is_flag=True, help="Keep nothing of this set on disk.")
@click.option(
    "--json", "as_json", is_flag=True, help="Write JSON, an event a line, for a program."
)
@exits
@with_kinds
@with_plain
def command(*, new: bool, no_save: bool, as_json: bool, **options: Unpack[Options]) -> Exit:
    """Answer questions and be told what went wrong.

    A set that was left unfinished goes on where it stopped, if it has the options given. Answers
    are kept in the user's data folder, or in the folder that MEMQUIZ_DATA names.
    """
    front = JsonLines(sys.stdin, sys.stdout) if as_json else None
    try:
        asked = _asked(options)
        with nullcontext() if no_save else Store(data_folder()) as store:
            sitting = sit_down(asked, store=store, new=new)
            if isinstance(sitting, NothingDue):
                return _nothing(sitting, front)
            return _practise(sitting, store) if front is None else _drive(sitting, store, front)
    except InputError as error:
        if front is None:
            raise
        front.fail(error)
        return Exit.BAD_INPUT


def _asked(options: Options) -> Asked:
    if sys.stdin is None:  # closed before the process began
        raise InputError(Fault("standard input", "is closed", "answers are read from it"))
    count = None if options["count"] is None else whole("--count", options["count"])
    seed = None if options["seed"] is None else whole("--seed", options["seed"])
    names = options["topic"], options["level"], options["kind"]
    if isinstance(count, Fault) or isinstance(seed, Fault):
        faults = [number for number in (count, seed) if isinstance(number, Fault)]
        raise InputError(*unknown_names(*names), *faults)
    topic, level, kind = names
    problem = options["problem"] or None
    return Asked(
        topic=topic,
        level=level,
        kind=kind,
        count=count,
        seed=seed,
        problem=problem,
        due=options["due"] or None,
    )


def _nothing(due: NothingDue, front: JsonLines | None) -> Exit:
    said = nothing_due(due.first, now())
    if front is None:
        whole_lines(open_console(), said)
    else:
        nothing = Session(problems=())
        front.begin(nothing, saved=True)
        front.end(nothing, "finished", onward=said)
    return Exit.DONE


def _practise(sitting: Sitting, store: Store | None) -> Exit:
    console = open_console()
    learner = Terminal(console, sys.stdin)
    if store is not None and store.notice:
        whole_lines(console, store.notice)
    if sitting.resumed:
        done, whole_set = sitting.session.position, sitting.session.whole
        paragraph(console, f"Going on: {done} of {whole_set} answered. A new set: --new")
    session, ending = _asked_of(learner, sitting)
    console.print()
    ever = None if store is None else store.ranges()
    paragraph(console, closing(session, ending, ever))
    whole_lines(console, _next(session, ending, sitting, store))
    return _code(ending)


def _drive(sitting: Sitting, store: Store | None, front: JsonLines) -> Exit:
    front.begin(sitting.session, saved=sitting.saved)
    session, ending = _asked_of(front, sitting)
    front.end(session, ending, onward=_next(session, ending, sitting, store))
    return _code(ending)


def _asked_of(learner: Learner, sitting: Sitting) -> tuple[Session, Ending]:
    dialogue = Dialogue(
        sitting.session,
        learner=learner,
        journal=sitting.journal,
        build=from_id,
        clock=monotonic,
        planner=sitting.planner,
    )
    ending = dialogue.run()
    return dialogue.session, ending


def _next(session: Session, ending: Ending, sitting: Sitting, store: Store | None) -> str:
    said = onward(session, ending, again=sitting.again, saved=sitting.saved) + kinds_typed()
    if store is None or ending != "finished":
        return said
    return "\n".join(filter(None, (due_said(store.answered(), now()), said)))


def _code(ending: Ending) -> Exit:
    return Exit.INTERRUPTED if ending == "interrupted" else Exit.DONE
