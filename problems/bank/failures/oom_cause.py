"""Topic H, real failures: why a request failed: capacity, fragments, or what is not PyTorch's."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from engine.estimate import ledger
from engine.scenario import Scenario
from engine.units import GB, MIB
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.artefacts.causes import Cause, process
from problems.artefacts.message import OutOfMemory, size
from problems.artefacts.summary import Row, summary
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import gb, sentence

LETTERS = "abcde"
WEIGHTS: Mapping[Level, tuple[tuple[Cause, int], ...]] = {
    "mid": (("capacity", 9), ("fragments", 9), ("others", 1), ("limit", 2), ("alone", 1)),
    "senior": (("capacity", 8), ("fragments", 9), ("others", 1), ("outside", 9)),
}
NAMES = {
    "capacity": ("too many live tensors", "capacity"),
    "fragments": ("free memory in pieces", "fragmentation"),
    "others": ("another process on the card", "process"),
    "outside": ("memory of this process that is not PyTorch's", "outside"),
    "limit": ("a limit that was set for PyTorch", "limit"),
    "alone": ("a tensor larger than the card", "larger"),
    "cache": ("a cache that nobody emptied", "empty_cache"),
}
REMEDIES: Mapping[Cause, str] = {
    "capacity": "take from the largest term: micro-batch, recomputation, sharding; not the cache",
    "fragments": "expandable segments, or batches of the same shapes, the longest first",
    "others": "end the other process, or take another card; nothing is to be saved in this one",
    "outside": "fewer communicators, another library's share, or one empty_cache before it grows",
    "limit": "raise the fraction that was set; the driver has the memory",
    "alone": "never build it whole: chunk the loss, fuse the attention, cut the batch",
}
FULLEST = 130


@kind_at_levels(
    name="oom-cause",
    topic="H",
    levels=("mid", "senior"),
    title="Capacity, fragmentation, or neither",
    sources=(
        "pytorch/pytorch#70431",
        "pytorch/pytorch#86449",
        "sgl-project/SpecForge#739",
        "NVIDIA/Megatron-LM#3920",
    ),
)
def oom_cause(draw: Draw, level: Level) -> Draft | None:
    """Ask for the cause of a failure, out of three to five, by what was printed then."""
    cause = draw.weighted(WEIGHTS[level])
    low, high = (104, FULLEST) if cause == "capacity" else (25, 88)
    run = scenarios.run(draw, low=low, high=high)
    if run is None or run.hardware.gpu.vendor != "NVIDIA":
        return None
    peak, gpu = ledger(run).peak, run.hardware.gpu
    failure = process(draw, cause, peak=peak, total=gpu.memory, gpus=run.hardware.gpus)
    if failure is None or (cause == "capacity") != (peak > gpu.memory):
        return None
    shown = _shown(draw, cause, level)
    return Draft(
        prompt=render("oom-cause", x=run, message=level == "mid"),
        exhibit=failure.text if level == "mid" else "\n".join(_printed(failure, run)),
        answer=_answer(shown, cause, failure),
        hints=_hints(failure),
        solution=tuple(_steps(failure, cause, peak)),
        mistakes=(),
        scenario=run,
    )


def _shown(draw: Draw, cause: Cause, level: Level) -> tuple[str, ...]:
    count = draw.between(2, 3) if level == "mid" else draw.between(3, 4)
    never = {cause, "limit" if level == "senior" else "", "capacity" if cause == "alone" else ""}
    others = [name for name in NAMES if name not in never]
    return draw.sample((cause, *draw.sample(others, count)), count + 1)


def _printed(x: OutOfMemory, run: Scenario) -> Iterator[str]:
    """Yield the head of the message, PyTorch's own summary, and the driver's view."""
    yield f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {size(x.request)}."
    given = 40 * x.reserved
    yield summary(
        (
            Row(name="Allocated memory", now=x.allocated, peak=x.allocated, given=90 * given),
            Row(name="GPU reserved memory", now=x.reserved, peak=x.reserved, given=given),
            Row(name="Non-releasable memory", now=x.cached, peak=x.cached, given=70 * given),
        ),
        failed=1,
        retries=1,
    )
    yield "$ nvidia-smi --query-gpu=memory.used,memory.total --format=csv,noheader"
    yield f"{(x.in_use + x.others) // MIB} MiB, {run.hardware.gpu.memory_mib} MiB"
    yield "$ nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader"
    yield f"2741, {x.in_use // MIB} MiB"
    if x.others:
        yield f"41713, {x.others // MIB} MiB"


def _answer(shown: Sequence[str], cause: Cause, x: OutOfMemory) -> ChoiceAnswer:
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter,
                    name=NAMES[name][0],
                    aliases=NAMES[name][1:],
                    value=Fraction(_bytes(name, x)),
                ),
                mistake="" if name == cause else "another cause than the message's",
                feedback=_feedback(name, x, right=name == cause),
            )
            for letter, name in zip(LETTERS, shown, strict=False)
        )
    )


def _bytes(name: str, x: OutOfMemory) -> int:
    return {
        "capacity": x.allocated + x.request,
        "fragments": x.cached,
        "others": x.others,
        "outside": x.outside,
        "limit": x.limit or 0,
        "alone": x.request,
        "cache": x.cached,
    }[name]


def _feedback(name: str, x: OutOfMemory, *, right: bool) -> str:
    asked = _big(x.request)
    need = f"{_big(x.allocated)} alive and {asked} asked for"
    says = {
        "capacity": f"{need}, of {_big(x.total)}"
        + (
            " with the rest: live tensors fill it." if right else ": by themselves they would fit."
        ),
        "fragments": f"{_big(x.cached)} reserved and not allocated, {asked} asked for: "
        + ("no piece is large enough." if right else "pieces joined would not do."),
        "others": f"other processes have {_big(x.others) if x.others else 'nothing'}, and {asked} "
        + ("fit without them." if right else "are more than they hold."),
        "outside": f"this process has {_big(x.outside)} beside what PyTorch reserved"
        + (", several times the usual." if right else ", which is usual."),
        "limit": f"{_big(x.free)} are free at the driver and {asked} asked for"
        + (": only a limit forbids it." if right else ": the driver has no room."),
        "alone": f"{asked} asked for, on a card of {_big(x.total)}"
        + (": it would not fit on an empty one." if right else ": it would fit on an empty one."),
        "cache": f"PyTorch empties its cache before it fails; {_big(x.cached)} are left in "
        "segments in use.",
    }
    return sentence(says[name])


def _big(number: int) -> str:
    """Return bytes in GB, however few."""
    return gb(number) if gb(number).endswith("GB") else f"{float(number) / GB:.3f} GB"


def _hints(x: OutOfMemory) -> tuple[str, str, str]:
    return (
        "Four numbers: live tensors, what PyTorch reserved, the process, the card. Order them.",
        (
            "Where is the request to go: does PyTorch hold as much in reserve, do others, or is "
            "there nothing but live tensors?"
        ),
        (
            f"{_big(x.request)} are asked for. {_big(x.allocated)} are alive, {_big(x.cached)} "
            f"reserved beside them, {_big(x.free)} free at the driver."
        ),
    )


def _steps(x: OutOfMemory, cause: Cause, peak: int) -> Iterator[Step]:
    yield Step(
        text=f"alive {_big(x.allocated)} ≤ reserved {_big(x.reserved)} ≤ process "
        f"{_big(x.in_use)} ≤ card {_big(x.total)}",
        depth="whiteboard",
    )
    yield Step(
        text=f"asked for {_big(x.request)}; in PyTorch's reserve {_big(x.cached)}, free "
        f"{_big(x.free)}",
        depth="whiteboard",
    )
    if cause != "alone":
        than = "more than the card has" if peak > x.total else "which the card has"
        yield Step(text=f"by count this step has {_big(peak)} at its peak, {than}")
    if x.request <= 20 * MIB:
        yield Step(text="that the last request was small says nothing: any request may be last")
    yield Step(text=f"what helps: {REMEDIES[cause]}")
    yield Step(text=f"the cause: {NAMES[cause][0]}")
