"""Topic H, real failures: a run that dies after thousands of steps, and what its log shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from engine.estimate import ledger
from engine.ledger import Category, Ledger
from engine.scenario import Scenario
from engine.units import GB
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.artefacts.log import Entry, Late, log, to_pages
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import gb, number, sentence

LETTERS = "abcde"
CAUSES: tuple[Late, ...] = ("longest", "fragments", "leak", "evaluation", "save")
NAMES: dict[Late, tuple[str, str]] = {
    "longest": ("a batch with longer sequences than any before", "longest"),
    "fragments": ("a cache in more and more pieces", "fragmentation"),
    "leak": ("tensors that each step leaves behind", "leak"),
    "evaluation": ("the evaluation between two steps", "evaluation"),
    "save": ("the save between two steps", "save"),
}
REMEDIES: dict[Late, str] = {
    "longest": "cap the length, or budget tokens a batch; run the longest batch at start-up",
    "fragments": "expandable segments; pad to a few lengths; run the longest batch first",
    "leak": "find who holds on to them: a loss with its graph, outputs in a list, a hook",
    "evaluation": "smaller batches there, no_grad, and nothing collected; run one at start-up",
    "save": "gather to the host or save shards; save once at start-up",
}
OTHERS: dict[Level, tuple[int, int]] = {"mid": (2, 3), "senior": (3, 4)}
# The first is drawn again most often: only a run whose longest batch does not fit can show it.
WEIGHTS: tuple[tuple[Late, int], ...] = (
    ("longest", 4),
    *((cause, 1) for cause in CAUSES[1:]),
)
ROWS = 7
HUNDRED = 100


@dataclass(frozen=True, kw_only=True)
class Life:
    """A run whose batches are as long as their longest sequence."""

    run: Scenario
    capacity: int

    @cached_property
    def book(self) -> Ledger:
        """The ledger of a batch of the full length."""
        return ledger(self.run)

    @property
    def live(self) -> int:
        """What is there between two steps: weights and optimizer states."""
        book = self.book
        return book.total(
            Category.WEIGHTS, Category.MASTER_WEIGHTS, Category.OPTIMIZER_STATE
        ) + book.size("cuBLAS workspace")

    def peak(self, tokens: int) -> int:
        """Return the peak of a step with sequences of so many tokens."""
        work = replace(self.run.workload, sequence=tokens)
        return ledger(replace(self.run, workload=work)).peak


@kind_at_levels(
    name="dies-late",
    topic="H",
    levels=("mid", "senior"),
    title="Out of memory after thousands of steps",
    sources=("tensorflow/tensor2tensor#581", "verl-project/verl#3035"),
)
def dies_late(draw: Draw, level: Level) -> Draft | None:
    """Ask for the cause of a late failure, out of three to five, by a log."""
    run = scenarios.run(draw, low=60, high=135)
    if run is None or run.hardware.gpu.vendor != "NVIDIA" or run.workload.sequence < HUNDRED * 5:
        return None
    life = Life(run=run, capacity=run.hardware.gpu.memory - 2 * GB)
    right = draw.weighted(WEIGHTS)
    rows = _rows(draw, life, right)
    if rows is None:
        return None
    others = [cause for cause in CAUSES if cause != right]
    count = draw.between(*OTHERS[level])
    shown = draw.sample((right, *draw.sample(others, count)), count + 1)
    failed = {"evaluation": "in the evaluation", "save": "in the save"}.get(right, "in the step")
    return Draft(
        prompt=render("dies-late", x=run),
        exhibit=log(rows, failed),
        answer=_answer(shown, right, rows),
        hints=_hints(rows, life),
        solution=tuple(_steps(rows, life, right)),
        mistakes=(),
        scenario=run,
    )


def _rows(draw: Draw, life: Life, cause: Late) -> tuple[Entry, ...] | None:
    """Return a log that shows this cause and no other, None where the run allows none."""
    full = life.run.workload.sequence
    longest = [draw.between(45, 75) * full // HUNDRED // 8 * 8 for _ in range(ROWS)]
    if cause != "longest":  # whatever fails later is no longer than what has run
        longest[1] = max(longest) + 8
    peaks = [life.peak(tokens) for tokens in longest]
    if max(peaks) > life.capacity * 93 // HUNDRED:
        return None
    steps = tuple(zip(_numbers(draw), longest, peaks, strict=True))
    made = {
        "longest": _longest,
        "fragments": _fragments,
        "leak": _leak,
        "evaluation": _between,
        "save": _between,
    }[cause](draw, life, steps)
    if made is None or cause not in {"evaluation", "save"}:
        return made
    return (*made[:-1], replace(made[-1], what="eval" if cause == "evaluation" else "save"))


def _numbers(draw: Draw) -> tuple[int, ...]:
    """Return the numbers of the steps, each later than the one before."""
    at, found = 0, []
    for _ in range(ROWS):
        at += 100 * draw.between(3, 50)
        found.append(at)
    return tuple(found)


Steps = Sequence[tuple[int, int, int]]
Rows = tuple[Entry, ...]


def _steady(life: Life, steps: Steps, *, slack: int = 4) -> list[Entry]:
    """Return the rows of a run in order: what is reserved is what the largest so far took."""
    rows, most = [], 0
    for step, tokens, peak in steps:
        most = max(most, peak)
        reserved = to_pages(most * (HUNDRED + slack) // HUNDRED)
        rows.append(
            Entry(
                what=number(step),
                tokens=tokens,
                live=life.live,
                peak=peak,
                reserved=reserved,
            )
        )
    return rows


def _longest(draw: Draw, life: Life, steps: Steps) -> Rows | None:
    full = life.run.workload.sequence
    peak = life.peak(full)
    if peak <= life.capacity:
        return None
    rows = _steady(life, steps, slack=draw.between(2, 4))
    return (*rows[:-1], replace(rows[-1], tokens=full, peak=peak, reserved=life.capacity))


def _fragments(draw: Draw, life: Life, steps: Steps) -> Rows | None:
    rows = _steady(life, steps)
    first = rows[0].reserved
    rise = life.capacity - first
    if max(row.peak for row in rows) > life.capacity * 85 // HUNDRED:
        return None
    made = []
    for place, row in enumerate(rows):
        grown = first + rise * place // (ROWS - 1) - draw.below(rise // 40 + 1)
        made.append(replace(row, reserved=to_pages(max(grown, row.reserved))))
    return tuple(made)


def _leak(draw: Draw, life: Life, steps: Steps) -> Rows | None:
    rows = _steady(life, steps)
    worst = max(row.peak for row in rows)
    room = life.capacity - worst
    if room < GB:
        return None
    end, last = room * draw.between(103, 112) // HUNDRED, steps[-1][0]
    rows[-1] = replace(rows[-1], tokens=max(row.tokens for row in rows), peak=worst)
    return tuple(
        replace(
            row,
            live=row.live + end * step // last,
            peak=row.peak + end * step // last,
            reserved=min(
                to_pages((row.peak + end * step // last) * 104 // HUNDRED), life.capacity
            ),
        )
        for row, (step, _, _) in zip(rows, steps, strict=True)
    )


def _between(draw: Draw, life: Life, steps: Steps) -> Rows | None:
    rows = _steady(life, steps)
    peak = life.capacity * draw.between(105, 180) // HUNDRED
    last = Entry(what="", tokens=0, live=life.live, peak=peak, reserved=life.capacity)
    return (*rows, last)


def _answer(shown: Sequence[Late], right: Late, rows: Sequence[Entry]) -> ChoiceAnswer:
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter,
                    name=NAMES[cause][0],
                    aliases=NAMES[cause][1:],
                    value=Fraction(int(cause == right)),
                ),
                mistake="" if cause == right else "another cause than the log's",
                feedback=sentence(_feedback(cause, rows)),
            )
            for letter, cause in zip(LETTERS, shown, strict=False)
        )
    )


def _feedback(cause: Late, rows: Sequence[Entry]) -> str:
    first, *_, last = rows
    before = max(row.tokens for row in rows[:-1])
    if cause == "longest":
        if not last.tokens:
            return (
                f"no step has more than {number(before)} tokens, and {gb(first.peak)} or so; the "
                "last row is none of them."
            )
        said = f"the last row has {number(last.tokens)} tokens, after {number(before)} at most"
        return f"{said}, and a peak of {gb(last.peak)}."
    if cause == "leak":
        return f"between steps {gb(first.live)} are alive at first and {gb(last.live)} at last."
    if cause == "fragments":
        past, most = rows[-2], max(row.peak for row in rows[:-1])
        return (
            f"reserved beyond the largest peak: {gb(first.reserved - first.peak)} at first, "
            f"{gb(past.reserved - most)} in the row before the last."
        )
    most = max(row.peak for row in rows[:-1])
    name = {"eval": "an evaluation", "save": "a save"}.get(last.what, "a step like the others")
    return f"the last row is {name}, with {gb(last.peak)}, after {gb(most)} at most."


def _hints(rows: Sequence[Entry], life: Life) -> tuple[str, str, str]:
    return (
        "Which column was steady, and which is different in the last rows?",
        (
            "A leak shows between the steps, a long batch in its own peak, a cache in pieces in "
            "what is reserved while the peaks stay."
        ),
        (
            f"Between the steps {gb(rows[0].live)} were alive at first, {gb(rows[-1].live)} at "
            f"last; there is room for {gb(life.capacity)}."
        ),
    )


def _steps(rows: Sequence[Entry], life: Life, right: Late) -> Iterator[Step]:
    yield Step(
        text=f"the card leaves about {gb(life.capacity)} to PyTorch; the last row wants "
        f"{gb(rows[-1].peak)}",
        depth="whiteboard",
    )
    for cause in CAUSES[:3]:
        yield Step(text=_feedback(cause, rows).removesuffix("."), depth="whiteboard")
    yield Step(text=f"weights and optimizer states, which stay, are {gb(life.live)} by count")
    yield Step(text=f"what makes it plain and helps: {REMEDIES[right]}")
    yield Step(text=f"the cause: {NAMES[right][0]}")
