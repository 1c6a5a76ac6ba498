"""Interviews from (level, minutes, seed): the same everywhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from engine.errors import Fault, InputError, unknown
from problems.draw import Draw
from problems.interview import (
    activations,
    levers,
    opening,
    peak,
    rest,
    states,
    verifying,
)
from problems.interview.posed import LEVELS, Posed, Talk
from problems.interview.runs import drawn
from problems.interview.script import Interview, Part, Question
from problems.problem import Level
from problems.registry import LARGEST_SEED

SHORTEST, LONGEST = 20, 45
# Interviews that are kept once they are drawn.
KEPT = 256
# From this turn on a question is left out of a run in which it tells too little.
SPARE = 19
# Minutes by which the questions may take longer: some are answered in a word.
OVER = 2
TITLES: Final[Mapping[str, str]] = {
    "conditions": "Conditions",
    "states": "Per-parameter accounting",
    "activations": "Activations and how they scale",
    "rest": "Everything else",
    "peak": "Peak and fit",
    "levers": "Levers in order of cost",
    "verify": "Verify",
}


def interview(level: Level, minutes: int, seed: int) -> Interview:
    """Return the interview of a level, a length and a seed.

    The minutes decide how many follow-ups are asked; the run is that of the level and the seed.

    Raises:
        InputError: the level is none, or minutes or seed are out of range.
    """
    _check(level, minutes, seed)
    return _interview(level, minutes, seed)


@lru_cache(maxsize=KEPT)
def _interview(level: Level, minutes: int, seed: int) -> Interview:
    talk, parts = _built(level, seed)
    turns = _turns([one for rows in parts.values() for one in rows], minutes)
    asked = {key: [one for one in rows if one.turn in turns] for key, rows in parts.items()}
    keys = {one.question.key for rows in asked.values() for one in rows}
    shares = _minutes([sum(one.takes for one in rows) for rows in asked.values()], minutes)
    return Interview(
        level=level,
        minutes=minutes,
        seed=seed,
        scenario=talk.scenario,
        opening=opening.opening(talk),
        conditions=opening.conditions(talk),
        parts=tuple(
            Part(
                key=key,
                title=TITLES[key],
                minutes=share,
                questions=tuple(_without_gaps(one.question, keys) for one in rows),
            )
            for (key, rows), share in zip(asked.items(), shares, strict=True)
        ),
    )


def _check(level: str, minutes: int, seed: int) -> None:
    faults = []
    if level not in LEVELS:
        faults.append(unknown("level", level, LEVELS))
    if not SHORTEST <= minutes <= LONGEST:
        what = f"{minutes} minutes are not {SHORTEST} to {LONGEST}"
        faults.append(Fault("minutes", what, f"give {SHORTEST} to {LONGEST}"))
    if not 0 <= seed <= LARGEST_SEED:
        what = f"{seed} is not a seed"
        faults.append(Fault("seed", what, f"give a whole number from 0 to {LARGEST_SEED:,}"))
    if faults:
        raise InputError(*faults)


@lru_cache(maxsize=KEPT)
def _built(level: Level, seed: int) -> tuple[Talk, Mapping[str, tuple[Posed, ...]]]:
    """Return all that may be asked of a level, part by part."""
    draw = Draw(f"interview-{level}", seed)
    for runs in drawn(draw, level):
        talk = Talk(level=level, seed=seed, runs=runs)
        parts = {
            key: tuple(one for one in rows if level in one.levels and not _is_left_out(one))
            for key, rows in _parts(talk, draw)
        }
        if all(_asks(one.question) for rows in parts.values() for one in rows):
            return talk, parts
    message = f"found no run for interview-{level}@{seed}"
    raise RuntimeError(message)


def _parts(talk: Talk, draw: Draw) -> Iterator[tuple[str, Iterator[Posed]]]:
    yield "conditions", opening.posed(talk)
    yield "states", states.posed(talk)
    yield "activations", activations.posed(talk)
    yield "rest", rest.posed(talk)
    yield "peak", peak.posed(talk)
    yield "levers", levers.posed(talk, draw)
    yield "verify", verifying.posed(talk)


def _is_left_out(one: Posed) -> bool:
    """Say whether a follow-up that is seldom reached cannot be marked: it is left out."""
    return one.turn >= SPARE and not _asks(one.question)


def _asks(question: Question) -> bool:
    """Say whether there is something to mark, by rule or by ear."""
    return question.problem is not None or bool(question.points)


def _without_gaps(question: Question, keys: set[str]) -> Question:
    """Return a question without ways from earlier ones that are not asked."""
    return replace(question, reuses=tuple(one for one in question.reuses if one.question in keys))


def _turns(rows: Sequence[Posed], minutes: int) -> set[int]:
    """Return the turns for which there is time, one after another, from 0 on."""
    turns, left = set[int](), minutes
    for turn in sorted({one.turn for one in rows}):
        left -= sum(one.takes for one in rows if one.turn == turn)
        if turn and left < -OVER:
            break
        turns.add(turn)
    return turns


def _minutes(weights: Sequence[int], minutes: int) -> list[int]:
    """Return whole minutes in proportion to weights, one at least, that add up to all of them."""
    whole = sum(weights)
    shares = [max(1, minutes * weight // whole) for weight in weights]
    rests = sorted(range(len(weights)), key=lambda n: (-(minutes * weights[n] % whole), n))
    for place in range(minutes - sum(shares)):
        shares[rests[place % len(rests)]] += 1
    while sum(shares) > minutes:
        shares[max(range(len(shares)), key=lambda n: shares[n])] -= 1
    return shares
