"""Which questions a set has: (options, seed) fix them."""

from collections.abc import Iterable, Sequence
from typing import get_args

from engine.errors import Fault, InputError, unknown
from problems.draw import Draw
from problems.problem import TOPICS, Level
from problems.registry import Kind, from_id, kinds

LEVELS = get_args(Level)
MOST = 200
SEEDS = 10**9


def chosen(
    *, topic: str | None, level: str | None, kind: str | None, count: int, seed: int
) -> tuple[str, ...]:
    """Return the ids of `count` problems of the kinds that fit, each kind before any comes twice.

    Args:
        topic: a key of `TOPICS` or a part of its title; None for all.
        level: one of `LEVELS`; None for all.
        kind: the name of a kind; None for all.
        count: from 1 to `MOST`.
        seed: with the same options and kinds, the same seed gives the same problems.

    Raises:
        InputError: listing every option that names nothing, or options that leave no kind.
    """
    if not 0 <= seed < SEEDS:
        fault = Fault("--seed", f"{seed:,} is not in 0 to {SEEDS - 1:,}")
        raise InputError(*_faults(topic, level, kind, count), fault)
    return _drawn(
        list(fitting(topic=topic, level=level, kind=kind, count=count)), level, count, seed
    )


def fitting(
    *, topic: str | None, level: str | None, kind: str | None, count: int
) -> tuple[Kind, ...]:
    """Return the kinds that the options leave; see `chosen`.

    Raises:
        InputError: listing every option that names nothing, or options that leave no kind.
    """
    if faults := _faults(topic, level, kind, count):
        raise InputError(*faults)
    found = tuple(
        k
        for k in kinds().values()
        if (topic is None or k.topic == topic_key(topic))
        and (level is None or level in k.levels)
        and (kind is None or k.name == kind)
    )
    if not found:
        raise InputError(_nothing_fits(topic, level, kind))
    return found


def _faults(topic: str | None, level: str | None, kind: str | None, count: int) -> list[Fault]:
    faults = [*unknown_names(topic, level, kind)]
    if not 1 <= count <= MOST:
        faults.append(Fault("--count", f"{count:,} is not in 1 to {MOST}"))
    return faults


def named(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the problems that `ids` name, in their order.

    Raises:
        InputError: listing every id that names no problem, or there are more than `MOST`.
    """
    faults = []
    if len(ids) > MOST:
        faults.append(Fault("--problem", f"{len(ids):,} ids are more than {MOST}"))
    found = []
    for text in ids[:MOST]:
        try:
            found.append(from_id(text).id)
        except InputError as error:
            faults += [Fault("--problem", fault.what, fault.next) for fault in error.faults]
    if faults:
        raise InputError(*faults)
    return tuple(found)


def topic_key(said: str) -> str | None:
    """Return the topic's letter for its letter or the one title that `said` is a part of."""
    if said.upper() in TOPICS:
        return said.upper()
    found = [key for key, title in TOPICS.items() if said.strip().lower() in title.lower()]
    return found[0] if len(found) == 1 else None


def _drawn(fitting: list[Kind], level: str | None, count: int, seed: int) -> tuple[str, ...]:
    draw = Draw("practice", seed)
    ids: list[str] = []
    while len(ids) < count:
        for found in draw.sample(fitting, len(fitting)):
            drawn = draw.below(SEEDS)
            at = drawn if level is None else found.seed_at(level, drawn)
            ids.append(f"{found.name}@{at}")
    return tuple(ids[:count])


def unknown_names(topic: str | None, level: str | None, kind: str | None) -> Iterable[Fault]:
    """Yield a fault for each option that names nothing."""
    if topic is not None and topic_key(topic) is None:
        known = ", ".join(f"{key} ({title})" for key, title in TOPICS.items())
        yield Fault("--topic", f"{topic[:40]!r} is no topic", f"topics: {known}")
    if level is not None and level not in LEVELS:
        yield unknown("--level", level[:40], LEVELS)
    if kind is not None and kind not in kinds():
        yield unknown("--kind", kind[:40], tuple(kinds()))


def _nothing_fits(topic: str | None, level: str | None, kind: str | None) -> Fault:
    asked = {"topic": topic, "level": level, "kind": kind}
    said = ", ".join(f"--{name} {value}" for name, value in asked.items() if value is not None)
    return Fault(said or "questions", "no kind of question fits", "see memquiz catalog kinds")
