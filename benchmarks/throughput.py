#!/usr/bin/env python3
"""How fast problems are made and scenarios solved once a process runs.

    python3 bootstrap.py python benchmarks/throughput.py

A cold process makes 1,000 problems with their keys, imports included, and is started anew for
each round. A further scenario is one with other numbers than any before it.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from statistics import median

PROBLEMS = 1_000
ROUNDS = 5
SCENARIOS = 1_000
COLD = "--cold"


def main() -> None:
    """Print best and median of both."""
    cold = [_in_a_process_of_its_own() for _ in range(ROUNDS)]
    _say(f"{PROBLEMS:,} problems with keys, cold", cold, "s", "5 s")
    solved = [1e3 * seconds for seconds in further_scenarios(SCENARIOS)]
    _say(f"a further scenario ({SCENARIOS:,})", solved, "ms", "1 ms")


def problems(number: int) -> float:
    """Return the seconds that the first `number` problems take, all kinds in turn."""
    started = time.perf_counter()
    from problems.registry import as_json, build, kinds  # noqa: PLC0415 - the import is timed

    names = tuple(kinds())
    for index in range(number):
        json.dumps(as_json(build(names[index % len(names)], index)))
    return time.perf_counter() - started


def further_scenarios(number: int) -> Iterable[float]:
    """Yield the seconds from the tables of a scenario to its verdict, for each of `number`."""
    from engine.catalog import accelerators  # noqa: PLC0415 - a cold process is without it
    from engine.scenario_file import from_mapping  # noqa: PLC0415 - a cold process is without it
    from quiz.solve.report import solve  # noqa: PLC0415 - a cold process is without it

    cards = tuple(accelerators())
    tables = {
        "model": {"name": "llama-3-8b"},
        "parallel": {"zero": 3},
        "hardware": {"gpu": "h100-80gb", "gpus": 8},
    }
    solve(from_mapping(tables | {"workload": {"sequence": 512}}))
    for index in range(number):
        card = {"gpu": cards[index % len(cards)], "gpus": 2 + index}
        asked = tables | {"workload": {"sequence": 1024 + index}, "hardware": card}
        started = time.perf_counter()
        solve(from_mapping(asked))
        yield time.perf_counter() - started


def _in_a_process_of_its_own() -> float:
    run = subprocess.run(  # noqa: S603 - it starts itself
        (sys.executable, __file__, COLD), capture_output=True, text=True, check=True
    )
    return float(run.stdout)


def _say(what: str, taken: list[float], unit: str, aim: str) -> None:
    best, middle = min(taken), median(taken)
    sys.stdout.write(
        f"{what:<34}best {best:.3f} {unit}   median {middle:.3f} {unit}, aim below {aim}\n"
    )


if __name__ == "__main__":
    if COLD in sys.argv:
        sys.stdout.write(f"{problems(PROBLEMS)}\n")
    else:
        main()
