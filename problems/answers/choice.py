"""One of a few things is asked for: what may be picked, and what each wrong pick overlooks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from problems.answers.answer import Answer
from problems.answers.ranking import RankedItem, name_faults


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of the things to pick from.

    Args:
        item: how it is shown and typed, and the number that speaks for or against it.
        mistake: the short name of what picking it overlooks; "" for the right one.
        feedback: one or two sentences on it, with its numbers.
    """

    item: RankedItem
    mistake: str = ""
    feedback: str


@dataclass(frozen=True, kw_only=True)
class ChoiceAnswer(Answer):
    """The right one of a few things.

    Args:
        choices: two or more, in the order in which they are shown; one has no mistake.

    Raises:
        ValueError: listing every way in which the parts do not fit each other.
    """

    type = "choice"

    choices: tuple[Choice, ...]

    def __post_init__(self) -> None:
        faults = [*name_faults(self.items), *_faults(self.choices)]
        if faults:
            raise ValueError("; ".join(faults))

    @property
    def said(self) -> str:
        """The name of the right one."""
        return self.right.item.name

    @property
    def alone(self) -> dict[str, str]:
        """The items by their keys."""
        return {item.key: item.name for item in self.items}

    @property
    def as_json(self) -> dict[str, Any]:
        """The key of the right one, and all with what a wrong pick overlooks."""
        return {
            "type": self.type,
            "value": self.right.item.key,
            "items": [
                choice.item.as_json | {"mistake": choice.mistake, "feedback": choice.feedback}
                for choice in self.choices
            ],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote.

        Raises:
            ValueError: as for any, or `value` is not the key of the one without a mistake.
        """
        answer = cls(
            choices=tuple(
                Choice(
                    item=RankedItem.from_json(one),
                    mistake=one["mistake"],
                    feedback=one["feedback"],
                )
                for one in plain["items"]
            )
        )
        if plain["value"] != answer.right.item.key:
            message = f"value is {plain['value']}, and the item without a mistake another"
            raise ValueError(message)
        return answer

    @property
    def items(self) -> tuple[RankedItem, ...]:
        """What may be picked."""
        return tuple(choice.item for choice in self.choices)

    @property
    def right(self) -> Choice:
        """The one to pick."""
        return next(choice for choice in self.choices if not choice.mistake)

    def choice(self, key: str) -> Choice:
        """Return the choice with this key."""
        return next(choice for choice in self.choices if choice.item.key == key)


def _faults(choices: tuple[Choice, ...]) -> Iterator[str]:
    if len(choices) < 2:
        yield "there is nothing to pick from"
    right = sum(not choice.mistake for choice in choices)
    if right != 1:
        yield f"{right} of the choices are right"
