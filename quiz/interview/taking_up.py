"""Which interview a candidate sits down to: the one left unfinished, or a new one."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from engine.errors import Fault, unknown
from problems.interview.script import Interview
from problems.problem import Level
from quiz.history.interviews import Interviews, SavedInterview
from quiz.interview.scorecard import Scorecard
from quiz.interview.sitting import Sitting, held
from quiz.release import VERSION

LEVELS: tuple[Level, ...] = ("junior", "mid", "senior")
LEVEL: Level = "mid"
MINUTES = 30
SHORTEST, LONGEST = 20, 45
SEEDS = 10**9
BARE = "memquiz interview"

Drawing = Callable[[Level, int, int], Interview]
"""From (level, minutes, seed) to the interview."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The options of an interview; None where none was given."""

    level: Level | None = None
    minutes: int | None = None
    seed: int | None = None
    at_once: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Taken:
    """An interview that is taken up.

    Args:
        sitting: where it stands.
        started: when it began, UTC.
        saved: as it is kept; None where it is not.
        again: the command that goes on with it, or begins the same where it is not kept.
        resumed: whether lines were said before.
        remark: what is to be known of it, "" where nothing is.
    """

    sitting: Sitting
    started: datetime
    saved: SavedInterview | None
    again: str
    resumed: bool
    remark: str


def wanted_faults(
    level: str | None, minutes: int | Fault | None, seed: int | Fault | None
) -> Iterator[Fault]:
    """Yield what is wrong with options, numbers read already."""
    if level is not None and level not in LEVELS:
        yield unknown("--level", level, LEVELS)
    if isinstance(minutes, Fault):
        yield minutes
    elif minutes is not None and not SHORTEST <= minutes <= LONGEST:
        yield Fault("--minutes", f"{minutes:,} is not in {SHORTEST} to {LONGEST}")
    if isinstance(seed, Fault):
        yield seed
    elif seed is not None and not 0 <= seed < SEEDS:
        yield Fault("--seed", f"{seed:,} is not in 0 to {SEEDS - 1:,}")


def take_up(asked: Wanted, draw: Drawing, *, store: Interviews | None, new: bool) -> Taken:
    """Take up the newest unfinished interview with the options `asked` for, or begin one.

    Args:
        asked: what was given on the command line.
        draw: makes an interview.
        store: where interviews are kept; None keeps nothing.
        new: begin one in any case.

    Raises:
        InputError: it is open in another process, or the store cannot be used.
    """
    kept = store.unfinished(asdict(asked)) if store is not None and not new else None
    if kept is not None:
        return taken(kept, draw, again=BARE if asked == Wanted() else _command(kept.options))
    options = {
        "level": asked.level or LEVEL,
        "minutes": asked.minutes or MINUTES,
        "seed": secrets.randbelow(SEEDS) if asked.seed is None else asked.seed,
        "at_once": bool(asked.at_once),
    }
    if store is not None:
        return taken(store.start(options), draw, again=BARE)
    sitting = Sitting(interview=_drawn(options, draw), at_once=bool(asked.at_once))
    return Taken(
        sitting=sitting,
        started=datetime.now(UTC),
        saved=None,
        again=f"{BARE} --no-save{_command(options).removeprefix(BARE)}",
        resumed=False,
        remark="",
    )


def taken(kept: SavedInterview, draw: Drawing, *, again: str = BARE) -> Taken:
    """Return a kept interview as its lines have it."""
    interview = _drawn(kept.options, draw)
    return Taken(
        sitting=held(interview, kept.lines, at_once=kept.options["at_once"]),
        started=kept.created,
        saved=kept,
        again=again,
        resumed=bool(kept.lines),
        remark=_remark(kept.version),
    )


def _remark(version: str) -> str:
    if version == VERSION:
        return ""
    return (
        f"It was begun with memquiz {version}; this is {VERSION}. Questions and marks may be "
        "others than then."
    )


def _drawn(options: Mapping[str, Any], draw: Drawing) -> Interview:
    return draw(options["level"], options["minutes"], options["seed"])


def _command(options: Mapping[str, Any]) -> str:
    words = [f"--{name} {options[name]}" for name in ("level", "minutes", "seed")]
    return " ".join([BARE, *words, *(["--at-once"] if options["at_once"] else [])])


def marks(card: Scorecard) -> dict[str, Any]:
    """Return the marks of a scorecard in JSON's types, as they are kept."""
    return {
        "aspects": {
            aspect: None if score is None else float(score)
            for aspect, score in card.aspects.items()
        },
        "parts": [
            {
                "key": part.part.key,
                "score": None if part.score is None else float(part.score),
                "seconds": round(part.seconds, 1),
            }
            for part in card.parts
        ],
        "reuse": list(card.reuse),
        "mistakes": [list(one) for one in card.mistakes],
        "next": [list(one) for one in card.next],
    }
