"""What a rule is, how a function becomes one, and what it finds."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import getdoc
from typing import TypeVar

from problems.answers.answer import Answer
from problems.kind import Kind
from problems.problem import Problem

A = TypeVar("A", bound=Answer)
# Problems of a kind that a rule over all of them wants: FEW let most of what a kind does come.
FEW, MANY = 40, 200


@dataclass(frozen=True, kw_only=True)
class Series:
    """A kind, and the problems that it makes of the seeds from 0 on."""

    kind: Kind
    problems: tuple[Problem, ...]

    @property
    def tells_much(self) -> bool:
        """Whether there are so many that what seldom comes must have come."""
        return len(self.problems) >= MANY


@dataclass(frozen=True)
class Flaw:
    """What a rule does not let pass: where it stands, what it is, what to do next."""

    where: str
    what: str
    next: str
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A flaw of a kind, found by a rule.

    Args:
        kind: its name; "" where it is one of the whole bank.
        seed: of the problem that has it; None where several together have it.
    """

    rule: str
    kind: str
    seed: int | None
    where: str
    what: str
    next: str

    @property
    def id(self) -> str:
        """The problem `kind@seed`, the kind, or "bank"."""
        return (self.kind or "bank") + ("" if self.seed is None else f"@{self.seed}")

    def __str__(self) -> str:
        return f"{self.id}: {self.where}: {self.what}; {self.next} [{self.rule}]"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Something that questions are held to.

    Args:
        name: a word, as `allows` of a kind and a finding name it.
        says: what holds, in a sentence.
        finds: yields what does not, of the series of one kind or, for the bank, of all.
        of_bank: whether it looks at the whole bank.
        may_be_broken: whether a kind may say why it does not keep the rule.
        fewest: problems of each kind that it wants; of fewer it would judge chance.
        concerns: whether it says something of such a problem.
    """

    name: str
    says: str
    finds: Callable[[Sequence[Series]], Iterator[Finding]]
    of_bank: bool = False
    may_be_broken: bool = False
    fewest: int = 1
    concerns: Callable[[Problem], bool] = lambda _: True

    def judges(self, found: Sequence[Series]) -> bool:
        """Say whether there are enough problems to look at."""
        return all(len(series.problems) >= self.fewest for series in found)


def each_problem(name: str) -> Callable[[Callable[[Problem], Iterable[Flaw]]], Rule]:
    """Return a decorator for a function that looks at every problem."""

    def register(look: Callable[[Problem], Iterable[Flaw]]) -> Rule:
        def flaws(series: Series) -> Iterator[Flaw]:
            for problem in series.problems:
                yield from (replace(flaw, seed=problem.seed) for flaw in look(problem))

        return _of_kinds(name, look, flaws)

    return register


def each_answer(
    name: str, of: type[A]
) -> Callable[[Callable[[Problem, A], Iterable[Flaw]]], Rule]:
    """Return a decorator for a function that looks at each problem with an answer of a type."""

    def register(look: Callable[[Problem, A], Iterable[Flaw]]) -> Rule:
        def flaws(series: Series) -> Iterator[Flaw]:
            for problem in series.problems:
                if isinstance(problem.answer, of):
                    found = look(problem, problem.answer)
                    yield from (replace(flaw, seed=problem.seed) for flaw in found)

        return _of_kinds(name, look, flaws)

    return register


def each_kind(
    name: str,
    *,
    may_be_broken: bool = False,
    fewest: int = 1,
    concerns: Callable[[Problem], bool] = lambda _: True,
) -> Callable[[Callable[[Series], Iterable[Flaw]]], Rule]:
    """Return a decorator for a function that looks at all problems of a kind together."""

    def register(look: Callable[[Series], Iterable[Flaw]]) -> Rule:
        rule = _of_kinds(name, look, look, may_be_broken=may_be_broken)
        return replace(rule, fewest=fewest, concerns=concerns)

    return register


def all_answers(
    name: str, of: type[A], *, may_be_broken: bool = False
) -> Callable[[Callable[[Sequence[A]], Iterable[Flaw]]], Rule]:
    """Return a decorator for a function that looks at all answers of a type that a kind has."""

    def register(look: Callable[[Sequence[A]], Iterable[Flaw]]) -> Rule:
        def flaws(series: Series) -> Iterable[Flaw]:
            found = [one.answer for one in series.problems if isinstance(one.answer, of)]
            return look(found) if found else ()

        def concerns(problem: Problem) -> bool:
            return isinstance(problem.answer, of)

        rule = _of_kinds(name, look, flaws, may_be_broken=may_be_broken)
        return replace(rule, fewest=FEW, concerns=concerns)

    return register


def whole_bank(
    name: str, *, fewest: int = 0
) -> Callable[[Callable[[Sequence[Series]], Iterable[Flaw]]], Rule]:
    """Return a decorator for a function that looks at all kinds at once."""

    def register(look: Callable[[Sequence[Series]], Iterable[Flaw]]) -> Rule:
        def finds(found: Sequence[Series]) -> Iterator[Finding]:
            yield from (_finding(name, "", flaw) for flaw in look(found))

        return Rule(name=name, says=_says(look), finds=finds, of_bank=True, fewest=fewest)

    return register


def _of_kinds(
    name: str,
    look: Callable[..., object],
    flaws: Callable[[Series], Iterable[Flaw]],
    *,
    may_be_broken: bool = False,
) -> Rule:
    def finds(found: Sequence[Series]) -> Iterator[Finding]:
        for series in found:
            yield from (_finding(name, series.kind.name, flaw) for flaw in flaws(series))

    return Rule(name=name, says=_says(look), finds=finds, may_be_broken=may_be_broken)


def _says(look: Callable[..., object]) -> str:
    return (getdoc(look) or "").partition("\n")[0]


def _finding(rule: str, kind: str, flaw: Flaw) -> Finding:
    return Finding(
        rule=rule, kind=kind, seed=flaw.seed, where=flaw.where, what=flaw.what, next=flaw.next
    )
