"""`memquiz progress`."""

import json
import sys
from datetime import UTC, date, datetime

import click

from engine.errors import Fault, InputError
from engine.fields import show as quoted
from problems.registry import kinds
from quiz.exits import Exit, exits
from quiz.history.store import Store, data_folder
from quiz.options.kinds import with_kinds
from quiz.options.plain import with_plain
from quiz.output.files import output_faults, write_text, writing
from quiz.output.screen import open_console
from quiz.practice.questions import topic_key, unknown_names
from quiz.progress.days import end_of
from quiz.progress.json_form import as_json
from quiz.progress.page import page
from quiz.progress.report import Report, report
from quiz.progress.screen import show

# Every system's calendar knows these years.
YEARS = range(2000, 3000)


@click.command()
@click.option("--topic", metavar="T", help="A topic's letter or a part of its title; else all.")
@click.option("--on", "day", metavar="DATE", help="As of the end of that day, as 2026-03-01.")
@click.option("--html", metavar="FILE", help="Write the report as a page that needs no other.")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object and nothing else.")
@exits
@with_kinds
@with_plain
def command(*, topic: str | None, day: str | None, html: str | None, as_object: bool) -> Exit:
    """Tell skill by topic, what is due, streak, ranges, and mistakes.

    It reads the answers that practice keeps and changes nothing; practice may be open meanwhile.
    Days are those of your own clock.
    """
    found = _report(topic, day, html)
    if html is not None:
        with writing("--html", html) as path:
            write_text(path, page(found))
    if as_object:
        sys.stdout.write(json.dumps(as_json(found), indent=2) + "\n")
    else:
        show(open_console(), found)
    return Exit.DONE


def _report(topic: str | None, day: str | None, html: str | None) -> Report:
    """Return the report; whatever is wrong with the options is told at once."""
    moment = datetime.now(UTC) if day is None else _end(day)
    faults = [*unknown_names(topic, None, None), *output_faults({"--html": html}, {})]
    if isinstance(moment, Fault):
        raise InputError(*faults, moment)
    if faults:
        raise InputError(*faults)
    with Store.reading(data_folder()) as store:
        answered, interviews = store.answered(), store.interviews()
    key = None if topic is None else topic_key(topic)
    return report(answered, now=moment, zone=None, kinds=kinds(), topic=key, interviews=interviews)


def _end(typed: str) -> datetime | Fault:
    try:
        day = date.fromisoformat(typed.strip())
    except ValueError:
        return Fault("--on", f"{quoted(typed)} is not a day", "write it like 2026-03-01")
    if day.year not in YEARS:
        return Fault("--on", f"the year {day.year} is not from {YEARS.start} to {YEARS.stop - 1}")
    return end_of(day, None)
