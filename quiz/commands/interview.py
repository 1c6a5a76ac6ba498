"""`memquiz interview`."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from time import monotonic
from typing import TypedDict, Unpack

import click

from engine.errors import Fault, InputError
from problems.interview.drawing import interview
from problems.interview.points import table
from quiz.exits import Exit, exits
from quiz.history.interviews import ALONE, Interviews
from quiz.history.store import data_folder
from quiz.interview.closing import close, left
from quiz.interview.dialogue import Dialogue
from quiz.interview.kept_before import kept_before
from quiz.interview.marking import card
from quiz.interview.replaying import replay
from quiz.interview.sheet_files import folder_faults
from quiz.interview.sitting import Sitting
from quiz.interview.taking_up import (
    BARE,
    LEVEL,
    LEVELS,
    LONGEST,
    MINUTES,
    SHORTEST,
    Taken,
    Wanted,
    marks,
    take_up,
    taken,
    wanted_faults,
)
from quiz.interview.terminal import Terminal
from quiz.interview.two import SHORT, Wishes, of_two
from quiz.options.plain import with_plain
from quiz.options.values import whole
from quiz.output.screen import open_console, paragraph, whole_lines


class Options(TypedDict):
    """What is asked for, as click passes it."""

    level: str | None
    minutes: str | None
    seed: str | None
    at_once: bool
    new: bool
    no_save: bool
    replay: str | None
    scorecard: str | None
    out: str | None
    interviewer: bool


@click.command()
@click.option("--level", metavar="L", help=f"One of {', '.join(LEVELS)}; else {LEVEL}.")
@click.option(
    "--minutes", metavar="M", help=f"Planned time, {SHORTEST} to {LONGEST}; else {MINUTES}."
)
@click.option("--seed", metavar="S", help="The same seed gives the same interview.")
@click.option("--at-once", is_flag=True, help="Show marks behind each question, not at the end.")
@click.option("--new", is_flag=True, help="Begin a new one, whatever was left unfinished.")
@click.option("--no-save", is_flag=True, help="Keep nothing of this interview on disk.")
@click.option(
    "--replay",
    metavar="[ID]",
    is_flag=False,
    flag_value="",
    help="Show the last finished interview again, or the one with this number or id.",
)
@click.option("--scorecard", metavar="DIR", help="Write the scorecard's pages into this folder.")
@click.option(
    "--out",
    metavar="DIR",
    help="Write sheets for a candidate and an interviewer, and ask nothing.",
)
@click.option(
    "--interviewer",
    is_flag=True,
    help="Show the interviewer's screen: clock, answers, a key a mark.",
)
@exits
@with_plain
def command(**options: Unpack[Options]) -> Exit:
    """Hold a mock interview, and be marked as an interviewer would.

    One training run is gone through part by part. Type what you think, in as many lines as you
    like; a line that can be read as the answer is the answer. An empty line goes on. One that was
    left unfinished goes on where it stopped, if it has the options given.
    """
    asked = _asked(options)
    if options["out"] is not None or options["interviewer"]:
        return of_two((asked.level, asked.minutes, asked.seed), _wishes(options))
    if options["replay"] is not None:
        return _replay(options["replay"], options["scorecard"])
    if sys.stdin is None:  # closed before the process began
        raise InputError(Fault("standard input", "is closed", "answers are read from it"))
    with nullcontext() if options["no_save"] else Interviews(data_folder()) as store:
        found = take_up(asked, interview, store=store, new=options["new"])
        return _hold(found, store, options["scorecard"])


def _asked(options: Options) -> Wanted:
    level, folder = options["level"], options["scorecard"]
    minutes = None if options["minutes"] is None else whole("--minutes", options["minutes"])
    seed = None if options["seed"] is None else whole("--seed", options["seed"])
    faults = [*wanted_faults(level, minutes, seed), *_disagreements(options)]
    faults += () if folder is None else folder_faults("--scorecard", folder)
    if faults or isinstance(minutes, Fault) or isinstance(seed, Fault):
        raise InputError(*faults)
    known = next((one for one in LEVELS if one == level), None)
    return Wanted(level=known, minutes=minutes, seed=seed, at_once=options["at_once"] or None)


def _wishes(options: Options) -> Wishes:
    return Wishes(
        out=options["out"],
        interviewer=options["interviewer"],
        new=options["new"],
        no_save=options["no_save"],
        at_once=options["at_once"],
        replay=options["replay"],
        scorecard=options["scorecard"],
    )


def _disagreements(options: Options) -> Iterator[Fault]:
    if options["at_once"] and options["interviewer"]:
        what = "is for a candidate alone: an interviewer's screen shows all of it"
        yield Fault("--at-once", what, "leave it out beside --interviewer")
    beside = {"replay", "scorecard", "interviewer", "out"}
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in options.items()
        if value and name not in beside
    ]
    if options["replay"] is not None and given:
        what = f"shows an interview that was held, and {', '.join(given)} would begin one"
        yield Fault("--replay", what, "leave out one of the two")


def _hold(found: Taken, store: Interviews | None, folder: str | None) -> Exit:
    console = open_console()
    if store is not None and store.notice:
        whole_lines(console, store.notice)
    if found.remark:
        paragraph(console, found.remark)
    if found.resumed and not found.sitting.finished:
        part = found.sitting.part_of(found.sitting.position) + 1
        paragraph(console, f"Going on in part {part}. A new interview: --new")
    saved = found.saved
    keep = partial(store.keep, saved.key) if store is not None and saved is not None else _unkept
    candidate = Terminal(console, sys.stdin, phrases_of)
    dialogue = Dialogue(found.sitting, candidate=candidate, journal=keep, clock=monotonic)
    ending = dialogue.run()
    console.print()
    if ending != "finished":
        left(console, found.again, folder, kept=saved is not None)
        return Exit.INTERRUPTED if ending == "interrupted" else Exit.DONE
    scorecard = card(dialogue.sitting, started=found.started, phrases=phrases_of)
    if store is not None and saved is not None:
        store.finish(saved.key, marks(scorecard))
    again = "" if saved is None else f"{BARE} --replay {saved.uid[:SHORT]}"
    close(console, scorecard, folder, again)
    return Exit.DONE


def phrases_of(name: str) -> Sequence[str]:
    """Return what a point of the table is heard by."""
    return table()[name].phrases


def _unkept(_seconds: float, _line: str) -> None:
    """Keep nothing."""


def _replay(name: str, folder: str | None) -> Exit:
    saved = kept_before(data_folder(), name, mode=ALONE)
    console = open_console()
    found = taken(saved, interview)
    if found.remark:
        paragraph(console, found.remark)
    begun = Sitting(interview=found.sitting.interview, at_once=found.sitting.at_once)
    for line in replay(begun, saved.lines):
        paragraph(console, line, indent=1, hanging=9 if " > " in line[:10] else 0)
    console.print()
    close(console, card(found.sitting, started=found.started, phrases=phrases_of), folder)
    return Exit.DONE
