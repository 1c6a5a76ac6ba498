"""The end of an interview: its scorecard on the screen, and its pages in a folder."""

import shlex

from rich.console import Console

from quiz.interview.card_screen import show
from quiz.interview.pages import files
from quiz.interview.scorecard import Scorecard
from quiz.interview.sheet_files import written
from quiz.output.screen import paragraph, whole_lines


def close(console: Console, card: Scorecard, folder: str | None, again: str = "") -> None:
    """Show a scorecard, and write its pages into a folder where one is named.

    Args:
        console: where it is shown.
        card: the scorecard.
        folder: where its pages are written; None writes none.
        again: the command that tells the interview again, and writes them after all.

    Raises:
        InputError: a page cannot be written; the scorecard was shown by then.
    """
    show(console, card)
    if folder is None and again:
        console.print()
        paragraph(console, "The same again, and its pages:")
        whole_lines(console, f"  {again} --scorecard DIR")
    elif folder is not None:
        console.print()
        for path in written("--scorecard", folder, files(card)):
            whole_lines(console, str(path))


def left(console: Console, again: str, folder: str | None, *, kept: bool) -> None:
    """Tell the command that goes on with an interview, or begins the same where it is not kept."""
    says = "Go on with it:" if kept else "It was not kept (--no-save). The same again:"
    paragraph(console, says)
    pages = "" if folder is None else f" --scorecard {shlex.quote(folder)}"
    whole_lines(console, f"  {again}{pages}")
