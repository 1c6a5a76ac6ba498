#!/usr/bin/env python3
"""How often the grader of claims agrees with people, on answers that nothing was learnt from.

    make grading
    python3 bootstrap.py python benchmarks/grading.py

Prints, for each source of answers, how the labels wanted and those given fall together; then the
share of agreement claim by claim; then how often the false statement that was made is named.
"""

import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from time import perf_counter

from claim_answers import Answer, unseen

from problems.claims import claim
from quiz.claims.grade import UNNAMED, ClaimVerdict, grade_claim
from quiz.claims.judging import LABELS

MILLISECONDS = 1e3


@dataclass(frozen=True, kw_only=True)
class Row:
    """An answer and what was made of it."""

    answer: Answer
    marked: ClaimVerdict


def say(line: str = "") -> None:
    """Write one line."""
    sys.stdout.write(f"{line}\n")


def marked(answer: Answer) -> Row:
    """Return an answer with its mark; every one of them can be read."""
    found = grade_claim(answer.claim, answer.text)
    if not isinstance(found, ClaimVerdict):
        raise TypeError(f"{answer.text!r} cannot be read: {found.reason}")
    return Row(answer=answer, marked=found)


def agreement(rows: list[Row]) -> float:
    """Return the share of answers whose label is the one wanted."""
    return sum(row.answer.label == row.marked.label for row in rows) / len(rows)


def confused(rows: list[Row]) -> float:
    """Return the share of correct answers called wrong and wrong ones called correct."""
    pairs = {("correct", "wrong"), ("wrong", "correct")}
    return sum((row.answer.label, row.marked.label) in pairs for row in rows) / len(rows)


def table(rows: list[Row]) -> None:
    """Print the labels wanted against the labels given."""
    counted = Counter((row.answer.label, row.marked.label) for row in rows)
    say(f"{'wanted / given':16}" + "".join(f"{label:>9}" for label in LABELS))
    for wanted in LABELS:
        say(f"{wanted:16}" + "".join(f"{counted[wanted, given]:9}" for given in LABELS))
    say(f"agreement {agreement(rows):.1%}, correct and wrong confused {confused(rows):.1%}")


def named(rows: list[Row]) -> None:
    """Print how often the false statement that an answer makes is the one it is told of."""
    known = [
        row for row in rows if row.answer.error in {e.id for e in claim(row.answer.claim).errors}
    ]
    heard = [row for row in known if row.marked.error is not None]
    right = sum(row.marked.error == row.answer.error for row in heard)
    unnamed = sum(row.marked.error == UNNAMED for row in heard)
    say(
        f"false statements: {len(known)} made that are known, {len(heard)} heard, "
        f"{right} named rightly, {unnamed} without a name"
    )


def main() -> int:
    """Print all of it."""
    start = perf_counter()
    rows = [marked(answer) for answer in unseen()]
    took = (perf_counter() - start) / len(rows) * MILLISECONDS
    for source in dict.fromkeys(row.answer.source for row in rows):
        own = [row for row in rows if row.answer.source == source]
        say(f"\n{source}: {len(own)} answers")
        table(own)
    say()
    by_claim: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_claim[row.answer.claim].append(row)
    for name, own in sorted(by_claim.items(), key=lambda item: agreement(item[1])):
        say(f"{name:32}{len(own):4} answers  {agreement(own):6.1%}")
    say()
    named(rows)
    say(f"{took:.1f} ms an answer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
