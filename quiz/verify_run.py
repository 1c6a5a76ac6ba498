"""Measure what `memquiz verify` is asked for, and tell of it: on the screen, as JSON, in files."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from engine.scenario import Scenario
from engine.verify.measure import Device, chosen
from engine.verify.snapshot import Description, snapshot, write
from engine.verify.steps import layer_runs
from engine.verify.verification import Verification, verify
from quiz.exits import is_first_rank
from quiz.output_file import write_text, writing
from quiz.progress import Progress, progress, terminal
from quiz.screen import LABEL, open_console, whole_lines
from quiz.verify_page import page
from quiz.verify_report import Formula, Report, as_json
from quiz.verify_screen import show

# Optimizer steps that run on a device until one is a steady one.
STEPS: Mapping[Device, int] = {"fake": 2, "cpu": 3, "cuda": 2}


def measured(scenario: Scenario, device: str, *, symbolic: bool, quiet: bool) -> Report | None:
    """Return the report of `scenario`, with how far it has come on a terminal's stderr.

    None in a process of torchrun's that is not the one to tell.

    Args:
        scenario: what to run.
        device: as typed.
        symbolic: whether formulas are wanted too.
        quiet: whether an object is all that is wanted.

    Raises:
        InputError: the device cannot run it; says why, and what can.
    """
    on = chosen(device)
    piped = quiet and not sys.stdout.isatty()
    stream = terminal() if is_first_rank() and not piped else None
    formulas = None
    if symbolic:
        with progress(layer_runs(scenario, 1), stream) as tell_layers:
            formulas = _formulas(scenario, tell_layers)
    with progress(layer_runs(scenario, STEPS[on]), stream) as tell_layers:
        found = verify(scenario, on, tell_layers)
    return Report(of=found, formulas=formulas) if found else None


def _formulas(scenario: Scenario, tell_layers: Progress) -> tuple[Formula, ...]:
    from quiz.verify_formulas import formulas  # noqa: PLC0415 - another second of PyTorch

    return formulas(scenario, tell_layers)


def tell(report: Report, files: Mapping[str, str | None], *, as_object: bool) -> None:
    """Print the report and write the files that were asked for, on the first rank.

    Args:
        report: what was found.
        files: the files behind `--snapshot` and `--html`, if any.
        as_object: whether one JSON object is printed and nothing else.

    Raises:
        InputError: a file cannot be written; what could be is.
    """
    if not is_first_rank():
        return
    if as_object:
        sys.stdout.write(json.dumps(as_json(report), indent=2) + "\n")
    else:
        show(open_console(), report)
    # The report is the answer: it is out before a file can fail.
    sys.stdout.flush()
    written = list(_written(report, files))
    if written and not as_object:
        console = open_console()
        console.print()
        for name, path in written:
            whole_lines(console, f"{name:<{LABEL}}{path}")


def _written(report: Report, files: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Write the files, and yield what each one is and where it lies."""
    snapshot_file, html_file = files["--snapshot"], files["--html"]
    if snapshot_file is not None:
        with writing("--snapshot", snapshot_file) as path:
            write(path, _snapshot(report.of))
        yield "snapshot", snapshot_file
    if html_file is not None:
        with writing("--html", html_file) as path:
            write_text(path, page(report))
        yield "page", html_file


def _snapshot(found: Verification) -> Mapping[str, Any]:
    """Return the snapshot of the whole run, or of what of it there is on the scenario's card."""
    return snapshot(
        found.timeline.requests,
        [
            Description(module=one.module, operator=one.operator, category=one.category.value)
            for one in found.timeline.allocations
        ],
        capacity=None if found.no_room is None else found.room,
    )
