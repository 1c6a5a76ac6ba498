"""Writes how the unseen answers to each claim are marked; `agreement.txt` keeps what it wrote.

After a wanted change, from this folder: python agreement.py > agreement.txt
"""

import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from claim_answers import Answer, unseen

from problems.claims import claims
from quiz.claims.grade import ClaimVerdict, grade_claim
from quiz.claims.judging import LABELS

HEAD = (
    "# claim: labels wanted/given, called true/false/neither, points credited, letters in spans, "
    "false statements, certainty"
)


@cache
def kept() -> tuple[Answer, ...]:
    return tuple(unseen())


@cache
def marks(name: str) -> tuple[tuple[Answer, ClaimVerdict], ...]:
    """Return the unseen answers to a claim, each with its mark."""
    rows = [row for row in kept() if row.claim == name]
    return tuple((row, grade_claim(name, row.text)) for row in rows)


def line(name: str) -> str:
    """Return how the answers to a claim are marked, all together."""
    counted = Counter((row.label, verdict.label) for row, verdict in marks(name))
    labels = " ".join("/".join(str(counted[label, one]) for one in LABELS) for label in LABELS)
    verdicts = [verdict for _, verdict in marks(name)]
    said = Counter(verdict.said for verdict in verdicts)
    called = "/".join(str(said[value]) for value in (True, False, None))
    points = sum(len(verdict.credited) for verdict in verdicts)
    letters = sum(span.end - span.start for verdict in verdicts for span in verdict.spans)
    errors = Counter(verdict.error for verdict in verdicts if verdict.error)
    heard = " ".join(f"{error} {many}" for error, many in sorted(errors.items()))
    sure = sum(verdict.sure for verdict in verdicts)
    found = f"{labels}, {called}, {points} points, {letters} letters, {heard or 'none'}"
    return f"{name}: {found}, {sure:.3f}"


def main() -> None:
    sys.stdout.write(f"{HEAD}\n")
    for name in claims():
        sys.stdout.write(f"{line(name)}\n")


if __name__ == "__main__":
    main()
