"""The command line's first level. Nothing is imported for a command that is not invoked."""

import gc
from collections.abc import Iterable
from importlib import import_module

import click

from quiz.output.started import typed_here

# name: (module, what it does; the first sentence of the command's own help)
COMMANDS = {
    "practice": ("quiz.commands.practice", "Answer questions and be told what went wrong."),
    "progress": (
        "quiz.commands.progress",
        "Tell skill by topic, what is due, streak, ranges, and mistakes.",
    ),
    "interview": (
        "quiz.commands.interview",
        "Hold a mock interview, and be marked as an interviewer would.",
    ),
    "history": (
        "quiz.commands.history",
        "Say where the answers are kept; write them to a file, or read one.",
    ),
    "solve": (
        "quiz.commands.solve",
        "Print the memory of a training step or of inference, line by line.",
    ),
    "levers": (
        "quiz.commands.levers",
        "Print what each change saves and costs, and which combinations fit.",
    ),
    "verify": (
        "quiz.commands.verify",
        "Run a training step and put what it takes beside the ledger.",
    ),
    "generate": (
        "quiz.commands.generate",
        "Make a problem set: sheets, solutions, and the key that grades them.",
    ),
    "grade": ("quiz.commands.grade", "Grade a class: marks for every answer, and a report."),
    "check": ("quiz.commands.check", "Hold kinds of question to the rules of the bank."),
    "explain": (
        "quiz.commands.explain",
        "Explain a topic, a line of the ledger, a lever or a mistake.",
    ),
    "catalog": (
        "quiz.commands.catalog",
        "List models, GPUs, kinds of question, levers, mistakes or claims.",
    ),
}


class HelpPage(click.HelpFormatter):
    """A page of help whose commands can be typed as they stand there."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(typed_here(text))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names with what is said of each."""
        said = [(name, typed_here(says)) for name, says in rows]
        super().write_dl(said, col_max, col_spacing)


class Invoked(click.Context):
    """A command as it is invoked."""

    formatter_class = HelpPage


class LazyGroup(click.Group):
    """A group whose commands are imported when they are invoked."""

    context_class = Invoked

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command called `cmd_name`; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        # What an import makes lives as long as the process: collecting it costs and frees nothing.
        gc.disable()
        command = import_module(COMMANDS[cmd_name][0]).command
        gc.freeze()
        gc.enable()
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} is not a click command")
        command.context_class = Invoked
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` begin with; near names where there is none."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = import_module("engine.errors").near(name, tuple(COMMANDS))
            raise click.UsageError(f"no command {name[:40]!r}; {near or 'see --help'}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table, where click would import every command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, says) in COMMANDS.items()])


def _version(ctx: click.Context, _param: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"memquiz {import_module('quiz.release').VERSION}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version and exit.",
)
def memquiz() -> None:
    """Will this model train on these GPUs, and if not, what would you change?

    Begin with `memquiz practice`. Exit codes: 0 done, 1 the answer is no, 2 bad input, 3 tight.
    """
