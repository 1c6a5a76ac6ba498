"""`memquiz verify`."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from engine.errors import Fault, InputError, near
from engine.fields import show
from engine.modelled import require_training
from engine.scenario import Scenario
from engine.stacks.registry import stack, that_runs
from problems.problem import Problem
from problems.registry import build, from_id, kinds
from quiz.exits import Exit, exits
from quiz.options.kinds import with_kinds
from quiz.options.plain import with_plain
from quiz.options.scenario import scenario_from, scenario_options, scenario_with
from quiz.output.files import output_faults
from quiz.verify.interrupt import ending_at_once
from quiz.verify.progress import saying, watched
from quiz.verify.pytorch import PyTorchError, loading, require_pytorch

# Set by bootstrap.py, which sets PyTorch up where nothing is wrong with what is asked for.
LOOKING = "MEMQUIZ_LOOKING"
DEVICES = ("auto", "cuda", "cpu", "fake")
# Problems of a kind that are looked at to see whether they have a scenario.
LOOKED_AT = 4


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to be run, and the problem whose scenario it was, if one was named."""

    scenario: Scenario
    problem: Problem | None = None


@click.command()
@scenario_options
@click.option(
    "--device",
    metavar="D",
    default="auto",
    help="cuda, cpu, fake, or auto: a GPU where there is one, else fake.",
)
@click.option("--snapshot", metavar="FILE", help="Write a snapshot for pytorch.org/memory_viz.")
@click.option("--html", metavar="FILE", help="Write the report as a page that needs no other.")
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--symbolic", is_flag=True, help="Trace the step as formulas over b and s too.")
@exits
@with_plain
@with_kinds
def command(
    scenario: str | None, *, device: str, as_object: bool, symbolic: bool, **options: object
) -> Exit:
    """Run a training step and put what it takes beside the ledger.

    SCENARIO is a TOML file, - for standard input, or the id of a problem, such as peak@3; a file
    of that name comes first. Options stand for a file or change what is in it.

    Two steps of one rank are run: on fake tensors, which take no memory, whatever the model's
    size; on the CPU; or on a GPU. The exit code is 0 where the run fits on the scenario's card,
    1 where it does not, 3 where it is tight; with torchrun it is 0 for all three.
    """
    files = {f"--{name}": _text(options.pop(name)) for name in ("snapshot", "html")}
    with ending_at_once():
        wanted = _wanted(scenario, options, device, files)
    if os.environ.get(LOOKING):
        return Exit.SOUND
    try:
        return _answer(wanted, device, files, symbolic=symbolic, as_object=as_object)
    except PyTorchError as error:
        sys.stderr.write(f"memquiz: {error}\n")
        return Exit.BAD_INPUT


def _answer(
    wanted: Wanted,
    device: str,
    files: Mapping[str, str | None],
    *,
    symbolic: bool,
    as_object: bool,
) -> Exit:
    with ending_at_once():
        runs = stack(wanted.scenario.implementation)
        require_pytorch(runs.extra, runs.library)
        with saying("loading PyTorch", watched(quiet=as_object)), loading():
            from quiz.verify import run  # noqa: PLC0415 - PyTorch takes seconds to load
        report = run.measured(
            wanted.scenario, device, problem=wanted.problem, symbolic=symbolic, quiet=as_object
        )
    if report is None:
        return Exit.DONE
    run.tell(report, files, as_object=as_object)
    return run.code(report)


def _text(typed: object) -> str | None:
    return None if typed is None else str(typed)


def _wanted(
    named: str | None, options: Mapping[str, object], device: str, files: Mapping[str, str | None]
) -> Wanted:
    """Return the scenario; what is wrong with the other options is told together with it."""
    faults = [] if device in DEVICES else [_no_device(device)]
    config = _text(options["model__config"])
    faults += output_faults(files, {"SCENARIO": named, "--config": config})
    try:
        found = _found(named, options)
        require_training(found.scenario, "run to compare with", "memquiz solve has its ledger")
        that_runs(found.scenario.implementation)
    except InputError as error:
        raise (InputError(*error.faults, *faults) if faults else error) from None
    if faults:
        raise InputError(*faults)
    return found


def _no_device(typed: str) -> Fault:
    what, known = f"{show(typed)} is not known", f"one of {', '.join(DEVICES)}"
    return Fault("--device", what, " ".join(filter(None, (near(typed, DEVICES), known))))


def _found(named: str | None, options: Mapping[str, object]) -> Wanted:
    if named is None or not _is_id(named):
        return Wanted(scenario=scenario_from(named, options))
    problem = from_id(named)
    if problem.scenario is None:
        what = f"this problem, {problem.id}, has no scenario to run"
        raise InputError(
            Fault("SCENARIO", what, f"kinds whose problems may have one: {_with_scenario()}")
        )
    return Wanted(scenario=scenario_with(problem.scenario, options), problem=problem)


def _is_id(named: str) -> bool:
    """Say whether a problem is named, not a file: the file comes first, as it can be seen."""
    kind, at, seed = named.strip().partition("@")
    return bool(at) and (kind in kinds() or seed.isdecimal()) and not Path(named).exists()


def _with_scenario() -> str:
    return ", ".join(
        name
        for name in kinds()
        if any(build(name, seed).scenario is not None for seed in range(LOOKED_AT))
    )
