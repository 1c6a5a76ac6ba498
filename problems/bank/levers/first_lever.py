"""Topic E, levers: the one to pull first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.costs.step_time import StepTime, step_time
from engine.estimate import fits
from engine.levers.registry import levers
from engine.levers.ties import TIE
from problems import lever_runs
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.lever_runs import Priced, most, shares, told, why
from problems.peaks import Run
from problems.problem import Level, Step
from problems.proposals import ON_PAPER, proposed
from problems.wording import bare_gb, gb, paper, sentence

COUNTS: Mapping[Level, tuple[int, ...]] = {"mid": (3,), "senior": (4, 5)}
FEWEST, MOST = 3, 5
NUMERALS = {2: "Two", 3: "Three", 4: "Four"}
LETTERS = "abcde"
# Terms of the peak that are told one by one.
SHOWN = 3
# How near the card's memory a peak may come before it is no clear answer: below, and above.
BELOW, ABOVE = 0.85, 1.1
# It is right so often that a person would pick it unread; of such runs some are passed over.
CHEAPEST, OFTEN = "smaller micro-batch", 40
# In points of a percent, beyond those of a tie: how much dearer the next lever that fits is.
CLEAR = 0.02


@dataclass(frozen=True, kw_only=True)
class Start:
    """The run as it is, with the time of its step."""

    run: Run

    @cached_property
    def time(self) -> StepTime:
        """The time of a step, counted when it is first asked for."""
        return step_time(self.run.scenario)


@dataclass(frozen=True, kw_only=True)
class Pull:
    """A lever on a run, beside the run as it is."""

    name: str
    run: Run
    start: Start

    @property
    def is_enough(self) -> bool:
        """Whether the run fits then, on paper."""
        return self.run.paper.peak <= self.run.scenario.hardware.gpu.memory

    @cached_property
    def price(self) -> Priced:
        """What it does to the time of a step."""
        return lever_runs.priced(self.name, self.start.time, self.run.scenario)

    @property
    def percent(self) -> str:
        """The same in percent: "+31.2%"."""
        return f"{float(self.price.percent):+.1f}%"

    @property
    def peak(self) -> str:
        """The peak that it leaves."""
        return gb(self.run.ledger.peak)


@kind_at_levels(
    name="first-lever",
    topic="E",
    levels=("mid", "senior"),
    title="The lever to pull first",
    sources=(
        "traced steps of PyTorch 2.13",
        "docs/levers.md",
    ),
)
def first_lever(draw: Draw, level: Level) -> Draft | None:
    """Ask for the cheapest of three levers, or four or five, that alone make a run fit."""
    scenario = lever_runs.cramped(draw)
    if scenario is None:
        return None
    before = Run(scenario=scenario)
    pulls = pulls_on(draw, before)
    good = ranked(pulls)
    if len(pulls) not in COUNTS[level] or not are_clear(before, pulls):
        return None
    if good[0].name == CHEAPEST and draw.chance(OFTEN):
        return None
    return first_of(before, pulls)


def ranked(pulls: Sequence[Pull]) -> list[Pull]:
    """Return those levers that make the run fit, the cheapest first."""
    return sorted((x for x in pulls if x.is_enough), key=lambda x: x.price.overhead)


def are_clear(before: Run, pulls: Sequence[Pull]) -> bool:
    """Return whether some levers fit, not all, one is clearly cheapest, and the ledgers agree."""
    good = ranked(pulls)
    if not good or len(good) == len(pulls):
        return False
    return _is_clear(good) and _holds(before, pulls)


def first_of(before: Run, pulls: Sequence[Pull]) -> Draft:
    """Return the question for the first of clear levers on a run."""
    good = ranked(pulls)
    return Draft(
        prompt=_prompt(before, pulls),
        answer=_answer(pulls, good[0]),
        hints=_hints(before, pulls, good),
        solution=tuple(_steps(before, pulls, good[0])),
        mistakes=(),
        scenario=before.scenario,
    )


def pulls_on(draw: Draw, before: Run) -> tuple[Pull, ...]:
    """Return up to five levers in drawn order, none of which leaves a peak near the border."""
    return tuple(_pulls(draw, Start(run=before)))


def _pulls(draw: Draw, start: Start) -> Iterator[Pull]:
    scenario = start.run.scenario
    memory = scenario.hardware.gpu.memory
    left = draw.between(FEWEST, MOST)
    for name in draw.sample(ON_PAPER, len(ON_PAPER)):
        after = proposed(draw, scenario, name)
        if after is None:
            continue
        pull = Pull(name=name, run=Run(scenario=after), start=start)
        if not BELOW * memory < pull.run.paper.peak < ABOVE * memory:
            yield pull
            left -= 1
        if not left:
            return


def _is_clear(good: Sequence[Pull]) -> bool:
    """Return whether the next lever that fits is dearer by more than the model may be off."""
    if len(good) == 1:
        return True
    return good[1].price.overhead - good[0].price.overhead > TIE + CLEAR


def _holds(before: Run, pulls: Sequence[Pull]) -> bool:
    """Return whether the ledgers say so too."""
    if fits(before.scenario, before.ledger) != "no":
        return False
    verdicts = (fits(x.run.scenario, x.run.ledger) for x in pulls)
    return all(
        verdict == ("yes" if pull.is_enough else "no")
        for pull, verdict in zip(pulls, verdicts, strict=True)
    )


def _prompt(before: Run, pulls: Sequence[Pull]) -> str:
    changed = [pull.run.scenario for pull in pulls]
    said = told(before.scenario, pulls[0].start.time, changed)
    return before.prompt("first-lever", ask_micro_batch=False, **said)


def _answer(pulls: Sequence[Pull], first: Pull) -> ChoiceAnswer:
    memory = gb(first.run.scenario.hardware.gpu.memory)
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter,
                    name=pull.name,
                    aliases=levers()[pull.name].short,
                    value=pull.price.percent,
                ),
                mistake=_mistake(pull, first),
                feedback=_feedback(pull, first, memory),
            )
            for letter, pull in zip(LETTERS, pulls, strict=False)
        )
    )


def _mistake(pull: Pull, first: Pull) -> str:
    if pull is first:
        return ""
    return "a dearer lever that fits" if pull.is_enough else "a lever that is not enough"


def _feedback(pull: Pull, first: Pull, memory: str) -> str:
    name = sentence(pull.name)
    if pull is first:
        return f"{name} leaves {pull.peak} of {memory} for {pull.percent} step time."
    if not pull.is_enough:
        return f"{name} leaves {pull.peak}, more than the {memory} of the card."
    return f"{name} fits too, with {pull.peak}, for {pull.percent} step time."


def _hints(before: Run, pulls: Sequence[Pull], good: Sequence[Pull]) -> tuple[str, str, str]:
    moment, time = before.paper.moment, pulls[0].start.time
    largest = sorted(moment.amounts, key=lambda x: -x.size)[:2]
    worst = max(pulls, key=lambda x: x.run.paper.peak)
    many = "One of them is" if len(good) == 1 else f"{NUMERALS[len(good)]} of them are"
    return (
        (
            "Two questions of each: what does it take off the peak, and what does it add to a "
            "step? Only those that make the run fit count."
        ),
        (
            f"On paper the peak is {paper(moment.size)} at {moment.said}, and most of it is "
            f"{' and '.join(f'{x.name} {paper(x.size)}' for x in largest)}."
        ),
        (
            f"{many} enough; {worst.name} is not, with {paper(worst.run.paper.peak)} on paper. "
            f"A step is {shares(time)}."
        ),
    )


def _steps(before: Run, pulls: Sequence[Pull], first: Pull) -> Iterator[Step]:
    memory, moment = before.scenario.hardware.gpu.memory, before.paper.moment
    largest = sorted(moment.amounts, key=lambda x: -x.size)
    parts = [f"{x.name} {bare_gb(x.size)}" for x in largest[:SHOWN]]
    if rest := sum(x.size for x in largest[SHOWN:]):
        parts.append(f"the rest {bare_gb(rest)}")
    yield Step(text=f"as it is, most is alive at {moment.said}:", depth="whiteboard")
    yield Step(text=f"{' + '.join(parts)} = {paper(moment.size)}", depth="whiteboard")
    for pull in pulls:
        after = pull.run.paper.moment
        than = "within" if pull.is_enough else "above"
        yield Step(
            text=f"{pull.name}: {paper(after.size)} at {after.said}, {than} {gb(memory)}",
            depth="whiteboard",
        )
    for pull in pulls:
        if pull.is_enough or pull.price.overhead < 0:
            yield Step(text=f"{pull.name}: {why(pull.price)}", depth="whiteboard")
    for pull in pulls:
        yield Step(text=f"{pull.name}: {pull.peak}, {pull.percent} step time{most(pull.price)}")
    yield Step(text=f"the cheapest of those that fit: {first.name}")
