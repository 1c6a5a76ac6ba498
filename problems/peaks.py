"""A step's peak: hints, solution and mistakes that the questions of topic D share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from engine.estimate import ledger
from engine.ledger import MODEL_STATES, OUTSIDE, Category, Ledger, Phase
from engine.recipe import OPTIMIZERS, PRECISIONS
from engine.scenario import Scenario
from problems.amounts import Moment, Paper
from problems.exact import PHASES_SAID, Totals, totals
from problems.model_states import SHARDS, STAGES
from problems.on_paper import has_ddp_buckets, on_paper
from problems.problem import Step
from problems.prompts import render
from problems.wording import all_of, bare_gb, gb, paper, recipe_said

# In the order of the ZeRO stages: stage z shards the first z + 1.
SHARDED = (
    Category.OPTIMIZER_STATE,
    Category.MASTER_WEIGHTS,
    Category.GRADIENTS,
    Category.WEIGHTS,
)
LINES_SHOWN = 5
OTHERS_SHOWN = 4

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

    @property
    def right(self) -> Wrong:
        """The ledger's own phases, in the form of the wrong ideas."""
        return Wrong(name="", totals=self.totals, why="")

    def prompt(self, template: str, **values: object) -> str:
        """Return the prompt of a template that describes the run."""
        recipe, parallel = self.scenario.recipe, self.scenario.parallel
        return render(
            template,
            x=self.scenario,
            recipe=recipe_said(recipe.precision, recipe.optimizer, fsdp=parallel.zero == 3),
            foreach=OPTIMIZERS[recipe.optimizer].at_once,
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

    def wrongs(self) -> Iterator[Wrong]:
        """Yield every wrong idea of the step that can be told from its number."""
        yield from self._forgotten()
        yield from self._other_moments()
        yield from self._other_settings()

    def _forgotten(self) -> Iterator[Wrong]:
        work = self.scenario.workload
        peak = self.ledger.peak_phase
        for name, category, what in FORGOTTEN:
            why = f"leaves out {what}, {{off}} of the peak."
            wrong = self._times(f"{name} forgotten", {category: 0}, why)
            # A person takes the sum at the peak without the term; one who compares all moments
            # may come to another one.
            yield replace(wrong, phases=(peak,), moves=frozenset({category}))
            yield replace(
                wrong,
                name=f"{name} forgotten, at another moment",
                why=f"leaves out {what}; without them the peak lies at another moment, {{off}} "
                "lower.",
            )
        yield self._narrow_logits()
        batch = (Category.ACTIVATIONS, Category.LOGITS)
        if work.gradient_accumulation > 1:
            yield self._times(
                "all accumulated micro-batches counted",
                dict.fromkeys(batch, work.gradient_accumulation),
                f"holds {all_of(work.gradient_accumulation)} micro-batches at once; one is gone "
                "before the next begins, so {off} are too many.",
            )
        ranks = self.scenario.parallel.data
        if ranks > 1:
            times = ranks * work.gradient_accumulation
            yield self._times(
                "the global batch counted",
                dict.fromkeys(batch, times),
                f"holds the {times * work.micro_batch:,} sequences of the global batch; a GPU "
                f"holds a micro-batch of {work.micro_batch:,}, so {{off}} are too many.",
            )

    def _narrow_logits(self) -> Wrong:
        """Return the idea that all of the loss is one 16-bit tensor of logits."""
        x = self.scenario
        one = 2 * x.workload.micro_batch * x.workload.sequence * x.architecture.vocab
        changed = {
            phase: {**rows, Category.LOGITS: min(rows.get(Category.LOGITS, 0), one)}
            for phase, rows in self.totals.items()
        }
        return Wrong(
            name="logits in 16 bits only",
            totals=changed,
            why="has one 16-bit tensor of logits; the loss makes copies in fp32 and their "
            "gradients, {off} more.",
            phases=(self.ledger.peak_phase,),
            moves=frozenset({Category.LOGITS}),
        )

    def _times(self, name: str, times: Mapping[Category, int | Fraction], why: str) -> Wrong:
        changed = {
            phase: {c: int(size * times.get(c, 1)) for c, size in rows.items()}
            for phase, rows in self.totals.items()
        }
        return Wrong(name=name, totals=changed, why=why)

    def _other_moments(self) -> Iterator[Wrong]:
        states = {
            phase: {c: size for c, size in rows.items() if c in MODEL_STATES}
            for phase, rows in self.totals.items()
        }
        yield Wrong(
            name="model states alone",
            totals=states,
            why="is the model states alone; what the step needs beside them is {off}.",
        )
        if self.ledger.peak_phase is Phase.STEP:
            rest = tuple(phase for phase in Phase if phase is not Phase.STEP)
            yield Wrong(
                name="optimizer's step overlooked",
                totals=self.totals,
                why="is the most before the optimizer steps; its own tensors add {off}.",
                phases=rest,
            )
        else:
            yield Wrong(
                name="optimizer's step taken for the peak",
                totals=self.totals,
                why="is the optimizer's step; activations are long gone by then, and the peak is "
                "{off} higher.",
                phases=(Phase.STEP,),
            )
        yield self._average()
        everything: dict[Category, int] = {}
        for rows in self.totals.values():
            for category, size in rows.items():
                everything[category] = max(everything.get(category, 0), size)
        yield Wrong(
            name="everything at once",
            totals={Phase.FORWARD: everything},
            why="adds everything that is ever alive; activations shrink while gradients grow, so "
            "{off} are too many.",
        )

    def _average(self) -> Wrong:
        sizes = self.right.phase_sizes.values()
        mean = sum(sizes) // len(sizes)
        return Wrong(
            name="average for peak",
            totals={Phase.FORWARD: {Category.TEMPORARY: mean}},
            why="is the mean over the moments of a step; the card has to hold the largest of "
            "them, {off} more.",
        )

    def _other_settings(self) -> Iterator[Wrong]:
        yield from self._other_attention()
        yield from self._other_shards()
        x = self.scenario
        if x.recipe.recompute == "full":
            bare = replace(x, recipe=replace(x.recipe, recompute="none"))
            yield self._by_paper(
                "recomputation forgotten",
                on_paper(bare),
                "saves every activation; with full recomputation {off} of it are gone.",
            )
        if PRECISIONS[x.recipe.precision].compute == 2:
            yield self._by_paper(
                "activations in 32 bits",
                self.paper.with_saved(2),
                "has activations in fp32; they are 16 bits wide, {off} less.",
            )

    def _other_attention(self) -> Iterator[Wrong]:
        """Yield scores where there are none, or none where they are kept."""
        x = self.scenario
        flash = x.recipe.attention == "flash"
        other = replace(x, recipe=replace(x.recipe, attention="eager" if flash else "flash"))
        name = "scores counted although fused" if flash else "scores forgotten"
        why = "has no b·a·s² scores; eager attention keeps them, {off} more."
        if flash:
            why = "counts b·a·s² scores; flash attention never keeps them, {off} less."
        yield self._by_paper(name, on_paper(other), why)

    def _other_shards(self) -> Iterator[Wrong]:
        """Yield states that are whole or shared against the stage, and activations shared."""
        ranks, stage = self.scenario.parallel.data, self.scenario.parallel.zero
        if ranks == 1:
            return
        peak = (self.ledger.peak_phase,)
        if stage:
            wrong = self._times(
                "nothing sharded",
                dict.fromkeys(SHARDED[: stage + 1], ranks),
                f"has the states whole on every GPU; ZeRO-{stage} {SHARDS[stage]}, {{off}} less.",
            )
            yield replace(wrong, phases=peak, moves=frozenset(SHARDED[: stage + 1]))
            wrong = self._times(
                "activations sharded by ZeRO",
                {Category.ACTIVATIONS: Fraction(1, ranks)},
                "divides the activations by the GPUs; ZeRO shares states, and each GPU has the "
                "activations of its own micro-batch, {off} more.",
            )
            yield replace(wrong, phases=peak, moves=frozenset({Category.ACTIVATIONS}))
        if stage < len(SHARDED) - 1:
            states = SHARDED[stage + 1 : stage + 2]
            if not stage:
                states = SHARDED[:2]
            named = " and ".join(str(state).replace("_", " ") for state in states)
            wrong = self._times(
                "sharded what is not sharded",
                dict.fromkeys(states, Fraction(1, ranks)),
                f"divides {named} by the GPUs; {STAGES[stage]} leaves them whole, {{off}} more.",
            )
            yield replace(wrong, phases=peak, moves=frozenset(states))

    def _by_paper(self, name: str, wrong: Paper, why: str) -> Wrong:
        """Return the ledger's peak changed by as much as the sums on paper change."""
        peak = self.ledger.peak + wrong.peak - self.paper.peak
        return Wrong(name=name, totals={Phase.FORWARD: {Category.TEMPORARY: peak}}, why=why)


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
