"""Lines of an exhibit that fit a terminal of 80 columns behind its margin."""

from textwrap import wrap

# Columns of a line of an exhibit at most.
WIDEST = 77


def item(name: str, says: str, *, room: int) -> str:
    """Return what is said of something behind its name, wrapped beside it.

    Args:
        name: what stands first.
        says: the text behind it.
        room: columns of the name, with the gap behind it.
    """
    lines = wrap(says, WIDEST - room, break_long_words=False, break_on_hyphens=False)
    first, *more = lines or [""]
    return "\n".join((f"{name:<{room}}{first}", *(f"{'':<{room}}{line}" for line in more)))
