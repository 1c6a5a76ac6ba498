"""Topic D, the peak: what is alive at each moment that may be it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from engine.ledger import Phase
from problems import scenarios
from problems.amounts import END, FIRST_LAYER, HEAD, LAST_LAYER, LOSS, STEP, Moment
from problems.answers.ledger import LedgerAnswer
from problems.answers.terms import Follows
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.letters import letters
from problems.peaks import Run
from problems.problem import Level, Mistake, Step
from problems.terms_asked import last_step, of_term, size_term
from problems.wording import bare_gb, gb, listed, paper
from problems.wrong_ideas.applied import wrongs
from problems.wrong_sizes import wrong_size

USUAL = (20, 95)
PEAK = "peak"
# Behind the name of an idea that moves the peak, which says nothing of one moment.
ELSEWHERE = ", at another moment"
# Each moment by its short name: how it is asked for, its phase, what it is called on paper.
ASKED: Mapping[str, tuple[str, Phase, tuple[str, ...]]] = {
    "loss": ("the backward pass of the loss", Phase.LOSS, (LOSS, HEAD)),
    "last layer": (
        "the backward pass of the last layer",
        Phase.BACKWARD_FIRST,
        (LAST_LAYER,),
    ),
    "first layer": (
        "the backward pass of the first layer (and the embedding)",
        Phase.BACKWARD_LAST,
        (FIRST_LAYER, END),
    ),
    "step": ("the optimizer's step", Phase.STEP, (STEP,)),
}
ALIASES = {
    "loss": ("loss backward", "backward of the loss"),
    "last layer": ("last", "last layer backward"),
    "first layer": ("first", "first layer backward", "embedding"),
    "step": ("optimizer step", "optimizer"),
}
LEVELS: Mapping[Level, tuple[str, ...]] = {
    "mid": ("loss", "last layer", "step"),
    "senior": tuple(ASKED),
}
# How far paper may be from the ledger at a moment, and how near two moments may come.
NEAR, APART = Fraction(10, 100), Fraction(5, 100)


@kind_at_levels(
    name="moments-ledger",
    topic="D",
    levels=("mid", "senior"),
    title="What is allocated at each moment of a step, and the peak",
    sources=(
        "traced steps of PyTorch 2.13",
        "25621.github.io/ai-learning-guides, memory breakdown",
    ),
)
def moments_ledger(draw: Draw, level: Level) -> Draft | None:
    """Ask for what is alive at the moments that may be the peak of a step on one GPU."""
    scenario = scenarios.run(draw, low=USUAL[0], high=USUAL[1])
    if scenario is None or scenario.hardware.gpus > 1:
        return None
    asked = _Asked(run=Run(scenario=scenario), names=LEVELS[level])
    return asked.draft() if asked.is_clear else None


@dataclass(frozen=True, kw_only=True)
class _Asked:
    run: Run
    names: tuple[str, ...]

    @property
    def sizes(self) -> dict[str, int]:
        return {name: self.run.ledger.phases[ASKED[name][1]] for name in self.names}

    @property
    def on_paper(self) -> dict[str, Moment]:
        """The largest moment on paper of each that is asked for."""
        known = self.run.paper.moments
        return {
            name: max((m for m in known if m.said in ASKED[name][2]), key=lambda m: m.size)
            for name in self.names
        }

    @property
    def is_clear(self) -> bool:
        """Whether paper meets the ledger everywhere, and one moment is clearly the peak."""
        sizes = sorted(self.sizes.values())
        if self.run.ledger.peak != sizes[-1] or sizes[-2] * (1 + APART) > sizes[-1]:
            return False
        return all(
            abs(Fraction(self.on_paper[name].size, size) - 1) <= NEAR
            for name, size in self.sizes.items()
        )

    @property
    def largest(self) -> str:
        return max(self.names, key=lambda name: self.sizes[name])

    def answer(self, symbols: Mapping[str, int]) -> LedgerAnswer:
        rows = tuple(
            size_term(name, size, band="estimate", symbols=symbols, own_aliases=ALIASES[name])
            for name, size in self.sizes.items()
        )
        peak = size_term(
            PEAK,
            max(self.sizes.values()),
            "most",
            "maximum",
            band="estimate",
            symbols=symbols,
            follows=Follows(how="largest", of=self.names),
        )
        return LedgerAnswer(terms=(*rows, peak))

    def draft(self) -> Draft:
        moments = listed([ASKED[name][0] for name in self.names])
        prompt = self.run.prompt("moments-ledger", ask_micro_batch=False, moments=moments)
        answer = self.answer(letters(self.run.scenario, prompt))
        alive = "; ".join(
            f"{name}: {', '.join(x.name for x in moment.amounts)}"
            for name, moment in self.on_paper.items()
        )
        return Draft(
            prompt=prompt,
            answer=answer,
            hints=(
                "Which states stay for the whole step? Begin with them; add what comes and goes.",
                f"Alive are: {alive}.",
                f"On paper most is alive at {ASKED[self.largest][0]}; the peak is the largest.",
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
            scenario=self.run.scenario,
        )

    def _steps(self, answer: LedgerAnswer) -> Iterator[Step]:
        seen: set[str] = set()
        for name, moment in self.on_paper.items():
            for x in moment.amounts:
                text = f"{x.name}: {x.said} = {paper(x.size)}"
                if text not in seen:
                    yield Step(text=text, depth="whiteboard")
                seen.add(text)
            sum_ = " + ".join(bare_gb(x.size) for x in moment.amounts)
            said = sum_ if len(moment.amounts) > 1 else moment.amounts[0].name
            yield Step(text=f"at the {name}: {said} = {paper(moment.size)}", depth="whiteboard")
        peak = max(moment.size for moment in self.on_paper.values())
        yield Step(text=f"peak: {self.largest}, {paper(peak)}", depth="whiteboard")
        yield Step(text=f"exact peak, at {ASKED[self.largest][0]}: {gb(self.run.ledger.peak)}")
        yield last_step(answer, "The rest of the difference is small lines and rounding")

    def _mistakes(self) -> Iterator[Mistake]:
        for name, wrong in wrongs(self.run, "peak").items():
            idea, why = name, wrong.why
            if name.endswith(ELSEWHERE):
                idea, why = name.removesuffix(ELSEWHERE), f"{why.partition(';')[0]}, {{off}}."
            for moment, right in self.sizes.items():
                size = wrong.phase_sizes.get(ASKED[moment][1], right)
                if size != right:
                    yield from of_term(moment, [wrong_size(size, right, idea, why)])
            one = wrong_size(wrong.peak, self.run.ledger.peak, name, wrong.why)
            yield from of_term(PEAK, [one])
