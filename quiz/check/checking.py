"""Every rule over every kind that is asked for, kind by kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from problems.check.drawing import series_of
from problems.check.registry import rules, rules_in
from problems.check.rule import Finding, Rule, Series
from problems.kind import Kind
from quiz.check import known


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What came of a kind, or of the bank.

    Args:
        name: of the kind; "" for the bank.
        problems: how many of it were looked at.
        allowed: (rule, reason) of those it breaks and says why.
        not_judged: (rule, fewest) of those that want so many problems and had fewer.
        left_out: seeds that were not tried, since it failed at those before them.
    """

    name: str
    problems: int
    findings: tuple[Finding, ...]
    allowed: tuple[tuple[str, str], ...] = ()
    not_judged: tuple[tuple[str, int], ...] = ()
    left_out: int = 0


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return the rules, those that take marking last."""
    return (*rules(), *rules_in(known))


def check(kinds: Sequence[Kind], seeds: int, *, bank: bool) -> Iterator[Checked]:
    """Yield what comes of each kind and, where all are looked at, of the bank as a whole.

    Args:
        kinds: those that are looked at.
        seeds: each kind makes a problem of those from 0 to below this number.
        bank: whether they are all that there are.
    """
    found = []
    for kind in kinds:
        series, failures = series_of(kind, range(seeds))
        found.append(series)
        left_out = seeds - len(series.problems) - len(failures)
        yield replace(judged(series, failures), left_out=left_out)
    if bank:
        yield _of_bank(found)


def _of_bank(found: Sequence[Series]) -> Checked:
    of_bank = [rule for rule in all_rules() if rule.of_bank]
    judging = [rule for rule in of_bank if rule.judges(found)]
    return Checked(
        name="",
        problems=sum(len(series.problems) for series in found),
        findings=tuple(one for rule in judging for one in rule.finds(found)),
        not_judged=tuple((rule.name, rule.fewest) for rule in of_bank if rule not in judging),
    )


def judged(series: Series, failures: Sequence[Finding]) -> Checked:
    """Return what comes of a kind's problems, with the findings of those it did not make."""
    allows = series.kind.allows
    findings, allowed = [*failures, *_unknown(series.kind)], []
    of_kinds = [rule for rule in all_rules() if not rule.of_bank]
    judging = [rule for rule in of_kinds if rule.judges([series])]
    for rule in judging:
        broken = tuple(rule.finds([series]))
        if rule.may_be_broken and rule.name in allows:
            allowed += [(rule.name, allows[rule.name])] if broken else []
            # of fewer problems it may be kept by chance
            kept = not broken and series.tells_much
            findings += [_said_of(series.kind, rule.name, "is kept")] if kept else []
        else:
            findings += broken
    return Checked(
        name=series.kind.name,
        problems=len(series.problems),
        findings=tuple(findings),
        allowed=tuple(allowed),
        not_judged=tuple(
            (rule.name, rule.fewest)
            for rule in of_kinds
            if rule not in judging and any(map(rule.concerns, series.problems))
        ),
    )


def _unknown(kind: Kind) -> Iterator[Finding]:
    """Yield what a kind allows itself without need: no rule, or one that all have to keep."""
    known_rules = {rule.name: rule for rule in all_rules()}
    for name in kind.allows:
        if name not in known_rules:
            yield _said_of(kind, name, "is no rule")
        elif not known_rules[name].may_be_broken:
            yield _said_of(kind, name, "is a rule that every kind keeps")


def _said_of(kind: Kind, rule: str, what: str) -> Finding:
    return Finding(
        rule="allows",
        kind=kind.name,
        seed=None,
        where=f"allows {rule!r}",
        what=what,
        next="leave it out of `allows`",
    )
