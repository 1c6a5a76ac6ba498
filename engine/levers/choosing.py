"""Which of several degrees of a lever is taken."""

from collections.abc import Callable, Iterable, Iterator

from engine.errors import InputError
from engine.estimate import capacity, ledger
from engine.levers.lever import WhyNot
from engine.scenario import Scenario

Candidate = Callable[[], Scenario]


def smallest_that_fits(candidates: Iterable[Candidate], *, otherwise: str) -> Scenario | WhyNot:
    """Return the first candidate that fits, and if none does the one with the lowest peak.

    Args:
        candidates: from the smallest change to the largest, each made when it is its turn.
        otherwise: the sentence where there is no candidate.

    Raises:
        InputError: what the first candidate is refused for, where all are.
    """
    lowest: tuple[int, Scenario] | None = None
    refused: InputError | None = None
    for candidate in candidates:
        try:
            scenario = candidate()
        except InputError as error:
            refused = refused or error
            continue
        book = ledger(scenario)
        if book.nvidia_smi[1] <= capacity(scenario):
            return scenario
        if lowest is None or book.peak < lowest[0]:
            lowest = book.peak, scenario
    if lowest is not None:
        return lowest[1]
    if refused is not None:
        raise refused
    return WhyNot(sentence=otherwise)


def doublings(most: int) -> Iterator[int]:
    """Yield 2, 4, 8, … up to `most`."""
    factor = 2
    while factor <= most:
        yield factor
        factor *= 2
