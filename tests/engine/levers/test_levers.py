"""Every lever, on scenarios by chance and on a few by hand."""

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

sys.path.insert(0, str(Path(__file__).parent))

from drawn_scenarios import SAMPLE, scenarios

from engine.errors import InputError
from engine.estimate import capacity, fits, ledger
from engine.ledger import MODEL_STATES, Phase
from engine.levers import known
from engine.levers.changes import brief, changes
from engine.levers.lever import Lever, WhyNot
from engine.levers.registry import levers
from engine.scenario_file import from_mapping, to_mapping

EVERY = tuple(levers().values())


def by_chance(scenario, values):
    """The drawn scenario; None where the ledger has no lines for it."""
    values = dict(values)
    try:
        return scenario(values.pop("name"), **values)
    except InputError:
        return None


def sequences(scenario):
    work = scenario.workload
    return work.micro_batch * work.gradient_accumulation * scenario.parallel.data


def test_every_file_of_the_folder_is_a_lever():
    files = {path.stem for path in Path(known.__file__).parent.glob("*.py")} - {"__init__"}
    assert len(EVERY) == len(files)


def test_a_further_file_is_all_that_a_further_lever_takes(monkeypatch, tmp_path):
    (tmp_path / "no_change.py").write_text(
        "from engine.levers.lever import Lever, WhyNot\n"
        "LEVER = Lever(name='nothing', short=(), says='nothing', invasiveness=99,\n"
        "    change=lambda scenario: WhyNot(sentence='it never does'))\n"
    )
    monkeypatch.setattr(known, "__path__", [*known.__path__, str(tmp_path)])
    levers.cache_clear()
    assert list(levers())[-1] == "nothing"
    monkeypatch.undo()
    levers.cache_clear()


NO_LEVER = "LEVER = 1"
SAME_NAMES = """
import dataclasses
from engine.levers.known import zero_1
LEVER = dataclasses.replace(zero_1.LEVER, name='another')
"""


@pytest.mark.parametrize(("text", "error"), [(NO_LEVER, TypeError), (SAME_NAMES, ValueError)])
def test_a_file_that_is_no_lever_of_its_own_is_refused(monkeypatch, tmp_path, text, error):
    (tmp_path / f"made_{error.__name__.lower()}.py").write_text(text)
    monkeypatch.setattr(known, "__path__", [*known.__path__, str(tmp_path)])
    levers.cache_clear()
    with pytest.raises(error):
        levers()
    monkeypatch.undo()
    levers.cache_clear()


@pytest.mark.parametrize("lever", EVERY, ids=lambda lever: lever.name)
def test_a_lever_keeps_the_sequences_of_a_step_and_changes_something(scenario, lever):
    applied = []

    @SAMPLE
    @given(values=scenarios)
    def holds(values):
        before = by_chance(scenario, values)
        after = WhyNot(sentence="") if before is None else lever.applied(before)
        if isinstance(after, WhyNot):
            return
        applied.append(after)
        assert sequences(after) == sequences(before)
        assert after != before
        assert changes(before, after)
        assert after.model == before.model
        assert after.workload.sequence == before.workload.sequence
        assert replace(from_mapping(to_mapping(after)), model=after.model) == after

    holds()
    others = {"fused optimizer", "expert parallel", "NVMe offload", "wider shards"}
    reason = "draw in drawn_scenarios.py what it changes, or name it above with a test of its own"
    assert applied or lever.name in others, reason


@pytest.mark.parametrize("lever", EVERY, ids=lambda lever: lever.name)
def test_a_lever_that_is_pulled_to_its_end_says_why_it_goes_no_further(scenario, lever):
    at = scenario("llama-3.2-1b", data=4, micro_batch=4, sequence=256, attention="eager")
    for _ in range(20):
        after = lever.applied(at)
        if isinstance(after, WhyNot):
            break
        at = after
    assert isinstance(after, WhyNot)
    assert after.sentence


@SAMPLE
@given(values=scenarios)
def test_sharing_never_adds_to_the_model_states(scenario, values):
    before = by_chance(scenario, values)
    if before is None:
        return
    for stage in (1, 2):
        after = levers()[f"ZeRO-{stage}"].applied(before)
        if isinstance(after, WhyNot):
            continue
        old, new = ledger(before), ledger(after)
        for name in {line.name for line in old.lines if line.category in MODEL_STATES}:
            assert name not in {"weights", "master copy", "optimizer states"} or (
                new.size(name) <= old.size(name)
            )
        held = [book.total(*MODEL_STATES, phase=Phase.STEP) for book in (old, new)]
        assert held[1] <= held[0]


@SAMPLE
@given(values=scenarios)
@pytest.mark.parametrize("stage", [1, 3])
def test_more_ranks_in_a_shard_group_never_raise_a_ranks_peak(scenario, stage, values):
    # FSDP2 gives each rank whole rows, and a layer's experts have as many rows as there are.
    ranks = (2, 4, 8) if values["name"] == "mixtral-8x7b" else (2, 4, 8, 16)
    made = [by_chance(scenario, values | {"zero": stage, "data": n}) for n in ranks]
    peaks = [ledger(one).peak for one in made if one is not None]
    assert all(more <= 1.001 * fewer for fewer, more in pairwise(peaks))


def test_the_largest_micro_batch_that_fits_is_taken(scenario):
    step = scenario(
        "llama-3.2-1b", sequence=4096, micro_batch=16, optimizer="adamw-fused", recompute="full"
    )
    assert fits(step) == "no"
    after = levers()["smaller micro-batch"].applied(step)
    found = after.workload.micro_batch
    assert fits(after) == "yes"
    twice = scenario(
        "llama-3.2-1b",
        sequence=4096,
        micro_batch=2 * found,
        gradient_accumulation=8 // found,
        optimizer="adamw-fused",
        recompute="full",
    )
    assert fits(twice) != "yes"


def test_where_no_degree_fits_the_one_that_saves_most_is_taken(scenario):
    step = scenario("llama-3-8b", data=8, sequence=8192, micro_batch=4)
    after = levers()["context parallel"].applied(step)
    assert ledger(after).peak > capacity(step)
    assert after.parallel.context == 8


def test_a_split_moves_to_megatron_and_stays_inside_a_node(scenario):
    step = scenario("llama-3-70b", data=64, sequence=8192, zero=3)
    after = levers()["tensor parallel"].applied(step)
    assert (after.implementation, after.parallel.zero) == ("megatron", 1)
    assert after.parallel.sequence_parallel
    assert after.parallel.tensor <= step.hardware.gpu.gpus_per_node
    assert brief(step, after).endswith(", on Megatron-LM")


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("tensor parallel", {}, "no data-parallel ranks"),
        ("tensor parallel", {"data": 3}, "3 data-parallel ranks cannot give"),
        ("pipeline parallel", {"data": 2, "precision": "fp32"}, "no fp32"),
        ("context parallel", {"data": 2, "optimizer": "sgd"}, "not sgd"),
        ("ZeRO-3", {}, "nobody to share with"),
        ("ZeRO-1", {"data": 2, "zero": 2}, "ZeRO-2 is on already"),
        ("expert parallel", {"data": 2}, "no experts"),
        ("8-bit optimizer", {"optimizer": "sgd"}, "sgd has no two moments"),
        ("fused optimizer", {"optimizer": "sgd"}, "sgd has no temporaries"),
        ("smaller micro-batch", {}, "one sequence cannot be smaller"),
        ("selective recompute", {"recompute": "full"}, "recompute is full already"),
        ("parameter offload", {}, "nobody to share with"),
        ("parameter offload", {"data": 2, "zero": 3, "parameters_on": "cpu"}, "on cpu already"),
        ("parameter offload", {"data": 2, "zero": 2, "offload": "nvme"}, "on nvme already"),
        ("NVMe offload", {"data": 2, "zero": 3, "parameters_on": "cpu"}, "give offload.optimizer"),
        ("wider shards", {"data": 2, "zero": 1}, "the shards of ZeRO-3, not ZeRO-1"),
        ("wider shards", {"data": 2, "zero": 3}, "over all ranks already"),
        ("more GPUs", {"micro_batch": 3}, "3 sequences of a step on each rank cannot be halved"),
    ],
)
def test_a_lever_that_does_not_apply_says_why(scenario, name, values, why):
    refused = levers()[name].applied(scenario(**values))
    assert isinstance(refused, WhyNot)
    assert why in refused.sentence


@pytest.mark.parametrize(("typed", "where"), [("param offload", "cpu"), ("zero-infinity", "nvme")])
@pytest.mark.parametrize("values", [{}, {"zero": 3}, {"zero": 2, "offload": "cpu"}])
def test_parameters_leave_the_gpu_under_zero_3(scenario, typed, where, values):
    lever = next(one for one in EVERY if typed in one.short)
    after = lever.applied(scenario("llama-3-8b", data=8, sequence=512, **values))
    assert after.parallel.zero == 3
    assert (after.offload.parameters, after.offload.optimizer) == (where, where)


def test_what_the_ledger_refuses_is_told_in_its_words(scenario):
    step = scenario("llama-3-8b", implementation="hf", sequence=512)
    assert "selective with hf is not modelled" in (
        levers()["selective recompute"].applied(step).sentence
    )


def test_a_lever_says_the_key_that_it_changes():
    for lever in EVERY:
        assert isinstance(lever, Lever)
        assert lever.says
        assert lever.invasiveness > 0
