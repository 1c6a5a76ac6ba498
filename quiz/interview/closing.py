"""The end of an interview: its scorecard on the screen, and its pages in a folder."""

from rich.console import Console

from quiz.interview.card_screen import show
from quiz.interview.pages import files
from quiz.interview.scorecard import Scorecard
from quiz.interview.sheet_files import written
from quiz.output.screen import whole_lines


def close(console: Console, card: Scorecard, folder: str | None) -> None:
    """Show a scorecard, and write its pages into a folder where one is named.

    Raises:
        InputError: a page cannot be written; the scorecard was shown by then.
    """
    show(console, card)
    if folder is not None:
        console.print()
        for path in written("--scorecard", folder, files(card)):
            whole_lines(console, str(path))
