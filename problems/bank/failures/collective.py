"""Topic H, real failures: a collective that asks the driver, and finds what PyTorch left it."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.estimate import ledger
from engine.ledger import Category
from engine.units import MIB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.artefacts.failing import outside
from problems.artefacts.message import OutOfMemory
from problems.artefacts.summary import Row, summary
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import gb, number, paper
from problems.wrong_sizes import wrong_size

# MiB that communicators take of the driver, of one group or of several, and percent of it that
# the driver has.
NEEDS: dict[Level, tuple[int, int]] = {"mid": (200, 1600), "senior": (1000, 9000)}
TOO_LITTLE, ENOUGH = (15, 80), (125, 900)
HUNDRED = 100
# Percent of the draws that are to be enough: too little is drawn again more often.
YES: dict[Level, int] = {"mid": 50, "senior": 7}
# Percent of the cache that lie between live tensors at most.
MOST_KEPT = 80
TRIES = 8


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What is held when the communicator is made.

    Args:
        process: the run's own memory.
        need: bytes that the communicator takes.
        kept: bytes of the cache that lie in segments in use; None where the cache stays as it is.
    """

    process: OutOfMemory
    need: int
    kept: int | None

    @property
    def has(self) -> int:
        """What the driver can give then."""
        if self.kept is None:
            return self.process.free
        return self.process.free + self.process.cached - self.kept

    @property
    def enough(self) -> bool:
        """Whether that is enough."""
        return self.has >= self.need


@kind_at_levels(
    name="collective-fits",
    topic="H",
    levels=("mid", "senior"),
    title="Whether a collective finds memory",
    sources=("NVIDIA/Megatron-LM#3920", "PyTorch documentation, CUDA semantics"),
)
def collective_fits(draw: Draw, level: Level) -> Draft | None:
    """Ask whether a communicator finds its memory, with what the driver has left for it."""
    run = scenarios.run(draw, low=70, high=97)
    if run is None or run.hardware.gpus < 2 or run.hardware.gpu.vendor != "NVIDIA":
        return None
    book = ledger(run)
    live = book.total(Category.WEIGHTS, Category.MASTER_WEIGHTS, Category.OPTIMIZER_STATE)
    total = run.hardware.gpu.memory
    made = (_moment(draw, live, total, level) for _ in range(TRIES))
    moment = next((one for one in made if one is not None), None)
    if moment is None:
        return None
    answer = YesNoAnswer(value=moment.enough, proof=QuantityAnswer(value=Fraction(moment.has)))
    return Draft(
        prompt=render("collective-fits", x=run, need=moment.need // MIB, empty=level == "senior"),
        exhibit=_printed(moment, book.peak),
        answer=answer,
        hints=_hints(moment),
        solution=tuple(_steps(moment)),
        mistakes=tuple(no_unit_slip(moment.has, _mistakes(moment))),
        scenario=run,
    )


def _moment(draw: Draw, live: int, total: int, level: Level) -> Moment | None:
    """Return a moment in which what the driver has is too little or enough, by a margin."""
    need = draw.between(*NEEDS[level]) * MIB
    part = draw.between(*(ENOUGH if draw.chance(YES[level]) else TOO_LITTLE))
    has, around = need * part // HUNDRED // MIB * MIB, outside(draw, 2) // MIB * MIB
    allocated = live // (2 * MIB) * 2 * MIB
    free = has if level == "mid" else min(has, need) * draw.between(10, 50) // HUNDRED
    reserved = total - around - free // MIB * MIB
    process = OutOfMemory(
        tensor=1, total=total, allocated=allocated, reserved=reserved, outside=around
    )
    kept = None if level == "mid" else process.cached - (has - process.free)
    moment = Moment(process=process, need=need, kept=kept)
    part = MOST_KEPT * process.cached
    sound = process.cached > has and (kept is None or 0 < HUNDRED * kept < part)
    return moment if sound and moment.has else None


def _printed(moment: Moment, peak: int) -> str:
    x = moment.process
    most = min(peak, x.reserved)
    rows = [
        Row(name="Allocated memory", now=x.allocated, peak=most, given=90 * x.reserved),
        Row(name="GPU reserved memory", now=x.reserved, peak=x.reserved, given=x.reserved),
    ]
    if moment.kept is not None:
        rows.append(
            Row(
                name="Non-releasable memory",
                now=moment.kept,
                peak=max(moment.kept, x.cached // 2),
                given=70 * x.reserved,
            )
        )
    return "\n".join(
        (
            summary(tuple(rows), failed=0, retries=0),
            "$ nvidia-smi --query-gpu=memory.used,memory.total --format=csv,noheader",
            f"{x.in_use // MIB} MiB, {x.total // MIB} MiB",
        )
    )


def _hints(moment: Moment) -> tuple[str, str, str]:
    x = moment.process
    last = f"{number(x.total // MIB)} MiB of the card less {number(x.in_use // MIB)} MiB in use"
    if moment.kept is not None:
        last += (
            f", and of the {number(x.cached // MIB)} MiB cached all but "
            f"{number(moment.kept // MIB)} MiB"
        )
    return (
        "Whom does NCCL ask for memory: PyTorch's allocator, or the driver?",
        (
            "What PyTorch has reserved is not the driver's to give, whether a tensor uses it or "
            "not, until PyTorch gives it back."
        ),
        f"{last}.",
    )


def _steps(moment: Moment) -> Iterator[Step]:
    x = moment.process
    yield Step(
        text=f"free at the driver: {number(x.total // MIB)} − {number(x.in_use // MIB)} MiB = "
        f"{paper(x.free)}",
        depth="whiteboard",
    )
    if moment.kept is not None:
        back = x.cached - moment.kept
        yield Step(
            text=f"given back: {number(x.cached // MIB)} cached − {number(moment.kept // MIB)} in "
            f"segments in use, {paper(back)}; together {paper(moment.has)}",
            depth="whiteboard",
        )
    verdict = "yes" if moment.enough else "no"
    than = "enough for" if moment.enough else "less than"
    yield Step(text=f"{verdict}: that is {than} the {gb(moment.need)} of the communicator")
    yield Step(text=f"PyTorch's cache, {gb(x.cached)}, serves PyTorch's own requests alone")
    yield Step(text=f"exactly: {gb(moment.has)}")


def _mistakes(moment: Moment) -> Iterator[Mistake]:
    x, has = moment.process, moment.has
    if moment.kept is not None:
        yield wrong_size(
            x.free,
            has,
            "cache left out",
            "is free already; emptying the cache adds what lies in unused segments, {off}.",
        )
        yield wrong_size(
            x.free + x.cached,
            has,
            "cache taken as free",
            "counts all of the cache; {off} of it lie in segments that live tensors are in.",
        )
    else:
        yield wrong_size(
            x.free + x.cached,
            has,
            "cache taken as free",
            "counts PyTorch's cache as free; {off} of it are reserved, and not the driver's.",
        )
    yield wrong_size(
        x.total - x.allocated,
        has,
        "the rest of the card",
        "is the card less live tensors; {off} of it are reserved or outside PyTorch.",
    )
    yield wrong_size(
        x.total - x.reserved,
        has,
        "context forgotten",
        "leaves out what the process has outside PyTorch: it is {off} off.",
    )
