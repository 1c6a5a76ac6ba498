"""True or false, and why, in the learner's own words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

from problems.answers.answer import Answer
from problems.answers.numbers import exact


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """The numbers of a run that a reason may name.

    Args:
        each: bytes of model states per parameter, whole.
        shared: the same on one GPU, which is `each` where nothing is shared.
        parts: bytes per parameter of each of the states.
        sizes: bytes of what its ledger has: lines, sums, the card.
        named: bytes that a word may stand for: "logit", "activation", "peak".
    """

    each: Fraction
    shared: Fraction
    parts: tuple[int, ...]
    sizes: tuple[int, ...]
    named: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def as_json(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {
            "each": exact(self.each),
            "shared": exact(self.shared),
            "parts": list(self.parts),
            "sizes": list(self.sizes),
            "named": {word: list(sizes) for word, sizes in self.named.items()},
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the numbers that `as_json` wrote."""
        return cls(
            each=Fraction(plain["each"]),
            shared=Fraction(plain["shared"]),
            parts=tuple(plain["parts"]),
            sizes=tuple(plain["sizes"]),
            named={word: tuple(sizes) for word, sizes in plain["named"].items()},
        )


@dataclass(frozen=True, kw_only=True)
class ClaimAnswer(Answer):
    """True or false, and why, in the learner's own words.

    Args:
        claim: the id of a claim of `problems.claims`.
        truth: whether it is true.
        core: what a full answer says.
        run: the numbers of the run that the claim was put about; None where it was put alone.
    """

    type = "claim"

    claim: str
    truth: bool
    core: str
    run: RunFacts | None = None

    @property
    def said(self) -> str:
        """The verdict and the reason."""
        return f"{'true' if self.truth else 'false'}. {self.core.removesuffix('.')}"

    @property
    def as_json(self) -> dict[str, Any]:
        """The claim, the reason and the run."""
        return {
            "type": self.type,
            "claim": self.claim,
            "truth": self.truth,
            "core": self.core,
            "run": None if self.run is None else self.run.as_json,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the answer that `as_json` wrote."""
        run = None if plain["run"] is None else RunFacts.from_json(plain["run"])
        return cls(claim=plain["claim"], truth=plain["truth"], core=plain["core"], run=run)
