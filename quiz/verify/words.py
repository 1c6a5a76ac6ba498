"""What a verification says, in words that the terminal and the page share."""

from collections.abc import Mapping, Sequence

from engine.ledger import Category, Phase
from engine.units import binary, both, decimal
from engine.verify.measure import DEVICES
from engine.verify.timeline import Allocation
from engine.verify.verification import LEFT_OUT, NoRoom, Row
from quiz.output.scenario_words import between, interval
from quiz.verify.groups import Group, operator
from quiz.verify.report import Question, Report
from quiz.verify.strips import Stretch

# Less than this is shown as less.
LEAST = 0.001
TEN = 10
NCCL = "NCCL communicator"
OUT_OF_MODEL = "outside the model's modules"


def how(report: Report) -> str:
    """Return where the step ran."""
    measured = report.of.measurement
    ranks = report.scenario.parallel.data
    parts = (
        DEVICES[measured.device],
        _ranks(report, ranks) if ranks > 1 else "",
        f"PyTorch {measured.torch}",
    )
    return " · ".join(part for part in parts if part)


def _ranks(report: Report, number: int) -> str:
    """Return how many ranks were measured, and what sets the worst apart where all were."""
    peaks = report.of.measurement.ranks
    if not peaks:
        return f"one of {number:,} ranks"
    worst = max(peaks)
    said = f"peaks of {between((min(peaks), worst))}"
    return f"the worst of {number:,} ranks, rank {peaks.index(worst)}: {said}"


def signed(size: int) -> str:
    """Return bytes with their sign: "+182.27 kB"."""
    return f"{'+' if size > 0 else ''}{decimal(size)}"


def percent(row: Row) -> str:
    """Return the difference in per cent of what was predicted."""
    share = 100 * _off(row)
    if abs(share) < LEAST:
        return f"<{LEAST}%" if share else "0%"
    return f"{share:+.3f}%" if abs(share) < TEN else f"{share:+.1f}%"


def _off(row: Row) -> float:
    return row.difference / max(row.predicted, 1)


def first_step(report: Report) -> str:
    """Return the first step in one line: its peak, and how far its phases are off."""
    rows = report.of.first
    peak = max(rows, key=lambda row: row.measured)
    worst = max(rows, key=lambda row: abs(_off(row)))
    near = f"no phase is off by as much as {LEAST}%"
    if abs(100 * _off(worst)) >= LEAST:
        near = f"the phase that is furthest off is {worst.phase}, {percent(worst)}"
    return f"{decimal(peak.measured)} in {peak.phase}, predicted {decimal(peak.predicted)}; {near}"


def left_out(report: Report) -> str:
    """Return the lines that this device does not have; empty where it has all."""
    return ", ".join(
        f"{name} {both(size)} ({LEFT_OUT[name]})" for name, size in report.of.left_out.items()
    )


def category(one: Category) -> str:
    """Return a category's name as it is read."""
    return str(one).replace("_", " ")


def tensor(dtype: str, shape: Sequence[int]) -> str:
    """Return "float32 [8192, 128256]"; empty where nothing is known of it."""
    if not dtype:
        return ""
    return f"{dtype} [{', '.join(map(str, shape))}]" if shape else f"{dtype} scalar"


def made(one: Allocation) -> str:
    """Return a tensor that is being made: dtype and shape, bytes, kind."""
    parts = (tensor(one.dtype, one.shape), both(one.requested), category(one.category))
    return ", ".join(part for part in parts if part)


def maker(one: Allocation, phase: Phase | None) -> str:
    """Return the operator and the module it ran in."""
    if one.module:
        where = f"in the backward of {one.module}" if one.backward else f"in {one.module}"
    elif phase is Phase.STEP:
        where = "in the optimizer"
    else:
        where = f"in the backward pass, {OUT_OF_MODEL}" if one.backward else OUT_OF_MODEL
    between = ", " if where == OUT_OF_MODEL else " "
    return f"{operator(one)}{between}{where}" if one.operator else where


def the_peak(report: Report) -> tuple[tuple[str, str], ...]:
    """Return the moment of the peak, each part with its label."""
    peak = report.of.peak
    return (
        ("the peak", f"{both(peak.measured)} in {peak.phase}"),
        ("made up of", made_up(report.categories)),
        ("making", made(report.making)),
        ("by", maker(report.making, peak.phase)),
    )


def made_up(sizes: Mapping[Category, int]) -> str:
    """Return the bytes of each category in one line."""
    return ", ".join(f"{category(one)} {decimal(size)}" for one, size in sizes.items())


def question(report: Report) -> tuple[tuple[str, str], ...]:
    """Return the question, its answer and what was measured, each with its label; or nothing."""
    asked = report.question
    if asked is None:
        return ()
    return (
        ("question", f"{asked.id}: {asked.title}"),
        ("its answer", asked.answer),
        ("measured", _beside(report, asked)),
    )


def _beside(report: Report, asked: Question) -> str:
    """Return the measured peak as it compares with the answer."""
    peak, absent = report.of.peak.measured, report.of.left_out
    if not asked.own:
        return f"{both(peak)}, but of another step: options have changed the question's"
    if not report.peak_is_asked:
        return f"{both(peak)}, the peak of the step; the question asks for something else"
    if not absent:
        return both(peak)
    size = sum(absent.values())
    return (
        f"{both(peak + size)}: the peak of {decimal(peak)}, and {decimal(size)} of "
        f"{' and '.join(absent)}, which the answer counts and the peak leaves out here"
    )


def spoken(report: Report) -> str:
    """Return the drawing of the timeline in words."""
    rows = report.of.steady
    parts = ", ".join(f"{decimal(row.measured)} in {row.phase}" for row in rows)
    peak = report.of.peak
    return (
        f"The highest moment of each phase: {parts}. The peak is {decimal(peak.measured)}, in "
        f"{peak.phase}; the card has {decimal(report.capacity)}."
    )


def alike(group: Group) -> tuple[str, str, str]:
    """Return the bytes of a group, what it is, and where it belongs."""
    each = f"{group.count:,} x {decimal(group.each)}, " if group.count > 1 else ""
    what = f"{category(group.category)}, {each}{tensor(group.dtype, group.shape)}"
    return decimal(group.size), what.removesuffix(", "), place(group)


def place(group: Group) -> str:
    """Return where the tensors of a group belong, or what made them."""
    if group.module:
        return group.module
    return f"by {', '.join(group.operators)}" if group.operators else OUT_OF_MODEL


def rest(report: Report) -> str:
    """Return how much of the peak the groups shown are."""
    size, total = sum(group.size for group in report.shown), report.of.peak.measured
    left = len(report.of.alive) - sum(group.count for group in report.shown)
    share = f"{100 * size / max(total, 1):.1f}% of the peak"
    return share + (f"; {left:,} smaller tensors are the rest" if left else "")


def excess(report: Report) -> str:
    """Return the gap at the peak."""
    gap = report.of.peak.measured - report.of.predicted_peak
    if not gap:
        return "the measured peak is the predicted one"
    which = "above" if gap > 0 else "below"
    return f"the measured peak is {both(abs(gap))} {which} the predicted one"


def micro_batches(report: Report, stretch: Stretch) -> str:
    """Return which micro-batches a stretch is of; empty where the step has only one."""
    number = report.scenario.workload.gradient_accumulation
    if number == 1:
        return ""
    if not stretch.micro_batch:
        return "after the last micro-batch"
    if stretch.micro_batch == 1 or number == 2:
        return f"micro-batch {stretch.micro_batch} of {number}"
    return f"micro-batches 2 to {number}, which are alike"


def totals(report: Report) -> tuple[tuple[str, str], ...]:
    """Return the three numbers, the card and the verdict, each with its label."""
    found = report.of
    return (
        ("allocated", f"{both(found.peak.measured)}; predicted {decimal(found.predicted_peak)}"),
        ("reserved", _reserved(report)),
        ("nvidia-smi", _nvidia_smi(report)),
        ("card", f"{both(report.capacity)}, as its driver reports"),
        ("fits", verdict(report)),
    )


def _reserved(report: Report) -> str:
    found = report.of
    reserved, absent = found.measurement.reserved, sum(found.left_out.values())
    low, high = (end - absent for end in found.ledger.reserved)
    replayed = "" if found.measurement.device == "cuda" else " replayed in PyTorch's allocator"
    said = f"{both(reserved)}{replayed}; predicted {between((low, high))}"
    if replayed and not low <= reserved <= high:
        said += "; the replay is the better of the two, for it has the order of allocations"
    if reserved > high and found.expandable < reserved:
        said += (
            f"; {decimal(found.expandable)} under expandable_segments:True, which keeps free "
            "memory in one piece"
        )
    return said


def _nvidia_smi(report: Report) -> str:
    found = report.of
    predicted = between(found.ledger.nvidia_smi)
    return f"{interval(found.nvidia_smi)}, with {_outside(report)}; predicted {predicted}"


def _outside(report: Report) -> str:
    """Return what the card holds beside what was measured."""
    names = {line.name for line in report.of.ledger.lines}
    parts = ["the CUDA context", *(["NCCL"] if NCCL in names else []), *report.of.left_out]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def verdict(report: Report) -> str:
    """Return yes, no or tight, and by how much; and what `memquiz solve` says, if that differs."""
    said = _verdict(report)
    if report.of.fits == report.predicted_fits:
        return said
    return f"{said} (by the ledger alone, as in memquiz solve: {report.predicted_fits})"


def _verdict(report: Report) -> str:
    match report.of.fits:
        case "yes":
            spare = report.capacity - report.of.nvidia_smi[1]
            return f"yes: {both(spare)} to spare, at the upper estimate of what nvidia-smi shows"
        case "no":
            return "no: the run ends for want of memory"
        case "tight":
            return f"tight: it may run; {_too_much(report)}"


def _too_much(report: Report) -> str:
    if report.short > 0:
        return (
            f"the allocator has to give {both(report.short)} of its cache back to the driver "
            "on the way"
        )
    beyond = report.of.nvidia_smi[1] - report.capacity
    return f"the upper estimate of what nvidia-smi shows is {both(beyond)} too much"


def no_room(report: Report, ended: NoRoom) -> tuple[tuple[str, str], ...]:
    """Return what is known of the end of a run that does not fit, each with its label."""
    missing = f"{both(ended.missing)} for this tensor"
    if report.short > ended.missing:
        missing += f"; {both(report.short)} or more for the whole run"
    return (
        ("out of memory", _when(ended)),
        ("allocating", f"{made(ended.making)}: {maker(ended.making, ended.phase)}"),
        ("message", _message(ended)),
        ("missing", missing),
        ("makes it fit", _levers(ended)),
    )


def _message(ended: NoRoom) -> str:
    """Return what PyTorch's own message says, in its units."""
    failed = ended.failed
    return (
        f"Tried to allocate {binary(failed.driver_request)}; {binary(failed.free)} are free, "
        f"{binary(failed.allocated)} allocated, {binary(failed.unallocated)} reserved but "
        "unallocated"
    )


def _when(ended: NoRoom) -> str:
    if ended.step is None:
        return "while the model is built, before the first step"
    step = "the first step" if ended.step == 0 else f"step {ended.step + 1}"
    return f"in {step}, {ended.phase or 'between two phases'}"


def _levers(ended: NoRoom) -> str:
    match ended.levers:
        case ():
            return "no combination of levers does"
        case (one,):
            return one if one.endswith(" together") else f"{one}, alone"
        case several:
            return f"any one of: {'; '.join(several)}"
