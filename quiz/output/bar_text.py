"""A stacked bar as text: a letter for each column, coloured where the terminal has colours."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from engine.ledger import Category
from quiz.output.bars import LETTERS

# Each colour on one of its own, told apart in the usual palettes: a terminal may be light or dark.
STYLES: Mapping[Category, str] = {
    Category.WEIGHTS: "bright_white on blue",
    Category.MASTER_WEIGHTS: "black on cyan",
    Category.GRADIENTS: "black on yellow",
    Category.OPTIMIZER_STATE: "bright_white on magenta",
    Category.ACTIVATIONS: "black on green",
    Category.LOGITS: "bright_white on red",
    Category.TEMPORARY: "bright_white on bright_black",
    Category.COMMUNICATION: "black on bright_blue",
    Category.KV_CACHE: "black on bright_green",
}


def bar_text(pieces: Sequence[tuple[Category, int]], limit: int | None, width: int) -> Text:
    """Return `pieces` of so many columns each as `width` + 1 columns, a "|" at the limit."""
    text = Text()
    filled = 0
    for category, columns in pieces:
        for _ in range(columns):
            at_limit = limit == filled and limit < width
            text.append("|" if at_limit else LETTERS[category], STYLES[category])
            filled += 1
    rest = [" "] * (width - filled + 1)
    if limit is not None and limit >= filled:
        rest[limit - filled] = "|"
    text.append("".join(rest))
    return text


def key(categories: Sequence[Category]) -> str:
    """Return what the letters of `categories` stand for."""
    return "   ".join(f"{LETTERS[c]} {str(c).replace('_', ' ')}" for c in categories)
