"""An interview put to a candidate: each line is kept, then heard, then told of.

The candidate, the journal and the clock are given, so that a test or another front can stand in.
"""

from collections.abc import Callable
from typing import Literal, Protocol, final

from quiz.interview.events import Back, Event, Left, Quit
from quiz.interview.sitting import Sitting, respond

Ending = Literal["finished", "stopped", "interrupted"]


class Candidate(Protocol):
    """Who is asked."""

    def read(self, sitting: Sitting) -> str | None:
        """Return the next line without its newline, or None where there is none."""

    def ask(self, sitting: Sitting) -> None:
        """Show the question, and what else is new with it."""

    def tell(self, event: Event, sitting: Sitting) -> None:
        """Show what a line led to, in the state behind it."""


Journal = Callable[[float, str], None]
"""Where lines are kept, with the seconds since the one before: safe when it returns."""


@final
class Dialogue:
    """One sitting. `sitting` is always what the journal's lines lead to."""

    def __init__(
        self,
        sitting: Sitting,
        *,
        candidate: Candidate,
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self.sitting = sitting
        self._candidate = candidate
        self._journal = journal
        self._clock = clock

    def run(self) -> Ending:
        """Ask until the interview is through or the candidate stops."""
        try:
            while not self.sitting.finished:
                if not self._question():
                    return "stopped"
        except KeyboardInterrupt:
            if not self.sitting.finished:
                return "interrupted"
        return "finished"

    def _question(self) -> bool:
        """Ask one question until it is left; False where the candidate stops."""
        self._candidate.ask(self.sitting)
        before = self._clock()
        while (line := self._candidate.read(self.sitting)) is not None:
            now = self._clock()
            seconds, before = round(now - before, 3), now
            self._journal(seconds, line)
            self.sitting, event = respond(self.sitting, line, seconds)
            self._candidate.tell(event, self.sitting)
            if isinstance(event, Left | Back):
                return True
            if isinstance(event, Quit):
                return False
        return False
