"""What a key of another version would be today: each problem made anew and compared."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.errors import InputError
from problems.problem import Problem
from problems.registry import build, kinds
from quiz.release import VERSION
from quiz.sets.problem_set import ProblemSet, Slot

GONE = "there is no such kind today"


@dataclass(frozen=True, kw_only=True)
class Differs:
    """A slot whose problem would be another today, for some students.

    Args:
        slot: which.
        what: differs: "prompt, answer"; or why no such problem can be made.
        whose: students, or "everyone".
    """

    slot: Slot
    what: str
    whose: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Today:
    """How the problems of a key compare with those that its kinds and seeds give today.

    Args:
        made_by: the version that drew the key.
        version: today's.
        problems: how many were compared.
        differs: where they are not the same.
    """

    made_by: str
    version: str
    problems: int
    differs: tuple[Differs, ...]


def compared_today(problems: ProblemSet) -> Today:
    """Compare every problem with the one that its kind and seed give today."""
    found: dict[tuple[int, str], list[str]] = defaultdict(list)
    again: dict[str, Problem | str] = {}
    for variant in problems.variants:
        for at, problem in enumerate(variant.problems):
            if what := _difference(problem, again):
                found[at, what].append(variant.said)
    return Today(
        made_by=problems.version,
        version=VERSION,
        problems=sum(len(variant.problems) for variant in problems.variants),
        differs=tuple(
            Differs(slot=problems.slots[at], what=what, whose=tuple(whose))
            for (at, what), whose in sorted(found.items())
        ),
    )


def _difference(problem: Problem, again: dict[str, Problem | str]) -> str:
    """Return what of a problem differs today; "" where nothing does."""
    if problem.id not in again:
        again[problem.id] = _made(problem)
    made = again[problem.id]
    return made if isinstance(made, str) else ", ".join(_parts(problem, made))


def _made(problem: Problem) -> Problem | str:
    """Return what the kind and the seed give today, or why they give nothing."""
    if problem.kind not in kinds():
        return GONE
    try:
        return build(problem.kind, problem.seed)
    except (InputError, RuntimeError) as error:
        return f"cannot be made today: {str(error).splitlines()[0]}"


def _parts(one: Problem, other: Problem) -> Iterator[str]:
    pairs: Mapping[str, tuple[object, object]] = {
        "prompt": (one.prompt, other.prompt),
        "exhibit": (one.exhibit, other.exhibit),
        "answer": (one.answer, other.answer),
        "mistakes": (one.mistakes, other.mistakes),
        "scenario": (one.scenario, other.scenario),
    }
    yield from (name for name, (before, now) in pairs.items() if before != now)
