"""Measure what `memquiz verify` is asked for, and tell of it: on the screen, as JSON, in files."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from engine.errors import Fault, InputError
from engine.scenario import Scenario
from engine.verify.measure import chosen, steps_of
from engine.verify.processes import started_by_torchrun
from engine.verify.snapshot import Description, snapshot, write
from engine.verify.steps import layer_runs
from engine.verify.verification import Verification, verify
from problems.problem import Problem
from quiz.exits import Exit, is_first_rank
from quiz.output.files import write_text, writing
from quiz.output.screen import LABEL, open_console, whole_lines
from quiz.verify.page import page
from quiz.verify.progress import Progress, progress, watched
from quiz.verify.report import Formula, Report, as_json, question_of
from quiz.verify.screen import show

BUILDING = "building the model"


def measured(
    scenario: Scenario, device: str, *, problem: Problem | None, symbolic: bool, quiet: bool
) -> Report | None:
    """Return the report of `scenario`, with how far it has come on a terminal's stderr.

    None in a process of torchrun's that is not the one to tell.

    Args:
        scenario: what to run.
        device: as typed.
        problem: the one that was named, if one was.
        symbolic: whether formulas are wanted too.
        quiet: whether an object is all that is wanted.

    Raises:
        InputError: the device cannot run it; says why, and what can.
    """
    on = chosen(device)
    stream = watched(quiet=quiet)
    formulas = None
    if symbolic:
        with progress(layer_runs(scenario, 1), stream, before=BUILDING) as tell_layers:
            formulas = _formulas(scenario, tell_layers)
    layers = layer_runs(scenario, steps_of(scenario, on))
    with progress(layers, stream, before=BUILDING) as tell_layers:
        found = verify(scenario, on, tell_layers)
    if found is None:
        return None
    question = None if problem is None else question_of(problem, scenario)
    return Report(of=found, formulas=formulas, question=question)


def _formulas(scenario: Scenario, tell_layers: Progress) -> tuple[Formula, ...]:
    from quiz.verify.formulas import formulas  # noqa: PLC0415 - another second of PyTorch

    return formulas(scenario, tell_layers)


def code(report: Report) -> Exit:
    """Return the exit code that says whether it fits; torchrun takes all but 0 for a failure."""
    return Exit.DONE if started_by_torchrun() else report.code


def tell(report: Report, files: Mapping[str, str | None], *, as_object: bool) -> None:
    """Write the files that were asked for and print the report, on the first rank.

    The files come first, for whoever reads the report may close the pipe, which ends the process.

    Args:
        report: what was found.
        files: the files behind `--snapshot` and `--html`, if any.
        as_object: whether one JSON object is printed and nothing else.

    Raises:
        InputError: a file cannot be written; what could be is, and the report is out.
    """
    if not is_first_rank():
        return
    asked = {option: file for option, file in files.items() if file is not None}
    faults: dict[str, tuple[Fault, ...]] = {}
    try:
        for option, file in asked.items():
            faults[option] = _write(report, option, file)
    finally:
        # The report is the answer: a file that fails does not take it away.
        written = [(FILES[option][0], asked[option]) for option, bad in faults.items() if not bad]
        _print(report, written, as_object=as_object)
    if any(faults.values()):
        raise InputError(*chain.from_iterable(faults.values()))


def _write(report: Report, option: str, file: str) -> tuple[Fault, ...]:
    """Write one file, and return what went wrong."""
    try:
        with writing(option, file) as path:
            FILES[option][1](path, report)
    except InputError as error:
        return error.faults
    return ()


def _print(report: Report, written: Sequence[tuple[str, str]], *, as_object: bool) -> None:
    if as_object:
        sys.stdout.write(json.dumps(as_json(report), indent=2) + "\n")
    else:
        console = open_console()
        show(console, report)
        if written:
            console.print()
        for name, path in written:
            whole_lines(console, f"{name:<{LABEL}}{path}")
    sys.stdout.flush()


def _write_snapshot(path: Path, report: Report) -> None:
    write(path, _snapshot(report.of))


def _write_page(path: Path, report: Report) -> None:
    write_text(path, page(report))


# By the option that asks for it: what the file is, and what writes it.
FILES: Mapping[str, tuple[str, Callable[[Path, Report], None]]] = {
    "--snapshot": ("snapshot", _write_snapshot),
    "--html": ("page", _write_page),
}


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
