"""Wrong ideas of a step: what the ledger's phases would come to if each were right."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from engine.ledger import MODEL_STATES, Category, Phase
from engine.precisions import PRECISIONS
from problems.amounts import Paper
from problems.exact import Totals
from problems.model_states import SHARDS, STAGES
from problems.on_paper import on_paper
from problems.peaks import Run
from problems.wording import all_of

# In the order of the ZeRO stages: stage z shards the first z + 1.
SHARDED = (
    Category.OPTIMIZER_STATE,
    Category.MASTER_WEIGHTS,
    Category.GRADIENTS,
    Category.WEIGHTS,
)

FP32, HALF = 4, Fraction(1, 2)

FORGOTTEN = (
    ("logits and loss", Category.LOGITS, "logits and loss"),
    ("saved activations", Category.ACTIVATIONS, "the activations that the layers save"),
    ("optimizer states", Category.OPTIMIZER_STATE, "the optimizer's states"),
    ("master copy", Category.MASTER_WEIGHTS, "the fp32 master copy"),
    ("gradients", Category.GRADIENTS, "the gradients"),
    ("weights", Category.WEIGHTS, "the weights"),
    (
        "temporaries",
        Category.TEMPORARY,
        "what is alive for a moment only: a layer's working set, the optimizer's own tensors",
    ),
    ("exchange", Category.COMMUNICATION, "what ranks exchange through: buckets, gathered layers"),
)


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A wrong idea of the step: the allocated bytes by phase and category that it leads to.

    `why` follows the wrong number and has a place for {off}, the size of the error. `moves` are
    the categories that it changes where the peak stays at its moment.
    """

    name: str
    totals: Totals
    why: str
    phases: tuple[Phase, ...] = tuple(Phase)
    moves: frozenset[Category] = frozenset()

    @cached_property
    def phase_sizes(self) -> dict[Phase, int]:
        """Allocated bytes of the phases that it looks at."""
        return {
            phase: sum(rows.values())
            for phase, rows in self.totals.items()
            if phase in self.phases
        }

    @property
    def peak(self) -> int:
        """The peak that it leads to."""
        return max(self.phase_sizes.values())


def right(run: Run) -> Wrong:
    """Return the ledger's own phases, in the form of the wrong ideas."""
    return Wrong(name="", totals=run.totals, why="")


def wrongs(run: Run) -> Iterator[Wrong]:
    """Yield every wrong idea of the step that can be told from its number."""
    yield from _forgotten(run)
    yield from _other_moments(run)
    yield from _other_settings(run)


def seen_from_outside(run: Run) -> Wrong:
    """Return the idea that what nvidia-smi shows is what tensors take."""
    shown = run.ledger.nvidia_smi[1]
    return Wrong(
        name="nvidia-smi for allocated",
        totals={Phase.FORWARD: {Category.TEMPORARY: shown}},
        why="is about what nvidia-smi would show; {off} of it is the allocator's slack and the "
        "CUDA context, and no tensor.",
    )


def _forgotten(run: Run) -> Iterator[Wrong]:
    work = run.scenario.workload
    for name, category, what in FORGOTTEN:
        why = f"leaves out {what}, {{off}} of the peak."
        # A person takes the sum at the peak without the term; one who compares all moments
        # may come to another one.
        yield _at_peak(run, f"{name} forgotten", {category: Fraction(0)}, why)
        yield _times(
            run,
            f"{name} forgotten, at another moment",
            {category: 0},
            f"leaves out {what}; without them the peak lies at another moment, {{off}} lower.",
        )
    yield _narrow_logits(run)
    yield from _narrow_states(run)
    batch = (Category.ACTIVATIONS, Category.LOGITS)
    if work.gradient_accumulation > 1:
        yield _times(
            run,
            "all accumulated micro-batches counted",
            dict.fromkeys(batch, work.gradient_accumulation),
            f"holds {all_of(work.gradient_accumulation)} micro-batches at once; one is gone "
            "before the next begins, so {off} are too many.",
        )
    ranks = run.scenario.parallel.data
    if ranks > 1:
        times = ranks * work.gradient_accumulation
        yield _times(
            run,
            "the global batch counted",
            dict.fromkeys(batch, times),
            f"holds the {times * work.micro_batch:,} sequences of the global batch; a GPU "
            f"holds a micro-batch of {work.micro_batch:,}, so {{off}} are too many.",
        )


def _narrow_states(run: Run) -> Iterator[Wrong]:
    """Yield AdamW with one moment, and all states in 16 bits where the optimizer's are wider."""
    x = run.scenario
    width = PRECISIONS[x.recipe.precision]
    if x.recipe.optimizer != "adamw" or width.stepped != FP32:
        return
    wide = {Category.OPTIMIZER_STATE: HALF}
    yield _at_peak(
        run, "one moment forgotten", wide, "has one moment; AdamW keeps two, {off} more."
    )
    wide |= {Category.WEIGHTS: HALF} if width.weights == FP32 else {}
    wide |= {Category.GRADIENTS: HALF} if width.gradients == FP32 else {}
    yield _at_peak(
        run,
        "everything in 16 bits",
        {**wide, Category.MASTER_WEIGHTS: Fraction(0)},
        "has every state in 16 bits; the optimizer's are fp32, and so is what it steps, "
        "{off} more.",
    )


def _at_peak(run: Run, name: str, times: Mapping[Category, Fraction], why: str) -> Wrong:
    """Return the sum at the peak with some of its terms changed."""
    return replace(
        _times(run, name, times, why), phases=(run.ledger.peak_phase,), moves=frozenset(times)
    )


def _narrow_logits(run: Run) -> Wrong:
    """Return the idea that all of the loss is one 16-bit tensor of logits."""
    x = run.scenario
    one = 2 * x.workload.micro_batch * x.workload.sequence * x.architecture.vocab
    changed = {
        phase: {**rows, Category.LOGITS: min(rows.get(Category.LOGITS, 0), one)}
        for phase, rows in run.totals.items()
    }
    return Wrong(
        name="logits in 16 bits only",
        totals=changed,
        why="has one 16-bit tensor of logits; the loss makes copies in fp32 and their "
        "gradients, {off} more.",
        phases=(run.ledger.peak_phase,),
        moves=frozenset({Category.LOGITS}),
    )


def _times(
    run: Run, name: str, times: Mapping[Category, int] | Mapping[Category, Fraction], why: str
) -> Wrong:
    changed = {
        phase: {c: int(size * times.get(c, 1)) for c, size in rows.items()}
        for phase, rows in run.totals.items()
    }
    return Wrong(name=name, totals=changed, why=why)


def _other_moments(run: Run) -> Iterator[Wrong]:
    states = {
        phase: {c: size for c, size in rows.items() if c in MODEL_STATES}
        for phase, rows in run.totals.items()
    }
    yield Wrong(
        name="model states alone",
        totals=states,
        why="is the model states alone; what the step needs beside them is {off}.",
    )
    if run.ledger.peak_phase is Phase.STEP:
        rest = tuple(phase for phase in Phase if phase is not Phase.STEP)
        yield Wrong(
            name="optimizer's step overlooked",
            totals=run.totals,
            why="is the most before the optimizer steps; its own tensors add {off}.",
            phases=rest,
        )
    else:
        yield Wrong(
            name="optimizer's step taken for the peak",
            totals=run.totals,
            why="is the optimizer's step; activations are long gone by then, and the peak is "
            "{off} higher.",
            phases=(Phase.STEP,),
        )
    yield _average(run)
    everything: dict[Category, int] = {}
    for rows in run.totals.values():
        for category, size in rows.items():
            everything[category] = max(everything.get(category, 0), size)
    yield Wrong(
        name="everything at once",
        totals={Phase.FORWARD: everything},
        why="adds everything that is ever alive; activations shrink while gradients grow, so "
        "{off} are too many.",
    )


def _average(run: Run) -> Wrong:
    sizes = right(run).phase_sizes.values()
    mean = sum(sizes) // len(sizes)
    return Wrong(
        name="average for peak",
        totals={Phase.FORWARD: {Category.TEMPORARY: mean}},
        why="is the mean over the moments of a step; the card has to hold the largest of "
        "them, {off} more.",
    )


def _other_settings(run: Run) -> Iterator[Wrong]:
    yield from _other_attention(run)
    yield from _other_shards(run)
    x = run.scenario
    if x.recipe.recompute == "full":
        bare = replace(x, recipe=replace(x.recipe, recompute="none"))
        yield _by_paper(
            run,
            "recomputation forgotten",
            on_paper(bare),
            "saves every activation; with full recomputation {off} of it are gone.",
        )
    if PRECISIONS[x.recipe.precision].compute == 2:
        yield _by_paper(
            run,
            "activations in 32 bits",
            run.paper.with_saved(2),
            "has activations in fp32; they are 16 bits wide, {off} less.",
        )


def _other_attention(run: Run) -> Iterator[Wrong]:
    """Yield scores where there are none, or none where they are kept."""
    x = run.scenario
    flash = x.recipe.attention == "flash"
    other = replace(x, recipe=replace(x.recipe, attention="eager" if flash else "flash"))
    name = "scores counted although fused" if flash else "scores forgotten"
    why = "has no b·a·s² scores; eager attention keeps them, {off} more."
    if flash:
        why = "counts b·a·s² scores; flash attention never keeps them, {off} less."
    yield _by_paper(run, name, on_paper(other), why)


def _other_shards(run: Run) -> Iterator[Wrong]:
    """Yield states that are whole or shared against the stage, and activations shared."""
    ranks, stage = run.scenario.parallel.data, run.scenario.parallel.zero
    if ranks == 1:
        return
    if stage:
        yield _at_peak(
            run,
            "nothing sharded",
            dict.fromkeys(SHARDED[: stage + 1], Fraction(ranks)),
            f"has the states whole on every GPU; ZeRO-{stage} {SHARDS[stage]}, {{off}} less.",
        )
        yield _at_peak(
            run,
            "activations sharded by ZeRO",
            {Category.ACTIVATIONS: Fraction(1, ranks)},
            "divides the activations by the GPUs; ZeRO shares states, and each GPU has the "
            "activations of its own micro-batch, {off} more.",
        )
    if stage < len(SHARDED) - 1:
        states = SHARDED[stage + 1 : stage + 2]
        if not stage:
            states = SHARDED[:2]
        named = " and ".join(str(state).replace("_", " ") for state in states)
        yield _at_peak(
            run,
            "sharded what is not sharded",
            dict.fromkeys(states, Fraction(1, ranks)),
            f"divides {named} by the GPUs; {STAGES[stage]} leaves them whole, {{off}} more.",
        )


def _by_paper(run: Run, name: str, wrong: Paper, why: str) -> Wrong:
    """Return the ledger's peak changed by as much as the sums on paper change."""
    peak = run.ledger.peak + wrong.peak - run.paper.peak
    return Wrong(name=name, totals={Phase.FORWARD: {Category.TEMPORARY: peak}}, why=why)
