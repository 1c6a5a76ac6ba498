"""Topic E, levers: what one of them saves at the peak, and which of two is enough."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.estimate import fits
from engine.scenario import Scenario
from engine.units import MB
from problems import lever_runs
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import PHASES_SAID, saved
from problems.kind import kind_at_levels
from problems.letters import letters
from problems.peaks import Run, terms
from problems.problem import Level, Mistake, Step
from problems.proposals import ON_PAPER, detail, proposed, said, sharding_of
from problems.slips import unit_slips
from problems.wording import gb, paper
from problems.wrong_ideas.applied import wrongs

# Percent of the peak that a lever saves at least: less is lost in what paper leaves out.
WORTH = 8
# How far the difference on paper may lie from that of the ledgers.
ROUNDING = Fraction(7, 100)
# How near the card's memory a peak may come before it is no clear answer.
NEAR = Fraction(1, 10)
MOST_TERMS, MOST_OF_ONE = 12, 6


@dataclass(frozen=True, kw_only=True)
class Pull:
    """A run before and after a lever."""

    name: str
    before: Run
    after: Run

    @cached_property
    def saved(self) -> int:
        """Bytes by which the peak is lower."""
        return self.before.ledger.peak - self.after.ledger.peak

    @property
    def on_paper(self) -> int:
        """The same on paper."""
        return self.before.paper.peak - self.after.paper.peak

    @property
    def moves(self) -> bool:
        """Whether the peak then lies at another moment."""
        return self.before.paper.moment.said != self.after.paper.moment.said


@kind_at_levels(
    name="lever-saving",
    topic="E",
    levels=("mid", "senior"),
    title="What a lever saves at the peak",
    sources=("traced steps of PyTorch 2.13",),
)
def leversaving_of(draw: Draw, level: Level) -> Draft | None:
    """Ask by how much one lever lowers the peak of a run that does not fit.

    At senior level the peak then lies at another moment.
    """
    scenario = lever_runs.cramped(draw)
    if scenario is None:
        return None
    name = draw.choice(ON_PAPER)
    after = proposed(draw, scenario, name)
    if after is None:
        return None
    pull = Pull(name=name, before=Run(scenario=scenario), after=Run(scenario=after))
    if pull.moves != (level == "senior"):
        return None
    return saving_of(pull) if is_clear(pull) else None


def is_clear(pull: Pull) -> bool:
    """Return whether the lever saves enough, and paper leads to what the ledgers have."""
    if 100 * pull.on_paper < WORTH * pull.before.paper.peak:
        return False
    if len(pull.before.paper.moment.amounts) + len(pull.after.paper.moment.amounts) > MOST_TERMS:
        return False
    if fits(pull.before.scenario, pull.before.ledger) != "no":
        return False
    return abs(Fraction(pull.on_paper, pull.saved) - 1) <= ROUNDING if pull.saved > 0 else False


def saving_of(pull: Pull) -> Draft:
    """Return the question for what a lever saves at the peak."""
    smaller = f": {detail(pull.after.scenario)}" if pull.name == "smaller micro-batch" else ""
    lever = "a smaller micro-batch" if smaller else said(pull.name, pull.after.scenario)
    prompt = pull.before.prompt(
        "lever-saving",
        ask_micro_batch=False,
        lever=lever,
        detail=smaller,
        sharding=sharding_of(pull.before.scenario, [pull.after.scenario]),
    )
    return Draft(
        prompt=prompt,
        answer=QuantityAnswer(
            value=Fraction(pull.saved),
            band="estimate",
            symbols=letters(pull.before.scenario, prompt),
        ),
        hints=_hints(pull),
        solution=tuple(_steps(pull)),
        mistakes=tuple(_mistakes(pull)),
        scenario=pull.before.scenario,
    )


def _hints(pull: Pull) -> tuple[str, str, str]:
    old, new = pull.before.paper.moment, pull.after.paper.moment
    where = f"at {old.said}, before and after"
    if pull.moves:
        where = f"at {old.said} before, and at {new.said} after"
    return (
        (
            "A peak before and a peak after: take the largest moment of each. It need not be the "
            "same one."
        ),
        f"On paper the peak is {where}.",
        (
            f"Before, on paper, it is {paper(old.size)}. After, these are alive: "
            f"{'; '.join(x.name for x in new.amounts)}."
        ),
    )


def _steps(pull: Pull) -> Iterator[Step]:
    for when, run in (("before", pull.before), ("after", pull.after)):
        moment = run.paper.moment
        yield Step(text=f"{when}, most is alive at {moment.said}:", depth="whiteboard")
        yield from terms(moment)
        yield Step(text=f"together {paper(moment.size)}", depth="whiteboard")
    yield Step(text=f"saved on paper: {paper(pull.on_paper)}", depth="whiteboard")
    for when, run in (("before", pull.before), ("after", pull.after)):
        book = run.ledger
        yield Step(text=f"exact, {when}: {gb(book.peak)} at {PHASES_SAID[book.peak_phase]}")
    off = abs(pull.saved - pull.on_paper)
    rest = "Nothing is left of the difference"
    if off >= MB:
        rest = f"The rest of the difference is small lines and rounding, {gb(off)}"
    yield Step(text=f"{rest}: exactly {gb(pull.saved)}")


def _mistakes(pull: Pull) -> Iterator[Mistake]:
    old, new = pull.before.ledger, pull.after.ledger
    there = PHASES_SAID[old.peak_phase]
    same = old.peak - new.phases.get(old.peak_phase, 0)
    yield _mistake(
        "another moment binds then",
        same,
        f"is what is gone at {there}. The peak moves to {PHASES_SAID[new.peak_phase]}, which "
        f"keeps {gb(abs(same - pull.saved))} of it.",
    )
    moved = old.phases.get(new.peak_phase, 0) - new.peak
    yield _mistake(
        "only the later peak's moment compared",
        moved,
        f"is saved at {PHASES_SAID[new.peak_phase]}; before, the peak was at {there}, "
        f"{gb(abs(pull.saved - moved))} from there.",
    )
    yield _mistake(
        "what is left for what is saved",
        new.peak,
        f"is the peak that is left; the peak was {gb(old.peak)}, so {gb(pull.saved)} are saved.",
    )
    yield _mistake(
        "peak before the lever",
        old.peak,
        f"is the peak as it was; with the lever {gb(new.peak)} are still there.",
    )
    yield from _own_mistakes(pull)
    yield from unit_slips(pull.saved)


def _own_mistakes(pull: Pull) -> Iterator[Mistake]:
    """Yield what a person takes the lever itself for."""
    run, after = pull.before, pull.after.scenario
    if "recompute" in pull.name:
        everything = saved(run.ledger)
        yield _mistake(
            "all saved activations counted",
            everything,
            "is all that the layers save; some of it stays, or another moment binds, and the peak "
            f"falls by {gb(pull.saved)}.",
        )
    if pull.name == "smaller micro-batch":
        left = Fraction(after.workload.micro_batch, run.scenario.workload.micro_batch)
        yield _mistake(
            "whole peak divided",
            int(run.ledger.peak * (1 - left)),
            "divides all of the peak; model states do not shrink with the micro-batch.",
        )
    if pull.name.startswith("ZeRO"):
        ranks = after.parallel.data
        yield _mistake(
            "whole peak sharded",
            int(run.ledger.peak * Fraction(ranks - 1, ranks)),
            "shards all of the peak; activations and temporaries stay whole on each GPU.",
        )


def _mistake(name: str, value: int, why: str) -> Mistake:
    return Mistake(name=name, value=Fraction(value), feedback=f"{gb(value)} {why}")


@kind_at_levels(
    name="which-fits",
    topic="E",
    levels=("mid", "senior"),
    title="Which of two proposals fits?",
    sources=("traced steps of PyTorch 2.13",),
)
def which_fits(draw: Draw, level: Level) -> Draft | None:
    """Ask whether the first of two proposals is the one that makes a run fit.

    At senior level the peak is at another moment with the one that fits.
    """
    scenario = lever_runs.cramped(draw)
    if scenario is None:
        return None
    wanted = draw.chance(50)
    drawn = [(name, proposed(draw, scenario, name)) for name in draw.sample(ON_PAPER, 6)]
    found = [(said(name, after), Run(scenario=after)) for name, after in drawn if after]
    memory = scenario.hardware.gpu.memory
    good = [row for row in found if row[1].paper.peak < (1 - 2 * NEAR) * memory]
    bad = [row for row in found if row[1].paper.peak > (1 + NEAR) * memory]
    if not good or not bad:
        return None
    first, second = (good[0], bad[0]) if wanted else (bad[0], good[0])
    if len(first[1].paper.moment.amounts) > MOST_OF_ONE:
        return None
    before = Run(scenario=scenario)
    moved = good[0][1].paper.moment.said != before.paper.moment.said
    if moved != (level == "senior"):
        return None
    if not _holds(before, good[0][1], bad[0][1]):
        return None
    return _which(scenario, first, second, yes=wanted)


def _holds(before: Run, good: Run, bad: Run) -> bool:
    """Return whether the ledgers say so too, none of the three near the border."""
    verdicts = [fits(run.scenario, run.ledger) for run in (before, good, bad)]
    near = [
        abs(Fraction(run.ledger.peak, run.scenario.hardware.gpu.memory) - 1) <= NEAR
        for run in (good, bad)
    ]
    return verdicts == ["no", "yes", "no"] and not any(near)


def _which(
    scenario: Scenario, first: tuple[str, Run], second: tuple[str, Run], *, yes: bool
) -> Draft:
    (one, run), (other, beside) = first, second
    memory, peak = scenario.hardware.gpu.memory, run.ledger.peak
    prompt = Run(scenario=scenario).prompt(
        "which-fits",
        ask_micro_batch=False,
        one=one,
        other=other,
        sharding=sharding_of(scenario, [run.scenario, beside.scenario]),
    )
    compared = "below" if yes else "above"
    return Draft(
        prompt=prompt,
        answer=YesNoAnswer(
            value=yes,
            proof=QuantityAnswer(
                value=Fraction(peak), band="estimate", symbols=letters(scenario, prompt)
            ),
        ),
        hints=run.hints(f"Add them up and compare with {gb(memory)}."),
        solution=(
            Step(text=f"with the first proposal, {one}:", depth="whiteboard"),
            *run.steps_on_paper(),
            *run.steps_exact(),
            Step(
                text=f"{'yes' if yes else 'no'}: the first is {compared} the {gb(memory)} of the "
                f"card, the second, {other}, takes {gb(beside.ledger.peak)}"
            ),
            Step(text=f"The rest of the difference is {run.difference}: exactly {gb(peak)}"),
        ),
        mistakes=tuple(_which_mistakes(Run(scenario=scenario), run, beside)),
        scenario=scenario,
    )


def _which_mistakes(before: Run, run: Run, beside: Run) -> Iterator[Mistake]:
    peak = run.ledger.peak
    yield _mistake(
        "the proposal left out",
        before.ledger.peak,
        f"is the peak without any proposal; the first one saves "
        f"{gb(abs(before.ledger.peak - peak))}.",
    )
    yield _mistake(
        "the other proposal's peak",
        beside.ledger.peak,
        f"is the peak of the second proposal; the first one has {gb(peak)}.",
    )
    for name, wrong in wrongs(run, "proposal").items():
        off = gb(abs(wrong.peak - peak))
        yield _mistake(name, wrong.peak, wrong.why.format(off=off))
