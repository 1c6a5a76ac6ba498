"""Where the answers of a set go: into the store, or nowhere."""

from typing import final

from quiz.history.store import Store
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import Mark


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

    def plan(self, problems: tuple[str, ...]) -> None:
        """Keep which questions are asked."""
        self._store.plan(self._key, problems)

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

    def plan(self, problems: tuple[str, ...]) -> None:
        """Keep nothing."""

    def finish(self) -> None:
        """Keep nothing."""
