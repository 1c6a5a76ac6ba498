"""Topic H, real failures: a run that does not fit, and the levers in the order to pull them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from engine.costs.step_time import StepTime, step_time
from engine.errors import InputError
from engine.estimate import fits, ledger
from engine.ledger import Category
from engine.levers.registry import levers
from engine.levers.ties import TIE, tied
from engine.scenario import Scenario
from problems import lever_runs
from problems.answers.checklist import Action, ChecklistAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import PHASES_SAID, totals
from problems.kind import kind_at_levels
from problems.lever_runs import Priced, shares, told
from problems.peaks import Run
from problems.problem import Level, Step
from problems.wording import gb, sentence

LETTERS = "abcdefgh"
NAMES = (
    "smaller micro-batch",
    "fused attention",
    "fused optimizer",
    "fused cross entropy",
    "chunked cross entropy",
    "selective recompute",
    "full recompute",
    "ZeRO-1",
    "ZeRO-2",
    "ZeRO-3",
    "CPU offload",
)
# Never a lever: what each of them leaves as it is.
IDLE = (
    ("emptying the cache after each step", ("empty_cache",), "the cache is no live tensor"),
    ("more micro-batches of this size", ("more accumulation",), "a micro-batch is as large"),
    ("fewer workers of the data loader", ("workers",), "they live on the host"),
)
# Helps and does not, as parts of the peak; what lies between is not asked about.
HELPS, NO_HELP = Fraction(6, 100), Fraction(1, 100)
FEWEST_HELPING = 3
CLEAR = 0.02
# Free wherever they apply, so that they would begin most of the lists.
OFTEN_FIRST, PASSED_OVER = ("fused cross entropy", "chunked cross entropy"), 70
SIZES: dict[Level, tuple[int, int]] = {"mid": (5, 6), "senior": (6, 8)}


@dataclass(frozen=True, kw_only=True)
class Pulled:
    """A lever on a run: what it takes off the peak, and what it adds to the step."""

    name: str
    peak: int
    scenario: Scenario
    before: StepTime

    @cached_property
    def saved(self) -> int:
        """Bytes that the peak is lower."""
        return self.peak - ledger(self.scenario).peak

    @cached_property
    def price(self) -> Priced:
        """What it does to the time of a step."""
        return lever_runs.priced(self.name, self.before, self.scenario)

    @property
    def helps(self) -> bool:
        """Whether the peak is notably lower."""
        return self.saved >= HELPS * self.peak

    @property
    def why(self) -> str:
        """What it takes off, and what for."""
        if self.helps:
            return (
                f"{sentence(self.name)} takes {gb(self.saved)} off the peak for "
                f"{float(self.price.percent):+.1f}% step time."
            )
        return f"{sentence(self.name)} leaves the peak at {gb(self.peak - self.saved)}."


@kind_at_levels(
    name="oom-checklist",
    topic="H",
    levels=("mid", "senior"),
    title="Out of memory: which levers, in what order",
    sources=("artidoro/qlora#225", "docs/levers.md"),
)
def oom_checklist(draw: Draw, level: Level) -> Draft | None:
    """Ask for the levers that take something off the peak, the cheapest first."""
    scenario = lever_runs.cramped(draw)
    if scenario is None:
        return None
    run = Run(scenario=scenario)
    if fits(scenario, run.ledger) != "no":
        return None
    before = step_time(scenario)
    found = tuple(_found(draw, run, before, level))
    helping = [row for row in found if row.helps]
    if len(helping) < FEWEST_HELPING or len(helping) == len(found):
        return None
    groups = tied(helping, lambda row: row.price.overhead)
    if len(groups) < 2 or not _is_clear(groups):
        return None
    answer = _answer(draw, found, groups, run)
    if not SIZES[level][0] <= len(answer.actions) <= SIZES[level][1]:
        return None
    said = told(scenario, before, [row.scenario for row in found])
    return Draft(
        prompt=run.prompt("oom-checklist", ask_micro_batch=False, **said),
        answer=answer,
        hints=_hints(run, before, found),
        solution=tuple(_steps(run, found, groups)),
        mistakes=(),
        scenario=scenario,
    )


def _found(draw: Draw, run: Run, before: StepTime, level: Level) -> Iterator[Pulled]:
    """Yield levers in drawn order that either help or do not, by a margin."""
    left = draw.between(4, 5) if level == "mid" else draw.between(5, 7)
    for name in draw.sample(NAMES, len(NAMES)):
        if name in OFTEN_FIRST and draw.chance(PASSED_OVER):
            continue
        try:
            after = lever_runs.pulled(draw, run.scenario, name)
        except InputError:
            continue
        if after is None or after.implementation != run.scenario.implementation:
            continue
        row = Pulled(name=name, peak=run.ledger.peak, scenario=after, before=before)
        if row.helps or abs(row.saved) <= NO_HELP * row.peak:
            yield row
            left -= 1
        if not left:
            return


Groups = Sequence[Sequence[Pulled]]


def _is_clear(groups: Groups) -> bool:
    """Return whether those of a group are near each other, and no others are, by a margin."""
    place = {row.name: n for n, group in enumerate(groups) for row in group}
    for one, other in combinations([row for group in groups for row in group], 2):
        apart = abs(one.price.overhead - other.price.overhead)
        if apart > TIE if place[one.name] == place[other.name] else apart <= TIE + CLEAR:
            return False
    return True


def _answer(draw: Draw, found: Sequence[Pulled], groups: Groups, run: Run) -> ChecklistAnswer:
    idle = draw.sample(IDLE, draw.between(1, 2))
    peak = gb(run.ledger.peak)
    rows = [
        *((row.name, levers()[row.name].short, Fraction(row.saved), row.why) for row in found),
        *((name, short, Fraction(0), f"{sentence(why)}: {peak} all the same.")
          for name, short, why in idle),
    ]  # fmt: skip
    shown = draw.sample(rows, min(len(rows), len(LETTERS)))
    keys = {row[0]: letter for row, letter in zip(shown, LETTERS, strict=False)}
    order = tuple(tuple(keys[row.name] for row in group if row.name in keys) for group in groups)
    return ChecklistAnswer(
        actions=tuple(
            Action(item=RankedItem(key=keys[name], name=name, aliases=short, value=saved), why=why)
            for name, short, saved, why in shown
        ),
        order=tuple(group for group in order if group),
        first="cheapest",
    )


def _hints(run: Run, before: StepTime, pulled: Sequence[Pulled]) -> tuple[str, str, str]:
    book = run.ledger
    found = totals(book)[book.peak_phase]
    most = sorted(found, key=lambda category: -found[category])[:2]
    said = " and ".join(f"{_said(category)} {gb(found[category])}" for category in most)
    no = sum(not row.helps for row in pulled)
    return (
        "First the peak: what is alive in it? A lever that touches none of that is left out.",
        (f"The peak is at {PHASES_SAID[book.peak_phase]}: {gb(book.peak)}, most of it {said}."),
        (
            f"{'Each' if not no else f'All but {no}'} of the levers that change the run help"
            f"{'s' if not no else ''}; a step is {shares(before)}."
        ),
    )


def _said(category: Category) -> str:
    return "logits and loss" if category is Category.LOGITS else category.value.replace("_", " ")


def _steps(run: Run, found: Sequence[Pulled], groups: Groups) -> Iterator[Step]:
    book = run.ledger
    alive = ", ".join(f"{line.name} {gb(size)}" for line, size in book.alive[:3])
    yield Step(
        text=f"the peak, {gb(book.peak)}, is at {PHASES_SAID[book.peak_phase]}: {alive}, …",
        depth="whiteboard",
    )
    idle = [row.name for row in found if not row.helps]
    if idle:
        yield Step(text=f"none of that is touched by {', '.join(idle)}", depth="whiteboard")
    for row in (row for group in groups for row in group):
        yield Step(
            text=f"{row.name}: {gb(row.saved)} off the peak, "
            f"{float(row.price.percent):+.1f}% step time"
        )
    order = " > ".join(" = ".join(row.name for row in group) for group in groups)
    yield Step(text=f"the cheapest first: {order}")
