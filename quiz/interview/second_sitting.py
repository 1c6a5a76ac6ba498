"""Which interview of two an interviewer sits down to: the one left unfinished, or a new one."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from problems.interview.script import Interview
from problems.problem import Level
from quiz.history.interviews import Interviews, SavedInterview
from quiz.interview.second_screen import Desk, begun, held
from quiz.interview.taking_up import LEVEL, MINUTES, SEEDS

Drawing = Callable[[Level, int, int], Interview]
"""From (level, minutes, seed) to the interview."""
BARE = "memquiz interview --interviewer"


@dataclass(frozen=True, kw_only=True)
class Seat:
    """An interview of two that is taken up.

    Args:
        desk: where it stands.
        started: when it began, UTC.
        saved: as it is kept; None where it is not.
        again: the command that goes on with it, or begins the same where it is not kept.
        resumed: whether anything was kept of it before.
    """

    desk: Desk
    started: datetime
    saved: SavedInterview | None
    again: str
    resumed: bool


def drawn(draw: Drawing, level: Level | None, minutes: int | None, seed: int | None) -> Interview:
    """Return an interview with what was asked for, and with any seed where none was."""
    found = secrets.randbelow(SEEDS) if seed is None else seed
    return draw(level or LEVEL, minutes or MINUTES, found)


def sit_down(
    draw: Drawing,
    asked: tuple[Level | None, int | None, int | None],
    *,
    store: Interviews | None,
    new: bool,
) -> Seat:
    """Take up the newest unfinished interview of two with the options `asked` for, or begin one.

    Args:
        draw: makes an interview.
        asked: level, minutes and seed; None where none was given.
        store: where interviews of two are kept; None keeps nothing.
        new: begin one in any case.

    Raises:
        InputError: it is open in another process, or the store cannot be used.
    """
    options = dict(zip(("level", "minutes", "seed"), asked, strict=True))
    kept = store.unfinished(options) if store is not None and not new else None
    if kept is not None:
        return seat_of(kept, draw)
    interview = drawn(draw, *asked)
    own = {"level": interview.level, "minutes": interview.minutes, "seed": interview.seed}
    if store is not None:
        return seat_of(store.start(own), draw)
    words = " ".join(f"--{name} {value}" for name, value in own.items())
    return Seat(
        desk=begun(interview),
        started=datetime.now(UTC),
        saved=None,
        again=f"{BARE} {words} --no-save",
        resumed=False,
    )


def seat_of(kept: SavedInterview, draw: Drawing) -> Seat:
    """Return a kept interview as its lines have it."""
    options = kept.options
    interview = draw(options["level"], options["minutes"], options["seed"])
    words = " ".join(f"--{name} {value}" for name, value in options.items())
    return Seat(
        desk=held(interview, kept.lines),
        started=kept.created,
        saved=kept,
        again=f"{BARE} {words}",
        resumed=bool(kept.lines),
    )
