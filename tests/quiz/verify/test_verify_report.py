"""The verdict and its words, over runs that are made by hand on a card of 1,024 MiB.

Its context takes 300 to 600 MiB, because nobody has said how much, and the cuBLAS workspace 2 MiB.
So 422 MiB are certain to be there for the allocator, and 722 MiB at best.
"""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from engine.accelerator import Accelerator
from engine.architecture import Architecture
from engine.estimate import ledger
from engine.ledger import Category, Phase
from engine.scenario import Hardware, Model, Scenario, Workload
from engine.units import MIB, both, decimal

pytest.importorskip("torch")

from engine.caching.replay import replay
from engine.verify.measure import Measurement
from engine.verify.timeline import Allocation, Mark, Timeline
from engine.verify.verification import EXPANDABLE, Row, Verification
from quiz.exits import Exit
from quiz.output.scenario_words import between, interval
from quiz.verify.report import Question, Report, as_json
from quiz.verify.screen import show
from quiz.verify.words import (
    first_step,
    maker,
    no_room,
    percent,
    question,
    the_peak,
    totals,
    verdict,
)

CARD = Accelerator(
    name="card",
    title="Card",
    vendor="NVIDIA",
    memory_mib=1024,
    tflops_16bit=1.0,
    bandwidth_gb_s=1.0,
    pcie_gb_s=1.0,
    workspace_kib=1024,
    source="made",
    checked="2026-01-01",
)
SCENARIO = Scenario(
    model=Model(
        name="own",
        title="own",
        architecture=Architecture(layers=1, hidden=8, heads=1, ffn=8, vocab=8),
    ),
    workload=Workload(sequence=8),
    hardware=Hardware(gpu=CARD),
)


def tensor(size, **changes):
    values = {
        "size": size,
        "requested": size,
        "shape": (size // 4,),
        "dtype": "float32",
        "operator": "aten.mm.default",
        "module": "layers.0.mlp",
        "backward": True,
        "category": Category.ACTIVATIONS,
    }
    return Allocation(**values | changes)


def report(*changes, built=0, device="fake", **of_tensors):
    """A run of one step whose forward pass allocates MiB, or frees the tensor of so many.

    The first `built` changes happen before the step. Tensors are as `tensor` makes them, but for
    what is said in `of_tensors`.
    """
    allocations, events = [], []
    for mib in changes:
        if mib > 0:
            events.append((len(allocations), mib * MIB))
            allocations.append(tensor(mib * MIB, **of_tensors))
        else:
            number = next(n for n, one in enumerate(allocations) if one.size == -mib * MIB)
            events.append((number, mib * MIB))
    timeline = Timeline(
        allocations=tuple(allocations),
        events=tuple(events),
        marks=(Mark(at=built, step=0, phase=Phase.FORWARD),),
    )
    phases = {phase: moment.size for phase, moment in timeline.peaks(0).items()}
    measurement = Measurement(
        device=device,
        torch="2.13.0",
        timeline=timeline,
        first=phases,
        steady=phases,
        reserved=replay(timeline.requests).peak_reserved,
    )
    return Report(
        of=Verification(scenario=SCENARIO, ledger=ledger(SCENARIO), measurement=measurement)
    )


FITS = (400,)
MAY_FIT = (500,)
GIVES_BACK = (400, -400, 500)
DOES_NOT = (300, 200, 240)
IN_PIECES = (300, -300, 100, 500)


@pytest.mark.parametrize(
    ("changes", "fits", "code"),
    [
        (FITS, "yes", Exit.DONE),
        ((422,), "yes", Exit.DONE),
        ((424,), "tight", Exit.TIGHT),
        (MAY_FIT, "tight", Exit.TIGHT),
        ((722,), "tight", Exit.TIGHT),
        (GIVES_BACK, "tight", Exit.TIGHT),
        ((724,), "no", Exit.NO),
        (DOES_NOT, "no", Exit.NO),
        (IN_PIECES, "no", Exit.NO),
    ],
)
def test_the_verdict_is_of_what_nvidia_smi_would_show(changes, fits, code):
    found = report(*changes)
    assert (found.of.fits, found.code) == (fits, code)


def test_on_a_gpu_nothing_is_left_out_and_reserved_is_what_it_reports():
    found = report(*FITS, device="cuda")
    assert (found.of.left_out, found.of.nvidia_smi) == ({}, (700 * MIB, 1000 * MIB))
    assert "replayed" not in dict(totals(found))["reserved"]


@pytest.mark.parametrize("changes", [FITS, DOES_NOT])
def test_a_gpus_history_that_knows_no_shapes_is_told_all_the_same(changes):
    found = report(*changes, device="cuda", shape=(), dtype="", operator="", module="")
    assert as_json(found)["peak"]["dtype"] == ""
    assert all(", ," not in line for line in _printed(found))


def _printed(found):
    console = Console(file=io.StringIO(), width=80)
    show(console, found)
    return console.file.getvalue().splitlines()


def test_what_nvidia_smi_shows_is_reserved_and_all_that_lies_beside_it():
    assert report(*FITS).of.nvidia_smi == (702 * MIB, 1002 * MIB)


@pytest.mark.parametrize(
    ("changes", "begin", "size"),
    [
        (FITS, "yes: ", 22),
        (MAY_FIT, "tight: it may run; the upper estimate of what nvidia-smi shows is ", 78),
        (GIVES_BACK, "tight: it may run; the allocator has to give ", 178),
    ],
)
def test_the_verdict_says_by_how_much(changes, begin, size):
    assert verdict(report(*changes)).startswith(f"{begin}{both(size * MIB)} ")


@pytest.mark.parametrize(
    ("changes", "differs"), [(FITS, False), (MAY_FIT, True), (DOES_NOT, True)]
)
def test_a_verdict_that_is_not_the_ledgers_says_so(changes, differs):
    assert ("as in memquiz solve: yes)" in verdict(report(*changes))) is differs


def test_a_run_that_does_not_fit_says_what_it_was_allocating():
    found = report(*DOES_NOT)
    rows = dict(no_room(found, found.of.no_room))
    assert rows["out of memory"] == "in the first step, forward"
    assert rows["allocating"] == (
        f"float32 [62914560], {both(240 * MIB)}, activations: aten.mm in the backward of "
        "layers.0.mlp"
    )
    assert rows["message"] == (
        "Tried to allocate 240.00 MiB; 222.00 MiB are free, 500.00 MiB allocated, 0 B reserved "
        "but unallocated"
    )
    assert rows["missing"] == f"{both(18 * MIB)} for this tensor"


def test_what_the_whole_run_is_short_of_is_said_where_it_is_more():
    found = report(*DOES_NOT, 200)
    missing = dict(no_room(found, found.of.no_room))["missing"]
    assert missing.endswith(f"; {both(218 * MIB)} or more for the whole run")


def test_a_model_that_alone_is_too_large_ends_before_the_first_step():
    found = report(*DOES_NOT, built=3)
    assert dict(no_room(found, found.of.no_room))["out of memory"] == (
        "while the model is built, before the first step"
    )


@pytest.mark.parametrize(("changes", "helps"), [(IN_PIECES, True), (DOES_NOT, False)])
def test_expandable_segments_are_named_where_they_alone_make_it_fit(changes, helps):
    assert (EXPANDABLE in report(*changes).of.no_room.levers) is helps


def test_reserved_beyond_the_estimate_is_told_with_what_expandable_segments_take():
    said = dict(totals(report(*IN_PIECES)))["reserved"]
    assert said.startswith(f"{both(800 * MIB)} replayed in PyTorch's allocator; predicted ")
    assert "629.15 MB under expandable_segments:True" in said


BETTER = "the replay is the better of the two, for it has the order of allocations"


@pytest.mark.parametrize("changes", [FITS, IN_PIECES])
def test_of_two_answers_to_what_is_reserved_the_better_one_is_named(changes):
    found = report(*changes)
    low, high = (end - sum(found.of.left_out.values()) for end in found.of.ledger.reserved)
    outside = not low <= found.of.measurement.reserved <= high
    assert outside
    assert BETTER in dict(totals(found))["reserved"]


def test_within_the_estimate_no_answer_is_the_better_one():
    found = report(*FITS)
    low = found.of.ledger.reserved[0] - sum(found.of.left_out.values())
    reserved = replace(found.of.measurement, reserved=low)
    inside = Report(of=replace(found.of, measurement=reserved))
    assert BETTER not in dict(totals(inside))["reserved"]


def test_what_a_gpu_reports_as_reserved_is_no_replay():
    assert BETTER not in dict(totals(report(*IN_PIECES, device="cuda")))["reserved"]


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((10**9, 10**9), "1.00 GB = 953.67 MiB"),
        ((10**9, 10**9 + 1), "1.00 GB = 953.67 MiB"),
        ((10**9, 10**9 + 4 * 10**6), "1.00 GB = 953.67 MiB to 957.49 MiB"),
        ((10**9, 2 * 10**9), "1.00 GB to 2.00 GB = 953.67 MiB to 1.86 GiB"),
    ],
)
def test_ends_that_read_alike_are_one_number(ends, said):
    assert interval(ends) == said
    assert between(ends) == said.partition(" = ")[0]


def test_the_peak_is_told_by_category_largest_first():
    found = report(100, 300)
    (small, large) = found.of.timeline.allocations
    mixed = replace(
        found.of.timeline, allocations=(replace(small, category=Category.MASTER_WEIGHTS), large)
    )
    measured = replace(found.of.measurement, timeline=mixed)
    mixed_report = Report(of=replace(found.of, measurement=measured))
    said = f"activations {decimal(300 * MIB)}, master weights {decimal(100 * MIB)}"
    assert dict(the_peak(mixed_report))["made up of"] == said
    assert as_json(mixed_report)["peak"]["categories"] == {
        "activations": 300 * MIB,
        "master_weights": 100 * MIB,
    }


def asked(found, **changes):
    values = {
        "id": "peak@3",
        "title": "Peak of allocated memory in a step",
        "answer": "right",
        "size": found.of.ledger.peak,
        "own": True,
    }
    return replace(found, question=Question(**values | changes))


def test_a_question_stands_with_its_answer_beside_what_compares_with_it():
    found = asked(report(*FITS))
    beside = (
        f"the peak of {decimal(400 * MIB)}, and {decimal(2 * MIB)} of cuBLAS workspace, which "
        "the answer counts and the peak leaves out here"
    )
    assert question(found) == (
        ("question", "peak@3: Peak of allocated memory in a step"),
        ("its answer", "right"),
        ("measured", f"{both(402 * MIB)}: {beside}"),
    )
    assert as_json(found)["question"]["asks_for_peak"] is True
    assert any(line.startswith("question       peak@3: ") for line in _printed(found))


@pytest.mark.parametrize(
    ("device", "changes", "said"),
    [
        ("cuda", {}, ""),
        ("fake", {"size": None}, ", the peak of the step; the question asks for something else"),
        ("fake", {"size": 7}, ", the peak of the step; the question asks for something else"),
        ("fake", {"own": False}, ", but of another step: options have changed the question's"),
    ],
)
def test_what_was_measured_is_put_beside_an_answer_only_as_it_compares(device, changes, said):
    rows = dict(question(asked(report(*FITS, device=device), **changes)))
    assert rows["measured"] == both(400 * MIB) + said


def test_without_a_question_none_is_told():
    assert question(report(*FITS)) == ()
    assert as_json(report(*FITS))["question"] is None


def test_expandable_segments_that_save_nothing_are_not_named():
    assert "expandable" not in dict(totals(report(*DOES_NOT)))["reserved"]


@pytest.mark.parametrize(
    ("predicted", "measured", "said"),
    [
        (1000, 1000, "0%"),
        (10**9, 10**9 + 1, "<0.001%"),
        (10**9, 10**9 - 1, "<0.001%"),
        (1000, 1012, "+1.200%"),
        (1000, 988, "-1.200%"),
        (1000, 3500, "+250.0%"),
    ],
)
def test_a_difference_is_told_in_per_cent_of_the_prediction(predicted, measured, said):
    assert percent(Row(phase=Phase.LOSS, predicted=predicted, measured=measured)) == said


def test_the_first_step_is_told_with_the_phase_that_is_furthest_off():
    assert "the phase that is furthest off is forward, +" in first_step(report(*FITS))


@pytest.mark.parametrize(
    ("changes", "phase", "said"),
    [
        ({}, Phase.LOSS, "aten.mm in the backward of layers.0.mlp"),
        ({"backward": False}, Phase.FORWARD, "aten.mm in layers.0.mlp"),
        ({"module": ""}, Phase.STEP, "aten.mm in the optimizer"),
        ({"module": ""}, Phase.LOSS, "aten.mm in the backward pass, outside the model's modules"),
        (
            {"module": "", "backward": False},
            Phase.FORWARD,
            "aten.mm, outside the model's modules",
        ),
        (
            {"module": "", "backward": False, "operator": ""},
            Phase.FORWARD,
            "outside the model's modules",
        ),
    ],
)
def test_what_made_a_tensor_is_told_with_where(changes, phase, said):
    assert maker(replace(tensor(512), **changes), phase) == said
