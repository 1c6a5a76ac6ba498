"""`memquiz grade`."""

import json
import sys
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import TypedDict, Unpack

import click

from engine.errors import Fault, InputError
from engine.fields import show
from quiz.classes.page import html, markdown
from quiz.classes.reading import read_answers
from quiz.classes.report import PERCENT, Report, as_json
from quiz.classes.reporting import report_of
from quiz.classes.sections import summary
from quiz.classes.tables import answers_csv, students_csv
from quiz.exits import Exit, exits
from quiz.options.kinds import with_kinds
from quiz.options.values import real
from quiz.output.plain import visible
from quiz.output.screen import open_console, paragraph
from quiz.output.sections import counted
from quiz.sets.folder import folder_faults, write_all
from quiz.sets.key import read_key
from quiz.sets.problem_set import ProblemSet

FILES = ("answers.csv", "students.csv", "report.md", "report.html", "results.json")
BEHIND = "-graded"
# The report has all.
NOTES_TOLD = 3


class Options(TypedDict):
    """What else is told, as click passes it."""

    before: str | None
    passing: str | None
    today: bool


@click.command()
@click.argument("key", metavar="KEY")
@click.argument("answers", metavar="ANSWERS")
@click.option("--out", metavar="DIR", help=f"The folder to write to; else ANSWERS{BEHIND}.")
@click.option("--before", metavar="KEY", help="An earlier key: say who moved since, and by what.")
@click.option("--pass", "passing", metavar="PERCENT", help="Exit with 1 where a student has less.")
@click.option(
    "--today", is_flag=True, help="Make each problem anew and say where the key differs."
)
@click.option("--json", "as_object", is_flag=True, help="Print one object and write nothing.")
@exits
@with_kinds
def command(
    key: str, answers: str, *, out: str | None, as_object: bool, **options: Unpack[Options]
) -> Exit:
    """Grade a class: marks for every answer, and a report.

    KEY is the key.json of memquiz generate. ANSWERS is a CSV file: a row a student with a column
    a question, or a row an answer. Every cell ends as marked, empty, unreadable or not used. The
    exit code is 0, or 1 where a student that handed in has less than --pass.
    """
    folder = f"{Path(answers).with_suffix('')}{BEHIND}" if out is None else out
    before = options["before"]
    read = tuple(name for name in (key, answers, before) if name is not None)
    share = _share(options["passing"])
    faults = [] if as_object else [*folder_faults("--out", folder), *_over(folder, read)]
    if faults:
        raise InputError(*faults)
    problems = read_key(Path(key))
    file = Path(answers)
    earlier = None if before is None else _earlier(before, problems)
    report = report_of(
        problems,
        read_answers(file, problems),
        before=None if earlier is None else (earlier, read_answers(file, earlier)),
        today=options["today"],
        passing=share,
    )
    if as_object:
        sys.stdout.write(_json(report))
    else:
        write_all("--out", folder, _files(report))
        _tell(report, folder)
    return Exit.NO if report.below else Exit.DONE


def _share(typed: str | None) -> Fraction | None:
    """Return the share that passes, exactly as it was typed."""
    if typed is None:
        return None
    number = real("--pass", typed.removesuffix("%"))
    if isinstance(number, Fault):
        raise InputError(number)
    if not 0 <= number <= PERCENT:
        raise InputError(Fault("--pass", f"{show(typed)} is not in 0 to {PERCENT}"))
    return Fraction(str(number)) / PERCENT


def _over(folder: str, read: tuple[str, ...]) -> tuple[Fault, ...]:
    """Return the fault of a folder in which a file that is read would be written over."""
    written = {(Path(folder) / name).resolve() for name in FILES}
    return tuple(
        Fault("--out", f"{name} would be written over", "name another folder")
        for name in read
        if Path(name).resolve() in written
    )


def _earlier(before: str, problems: ProblemSet) -> ProblemSet:
    """Return the key before, which has to be of the same kind of set."""
    earlier = read_key(Path(before))
    if earlier.is_personal != problems.is_personal:
        what = "one key is for everyone and the other one has a sheet a student"
        raise InputError(Fault("--before", what, "name the key before of this set"))
    return earlier


def _json(report: Report) -> str:
    return json.dumps(as_json(report), ensure_ascii=False, indent=1) + "\n"


def _files(report: Report) -> dict[PurePosixPath, bytes]:
    contents = (
        answers_csv(report.marked),
        students_csv(report.marked),
        markdown(report).encode(),
        html(report).encode(),
        _json(report).encode(),
    )
    return {PurePosixPath(name): data for name, data in zip(FILES, contents, strict=True)}


def _tell(report: Report, folder: str) -> None:
    console = open_console()
    paragraph(console, visible(report.marked.problems.title))
    for line in (*summary(report), f"Read as {report.marked.answers.how}", *_more(report)):
        paragraph(console, f"  {visible(line)}", hanging=2)
    paragraph(console, f"Next: look at {Path(folder) / 'report.html'}")


def _more(report: Report) -> tuple[str, ...]:
    """Return what of the report is worth a look, in a line each."""
    notes = [f"{one.where}: {one.what}" for one in report.key_notes]
    lines = [f"In the key, {one}" for one in notes[:NOTES_TOLD]]
    if len(notes) > NOTES_TOLD:
        lines.append(f"and {len(notes) - NOTES_TOLD} more such mistakes in the key")
    if concerns := [str(item.slot.number) for item in report.items if item.concerns]:
        lines.append(f"Questions to look at: {', '.join(concerns)}")
    if report.doubtful:
        lines.append(f"Look at {counted(len(report.doubtful), 'answer')} in words yourself")
    if report.regraded is not None:
        lines.append(
            f"{counted(len(report.regraded.movers), 'student')} moved since the key before"
        )
    if report.today is not None:
        number = len({one.slot.number for one in report.today.differs})
        lines.append(f"{counted(number, 'question')} would be others today")
    return tuple(lines)
