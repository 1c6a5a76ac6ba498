#!/usr/bin/env python3
"""How often the grader of claims agrees with the labels of the project's own answers.

    make grading
    python3 bootstrap.py python benchmarks/grading.py

Prints, for each source of answers, how its labels and those given fall together; then the share of
agreement, claim by claim; then how well verdicts are read without the frames of any claim. The
answers were used to write the frames, so an answer that nobody has seen fares worse.
"""

import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from problems.claims import claim
from quiz.claims.clauses import clauses
from quiz.claims.grade import ClaimVerdict, grade_claim
from quiz.claims.lexicon import lexicon
from quiz.claims.text import tokens
from quiz.claims.verdicts import stated

ANSWERS = Path(__file__).parents[1] / "tests" / "quiz" / "claim_answers.toml"
LABELS = ("correct", "partial", "wrong")
MILLISECONDS = 1e3


@dataclass(frozen=True, kw_only=True)
class Row:
    """An answer, where it is from, the label it should have and the one it has."""

    source: str
    claim: str
    answer: str
    wanted: str
    given: str


def say(line: str = "") -> None:
    """Write one line."""
    sys.stdout.write(f"{line}\n")


def rows() -> Iterator[Row]:
    """Yield every answer of the corpus, marked."""
    corpus = tomllib.loads(ANSWERS.read_text(encoding="utf-8"))
    for part in corpus.values():
        for name, labelled in part["claims"].items():
            for wanted, answers in labelled.items():
                for answer in answers:
                    yield _marked(part["source"], name, answer, wanted)


def _marked(source: str, name: str, answer: str, wanted: str) -> Row:
    marked = grade_claim(name, answer)
    given = marked.label if isinstance(marked, ClaimVerdict) else "refused"
    return Row(source=source, claim=name, answer=answer, wanted=wanted, given=given)


def agreement(marked: list[Row]) -> float:
    """Return the share of answers whose label is the one wanted."""
    return sum(row.wanted == row.given for row in marked) / len(marked)


def confused(marked: list[Row]) -> float:
    """Return the share of correct answers called wrong and wrong ones called correct."""
    pairs = {("correct", "wrong"), ("wrong", "correct")}
    return sum((row.wanted, row.given) in pairs for row in marked) / len(marked)


def table(marked: list[Row]) -> None:
    """Print the labels wanted against the labels given."""
    counted = Counter((row.wanted, row.given) for row in marked)
    say(f"{'wanted / given':16}" + "".join(f"{label:>9}" for label in LABELS))
    for wanted in LABELS:
        say(f"{wanted:16}" + "".join(f"{counted[wanted, given]:9}" for given in LABELS))
    say(f"agreement {agreement(marked):.1%}, correct and wrong confused {confused(marked):.1%}")


def verdicts_alone(marked: list[Row]) -> None:
    """Print how often the verdict that a correct answer states is read as the claim's truth."""
    words, right, all_stated = lexicon(), 0, 0
    for row in (row for row in marked if row.wanted == "correct"):
        asked, typed = claim(row.claim), tokens(row.answer)
        said = clauses(typed, words.mentions(typed), words)
        found = stated(typed, said, negative=asked.negative)
        all_stated += bool(found)
        right += bool(found) and found[-1].value == asked.truth
    say(f"verdicts read without a claim's frames: {right} of {all_stated} right")


def main() -> int:
    """Print all of it."""
    start = perf_counter()
    marked = list(rows())
    took = (perf_counter() - start) / len(marked) * MILLISECONDS
    for source in dict.fromkeys(row.source for row in marked):
        own = [row for row in marked if row.source == source]
        say(f"\n{source}: {len(own)} answers")
        table(own)
    say()
    by_claim: dict[str, list[Row]] = defaultdict(list)
    for row in marked:
        by_claim[row.claim].append(row)
    for name, own in sorted(by_claim.items(), key=lambda item: agreement(item[1])):
        say(f"{name:32}{len(own):4} answers  {agreement(own):6.1%}")
    say()
    verdicts_alone(marked)
    say(f"{took:.1f} ms an answer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
