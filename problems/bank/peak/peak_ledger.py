"""Topic D, the peak: what it is made of, term by term."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from engine.ledger import MODEL_STATES, Category, Phase
from problems import scenarios
from problems.answers.ledger import LedgerAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import Totals
from problems.kind import kind
from problems.letters import letters
from problems.peaks import Run
from problems.problem import Mistake, Step
from problems.terms_asked import last_step, of_term, size_term, total_term
from problems.wrong_ideas.applied import wrongs
from problems.wrong_sizes import wrong_size

USUAL = (20, 95)
STATES, ACTIVATIONS, REST = "model states", "activations", "everything else"
ALIASES = {
    STATES: ("states", "weights gradients and optimizer"),
    ACTIVATIONS: ("saved activations", "acts", "activation"),
    REST: ("else", "rest", "other", "others", "logits and temporaries", "the rest"),
}
# Each term is at least this share of the peak.
LEAST = Fraction(4, 100)


def grouped(totals: Totals, phase: Phase) -> Mapping[str, int]:
    """Return the bytes of each term in a phase."""
    rows = totals.get(phase, {})
    states = sum(rows.get(category, 0) for category in MODEL_STATES)
    activations = rows.get(Category.ACTIVATIONS, 0)
    return {
        STATES: states,
        ACTIVATIONS: activations,
        REST: sum(rows.values()) - states - activations,
    }


def peak_answer(run: Run, symbols: Mapping[str, int]) -> LedgerAnswer:
    """Return the terms of a run's peak, and their sum."""
    sizes = grouped(run.totals, run.ledger.peak_phase)
    rows = tuple(
        size_term(name, size, *ALIASES[name], band="estimate", symbols=symbols)
        for name, size in sizes.items()
    )
    return LedgerAnswer(terms=(*rows, total_term(rows, "peak")))


@kind(
    name="peak-ledger",
    topic="D",
    level="senior",
    title="What the peak of a step is made of",
    sources=(
        "traced steps of PyTorch 2.13",
        "25621.github.io/ai-learning-guides, memory breakdown",
    ),
)
def peak_ledger(draw: Draw) -> Draft | None:
    """Ask for states, activations and everything else at the peak, and for the peak."""
    scenario = scenarios.run(draw, low=USUAL[0], high=USUAL[1])
    if scenario is None:
        return None
    run = Run(scenario=scenario)
    peak = run.ledger.peak
    sizes = grouped(run.totals, run.ledger.peak_phase)
    if peak > scenario.hardware.gpu.memory or min(sizes.values()) < LEAST * peak:
        return None
    prompt = run.prompt("peak-ledger", ask_micro_batch=False)
    answer = peak_answer(run, letters(scenario, prompt))
    return Draft(
        prompt=prompt,
        answer=answer,
        hints=run.hints("Add them up in the three groups, then all."),
        solution=(
            *run.steps_on_paper(),
            *run.steps_exact(),
            *_steps(answer),
            last_step(answer, f"The rest of the difference is {run.difference}"),
        ),
        mistakes=tuple(_Wrong(run=run, sizes=sizes).mistakes()),
        scenario=scenario,
    )


def _steps(answer: LedgerAnswer) -> Iterator[Step]:
    yield Step(text=f"in groups: {', '.join(term.said for term in answer.terms[:-1])}")


@dataclass(frozen=True, kw_only=True)
class _Wrong:
    """What wrong ideas of the step make of its terms."""

    run: Run
    sizes: Mapping[str, int]

    def mistakes(self) -> Iterator[Mistake]:
        right, phase = self.run.ledger.peak, self.run.ledger.peak_phase
        for name, wrong in wrongs(self.run, "peak").items():
            why = wrong.why
            yield from of_term("total", [wrong_size(wrong.peak, right, name, why)])
            other = max(wrong.phase_sizes, key=lambda at: wrong.phase_sizes[at])
            if other is not phase:
                continue
            for term, size in grouped(wrong.totals, phase).items():
                if size != self.sizes[term]:
                    one = wrong_size(size, self.sizes[term], name, why)
                    yield from of_term(term, [one])
