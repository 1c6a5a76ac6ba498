"""A formula in the letters of the prompt."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from problems.answers.answer import Answer
from problems.formula import Formula


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A letter that an answer may use.

    Args:
        name: as the prompt writes it: "P", "k".
        says: what it is, in the plural: "parameters", "key-value heads".
        aliases: other names that may be typed: "h_kv".
    """

    name: str
    says: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WrongFormula:
    """A formula that one named mistake gives.

    Args:
        name: of the mistake.
        formula: what it gives.
        feedback: begins with the formula: what was left out or taken twice.
    """

    name: str
    formula: Formula
    feedback: str


@dataclass(frozen=True, kw_only=True)
class SymbolicAnswer(Answer):
    """A formula, right where it gives the same number as `formula` whatever the letters are.

    Args:
        formula: the right one.
        letters: all that the prompt defines, those that do not matter too.
        unit: what the formula counts: "bytes", "parameters".
        mistakes: formulas that are told apart from any other wrong one.

    Raises:
        ValueError: listing every letter that is not defined or twice, and every mistake that is
            right or the same as another.
    """

    type = "symbolic"

    formula: Formula
    letters: tuple[Letter, ...]
    unit: str = "bytes"
    mistakes: tuple[WrongFormula, ...] = ()

    def __post_init__(self) -> None:
        if faults := [*_faults(self)]:
            raise ValueError("; ".join(faults))

    @property
    def said(self) -> str:
        """The formula: "s·b·h·(10 + 24/t)"."""
        return self.formula.said

    @property
    def alone(self) -> dict[str, str]:
        """The letters by all their names."""
        spelled = (name for one in self.letters for name in (one.name, *one.aliases))
        return {name: f"1*{name}" for name in spelled}

    @property
    def as_json(self) -> dict[str, Any]:
        """The formula, its letters and the wrong ones, as text and term by term."""
        return {
            "type": self.type,
            "value": self.said,
            "terms": self.formula.as_json,
            "unit": self.unit,
            "letters": [
                {"name": one.name, "says": one.says, "aliases": list(one.aliases)}
                for one in self.letters
            ],
            "mistakes": [
                {
                    "name": one.name,
                    "value": one.formula.said,
                    "terms": one.formula.as_json,
                    "feedback": one.feedback,
                }
                for one in self.mistakes
            ],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote: the terms say what a formula is.

        Raises:
            ValueError: as for any, or a formula's text is not that of its terms.
        """
        return cls(
            formula=_formula(plain),
            letters=tuple(
                Letter(name=one["name"], says=one["says"], aliases=tuple(one["aliases"]))
                for one in plain["letters"]
            ),
            unit=plain["unit"],
            mistakes=tuple(
                WrongFormula(name=one["name"], formula=_formula(one), feedback=one["feedback"])
                for one in plain["mistakes"]
            ),
        )


def wrong(name: str, formula: Formula, why: str) -> WrongFormula:
    """Return a mistake; `why` follows its formula."""
    return WrongFormula(name=name, formula=formula, feedback=f"{formula.said} {why}")


def telling(right: Formula, mistakes: Iterator[WrongFormula]) -> tuple[WrongFormula, ...]:
    """Return the mistakes that tell something: not those that are right, and no formula twice."""
    formulas, kept = [right], dict[str, WrongFormula]()
    for one in mistakes:
        if one.name not in kept and one.formula not in formulas:
            formulas.append(one.formula)
            kept[one.name] = one
    return tuple(kept.values())


def _formula(plain: Mapping[str, Any]) -> Formula:
    formula = Formula.from_json(plain["terms"])
    if formula.said != plain["value"]:
        message = f"value is {plain['value']}, and its terms are {formula.said}"
        raise ValueError(message)
    return formula


def _faults(answer: SymbolicAnswer) -> Iterator[str]:
    known = {one.name for one in answer.letters}
    formulas = [answer.formula, *(one.formula for one in answer.mistakes)]
    for name in sorted(frozenset().union(*(one.letters for one in formulas)) - known):
        yield f"{name} is not defined"
    spelled = Counter(name for one in answer.letters for name in {one.name, *one.aliases})
    yield from (
        f"{times} letters may be typed as {n}" for n, times in spelled.items() if times > 1
    )
    if any(one in formulas[:at] for at, one in enumerate(formulas)):
        yield "two formulas are the same"
    if len({one.name for one in answer.mistakes}) < len(answer.mistakes):
        yield "two mistakes have one name"
