"""A kind's problems for the rules: those that it makes, a finding for each that it does not."""

from collections.abc import Iterable

from engine.errors import InputError
from problems.check.rule import Finding, Series
from problems.kind import Kind
from problems.own_kinds import raised_by
from problems.problem import Problem
from problems.registry import build

# A kind that fails at so many seeds fails at the others too.
MOST_FAILURES = 3
RULE = "made"


def series_of(kind: Kind, seeds: Iterable[int]) -> tuple[Series, tuple[Finding, ...]]:
    """Return the problems of a kind, and a finding for each seed that gives none."""
    problems, failures = list[Problem](), list[Finding]()
    for seed in seeds:
        try:
            problems.append(_built(kind, seed))
        except InputError as error:
            fault = error.faults[0]
            failures.append(
                Finding(
                    rule=RULE,
                    kind=kind.name,
                    seed=seed,
                    where=fault.where,
                    what=fault.what,
                    next=fault.next,
                )
            )
        if len(failures) == MOST_FAILURES:
            break
    return Series(kind=kind, problems=tuple(problems)), tuple(failures)


def _built(kind: Kind, seed: int) -> Problem:
    try:
        return build(kind.name, seed)
    except InputError:
        raise
    except Exception as error:
        raise InputError(raised_by(kind, error, "mend it there")) from error
