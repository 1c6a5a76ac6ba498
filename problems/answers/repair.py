"""The first wrong step of a worked answer, and the number that is right there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from problems.answers.answer import Answer, Number
from problems.answers.numbers import amount, exact
from problems.answers.quantity import QuantityAnswer

FEWEST_STEPS, MOST_STEPS = 3, 7


@dataclass(frozen=True, kw_only=True)
class WorkedStep:
    """One step of a worked answer.

    Args:
        text: the step as it is shown, its number at the end.
        shown: the number that it comes to there, before it was rounded for `text`.
        right: the number that it comes to where no step is wrong; a bare number has the unit in
            which the step is shown.
        noun: what a plain number counts.
    """

    text: str
    shown: Fraction
    right: QuantityAnswer
    noun: str = ""

    @property
    def said(self) -> str:
        """The right number with its unit: "28.00 GB = 26.08 GiB", "8,192 tokens"."""
        return f"{amount(self.right.value, self.right.unit)} {self.noun}".rstrip()

    @property
    def holds(self) -> bool:
        """Whether the number shown is the right one."""
        return self.shown == self.right.value

    @property
    def as_json(self) -> dict[str, Any]:
        """The text, both numbers and what they count."""
        return {
            "text": self.text,
            "shown": exact(self.shown),
            "right": self.right.as_json,
            "noun": self.noun,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the step that `as_json` wrote."""
        return cls(
            text=plain["text"],
            shown=Fraction(plain["shown"]),
            right=QuantityAnswer.from_json(plain["right"]),
            noun=plain["noun"],
        )


@dataclass(frozen=True, kw_only=True)
class RepairAnswer(Answer):
    """The first of the steps whose number is not the right one, and the right number.

    Later steps go on from the wrong number and are no mistakes of their own.

    Args:
        steps: as they are shown, from the first to the last.
        why: follows the right number: what the wrong step left out or took twice, with its size.

    Raises:
        ValueError: listing every way in which the steps pose no such question.
    """

    type = "repair"

    steps: tuple[WorkedStep, ...]
    why: str

    def __post_init__(self) -> None:
        if faults := [*_faults(self.steps)]:
            raise ValueError("; ".join(faults))

    @property
    def step(self) -> int:
        """The first wrong one, counted from 1."""
        return next(place for place, step in enumerate(self.steps, 1) if not step.holds)

    @property
    def wrong(self) -> WorkedStep:
        """The first wrong step itself."""
        return self.steps[self.step - 1]

    @property
    def proof(self) -> QuantityAnswer:
        """The number that is right at the first wrong step."""
        return self.wrong.right

    @property
    def said(self) -> str:
        """The step and its right number: "step 3, 28.00 GB = 26.08 GiB"."""
        return f"step {self.step}, {self.wrong.said}"

    @property
    def as_json(self) -> dict[str, Any]:
        """The step and its right number, all steps with theirs, and why it is wrong."""
        return {
            "type": self.type,
            "step": self.step,
            "proof": self.proof.as_json,
            "steps": [step.as_json for step in self.steps],
            "why": self.why,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote.

        Raises:
            ValueError: as for any, or `step` and `proof` are not those of `steps`.
        """
        steps = tuple(map(WorkedStep.from_json, plain["steps"]))
        answer = cls(steps=steps, why=plain["why"])
        if plain["step"] != answer.step or plain["proof"] != answer.proof.as_json:
            message = (
                f"of the steps the first wrong one is {answer.step}; step or proof says other"
            )
            raise ValueError(message)
        return answer

    @property
    def number(self) -> Number:
        """The right number."""
        return self.proof


def _faults(steps: tuple[WorkedStep, ...]) -> Iterator[str]:
    if not FEWEST_STEPS <= len(steps) <= MOST_STEPS:
        yield f"there are {len(steps)} steps, not {FEWEST_STEPS} to {MOST_STEPS}"
    if all(step.holds for step in steps):
        yield "no step is wrong"
