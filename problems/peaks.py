"""A step's peak: hints, solution and mistakes that the questions of topic D share."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from engine.estimate import ledger
from engine.ledger import OUTSIDE, Ledger
from engine.optimizers import optimizers
from engine.scenario import Scenario
from problems.amounts import Moment, Paper
from problems.exact import PHASES_SAID, Totals, totals
from problems.on_paper import has_ddp_buckets, on_paper
from problems.problem import Step
from problems.prompts import render
from problems.wording import bare_gb, gb, paper, recipe_said

LINES_SHOWN = 5
OTHERS_SHOWN = 4


@dataclass(frozen=True, kw_only=True)
class Run:
    """A scenario with its ledger and its sums on paper, each made when it is first asked for."""

    scenario: Scenario

    @cached_property
    def ledger(self) -> Ledger:
        """The exact ledger."""
        return ledger(self.scenario)

    @cached_property
    def paper(self) -> Paper:
        """The sums on paper."""
        return on_paper(self.scenario)

    @cached_property
    def totals(self) -> Totals:
        """Allocated bytes by phase and category."""
        return totals(self.ledger)

    def prompt(self, template: str, **values: object) -> str:
        """Return the prompt of a template that describes the run."""
        recipe, parallel = self.scenario.recipe, self.scenario.parallel
        return render(
            template,
            x=self.scenario,
            recipe=recipe_said(recipe.precision, recipe.optimizer, fsdp=parallel.zero == 3),
            foreach=optimizers()[recipe.optimizer].at_once,
            buckets=has_ddp_buckets(self.scenario),
            **values,
        )

    def hints(self, last: str) -> tuple[str, str, str]:
        """Return three hints that end with the words of `last`."""
        moment = self.paper.moment
        sizes = "; ".join(f"{x.name} {paper(x.size)}" for x in moment.amounts)
        return (
            (
                "What is alive together? Look at the backward of the loss, of the last and of "
                "the first layer, and at the optimizer's step; the largest of them is the peak."
            ),
            (
                f"On paper the peak is at {moment.said}, where these are alive: "
                f"{'; '.join(x.name for x in moment.amounts)}."
            ),
            f"Their sizes on paper: {sizes}. {last}",
        )

    def steps_on_paper(self) -> Iterator[Step]:
        """Yield each term of the largest moment on paper, what the others are, and the sum."""
        peak = self.paper.moment
        yield Step(text=f"on paper most is alive at {peak.said}:", depth="whiteboard")
        yield from terms(peak)
        others: dict[str, int] = {}
        for moment in sorted(self.paper.moments, key=lambda moment: -moment.size):
            if moment.said != peak.said:
                others.setdefault(moment.said, moment.size)
        rows = [f"{said} {paper(size)}" for said, size in others.items()]
        less = "; ".join(rows[:OTHERS_SHOWN])
        yield Step(text=f"less at other moments: {less}", depth="whiteboard")
        sum_ = " + ".join(bare_gb(x.size) for x in peak.amounts)
        yield Step(text=f"together {sum_} = {paper(peak.size)}", depth="whiteboard")

    def steps_exact(self) -> Iterator[Step]:
        """Yield the lines of the ledger that are alive at the peak, largest first."""
        rows = [row for row in self.ledger.alive if row[0].category not in OUTSIDE]
        yield Step(text=f"exact, at {PHASES_SAID[self.ledger.peak_phase]}:")
        for line, size in rows[:LINES_SHOWN]:
            yield Step(text=f"{line.name}: {gb(size)}")
        if rows[LINES_SHOWN:]:
            rest = sum(size for _, size in rows[LINES_SHOWN:])
            yield Step(text=f"{_lines(len(rows) - LINES_SHOWN)}: {gb(rest)}")

    @property
    def difference(self) -> str:
        """What is left between paper and ledger, in words."""
        off = self.ledger.peak - self.paper.peak
        if off <= 0:
            return f"rounding, {gb(-off)}"
        return f"small lines that paper leaves out, {gb(off)}"


def terms(moment: Moment, *, one_sequence: bool = False) -> Iterator[Step]:
    """Yield each term of a moment with the product that gives it.

    Args:
        moment: the moment.
        one_sequence: its micro-batch is one sequence, of which there will be more.
    """
    for x in moment.amounts:
        each = " a sequence" if one_sequence and x.tokens else ""
        yield Step(text=f"{x.name}: {x.said} = {paper(x.size)}{each}", depth="whiteboard")


def _lines(number: int) -> str:
    return f"{number} smaller line{'s' if number != 1 else ''}"
