"""Which set a learner sits down to: the one left unfinished, or a new one."""

import secrets
from dataclasses import asdict, dataclass, replace
from typing import final

from problems.registry import kinds
from quiz.dialogue import Journal
from quiz.practice import Given, Session
from quiz.questions import SEEDS, chosen, topic_key
from quiz.store import SavedSet, Store

COUNT = 10


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options of a set; None where none was given."""

    topic: str | None = None
    level: str | None = None
    kind: str | None = None
    count: int | None = None
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """A session with the journal that keeps it, and the seed that its questions came from."""

    session: Session
    journal: Journal
    seed: int
    saved: bool
    resumed: bool


def sit_down(asked: Asked, *, store: Store | None, new: bool) -> Sitting:
    """Take up the newest unfinished set with the options `asked` for, or begin one.

    Args:
        asked: what was given on the command line.
        store: where sets are kept; None keeps nothing.
        new: begin a set in any case.

    Raises:
        InputError: an option names nothing, or the store cannot be used.
    """
    if asked.topic is not None:
        asked = replace(asked, topic=topic_key(asked.topic) or asked.topic)
    if store is not None and not new:
        kept = _unfinished(store, asked)
        if kept is not None:
            return _resumed(store, kept)
    return _begun(asked, store)


def _unfinished(store: Store, asked: Asked) -> SavedSet | None:
    kept = store.unfinished(asdict(asked))
    while kept is not None and len(kept.given) == len(kept.problems):
        store.finish(kept.key)  # it ended between the last answer and the note that it is done
        kept = store.unfinished(asdict(asked))
    if kept is None or not all(name.partition("@")[0] in kinds() for name in kept.problems):
        return None  # a kind that this version no longer has
    return kept


def _resumed(store: Store, kept: SavedSet) -> Sitting:
    return Sitting(
        session=Session(problems=kept.problems, given=kept.given),
        journal=Kept(store, kept.key),
        seed=kept.options["seed"],
        saved=True,
        resumed=bool(kept.given),
    )


def _begun(asked: Asked, store: Store | None) -> Sitting:
    seed = secrets.randbelow(SEEDS) if asked.seed is None else asked.seed
    count = COUNT if asked.count is None else asked.count
    problems = chosen(
        topic=asked.topic, level=asked.level, kind=asked.kind, count=count, seed=seed
    )
    journal: Journal = Unkept()
    if store is not None:
        options = asdict(replace(asked, count=count, seed=seed))
        journal = Kept(store, store.start(options, problems))
    return Sitting(
        session=Session(problems=problems),
        journal=journal,
        seed=seed,
        saved=store is not None,
        resumed=False,
    )


@final
class Kept:
    """A journal in the store."""

    def __init__(self, store: Store, key: int) -> None:
        self._store = store
        self._key = key

    def record(self, position: int, given: Given) -> None:
        """Keep an answer."""
        self._store.record(self._key, position, given)

    def undo(self, position: int) -> None:
        """Take an answer back."""
        self._store.undo(self._key, position)

    def finish(self) -> None:
        """Note that the set is done."""
        self._store.finish(self._key)


@final
class Unkept:
    """A journal that keeps nothing."""

    def record(self, position: int, given: Given) -> None:
        """Keep nothing."""

    def undo(self, position: int) -> None:
        """Keep nothing."""

    def finish(self) -> None:
        """Keep nothing."""
