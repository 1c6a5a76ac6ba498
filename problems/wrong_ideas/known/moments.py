"""Another moment than that of the peak, or none: states alone, a mean, everything at once."""

from fractions import Fraction

from engine.ledger import ALL_PHASES, MODEL_STATES, Category, Phase
from problems.model_states import size_of
from problems.on_paper import parameters_of, run_parts
from problems.peaks import Run
from problems.wrong_ideas.idea import Idea
from problems.wrong_ideas.ways import of_size, right
from problems.wrong_ideas.wrong import Wrong


def _states_alone(run: Run) -> Wrong:
    """Return the line of the states, without gradients that ZeRO-2 has yet to reduce."""
    x = run.scenario
    made = tuple(part for part in run_parts(x) if part.name == "gradients")
    most = size_of(made, parameters_of(x.architecture), x.parallel.zero, x.parallel.data)
    states = {
        phase: {
            c: min(size, most) if c is Category.GRADIENTS else size
            for c, size in rows.items()
            if c in MODEL_STATES
        }
        for phase, rows in run.totals.items()
    }
    return Wrong(
        totals=states, why="is the model states alone; what the step needs beside them is {off}."
    )


def _step_overlooked(run: Run) -> Wrong | None:
    if run.ledger.peak_phase is not Phase.STEP:
        return None
    return Wrong(
        totals=run.totals,
        why="is the most before the optimizer steps; its own tensors add {off}.",
        phases=tuple(phase for phase in ALL_PHASES if phase is not Phase.STEP),
    )


def _step_for_peak(run: Run) -> Wrong | None:
    if run.ledger.peak_phase is Phase.STEP:
        return None
    return Wrong(
        totals=run.totals,
        why="is the optimizer's step; activations are long gone by then, and the peak is {off} "
        "higher.",
        phases=(Phase.STEP,),
    )


def _average(run: Run) -> Wrong:
    sizes = right(run).phase_sizes.values()
    return of_size(
        sum(sizes) // len(sizes),
        "is the mean over the moments of a step; the card has to hold the largest of them, {off} "
        "more.",
    )


def _at_once(run: Run) -> Wrong:
    everything: dict[Category, int] = {}
    for rows in run.totals.values():
        for category, size in rows.items():
            everything[category] = max(everything.get(category, 0), size)
    return Wrong(
        totals={Phase.FORWARD: everything},
        why="adds everything that is ever alive; activations shrink while gradients grow, so "
        "{off} are too many.",
    )


IDEAS = (
    Idea(
        name="model states alone",
        share=Fraction(0),
        says="What the step needs beside the model states is missing.",
        of=_states_alone,
        precedence=40,
        asked=("peak", "proposal"),  # states do not grow with the tokens
    ),
    Idea(
        name="optimizer's step overlooked",
        share=Fraction(1, 4),
        says="The peak is in the optimizer's step.",
        of=_step_overlooked,
        precedence=40,
    ),
    Idea(
        name="optimizer's step taken for the peak",
        share=Fraction(1, 4),
        says="Activations are gone when the optimizer steps; the peak was before.",
        of=_step_for_peak,
        rare=True,
        precedence=40,
        asked=("peak", "proposal"),  # nor does the optimizer's step
    ),
    Idea(
        name="average for peak",
        share=Fraction(1, 4),
        says="The mean over the step's moments; memory has to hold the largest.",
        of=_average,
        precedence=40,
    ),
    Idea(
        name="everything at once",
        share=Fraction(1, 4),
        says="All that is ever alive was added up; not all of it is alive together.",
        of=_at_once,
        rare=True,
        precedence=40,
        asked=("peak", "proposal"),
    ),
)
