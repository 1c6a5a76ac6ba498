"""The phases of a step as formulas: traced with b and s as symbols, beside the ledger's own."""

from engine.errors import Fault, InputError
from engine.scenario import Scenario
from engine.verify.steps import Progress
from engine.verify.symbolic import LEFTOVERS, SymbolError, symbolic
from quiz.verify.report import Formula, Leftover


def formulas(scenario: Scenario, progress: Progress) -> tuple[Formula, ...]:
    """Return the phases of a steady step of `scenario`.

    Raises:
        InputError: PyTorch cannot trace it with b and s as symbols.
    """
    try:
        equalities = symbolic(scenario, progress=progress)
    except SymbolError as error:
        raise InputError(
            Fault("--symbolic", f"b and s do not stay symbols: {error}", "leave it out")
        ) from error
    return tuple(
        Formula(
            phase=one.phase,
            traced=str(one.traced),
            predicted=str(one.predicted),
            leftovers=tuple(
                Leftover(name=name, size=str(size), why=LEFTOVERS[name])
                for name, size in one.leftovers
            ),
            difference=str(one.difference),
            rounding=one.rounding,
        )
        for one in equalities
    )
