"""Bad input as one error that lists every fault and says what to do next."""

from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: where it stands, what is wrong with it, what to do next.

    `below` are lines that are shown below it, such as what there is to choose from.
    """

    where: str
    what: str
    next: str = ""
    below: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f"; {self.next}" if self.next else "")


class InputError(Exception):
    """Input that cannot be used. `faults` lists everything that is wrong with it."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


class UnmodelledError(InputError):
    """A scenario that is well formed but has a part for which the ledger has no lines."""


NAMED = 12


def near(name: str, known: tuple[str, ...] | list[str]) -> str:
    """Return "did you mean X or Y?" for the names in `known` that are close to `name`, or ""."""
    lower = dict.fromkeys(k.lower() for k in known)
    close = get_close_matches(name.lower(), lower, n=3, cutoff=0.6)
    named = [k for one in close for k in dict.fromkeys(known) if k.lower() == one]
    return f"did you mean {' or '.join(named)}?" if named else ""


def unknown(where: str, name: str, known: tuple[str, ...] | list[str]) -> Fault:
    """Return the fault for a `name` that is not among `known`: near names, or all if few."""
    hint = near(name, known)
    if not hint:
        more = ", …" if len(known) > NAMED else ""
        hint = f"known: {', '.join(known[:NAMED])}{more}"
    return Fault(where, f"{name!r} is not known", hint)
