"""The step in several processes, started by torchrun as a person starts them."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from long_rows import first

from engine.errors import InputError

torch = pytest.importorskip("torch")

from engine.verify.processes import ENVIRONMENT, every_rank
from engine.verify.ranks import parts_of, zero
from engine.verify.trace import traced

ROOT = Path(__file__).parents[2]
TINY = {"layers": 3, "hidden": 256, "heads": 8, "ffn": 704, "vocab": 1000}
BUCKET = 300_000

# What each of the processes runs; the scenarios come as an argument.
START = """
import json, os, sys
from engine.architecture import Architecture
from engine.catalog import accelerator
from engine.scenario import Hardware, Model, Offload, Parallel, Recipe, Scenario, Workload

def scenario(shape, work, recipe, parallel, host):
    where = host.get("parameters_on", "none")
    return Scenario(
        model=Model(name="tiny", title="tiny", architecture=Architecture(**shape)),
        workload=Workload(**work),
        recipe=Recipe(**recipe),
        parallel=Parallel(**parallel),
        offload=Offload(optimizer=where, parameters=where),
        hardware=Hardware(gpu=accelerator("h100-80gb"), gpus=parallel["data"]),
    )
"""
MEASURE = (
    START
    + """
from engine.verify import processes
from engine.verify.ranks import parts_of, zero

def bucketed(scenario, mesh):
    if scenario.parallel.zero in (1, 2):
        return zero(scenario, bucket=BUCKET)
    return parts_of(scenario, mesh)

with processes._joined("gloo"):
    for rows in json.loads(sys.argv[1]):
        own = processes._on_cpu(scenario(*rows), bucketed, 2, lambda _layers: None)
        found = processes._gathered(*own)
        if found is not None:
            print("@", json.dumps([[dict(step) for step in rank.steps] for rank in found.ranks]))
""".replace("BUCKET", str(BUCKET))
)
FOREVER = (
    START
    + """
from engine.verify.processes import every_rank

def tell(layers):
    if layers == 6:
        os.symlink(str(os.getpid()), f"{sys.argv[2]}/{os.environ['RANK']}")

every_rank(scenario(*json.loads(sys.argv[1])[0]), steps=10**6, progress=tell)
"""
)
RUNS = (
    {"parallel": {"data": 2}},
    {"parallel": {"data": 2, "zero": 2}},
    {"parallel": {"data": 2, "zero": 3}, "work": {"gradient_accumulation": 2}},
    {"parallel": {"data": 2, "zero": 3}, "host": {"parameters_on": "cpu"}},
)


def rows(run):
    work = {"sequence": 128} | run.get("work", {})
    recipe = {"attention": "eager"} | run.get("recipe", {})
    return TINY, work, recipe, run["parallel"], run.get("host", {})


def torchrun(folder, text, *arguments):
    script = folder / "run.py"
    script.write_text(text)
    return subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         script, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def test_every_rank_takes_what_its_trace_says(scenario, tmp_path):
    process = torchrun(tmp_path, MEASURE, json.dumps([rows(run) for run in RUNS]))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    printed = [json.loads(line[1:]) for line in out.splitlines() if line.startswith("@")]
    assert len(printed) == len(RUNS)

    def bucketed(scenario, mesh):
        if scenario.parallel.zero in {1, 2}:
            return zero(scenario, bucket=BUCKET)
        return parts_of(scenario, mesh)

    for run, ranks in zip(RUNS, printed, strict=True):
        shape, *rest = rows(run)
        made = scenario(shape=shape, **{key: value for row in rest for key, value in row.items()})
        assert len(ranks) == 2
        for rank, steps in enumerate(ranks):
            timeline = traced(made, steps=2, strategy=bucketed, rank=rank)
            for phase, moment in timeline.peaks(1).items():
                assert steps[1][phase] == pytest.approx(moment.size, rel=0.005), (run, rank, phase)


def is_running(pid):
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    return False


def wait_until(true, seconds):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="sees processes through /proc")
@pytest.mark.parametrize(
    "ended", first({"a rank killed"}, ["a rank killed", "interrupted", "torchrun killed"])
)
def test_no_process_outlives_another(tmp_path, ended):
    up = tmp_path / "up"
    up.mkdir()
    process = torchrun(tmp_path, FOREVER, json.dumps([rows(RUNS[0])]), str(up))
    ranks = []
    try:
        wait_until(lambda: len(list(up.iterdir())) == 2 or process.poll() is not None, 60)
        ranks = [int((up / str(rank)).readlink().name) for rank in range(2)]
        if ended == "a rank killed":
            os.kill(ranks[1], signal.SIGKILL)
        else:
            process.send_signal(signal.SIGINT if ended == "interrupted" else signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode != 0
        wait_until(lambda: not any(map(is_running, ranks)), 30)
    finally:
        for pid in (process.pid, *ranks):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_without_torchrun_the_error_says_how_to_start_it(scenario, monkeypatch):
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="start torchrun --nproc-per-node 4 -m quiz verify"):
        every_rank(scenario(data=4, attention="eager"))


def test_as_many_processes_as_ranks_are_wanted(scenario, monkeypatch):
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, "2")
    with pytest.raises(InputError, match="4 ranks, but torchrun has started 2 processes"):
        every_rank(scenario(data=4, attention="eager"))
