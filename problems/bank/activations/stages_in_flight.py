"""Topic B, activations: what each stage of a pipeline keeps under 1F1B."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.estimate import ledger
from engine.scenario import Scenario
from engine.units import GB, MB
from problems import scenarios
from problems.answers.table import TableAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import saved
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.terms_asked import UNIT_SAID, last_step, of_term, size_term
from problems.wording import listed, number, paper
from problems.wrong_sizes import wrong_size

STAGES = {"junior": (2, 3, 4), "mid": (4, 8), "senior": (4, 8)}
MICRO_BATCHES = (8, 12, 16, 24, 32, 64)
SMALLEST, LARGEST = 5 * MB, 160 * GB


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Layers that are alike on the stages of a pipeline.

    Args:
        layers: of the whole model.
        many: stages.
        micro_batches: of one step.
        each: bytes that one layer keeps of one micro-batch.
    """

    layers: int
    many: int
    micro_batches: int
    each: int

    def layers_of(self, stage: int) -> int:
        """Layers of a stage; the first have one more where the stages do not divide them."""
        return self.layers // self.many + (stage < self.layers % self.many)

    def in_flight(self, stage: int) -> int:
        """Micro-batches whose activations a stage, counted from 0, holds at once."""
        return min(self.many - stage, self.micro_batches)

    def kept(self, stage: int) -> int:
        """Bytes that a stage keeps at its worst moment."""
        return self.in_flight(stage) * self.layers_of(stage) * self.each

    @property
    def answer(self) -> TableAnswer:
        """What each stage keeps, the first one first."""
        rows = tuple(
            size_term(name(stage), self.kept(stage), f"s{stage}", f"rank {stage}")
            for stage in range(self.many)
        )
        return TableAnswer(terms=rows, over="stages")


def name(stage: int) -> str:
    """Return what a stage is called."""
    return f"stage {stage}"


@kind_at_levels(
    name="stages-in-flight",
    topic="B",
    levels=("junior", "mid", "senior"),
    title="Activations on each stage of a pipeline",
    sources=(
        "arXiv 2104.04473 section 2.2",
        "arXiv 2205.05198 section 4.2.3",
        "deepspeedai/DeepSpeed#4477",
    ),
)
def stages_in_flight(draw: Draw, level: Level) -> Draft | None:
    """Ask for the activations that each stage keeps under 1F1B."""
    scenario = scenarios.one_gpu_step(draw, recomputes=("none", "none", "full"))
    layers, many = scenario.architecture.layers, draw.choice(STAGES[level])
    unit = scenario.tokens if level == "senior" else MB
    each = round(Fraction(saved(ledger(scenario)), layers * unit)) * unit
    few = level == "senior" and draw.chance(40)
    pipeline = Pipeline(
        layers=layers,
        many=many,
        micro_batches=draw.between(2, many - 1) if few else draw.choice(MICRO_BATCHES),
        each=each,
    )
    uneven = layers % many and level != "senior"
    if layers < 2 * many or uneven or each < SMALLEST or pipeline.kept(0) > LARGEST:
        return None
    return _Asked(scenario=scenario, pipeline=pipeline, by_token=level == "senior").draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    scenario: Scenario
    pipeline: Pipeline
    by_token: bool

    def draft(self) -> Draft:
        p, answer = self.pipeline, self.pipeline.answer
        flights = listed([str(p.in_flight(stage)) for stage in range(p.many)])
        return Draft(
            prompt=self._prompt(),
            answer=answer,
            hints=(
                "How many forward passes does a stage run before its first backward pass?",
                (
                    f"As many as there are stages from it to the last: stage i holds {p.many} - i "
                    "micro-batches, unless there are fewer."
                ),
                (
                    f"Micro-batches in flight, stage by stage: {flights}. Multiply by the layers "
                    f"of a stage and {paper(p.each)} a layer."
                ),
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
        )

    def _prompt(self) -> str:
        x, p = self.scenario, self.pipeline
        shape = f"of {x.workload.micro_batch} × {number(x.workload.sequence)} tokens"
        figure = f"A layer keeps {number(p.each // MB)} MB of one micro-batch {shape}"
        if self.by_token:
            each = number(p.each // x.tokens)
            figure = f"Of a micro-batch {shape} a layer keeps {each} bytes a token"
        uneven = ""
        if p.layers % p.many:
            more = p.layers % p.many
            which = "stage 0 has" if more == 1 else f"stages 0 to {more - 1} have"
            uneven = f" ({which} one layer more)"
        recompute = "; every layer is recomputed" if x.recipe.recompute == "full" else ""
        return (
            f"{x.model.title}: {p.layers} layers on a pipeline of p = {p.many} stages{uneven}, "
            f"{p.micro_batches} micro-batches a step, schedule 1F1B, not interleaved. {figure} "
            f"for the backward pass{recompute}. Stages are counted from 0; embedding, head and "
            "loss are not counted, nor what a layer needs while it runs.\n"
            f"How much do the layers of {listed([name(i) for i in range(p.many)])} keep at the "
            f"worst moment? {UNIT_SAID.format(2)}"
        )

    def _steps(self, answer: TableAnswer) -> Iterator[Step]:
        p = self.pipeline
        if self.by_token:
            tokens = self.scenario.tokens
            text = f"a layer: {number(p.each // tokens)} × {number(tokens)} = {paper(p.each)}"
            yield Step(text=text, depth="whiteboard")
        for stage in range(p.many):
            text = (
                f"{name(stage)}: {p.in_flight(stage)} in flight × {p.layers_of(stage)} layers × "
                f"{paper(p.each)} = {paper(p.kept(stage))}"
            )
            yield Step(text=text, depth="whiteboard")
        whole = paper(p.layers * p.each)
        yield Step(
            text=f"Without a pipeline one micro-batch through all {p.layers} layers keeps {whole}"
        )
        yield last_step(answer, "Nothing is left of the difference but rounding")

    def _mistakes(self) -> Iterator[Mistake]:
        p = self.pipeline
        for stage in range(p.many):
            yield from of_term(name(stage), self._of_stage(stage))

    def _of_stage(self, stage: int) -> Iterator[Mistake]:
        p, right = self.pipeline, self.pipeline.kept(stage)
        one, held = p.layers_of(stage) * p.each, p.in_flight(stage)
        why = f"is one micro-batch; {name(stage)} holds {held}, {{off}} more."
        yield wrong_size(one, right, "one micro-batch in flight", why)
        why = (
            f"holds all {p.micro_batches} micro-batches; under 1F1B a backward pass frees each "
            "in time, {off} less."
        )
        yield wrong_size(p.micro_batches * one, right, "all micro-batches in flight", why)
        if p.many != held:
            why = f"holds p = {p.many} micro-batches; {name(stage)} has {held}, {{off}} less."
            yield wrong_size(p.many * one, right, "as many as stages everywhere", why)
        turned = min(stage + 1, p.micro_batches)
        if turned != held:
            why = "counts the stages before it; those behind it decide, {off} off."
            yield wrong_size(turned * one, right, "stages before it counted", why)
        why = f"has all {p.layers} layers; a stage has {p.layers_of(stage)}, {{off}} less."
        yield wrong_size(held * p.layers * p.each, right, "all layers counted", why)
