"""Which set a learner sits down to: the one left unfinished, or a new one."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, final

from engine.errors import Fault, InputError
from problems.registry import kinds
from quiz.history.store import SavedSet, Store
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import Mark
from quiz.practice.dialogue import Journal
from quiz.practice.questions import SEEDS, chosen, named, topic_key
from quiz.practice.session import Session

COUNT = 10
BARE = "memquiz practice"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options of a set; None where none was given. `problem` excludes all others."""

    topic: str | None = None
    level: str | None = None
    kind: str | None = None
    count: int | None = None
    seed: int | None = None
    problem: tuple[str, ...] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options as they are kept, in JSON's types."""
        return asdict(self) | {"problem": list(self.problem) if self.problem else None}


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """A session with the journal that keeps it.

    Args:
        again: the command that goes on with it, or asks the same questions where it is not saved.
    """

    session: Session
    journal: Journal
    again: str
    saved: bool
    resumed: bool


def sit_down(asked: Asked, *, store: Store | None, new: bool) -> Sitting:
    """Take up the newest unfinished set with the options `asked` for, or begin one.

    Args:
        asked: what was given on the command line.
        store: where sets are kept; None keeps nothing.
        new: begin a set in any case.

    Raises:
        InputError: an option names nothing, the set is open in another process, or the store
            cannot be used.
    """
    if asked.topic is not None:
        asked = replace(asked, topic=topic_key(asked.topic) or asked.topic)
    if asked.problem is not None:
        asked = replace(asked, problem=_alone(asked))
    if store is not None and not new:
        kept = _unfinished(store, asked)
        if kept is not None:
            return _resumed(store, kept, bare=asked == Asked())
    return _begun(asked, store)


def _alone(asked: Asked) -> tuple[str, ...]:
    others = [f"--{name}" for name, value in asdict(asked).items() if value is not None]
    others.remove("--problem")
    if others:
        what = f"names the questions, and {', '.join(others)} would choose others"
        raise InputError(Fault("--problem", what, "give one of the two"))
    return named(asked.problem or ())


def _unfinished(store: Store, asked: Asked) -> SavedSet | None:
    kept = store.unfinished(asked.options)
    while kept is not None and len(kept.attempts) == len(kept.problems):
        store.finish(kept.key)  # it ended between the last answer and the note that it is done
        kept = store.unfinished(asked.options)
    if kept is None or not all(name.partition("@")[0] in kinds() for name in kept.problems):
        return None  # a kind that this version no longer has
    return kept


def _resumed(store: Store, kept: SavedSet, *, bare: bool) -> Sitting:
    answered = len(kept.attempts)
    return Sitting(
        session=Session(problems=kept.problems, attempts=kept.attempts, fixed=answered),
        journal=Kept(store, kept.key),
        again=BARE if bare else _command(kept.options),
        saved=True,
        resumed=bool(kept.attempts),
    )


def _begun(asked: Asked, store: Store | None) -> Sitting:
    asked, problems = _questions(asked)
    journal: Journal = Unkept()
    again = f"{BARE} --no-save{_command(asked.options).removeprefix(BARE)}"
    if store is not None:
        journal, again = Kept(store, store.start(asked.options, problems)), BARE
    return Sitting(
        session=Session(problems=problems),
        journal=journal,
        again=again,
        saved=store is not None,
        resumed=False,
    )


def _questions(asked: Asked) -> tuple[Asked, tuple[str, ...]]:
    """Return the ids of a new set, and the options that give it again."""
    if asked.problem is not None:
        return asked, asked.problem
    seed = secrets.randbelow(SEEDS) if asked.seed is None else asked.seed
    count = COUNT if asked.count is None else asked.count
    problems = chosen(
        topic=asked.topic, level=asked.level, kind=asked.kind, count=count, seed=seed
    )
    return replace(asked, count=count, seed=seed), problems


def _command(options: Mapping[str, Any]) -> str:
    """Return the command that asks for a set with these options and no other."""
    given = {name: options.get(name) for name in asdict(Asked())}
    if given["count"] == COUNT:
        del given["count"]
    words = [
        f"--{name} {value}"
        for name, values in given.items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None
    ]
    return " ".join([BARE, *words])


@final
class Kept:
    """A journal in the store."""

    def __init__(self, store: Store, key: int) -> None:
        self._store = store
        self._key = key

    def record(self, position: int, attempt: Attempt) -> None:
        """Keep an answer."""
        self._store.record(self._key, position, attempt)

    def undo(self, position: int) -> None:
        """Take an answer back."""
        self._store.undo(self._key, position)

    def overrule(self, position: int, mark: Mark) -> None:
        """Keep the learner's own mark."""
        self._store.overrule(self._key, position, mark)

    def finish(self) -> None:
        """Note that the set is done."""
        self._store.finish(self._key)


@final
class Unkept:
    """A journal that keeps nothing."""

    def record(self, position: int, attempt: Attempt) -> None:
        """Keep nothing."""

    def undo(self, position: int) -> None:
        """Keep nothing."""

    def overrule(self, position: int, mark: Mark) -> None:
        """Keep nothing."""

    def finish(self) -> None:
        """Keep nothing."""
