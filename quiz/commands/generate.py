"""`memquiz generate`."""

import secrets
import shlex
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Any, TypedDict, Unpack

import click

from engine.errors import Fault, InputError, unknown
from problems.answers.numbers import counted
from quiz.exits import Exit, exits
from quiz.formats.registry import formats
from quiz.formats.sheets import size_of
from quiz.options.kinds import with_kinds
from quiz.options.values import whole
from quiz.output.screen import open_console, paragraph, whole_lines
from quiz.sets.blueprint import LEVELS, Blueprint, blueprint_of, read_blueprint
from quiz.sets.drawing import SEEDS, draw_set
from quiz.sets.folder import KEY, folder_faults, write_all
from quiz.sets.key import key_text, read_key
from quiz.sets.problem_set import ProblemSet, Student
from quiz.sets.roster import read_roster
from quiz.sets.schema import schema_text
from quiz.sets.stress import refusals

COUNT = "10"
USUAL = ("html", "markdown")
# Seeds that are tried where none was typed, and looked through for one that would do.
TRIES = 20
# With fewer students there is no bar.
FEWEST_TOLD = 5


class Options(TypedDict):
    """What a set is made of, as click passes it."""

    blueprint: str | None
    topic: tuple[str, ...]
    level: tuple[str, ...]
    kind: tuple[str, ...]
    count: str | None
    title: str | None
    minutes: str | None


class _Help(click.Command):
    """A command whose help lists the formats with what each cannot carry."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list."""
        del ctx
        with formatter.section("Formats, and what each leaves out"):
            formatter.write_dl(
                [
                    (one.name, f"{one.says}. Leaves out: {'; '.join(one.cannot) or 'nothing'}.")
                    for one in formats().values()
                ]
            )


def _schema(ctx: click.Context, _param: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(schema_text(), nl=False)
        ctx.exit()


@click.command(cls=_Help)
@click.option("--blueprint", metavar="FILE", help="What the set is made of, in TOML.")
@click.option(
    "--topic", metavar="T", multiple=True, help="A topic's letter or title; again: more."
)
@click.option(
    "--level", metavar="L", multiple=True, help=f"One of {', '.join(LEVELS)}; again: more."
)
@click.option("--kind", metavar="K", multiple=True, help="A kind of question; again: more.")
@click.option("--count", metavar="N", help=f"Number of questions; else {COUNT}.")
@click.option("--title", metavar="TEXT", help="What stands above the sheet.")
@click.option(
    "--minutes", metavar="M", help="The set is refused where it is estimated to be longer."
)
@click.option("--seed", metavar="S", help="The same seed gives the same set.")
@click.option("--students", metavar="FILE", help="A roster in CSV: one sheet a student.")
@click.option(
    "--from", "key", metavar="KEY", help="Write the set of this key again; draw nothing."
)
@click.option("--format", "named", metavar="F", multiple=True, help="A format; again: more.")
@click.option("--out", metavar="DIR", help="The folder to write to.", default="memquiz-set")
@click.option("--json", "as_object", is_flag=True, help="Print the key and write nothing.")
@click.option(
    "--schema",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_schema,
    help="Print the JSON Schema of a key and exit.",
)
@exits
@with_kinds
def command(
    *,
    seed: str | None,
    students: str | None,
    key: str | None,
    named: tuple[str, ...],
    out: str,
    as_object: bool,
    **options: Unpack[Options],
) -> Exit:
    """Make a problem set: sheets, solutions, and the key that grades them.

    The set is described by options or by a blueprint. It is refused where its key has a pattern,
    where two students have the same numbers, or where a mistake gives what is right. The key is
    always written; --format adds files, else html and markdown.
    """
    faults = [
        unknown("--format", one[:40], tuple(formats())) for one in named if one not in formats()
    ]
    faults += [] if as_object else folder_faults("--out", out)
    if faults:
        raise InputError(*faults)
    if key is None:
        problems = _drawn(options, seed, () if students is None else read_roster(Path(students)))
    else:
        problems = _again(key, seed, students, options)
    if as_object:
        sys.stdout.write(key_text(problems))
        return Exit.DONE
    files = {PurePosixPath(KEY): key_text(problems).encode()}
    for one in dict.fromkeys(named or USUAL):
        files |= formats()[one].files(problems)
    write_all("--out", out, files)
    _tell(problems, out, tuple(files))
    return Exit.DONE


def _drawn(options: Options, typed: str | None, students: tuple[Student, ...]) -> ProblemSet:
    """Return the set of a seed that was typed, or of the first one drawn that may be given out."""
    blueprint, faults = _blueprint(options), tuple[Fault, ...]()
    seeds = [secrets.randbelow(SEEDS) for _ in range(TRIES)] if typed is None else [_seed(typed)]
    for seed in seeds:
        with _told(students) as each:
            problems = draw_set(blueprint, seed, each)
        faults = refusals(problems, blueprint.minutes)
        if not faults:
            return problems
    raise InputError(*faults)


def _told(students: tuple[Student, ...]) -> AbstractContextManager[Iterable[Student]]:
    """Return the students one by one, with a bar where a person waits."""
    hidden = not sys.stderr.isatty() or len(students) < FEWEST_TOLD
    return click.progressbar(students, label="sheets", file=sys.stderr, hidden=hidden)


def _seed(typed: str) -> int:
    seed = _number("--seed", typed)
    if not 0 <= seed < SEEDS:
        raise InputError(Fault("--seed", f"{seed:,} is not in 0 to {SEEDS - 1:,}"))
    return seed


def _blueprint(options: Options) -> Blueprint:
    given = {key: value for key, value in options.items() if key != "blueprint" and value}
    if options["blueprint"] is not None:
        if given:
            named = ", ".join(f"--{key}" for key in given)
            raise InputError(Fault("--blueprint", f"stands beside {named}", "write them into it"))
        return read_blueprint(Path(options["blueprint"]))
    part: dict[str, Any] = {"count": _number("--count", options["count"] or COUNT)}
    part |= {"level": options["level"]} if options["level"] else {}
    part |= {"kinds": options["kind"]} if options["kind"] else {}
    topics = options["topic"]
    parts = [part | {"topic": topic, "count": 1} for topic in topics]
    tables: dict[str, Any] = {"part": _shared(part, parts) if parts else [part]}
    tables |= {"title": options["title"]} if options["title"] else {}
    tables |= {"minutes": _number("--minutes", options["minutes"])} if options["minutes"] else {}
    return blueprint_of(tables, "options")


def _shared(part: dict[str, Any], parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts with the count of questions shared out, the first ones with one more."""
    each, more = divmod(part["count"], len(parts))
    counts = [each + (at < more) for at in range(len(parts))]
    return [one | {"count": number} for one, number in zip(parts, counts, strict=True) if number]


def _number(option: str, typed: str | None) -> int:
    number = whole(option, typed or "")
    if isinstance(number, Fault):
        raise InputError(number)
    return number


def _again(key: str, seed: str | None, students: str | None, options: Options) -> ProblemSet:
    """Return the set of a key, which the options that draw one do not go with."""
    given = [f"--{name}" for name, value in options.items() if value]
    given += ["--seed"] * (seed is not None) + ["--students"] * (students is not None)
    if given:
        raise InputError(Fault("--from", f"stands beside {', '.join(given)}", "leave one out"))
    problems = read_key(Path(key))
    if faults := refusals(problems):
        raise InputError(*faults)
    return problems


def _tell(problems: ProblemSet, out: str, written: tuple[PurePosixPath, ...]) -> None:
    console = open_console()
    number = len(problems.variants)
    for_whom = f"{number} {counted(number, 'students')}" if problems.is_personal else "everyone"
    paragraph(
        console,
        f"{problems.title}, for {for_whom}: {size_of(problems)}, seed {problems.seed}",
    )
    tops = dict.fromkeys(path.parts[0] + ("/" if len(path.parts) > 1 else "") for path in written)
    for top in tops:
        inside = sum(path.parts[0] == top.rstrip("/") for path in written)
        behind = f", {inside} files" if top.endswith("/") else ""
        paragraph(console, f"  {Path(out) / top}{behind}")
    whole_lines(console, f"Next: memquiz grade {shlex.quote(str(Path(out) / KEY))} ANSWERS.csv")
