#!/usr/bin/env python3
"""Labelled answers to claims: those that weights are learnt from, and those kept unseen.

    python3 bootstrap.py python benchmarks/claim_answers.py

Prints how many there are of each claim.
"""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from problems.claims import Claim, claim, claims, falsehoods
from quiz.claims.judging import LABELS
from quiz.claims.reading import read

FOLDER = Path(__file__).parents[1] / "tests" / "quiz" / "claims" / "answers"
WRITTEN = "written for this project"
# How far away in the tables another claim stands whose reason is beside the point.
FAR = (7, 13, 19, 25, 31)
SAYS_NOTHING = ("", "no idea", "I don't know", "dunno", "not sure", "it depends", "?", "skip")
# What has nothing to do with any claim; each claim has some of it.
OFF_TOPIC = (
    "GPUs are expensive", "that was not in the lecture", "the dataset matters more",
    "PyTorch is faster than TensorFlow", "we always use AdamW", "larger models generalise better",
    "the learning rate is more important than that", "data loading is usually what is slow",
    "nvlink is faster than pcie", "the loss curve looks fine to me", "use more dataloader workers",
    "gradient clipping helps with stability", "an H100 is faster than an A100",
    "try a smaller model first", "tokenizers differ from model to model", "TPUs do it differently",
    "attention is all you need", "our cluster is full until Thursday", "warmup is what matters",
    "latency is hidden by good kernels", "long prompts are slow with big models",
)  # fmt: skip
OF_THEM = 6


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer as somebody typed it, with the label that a fair interviewer gives.

    Args:
        claim: the id of the claim.
        text: what was typed.
        label: correct, partial or wrong.
        side: "right", "hedged" or "wrong", where somebody said so; then the next two are known.
        core: whether the core reason is given.
        false: whether something serious is false.
        error: the id of the false statement, where it is one of the claim's.
        points: the ids of the points made, where somebody said so.
        source: where it is from.
    """

    claim: str
    text: str
    label: str
    side: str | None = None
    core: bool | None = None
    false: bool | None = None
    error: str | None = None
    points: tuple[str, ...] = ()
    source: str = WRITTEN


def answers() -> Iterator[Answer]:
    """Yield the answers that weights may be learnt from, claim by claim."""
    return _read(FOLDER)


def unseen() -> Iterator[Answer]:
    """Yield the answers that nothing is learnt from."""
    return _read(FOLDER / "unseen")


def digest() -> str:
    """Return what tells one set of answers and sentences to learn from from another."""
    known = list(answers())
    rows = [*known, *taught(known)]
    return hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()[:16]


def _read(folder: Path) -> Iterator[Answer]:
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Answer(
                claim=file.stem,
                text=row["answer"],
                label=row["label"],
                side=row.get("verdict"),
                core=row.get("core"),
                false=row.get("false"),
                error=row.get("error"),
                points=tuple(row.get("points", ())),
                source=row.get("source", WRITTEN),
            )


def taught(known: Sequence[Answer]) -> Iterator[Answer]:
    """Yield what the sentences of each claim with known answers teach, and those of others."""
    every, correct = list(claims().values()), defaultdict(list)
    for row in known:
        if row.label == "correct":
            correct[row.claim].append(row.text)
    for number, asked in enumerate(every):
        if asked.id not in correct:
            continue
        yield from _taught(asked)
        nothing = [OFF_TOPIC[(number + step) % len(OFF_TOPIC)] for step in range(OF_THEM)]
        yield from (_row(asked, text, "wrong", "wrong") for text in (*SAYS_NOTHING, *nothing))
        for other in (every[(number + step) % len(every)] for step in FAR):
            yield from _beside(asked, other, ())
        for other in map(claim, asked.beside):
            yield from _beside(asked, other, correct[other.id][:: len(every)])


def _row(
    asked: Claim, text: str, label: str, side: str, *, core: bool = False, false: bool = False
) -> Answer:
    return Answer(claim=asked.id, text=text, label=label, side=side, core=core, false=false)


def _beside(asked: Claim, other: Claim, correct: Sequence[str]) -> Iterator[Answer]:
    """Yield answers that give the reason of another claim: without a verdict they are wrong."""
    right = "True" if asked.truth else "False"
    yield _row(asked, other.reason, "wrong", "wrong")
    yield _row(asked, f"{right}. {other.reason}", "partial", "right")
    for text in correct:
        verdicts = read(other, text).stated
        if not verdicts:
            yield _row(asked, text, "wrong", "wrong")
        elif verdicts[-1].value == asked.truth:
            yield _row(asked, text, "partial", "right")


def _taught(asked: Claim) -> Iterator[Answer]:
    right, wrong = ("True", "False") if asked.truth else ("False", "True")

    row = partial(_row, asked)
    yield row(f"{right}.", "partial", "right")
    yield row(f"{wrong}.", "wrong", "wrong")
    yield (
        row(asked.claim, "partial", "right")
        if asked.truth
        else row(asked.claim, "wrong", "wrong", false=True)
    )
    yield row(asked.reason, "correct", "right", core=True)
    yield row(f"{right}. {asked.reason}", "correct", "right", core=True)
    yield row(f"{wrong}. {asked.reason}", "wrong", "wrong", core=True)
    for point in asked.points:
        label = "correct" if point.core else "partial"
        yield row(f"{right}. {point.says}", label, "right", core=point.core)
        if point.core:
            yield row(point.says, label, "right", core=True)
            yield row(f"{wrong}. {point.says}", "wrong", "wrong", core=True)
    for error in asked.errors:
        yield row(f"{right}. {error.says}", "wrong", "right", false=True)
        yield row(f"{wrong}. {error.says}", "wrong", "wrong", false=True)
        yield row(
            f"{right}. {asked.reason} {error.says}", "partial", "right", core=True, false=True
        )
        if error.misconception:
            yield row(error.says, "wrong", "wrong", false=True)
    for error in falsehoods():
        if asked.id not in error.unless:
            yield row(
                f"{right}. {asked.reason} {error.says}", "partial", "right", core=True, false=True
            )


def main() -> int:
    """Print how many answers there are of each claim."""
    learnt = Counter((row.claim, row.label) for row in answers())
    kept = Counter(row.claim for row in unseen())
    head = "".join(f"{label:>9}" for label in (*LABELS, "unseen"))
    sys.stdout.write(f"{'claim':32}{head}\n")
    for name in sorted(claims()):
        counts = (*(learnt[name, label] for label in LABELS), kept[name])
        sys.stdout.write(f"{name:32}{''.join(f'{count:9}' for count in counts)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
