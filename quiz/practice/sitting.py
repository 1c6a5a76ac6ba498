"""Which set a learner sits down to: the one left unfinished, or a new one."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from engine.errors import Fault, InputError
from problems.problem import kind_of
from problems.registry import kinds
from quiz.history.store import SavedSet, Store
from quiz.practice.dialogue import Journal
from quiz.practice.journals import Kept, Unkept
from quiz.practice.planning import Adapting, Planner, promised
from quiz.practice.questions import MOST, SEEDS, chosen, fitting, named, topic_key
from quiz.practice.session import Session
from quiz.schedule.choosing import next_due, overdue
from quiz.schedule.concepts import Concept

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
    due: bool | None = None

    @property
    def adapts(self) -> bool:
        """Whether the learner's answers decide what is asked; else a seed or ids do."""
        return self.seed is None and self.problem is None

    @property
    def options(self) -> dict[str, Any]:
        """The options as they are kept, in JSON's types."""
        return asdict(self) | {"problem": list(self.problem) if self.problem else None}


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """A session with the journal that keeps it.

    Args:
        planner: decides what is asked next; None where the session has all questions.
        again: the command that goes on with it, or asks the same questions where it is not saved.
    """

    session: Session
    journal: Journal
    planner: Planner | None = None
    again: str
    saved: bool
    resumed: bool


@dataclass(frozen=True, kw_only=True)
class NothingDue:
    """Nothing of what was asked for is due. `first` is when that changes, None: it will not."""

    first: datetime | None


def now() -> datetime:
    """Return the time, UTC."""
    return datetime.now(UTC)


def sit_down(asked: Asked, *, store: Store | None, new: bool) -> Sitting | NothingDue:
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
    if asked.due and (store is None or asked.seed is not None):
        other = "--no-save" if store is None else "--seed"
        what = f"takes what your answers have made due, and {other} leaves them out"
        raise InputError(Fault("--due", what, "give one of the two"))
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
    while kept is not None and _is_over(store, kept):
        store.finish(kept.key)  # it ended between the last answer and the note that it is done
        kept = store.unfinished(asked.options)
    if kept is None or not all(kind_of(name) in kinds() for name in kept.problems):
        return None  # a kind that this version no longer has
    return kept


def _is_over(store: Store, kept: SavedSet) -> bool:
    if len(kept.attempts) < len(kept.problems):
        return False
    return _session(kept, _planner(store, kept.options)).finished


def _session(kept: SavedSet, planner: Planner | None) -> Session:
    answered = len(kept.attempts)
    session = Session(problems=kept.problems, attempts=kept.attempts, fixed=answered)
    return promised(session, planner)


def _resumed(store: Store, kept: SavedSet, *, bare: bool) -> Sitting:
    planner = _planner(store, kept.options)
    return Sitting(
        session=_session(kept, planner),
        planner=planner,
        journal=Kept(store, kept.key),
        again=BARE if bare else _command(kept.options),
        saved=True,
        resumed=bool(kept.attempts),
    )


def _begun(asked: Asked, store: Store | None) -> Sitting | NothingDue:
    if store is not None and asked.adapts:
        return _adapting(asked, store)
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


def _adapting(asked: Asked, store: Store) -> Sitting | NothingDue:
    """Begin a set whose questions follow from the learner's answers."""
    most = MOST if asked.due else COUNT
    count = most if asked.count is None else asked.count
    kinds_left = fitting(topic=asked.topic, level=asked.level, kind=asked.kind, count=count)
    concepts: tuple[Concept, ...] | None = None
    if asked.due:
        answered = store.answered()
        concepts = overdue(kinds_left, answered, now())[:count]
        if not concepts:
            return NothingDue(first=next_due(kinds_left, answered))
        count = len(concepts)
    asked = replace(asked, count=count, seed=secrets.randbelow(SEEDS))
    options = asked.options | {
        "adapts": True,
        "concepts": concepts and [[one.kind, one.mistake] for one in concepts],
    }
    planner = _planner(store, options)
    return Sitting(
        session=promised(Session(problems=()), planner),
        planner=planner,
        journal=Kept(store, store.start(options, ())),
        again=BARE,
        saved=True,
        resumed=False,
    )


def _planner(store: Store, options: Mapping[str, Any]) -> Planner | None:
    """Return what plans a set with these options, as they are kept."""
    if not options.get("adapts"):
        return None
    names = {name: options[name] for name in ("topic", "level", "kind", "count")}
    concepts = options["concepts"]
    return Adapting(
        fitting=fitting(**names),
        level=options["level"],
        seed=options["seed"],
        count=options["count"],
        due=concepts and tuple(Concept(kind=kind, mistake=said) for kind, said in concepts),
        answered=store.answered,
        now=now,
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
        f"--{name}" if value is True else f"--{name} {value}"
        for name, values in given.items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None
    ]
    return " ".join([BARE, *words])
