"""Topic A, model states: totals on one GPU, and under ZeRO stages."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel
from problems import scenarios
from problems.amounts import MOST_DIGITS
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import (
    SHARDS,
    STAGES,
    Part,
    changes,
    each_of,
    parts_of,
    size_of,
    sum_said,
    total_said,
)
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import unit_slips
from problems.wording import (
    PAPER_DIGITS,
    billions,
    bytes_of,
    gb,
    listed,
    number,
    paper,
    recipe_said,
    rest_of_rounding,
    rounded,
    short,
)


@kind_at_levels(
    name="model-states",
    topic="A",
    levels=("junior", "mid"),
    title="Model states of a published model, nothing sharded",
    sources=(
        "arXiv 1910.02054 section 3.1",
        "lm-sys/FastChat#1110",
    ),
)
def model_states(draw: Draw, level: Level) -> Draft | None:
    """Ask for the model states of a published model, counted as if one GPU held them.

    At junior level the prompt says what each of them takes.
    """
    case, batch = draw.unlike(
        lambda: (_case(draw, stage=0, ranks=1), draw.choice(scenarios.MICRO_BATCHES)),
        lambda figures: (figures[0].model.name, figures[0].recipe, figures[1]),
    )
    given = listed([f"{part.name} {part.each}" for part in case.parts])
    return whole(case, batch=batch, given=given if level == "junior" else "")


def whole(case: "Case", *, batch: int, given: str = "") -> Draft:
    """Return the question for all model states, as if one GPU held them.

    Args:
        case: the model and its recipe.
        batch: a micro-batch, on which they do not depend.
        given: what the parts take, where the prompt says it.
    """
    prompt = render(
        "model-states", case=case, recipe=recipe_said(*case.recipe), batch=batch, given=given
    )
    hints = (
        (
            "Model states have one entry for each parameter and stay from step to step: which "
            "are they?"
        ),
        (
            f"In bytes per parameter they are {sum_said(case.parts)} "
            f"({listed([part.name for part in case.parts])})."
        ),
        (
            f"Multiply that sum by {billions(rounded(case.parameters))} billion parameters; a "
            "billion bytes is one GB."
        ),
    )
    return case.draft(prompt, hints, (*case.other_models(), *case.other_states()))


@kind_at_levels(
    name="zero-states",
    topic="A",
    levels=("junior", "mid", "senior"),
    title="Model states per GPU under a ZeRO stage",
    sources=(
        "arXiv 1910.02054 figure 1",
        "pytorch/torchtitan docs/fsdp.md",
    ),
)
def zero_states(draw: Draw, level: Level) -> Draft | None:
    """Ask for the model states on each GPU under plain data parallel or a ZeRO stage.

    At junior level all of them are whole or all are shared, at senior level some are in other
    widths than usual.
    """
    stage = draw.weighted(((0, 1), (1, 4), (2, 5), (3, 5)))
    case = _case(draw, stage=stage, ranks=0)
    if case.size > case.gpu.memory or not _is_for(level, case):
        return None
    return on_each_gpu(case)


def on_each_gpu(case: "Case") -> Draft:
    """Return the question for the model states on each of the GPUs of a case."""
    stage = case.stage
    prompt = render(
        "zero-states",
        case=case,
        stage=STAGES[stage],
        recipe=recipe_said(*case.recipe, fsdp=stage == 3),
    )
    whole = tuple(part for part in case.parts if part.stage > stage)
    split = tuple(part for part in case.parts if part.stage <= stage)
    hints = (
        f"Which of {listed([part.name for part in case.parts])} does {STAGES[stage]} shard?",
        (
            f"{STAGES[stage]} {SHARDS[stage]}: whole {bytes_of(each_of(whole))} a parameter, "
            f"sharded {short(each_of(split))}."
        ),
        (
            f"Multiply ({sum_said(case.parts, stage, case.ranks)}) bytes by "
            f"{billions(rounded(case.parameters))} billion."
        ),
    )
    return case.draft(prompt, hints, (*case.other_stages(), *case.other_states()))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model under a recipe on `ranks` GPUs of a kind under a ZeRO stage."""

    model: CatalogModel
    recipe: tuple[str, str]
    gpu: Accelerator
    stage: int
    ranks: int

    @property
    def parameters(self) -> int:
        """Parameters of the model."""
        return self.model.parameters

    @property
    def parts(self) -> tuple[Part, ...]:
        """The states; those of ZeRO-3 are FSDP2's, whose sum is that of the ZeRO paper."""
        return parts_of(*self.recipe, fsdp=self.stage == 3)

    @property
    def size(self) -> int:
        """Bytes on one GPU."""
        return size_of(self.parts, self.parameters, self.stage, self.ranks)

    def draft(
        self, prompt: str, hints: tuple[str, str, str], mistakes: tuple[Mistake, ...]
    ) -> Draft:
        """Return the draft that asks for `size`."""
        return Draft(
            prompt=prompt,
            answer=QuantityAnswer(value=Fraction(self.size), symbols={"P": self.parameters}),
            hints=hints,
            solution=tuple(self.solution()),
            mistakes=(*mistakes, *unit_slips(self.size)),
            scenario=scenarios.of_states(
                self.model, self.recipe, self.gpu, self.stage, self.ranks
            ),
        )

    def solution(self) -> Iterator[Step]:
        """Yield the sum on paper, the parts, and what rounding made of it."""
        each = each_of(self.parts, self.stage, self.ranks)
        on_paper = rounded(self.parameters)
        yield Step(
            text=f"{total_said(self.parts, self.stage, self.ranks)} a parameter",
            depth="whiteboard",
        )
        yield Step(
            text=f"{billions(on_paper)} billion × {_factor(on_paper, each)} = "
            f"{paper(on_paper * each, digits=PAPER_DIGITS + 1)}",
            depth="whiteboard",
        )
        for part in sorted(self.parts, key=self._bytes_of, reverse=True):
            yield Step(text=self._line(part))
        yield Step(
            text=f"{rest_of_rounding(self.parameters, [(on_paper * each, self.size)])}: "
            f"exactly {gb(self.size)}"
        )

    def _bytes_of(self, part: Part) -> int:
        return size_of((part,), self.parameters, self.stage, self.ranks)

    def _line(self, part: Part) -> str:
        each = sum_said((part,), self.stage, self.ranks)
        where = ""
        if self.ranks > 1:
            where = ", one part of each rank" if part.stage <= self.stage else ", whole everywhere"
        return (
            f"{part.name}: {each} × {number(self.parameters)} = {gb(self._bytes_of(part))}{where}"
        )

    def other_states(self) -> Iterator[Mistake]:
        """Yield what comes of a part left out or in another width."""
        for change in changes(self.parts, self.recipe[0]):
            value = size_of(change.parts, self.parameters, self.stage, self.ranks)
            yield Mistake(
                name=change.name,
                value=Fraction(value),
                feedback=f"{gb(value)} {change.why.format(missing=gb(abs(value - self.size)))}",
                moves=change.moves(self.parts),
            )

    def other_models(self) -> Iterator[Mistake]:
        """Yield what comes of counting only the experts that one token meets."""
        active = self.model.architecture.active_parameters
        value = size_of(self.parts, active, self.stage, self.ranks)
        yield Mistake(
            name="active parameters only",
            value=Fraction(value),
            feedback=f"{gb(value)} counts the {number(active)} parameters that one token meets. "
            f"Every expert has its states: {gb(self.size - value)} more.",
        )

    def other_stages(self) -> Iterator[Mistake]:
        """Yield what another ZeRO stage would take."""
        right = each_of(self.parts, self.stage, self.ranks)
        for stage in (1, 2, 3, 0):
            parts = parts_of(*self.recipe, fsdp=stage == 3)
            value = size_of(parts, self.parameters, stage, self.ranks)
            each = each_of(parts, stage, self.ranks)
            said = "more" if value < self.size else "less"
            yield Mistake(
                name=f"{STAGES[stage]} instead" if stage else "nothing sharded",
                value=Fraction(value),
                feedback=f"{gb(value)} is {bytes_of(each)} a parameter, which is "
                f"{STAGES[stage]}: it {SHARDS[stage]}. {STAGES[self.stage]} "
                f"{SHARDS[self.stage]}: {bytes_of(right)}, {gb(abs(value - self.size))} "
                f"{said}.",
            )


def _is_for(level: Level, case: Case) -> bool:
    """Return whether a question on ZeRO is one for a level."""
    if level == "junior":
        return case.stage in {0, 3}
    return case.stage > 0 and (level == "mid" or (case.stage < 3 and case.recipe[0] != "mixed"))


def _case(draw: Draw, *, stage: int, ranks: int) -> Case:
    model = scenarios.any_model(draw)
    ranks = ranks or scenarios.ranks_for(draw, model)
    recipe = scenarios.states_recipe(draw, zero=stage)
    return Case(
        model=model,
        recipe=recipe,
        gpu=scenarios.gpu_for(draw, ranks, precision=recipe[0]),
        stage=stage,
        ranks=ranks,
    )


def _factor(parameters: int, each: Fraction) -> str:
    """Return bytes a parameter with as many digits as their product on paper needs."""
    size = paper(parameters * each, digits=PAPER_DIGITS + 1)
    said = (f"{float(each):.{digits}g}" for digits in range(PAPER_DIGITS + 1, MOST_DIGITS))
    whole = f"{float(each):.{MOST_DIGITS}g}"
    same = (
        one for one in said if paper(parameters * Fraction(one), digits=PAPER_DIGITS + 1) == size
    )
    return next(same, whole)
