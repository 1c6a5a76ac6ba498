"""A lever: a named change of a scenario that saves memory."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import InputError
from engine.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class WhyNot:
    """Why a lever does not apply, in a sentence."""

    sentence: str


Change = Callable[[Scenario], Scenario | WhyNot]


@dataclass(frozen=True, kw_only=True)
class Lever:
    """A change of a scenario, which keeps the sequences of a step.

    Attributes:
        name: as it is shown.
        short: other names, as people type them.
        says: what to do, in the words of the scenario file.
        change: returns the changed scenario, or why it does not apply; it may also give what
            `Scenario` refuses.
        changes_numerics: whether training goes on with other numbers than rounding explains.
        invasiveness: from 1, which touches a setting; it decides between levers that cost alike.
    """

    name: str
    short: tuple[str, ...]
    says: str
    change: Change
    changes_numerics: bool = False
    invasiveness: int

    def applied(self, scenario: Scenario) -> Scenario | WhyNot:
        """Return the changed scenario, or why there is none: the ledger's words if it refuses.

        Of several things that it refuses, the first.
        """
        try:
            changed = self.change(scenario)
        except InputError as error:
            return WhyNot(sentence=str(error.faults[0]))
        return WhyNot(sentence="it is so already") if changed == scenario else changed
