"""What came of a check, in lines for people and as plain values."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from problems.answers.numbers import counted
from problems.check.rule import Finding
from problems.problem import kind_of
from quiz.check.checking import Checked

# Findings of one rule that are shown of a kind; the others are counted.
SHOWN = 3


def lines(checked: Checked) -> Iterator[str]:
    """Yield a line for each finding, and one that sums a kind up."""
    by_rule = defaultdict[str, list[Finding]](list)
    for finding in checked.findings:
        by_rule[finding.rule].append(finding)
    for rule, found in by_rule.items():
        yield from map(str, found[:SHOWN])
        if len(found) > SHOWN:
            name = kind_of(found[0].id)
            yield f"{name}: {len(found) - SHOWN} more [{rule}]"
    number = len(checked.findings)
    said = f"{number} {counted(number, 'findings')}" if number else "nothing found"
    problems = f"{checked.problems} {counted(checked.problems, 'problems')}"
    yield f"{checked.name or 'bank'}: {problems}, {said}{_untried(checked)}"
    fewest = sorted({least for _, least in checked.not_judged})
    for number in fewest:
        names = ", ".join(name for name, least in checked.not_judged if least == number)
        of_each = "" if checked.name else " of each kind"
        yield f"{checked.name or 'bank'}: not judged below {number} problems{of_each}: {names}"
    for rule, reason in checked.allowed:
        yield f"{checked.name}: {rule} is not kept: {reason}"


def _untried(checked: Checked) -> str:
    if not checked.left_out:
        return ""
    seeds = f"{checked.left_out:,} {counted(checked.left_out, 'seeds')}"
    return f"; it was tried no further: {seeds} left out"


def summary(found: Sequence[Checked]) -> str:
    """Return how many kinds were looked at, and how many have findings."""
    kinds = [checked for checked in found if checked.name]
    broken = sum(bool(checked.findings) for checked in found)
    problems = sum(checked.problems for checked in kinds)
    number = sum(len(checked.findings) for checked in found)
    said = f"{number} {counted(number, 'findings')} in {broken} of them" if number else "all well"
    told = counted(problems, "problems")
    return f"{len(kinds)} {counted(len(kinds), 'kinds')}, {problems:,} {told}: {said}"


def as_json(found: Sequence[Checked]) -> dict[str, Any]:
    """Return every finding, and what was looked at, as plain values."""
    return {
        "kinds": [
            {
                "name": checked.name,
                "problems": checked.problems,
                "findings": len(checked.findings),
                "allowed": dict(checked.allowed),
                "not_judged": [name for name, _ in checked.not_judged],
                "left_out": checked.left_out,
            }
            for checked in found
            if checked.name
        ],
        "findings": [
            {"id": finding.id} | asdict(finding)
            for checked in found
            for finding in checked.findings
        ],
    }
