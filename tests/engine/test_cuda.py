"""A run on a GPU, with the GPU's own figures made up: phases, history, and what goes wrong."""

from itertools import product

import pytest
from long_rows import first

from engine.errors import InputError
from engine.ledger import Category, Phase

torch = pytest.importorskip("torch")

from engine.verify.cuda import Counters, Cuda, on_gpu
from engine.verify.history import Begun, timeline_of
from engine.verify.measure import DEVICES, measure, steps_of
from engine.verify.processes import ENVIRONMENT
from engine.verify.trace import traced


class MadeUp(Cuda):
    """A GPU that is the CPU, and whose counters are read from a list."""

    device = "cpu"

    def __init__(self):
        self.calls = []
        self.peaks = iter(range(1000, 100_000, 1000))

    def begin(self):
        self.calls.append("begin")

    def peak(self):
        return next(self.peaks)

    def reserved(self):
        return 7_000_000 - len(self.calls)

    def end(self):
        self.calls.append("end")
        return []


class Full(MadeUp):
    """A GPU that has no room."""

    def peak(self):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore")


def test_each_phase_has_the_peak_that_was_reached_in_it(scenario):
    gpu = MadeUp()
    run = on_gpu(scenario(shape={"layers": 4}), gpu)
    first, steady = run.phases
    phases = [
        Phase.FORWARD,
        Phase.LOSS,
        Phase.BACKWARD_FIRST,
        Phase.BACKWARD_LAST,
        Phase.STEP,
    ]
    assert list(first) == list(steady) == phases
    assert list(first.values()) == sorted(first.values())
    assert max(first.values()) < min(steady.values())
    assert gpu.calls == ["begin", "end"]
    assert run.reserved == 6_999_999


def test_a_phase_that_comes_again_keeps_its_largest_peak():
    class Falling(MadeUp):
        def __init__(self):
            super().__init__()
            self.peaks = iter((0, 9, 5, 3))

    counters = Counters(Falling())
    for phase in (Phase.FORWARD, Phase.LOSS, Phase.FORWARD, None):
        counters.enter(phase, 0)
    assert counters.phases == [{Phase.FORWARD: 9, Phase.LOSS: 5}]


def test_a_gpu_without_room_is_told_in_pytorchs_words_and_its_history_is_ended(scenario):
    gpu = Full()
    with pytest.raises(InputError, match=r"Tried to allocate 2\.00 GiB\.; --device fake"):
        on_gpu(scenario(), gpu)
    assert gpu.calls == ["begin", "end"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize(
    ("vocab", "named"),
    [
        (1000, "--device fake traces the step without one, --device cpu executes it"),
        (10**9, "--device fake traces the step without one"),
    ],
)
def test_without_a_gpu_the_device_is_refused_and_those_that_can_are_named(scenario, vocab, named):
    with pytest.raises(InputError) as told:
        measure(scenario(shape={"vocab": vocab}), "cuda")
    assert str(told.value) == f"--device cuda: PyTorch finds no GPU here; {named}"


def test_progress_tells_of_as_many_steps_as_are_run(scenario):
    made = scenario(attention="eager", shape={"layers": 1, "hidden": 64, "ffn": 128})
    for device in ("fake", "cpu"):
        found = measure(made, device)
        assert found.timeline.last_step + 1 == steps_of(made, device)


def test_in_several_processes_a_third_step_is_run_on_every_device(scenario, monkeypatch):
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, "0")
    assert [steps_of(scenario(data=2), device) for device in DEVICES] == [2, 3, 3]
    assert [steps_of(scenario(), device) for device in DEVICES] == [2, 3, 2]


def test_a_history_gives_back_the_timeline_that_it_was_made_of(scenario):
    timeline = traced(scenario(shape={"layers": 4}))
    trace, begun = [], []
    marks = list(timeline.marks)
    for number, (allocation, change) in enumerate(timeline.events):
        while marks and marks[0].at <= number:
            mark = marks.pop(0)
            begun.append(Begun(time_us=number, step=mark.step, phase=mark.phase))
        action = "alloc" if change > 0 else "free_requested"
        trace.append({"action": action, "addr": allocation, "size": change, "time_us": number})
        if change < 0:
            trace.append({"action": "free_completed", "addr": allocation, "time_us": number})
    begun += [Begun(time_us=10**9, step=mark.step, phase=mark.phase) for mark in marks]
    again = timeline_of(trace, begun)
    for step in (0, 1):
        sizes = {phase: peak.size for phase, peak in timeline.peaks(step).items()}
        assert {phase: peak.size for phase, peak in again.peaks(step).items()} == sizes


def entry(action, address, size=512, at=0):
    frames = [
        {"filename": "/lib/torch/nn/modules/linear.py", "line": 1, "name": "forward"},
        {"filename": "/home/me/model.py", "line": 2, "name": "attend"},
    ]
    return {"action": action, "addr": address, "size": size, "time_us": at, "frames": frames}


def test_kinds_of_memory_are_told_by_when_they_live():
    begun = [
        Begun(time_us=10, step=0, phase=Phase.FORWARD),
        Begun(time_us=20, step=0, phase=Phase.LOSS),
        Begun(time_us=30, step=0, phase=Phase.STEP),
        Begun(time_us=40, step=0, phase=None),
    ]
    trace = [
        entry("alloc", 1, at=1),
        entry("alloc", 2, at=11),
        entry("alloc", 3, at=12),
        entry("free_requested", 3, at=13),
        entry("alloc", 4, at=21),
        entry("free_requested", 2, at=22),
        entry("alloc", 5, at=31),
        entry("alloc", 6, at=32),
        entry("free_requested", 6, at=33),
    ]
    timeline = timeline_of(trace, begun)
    assert [one.category for one in timeline.allocations] == [
        Category.WEIGHTS,
        Category.ACTIVATIONS,
        Category.TEMPORARY,
        Category.GRADIENTS,
        Category.OPTIMIZER_STATE,
        Category.TEMPORARY,
    ]
    assert timeline.allocations[1].module == "model.attend"
    assert [one.backward for one in timeline.allocations][3:5] == [True, False]


def test_what_was_there_before_the_history_began_is_left_out():
    trace = [entry("free_requested", 99, at=1), entry("alloc", 1, size=700, at=2)]
    timeline = timeline_of(trace, [Begun(time_us=0, step=0, phase=Phase.FORWARD)])
    assert timeline.events == ((0, 1024),)
    assert timeline.peaks(0)[Phase.FORWARD].size == 1024


def test_megatron_is_not_run(scenario):
    made = scenario(
        implementation="megatron",
        precision="mixed-fp32-grad",
        optimizer="adamw-fused",
        loss="fused",
        shape={"heads": 8},
        tensor=2,
    )
    with pytest.raises(InputError, match="megatron is not run here"):
        measure(made, "fake")


def test_more_layers_than_can_be_run_are_refused(scenario):
    made = scenario(shape={"layers": 10**6})
    for device in ("fake", "cpu"):
        with pytest.raises(InputError, match="1,000,000 layers would run one after another"):
            measure(made, device)


@pytest.mark.parametrize(
    ("precision", "block"),
    first(
        {("mixed", "gpt"), ("autocast", "llama")},
        product(("mixed", "autocast"), ("gpt", "llama")),
    ),
)
def test_a_cpu_takes_what_fake_tensors_say(scenario, gpt, block, precision):
    blocks = {"gpt": gpt | {"positions": 512, "tied": True}, "llama": {"kv_heads": 2}}
    made = scenario(precision=precision, dropout=0.1, shape=blocks[block])
    on_fake, on_cpu = (measure(made, device) for device in ("fake", "cpu"))
    for phase, size in on_fake.steady.items():
        assert on_cpu.steady[phase] == pytest.approx(size, rel=0.005)
