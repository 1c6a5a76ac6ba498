"""What a kind makes of a draw: a problem without its name."""

from dataclasses import dataclass

from engine.scenario import Scenario
from problems.answers.answer import Answer
from problems.problem import Mistake, Step


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A problem's content; see `Problem`. `mistakes` may hold more than can be told apart."""

    prompt: str
    answer: Answer
    hints: tuple[str, str, str]
    solution: tuple[Step, ...]
    mistakes: tuple[Mistake, ...]
    scenario: Scenario | None = None
    exhibit: str = ""
