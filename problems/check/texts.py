"""The texts of a problem, each with the place where it stands, and cut for a line."""

from collections.abc import Iterator

from problems.check.rule import Flaw
from problems.problem import Problem

SHOWN = 60


def texts(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of all that a person reads, but for the exhibit."""
    yield "prompt", problem.prompt
    for number, hint in enumerate(problem.hints, 1):
        yield f"hint {number}", hint
    for number, step in enumerate(problem.solution, 1):
        yield f"step {number}", step.text
    for mistake in problem.mistakes:
        yield f"mistake {mistake.name!r}", mistake.feedback


def cut(text: str) -> str:
    """Return a text in quotes, so short that it can stand in a line."""
    line = " ".join(text.split())
    return repr(line if len(line) <= SHOWN else f"{line[:SHOWN]}…")


def other_end(problem: Problem, *said: str) -> Iterator[Flaw]:
    """Yield a flaw where the last step of the solution ends with none of what may be said."""
    last = problem.solution[-1].text if problem.solution else ""
    if not last.endswith(said):
        what = f"{cut(last[-50:])} does not end with the answer"
        yield Flaw(
            f"step {len(problem.solution)}", what, f"end with {' or '.join(map(repr, said))}"
        )
