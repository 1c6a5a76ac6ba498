"""What full recomputation and the larger micro-batch that fits then are worth together."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.scenario import Scenario
from engine.units import TB
from problems import scenarios
from problems.answers.factor import FactorAnswer
from problems.costs.sharded import Sharded
from problems.costs.told import ROUNDING
from problems.counted import products
from problems.draft import Draft
from problems.draw import Draw
from problems.on_paper import on_paper
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.wording import digits_of, in_seconds, number, paper, rounded, short

# Percent of the card that a micro-batch may take, and the largest one.
ROOM, MOST = 85, 64
# Percent of the runs whose computing is the longer one both times which are passed over: their
# factor is that of recomputation alone.
PASSED_OVER = 60


@dataclass(frozen=True, kw_only=True)
class Trade:
    """A run without and with full recomputation, and the micro-batches that fit.

    `work` and `again` are FLOPs of a sequence, with what recomputation adds apart.
    """

    run: Sharded
    before: int
    after: int
    work: int
    again: int

    @property
    def wire(self) -> Fraction:
        """Seconds of sending in a micro-batch."""
        return self.run.sent / self.run.rate

    @property
    def computed(self) -> Fraction:
        """Seconds of computing a micro-batch as it is."""
        return self.before * self.work / self.run.flops

    @property
    def computed_after(self) -> Fraction:
        """Seconds of computing the larger micro-batch with recomputation."""
        return self.after * (self.work + self.again) / self.run.flops

    @property
    def factor(self) -> Fraction:
        """Tokens a second after over before."""
        before, after = max(self.wire, self.computed), max(self.wire, self.computed_after)
        return Fraction(self.after, self.before) * before / after

    @property
    def rounded(self) -> "Trade":
        """The same with FLOPs to three digits, as the prompt has them."""
        return replace(self, work=rounded(self.work), again=rounded(self.again))


def pays(draw: Draw, base: Sharded) -> Draft | None:
    """Ask for the factor by which both change the tokens a second."""
    passed_over, x = draw.chance(PASSED_OVER), base.x
    full = replace(x, recipe=replace(x.recipe, recompute="full"))
    before, after = _largest(x), _largest(full)
    if not before or after <= before:
        return None
    counted = products(full)
    trade = Trade(
        run=replace(base, x=scenarios.with_micro_batch(x, before)),
        before=before,
        after=after,
        work=counted.forward.total + counted.backward.total,
        again=counted.recomputed.total,
    )
    if trade.wire < trade.computed and passed_over:
        return None
    if abs(trade.rounded.factor / trade.factor - 1) > ROUNDING:
        return None
    return Draft(
        prompt=render("recompute-pays", **trade.run.said, **_trade_said(trade)),
        answer=FactorAnswer(value=trade.factor),
        hints=(
            "For each of the two, which is longer, computing or sending? It sets the pace.",
            "What is sent in a micro-batch does not depend on how many sequences it has.",
            (
                f"Sending takes {in_seconds(trade.wire)}, computing {in_seconds(trade.computed)} "
                f"before, {in_seconds(trade.computed_after)} after. Divide sequences by seconds."
            ),
        ),
        solution=tuple(_trade_steps(trade)),
        mistakes=tuple(_trade_mistakes(trade)),
        scenario=trade.run.x,
    )


def _largest(x: Scenario) -> int:
    """Return the largest micro-batch, a power of 2, that fits on paper; 0 where none does."""
    sums, room = on_paper(x), x.hardware.gpu.memory * ROOM // 100
    most = scenarios.MOST_TOKENS // x.workload.sequence
    sizes = [2**n for n in range(7) if 2**n <= min(most, MOST)]
    return max((size for size in sizes if sums.peak_of(size) <= room), default=0)


def _sequences(count: int) -> str:
    return f"{count} sequence{'' if count == 1 else 's'}"


def _trade_said(trade: Trade) -> dict[str, str]:
    return {
        "before": _sequences(trade.before),
        "after": str(trade.after),
        "work": digits_of(Fraction(trade.work, TB)),
        "again": digits_of(Fraction(trade.again, TB)),
        "sent": paper(trade.run.sent),
    }


def _trade_steps(trade: Trade) -> Iterator[Step]:
    said, told = trade.run.said, _trade_said(trade)
    both = digits_of(Fraction(trade.work + trade.again, TB))
    over = f"over {said['flops']} TFLOP/s"
    one, other = in_seconds(trade.computed), in_seconds(trade.computed_after)
    before, after = (
        max(trade.wire, seconds) for seconds in (trade.computed, trade.computed_after)
    )
    rates = f"({trade.after}/{digits_of(after)}) / ({trade.before}/{digits_of(before)})"
    for text in (
        f"sending: {told['sent']} over {said['rate']} GB/s = {in_seconds(trade.wire)}",
        f"computing before: {trade.before} × {told['work']} {over} = {one}",
        f"after: {trade.after} × {both} {over} = {other}",
        f"a micro-batch lasts {in_seconds(before)} before, {in_seconds(after)} after",
        f"{rates}: {digits_of(trade.factor)}",
    ):
        yield Step(text=text, depth="whiteboard")
    yield Step(text=f"counted: {number(trade.work)} FLOPs a sequence, {number(trade.again)} more")
    yield Step(text=f"With nothing rounded: factor {short(trade.factor)}")


def _trade_mistakes(trade: Trade) -> Iterator[Mistake]:
    times = Fraction(trade.after, trade.before)
    slower = Fraction(trade.work, trade.work + trade.again)
    apart = (trade.wire + trade.computed) / (trade.wire + trade.computed_after)
    for name, value, why in (
        (
            "recomputation alone",
            slower,
            "has computing pace both; where sending does, a larger micro-batch sends less often.",
        ),
        (
            "recomputation not counted",
            trade.factor / slower,
            "leaves out what runs again.",
        ),
        (
            "micro-batches compared",
            times,
            "is how much larger the micro-batch is; it also lasts longer.",
        ),
        (
            "nothing hidden",
            times * apart,
            "adds sending and computing; they run at the same time, and the longer one counts.",
        ),
        (
            "the inverse",
            1 / trade.factor,
            "is the inverse: the question is after over before.",
        ),
        (
            "one third for recomputation",
            Fraction(3, 4),
            "is 3/4, as if computing paced both and all of the forward ran again.",
        ),
    ):
        yield Mistake(name=name, value=Fraction(value), feedback=f"{short(value)} {why}")
