#!/usr/bin/env python3
"""Mutation testing: change the code a little, and see whether a test fails.

    make mutants
    python3 bootstrap.py mutants parser|graders|engine [FILE …]

Prints every mutant that no test kills as a difference, with the reason that `mutants_left.toml`
gives for it, and how many there are. Processes are forked, so it needs Linux or macOS.
"""

import argparse
import os
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mutant_runs import KILLED, Limits, Runs
from mutating import Mutant

ROOT = Path(__file__).resolve().parents[1]
LEFT = Path(__file__).with_name("mutants_left.toml")


@dataclass(frozen=True, kw_only=True)
class Part:
    """Files that are mutated, and the tests that are to notice it."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "parser": Part(
        files=("quiz/answers/*.py",),
        tests=("tests/quiz/answers", "tests/quiz/marking", "tests/quiz/test_grading.py"),
    ),
    "graders": Part(
        files=("quiz/claims/*.py", "quiz/marking/**/*.py", "quiz/grading.py"),
        tests=("tests/quiz/marking", "tests/quiz/claims", "tests/quiz/test_grading.py"),
    ),
    "engine": Part(
        files=(
            "engine/costs/*.py",
            "engine/lines/*.py",
            "engine/stacks/**/*.py",
            "engine/adapters.py",
            "engine/autograd.py",
            "engine/ledger.py",
            "engine/partition.py",
            "engine/rank.py",
            "engine/reducing.py",
            "engine/shapes.py",
            "engine/stages.py",
            "engine/state_forms.py",
            "engine/stepped.py",
            "engine/structure.py",
            "engine/tape.py",
            "engine/values.py",
        ),
        # Those that run or trace a step are left out: what it takes is in traced_steps.toml.
        tests=(
            "tests/engine/costs/test_adapters.py",
            "tests/engine/costs/test_communication.py",
            "tests/engine/costs/test_computing.py",
            "tests/engine/costs/test_flops.py",
            "tests/engine/costs/test_host.py",
            "tests/engine/costs/test_hsdp.py",
            "tests/engine/costs/test_links.py",
            "tests/engine/costs/test_passes.py",
            "tests/engine/costs/test_step_time.py",
            "tests/engine/costs/test_traffic.py",
            "tests/engine/stacks/test_classes.py",
            "tests/engine/stacks/test_gaps.py",
            "tests/engine/test_adapters.py",
            "tests/engine/test_lines.py",
            "tests/engine/test_megatron.py",
            "tests/engine/test_published.py",
            "tests/engine/test_rank.py",
            "tests/engine/test_reducing.py",
            "tests/engine/test_state_forms.py",
            "tests/engine/test_symbols.py",
            "tests/engine/test_tape.py",
            "tests/engine/test_traced_steps.py",
        ),
    ),
}


def main(arguments: list[str]) -> int:
    """Test the mutants of a part; return 1 if less than nineteen of twenty are killed."""
    asked = _asked(arguments)
    part = PARTS[asked.part]
    files = sorted(file for pattern in asked.files or part.files for file in ROOT.glob(pattern))
    limits = Limits(jobs=asked.jobs, seconds=asked.seconds, every=asked.every, first=asked.first)
    started = time.monotonic()
    runs = _run(asked.tests or part.tests, files, limits)
    counts = Counter(outcome for _, outcome in runs.results)
    total = counts.total()
    killed = counts[KILLED]
    said = ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(counts.items()))
    minutes = (time.monotonic() - started) / 60
    share = f"{killed / total:.1%} killed, in {minutes:.0f} minutes"
    sys.stdout.write(f"{total:,} mutants: {said}; {share}\n")
    return 0 if killed >= 0.95 * total else 1


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("files", nargs="*", help="only these, such as quiz/answers/lexer.py")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="instead of those of the part")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=10, help="of tests for each mutant")
    parser.add_argument("--every", type=int, default=1, help="try one mutant of so many")
    parser.add_argument("--first", type=int, default=0, help="beginning with this, from 0")
    return parser.parse_args(arguments)


def _run(tests: Sequence[str], files: list[Path], limits: Limits) -> Runs:
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    # pytest takes both streams while it runs.
    shown, aside = (os.fdopen(os.dup(number), "w", buffering=1) for number in (1, 2))
    reasons = _reasons()

    def told(said: str) -> None:
        aside.write(f"{said}\n")

    def listed(mutant: Mutant, outcome: str) -> None:
        changed = _changed(mutant)
        name = str(mutant.file.relative_to(ROOT))
        why = reasons.get((name, changed.before, changed.after), "no reason is given")
        lines = (f"- {changed.before}\n", f"+ {changed.after}\n", f"{outcome}: {why}\n\n")
        shown.write(f"{name}:{changed.line}\n{''.join(lines)}")

    runs = Runs(files, limits, told, listed)
    with TemporaryDirectory() as home:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = home
        switches = ("-qqq", "--capture=sys", "--assert=plain", "--tb=native")
        off = (f"-pno:{name}" for name in ("randomly", "xdist", "cacheprovider"))
        pytest.main([*switches, *off, *tests], plugins=[runs])
    return runs


@dataclass(frozen=True, kw_only=True)
class Changed:
    """The lines that a mutant changes, without it and with it, and the number of the first."""

    line: int
    before: str
    after: str


def _changed(mutant: Mutant) -> Changed:
    source = mutant.file.read_text(encoding="utf-8")
    before, after = (text.splitlines() for text in (source, mutant.applied(source)))
    pairs = list(zip(before, after, strict=False))
    unlike = (at for at, (one, other) in enumerate(pairs) if one != other)
    first = next(unlike, len(pairs))
    rest = len(pairs) - first
    backwards = zip(reversed(before), reversed(after), strict=False)
    same = next((at for at, (one, other) in enumerate(backwards) if one != other), rest)
    end = -min(same, rest) or None
    old, new = (" ".join(map(str.strip, lines[first:end])) for lines in (before, after))
    return Changed(line=first + 1, before=old, after=new)


def _reasons() -> dict[tuple[str, str, str], str]:
    """Return why a mutant is left, by its file and the lines without it and with it."""
    rows = tomllib.loads(LEFT.read_text(encoding="utf-8"))
    return {
        (file, row["before"], after): row["why"]
        for file, found in rows.items()
        for row in found
        for after in row["after"]
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
