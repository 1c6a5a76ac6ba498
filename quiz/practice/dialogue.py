"""A set of questions put to a learner: what is asked, kept and shown, in that order.

The learner, the journal and the clock are given, so that a test or another front can stand in.
"""

from collections.abc import Callable
from typing import Literal, Protocol, final

from problems.problem import Problem
from quiz.marking.attempt import Attempt
from quiz.marking.verdict import Mark
from quiz.practice.commands import command_of
from quiz.practice.events import Event, Marked, Overruled, Quit, Undone
from quiz.practice.planning import Planner, planned, promised
from quiz.practice.session import Session, behind, respond, seen

Ending = Literal["finished", "stopped", "interrupted"]


class Learner(Protocol):
    """Who is asked."""

    @property
    def interactive(self) -> bool:
        """Whether a person sees each line before typing the next."""

    def read(self) -> str | None:
        """Return the next line without its newline, or None where there is none."""

    def ask(self, session: Session, problem: Problem) -> None:
        """Show the question."""

    def tell(self, event: Event, problem: Problem) -> None:
        """Show what a line led to."""

    def pause(self, session: Session, problem: Problem) -> str | None:
        """Show what can be typed behind the verdict on `problem`, and return it as `read` does."""

    def explain(self, problem: Problem) -> None:
        """Show the whole worked solution."""


class Journal(Protocol):
    """Where answers are kept. What it was told is safe when its method returns."""

    def record(self, position: int, attempt: Attempt) -> None:
        """Keep an answer."""

    def undo(self, position: int) -> None:
        """Take an answer back."""

    def overrule(self, position: int, mark: Mark) -> None:
        """Keep the learner's own mark of an answer beside the program's."""

    def plan(self, problems: tuple[str, ...]) -> None:
        """Keep which questions are asked, as far as they are planned."""

    def finish(self) -> None:
        """Note that the set is done."""


@final
class Dialogue:
    """One sitting. `session` is always what the journal holds.

    Args:
        session: where the learner stands.
        build: makes a problem of its id.
        clock: seconds that only grow.
        planner: decides what is asked next; None where the session has all questions.
    """

    def __init__(
        self,
        session: Session,
        *,
        learner: Learner,
        journal: Journal,
        build: Callable[[str], Problem],
        clock: Callable[[], float],
        planner: Planner | None = None,
    ) -> None:
        self.session = promised(session, planner)
        self._planner = planner
        self._learner = learner
        self._journal = journal
        self._build = build
        self._clock = clock

    def run(self) -> Ending:
        """Ask until the set is done or the learner stops."""
        try:
            while not self.session.finished:
                if not self._question():
                    return "stopped"
            self._journal.finish()
        except KeyboardInterrupt:
            if not self.session.finished:
                return "interrupted"
            self._journal.finish()
        return "finished"

    def _question(self) -> bool:
        """Ask one question until it is done with or taken back; False where the learner stops."""
        self._plan()
        problem = self._build(self.session.problems[self.session.position])
        self._learner.ask(self.session, problem)
        shown = self._clock()
        while (line := self._learner.read()) is not None:
            session, event = respond(
                self.session,
                problem,
                line,
                seconds=self._clock() - shown,
                ask_again=self._learner.interactive,
            )
            self._keep(session, event)
            self._learner.tell(event, problem)
            if isinstance(event, Marked):
                return not self._learner.interactive or self._between(problem)
            if isinstance(event, Undone):
                return True
            if isinstance(event, Quit):
                return False
        return False

    def _plan(self) -> None:
        """Keep the next question before it is asked, where it is new."""
        session = planned(self.session, self._planner)
        if session.problems != self.session.problems:
            self._journal.plan(session.problems)
            self.session = session

    def _between(self, problem: Problem) -> bool:
        """Wait for a word to go on; False where the learner stops."""
        while (line := self._learner.pause(self.session, problem)) is not None:
            if not line.strip():
                return True
            command = command_of(line)
            if command == "quit":
                return self.session.finished
            if command == "why":
                self.session = seen(self.session)
                self._learner.explain(problem)
            elif isinstance(self._behind(problem, line), Undone):
                return True
        return self.session.finished

    def _behind(self, problem: Problem, line: str) -> Event:
        """Do what a line behind the verdict on `problem` asks for."""
        session, event = behind(self.session, problem, line)
        self._keep(session, event)
        self._learner.tell(event, problem)
        return event

    def _keep(self, session: Session, event: Event) -> None:
        """Write what an event changes before anyone is told of it."""
        if isinstance(event, Marked):
            self._journal.record(self.session.position, event.attempt)
        elif isinstance(event, Undone):
            self._journal.undo(session.position)
        elif isinstance(event, Overruled) and event.attempt.own is not None:
            self._journal.overrule(session.position - 1, event.attempt.own)
        self.session = promised(session, self._planner)
