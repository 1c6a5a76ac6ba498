"""Topic A, model states: what they take, as a formula."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel
from problems import scenarios
from problems.answers.symbolic import SymbolicAnswer, WrongFormula, telling, wrong
from problems.draft import Draft
from problems.draw import Draw
from problems.formula import Formula, letter
from problems.kind import kind_at_levels
from problems.lettered import letters_said, some
from problems.model_states import (
    SHARDS,
    STAGES,
    Part,
    changes,
    each_of,
    parts_of,
    size_of,
    sum_said,
)
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import bytes_of, gb, listed, number, recipe_said

STAGES_AT = {"junior": (0, 3, 3), "mid": (1, 2)}
P, N = letter("P"), letter("N")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model under a recipe on the GPUs of a ZeRO stage."""

    model: CatalogModel
    recipe: tuple[str, str]
    gpu: Accelerator
    stage: int
    ranks: int

    @property
    def parts(self) -> tuple[Part, ...]:
        """The states, FSDP2's under ZeRO-3."""
        return parts_of(*self.recipe, fsdp=self.stage == 3)


@kind_at_levels(
    name="states-formula",
    topic="A",
    levels=("junior", "mid"),
    title="Model states as a formula",
    sources=(
        "arXiv 1910.02054 section 5",
        "NVIDIA/Megatron-LM docs, distributed optimizer",
    ),
)
def states_formula(draw: Draw, level: Level) -> Draft:
    """Ask for the model states of a GPU in the letters P and N."""
    model, stage = scenarios.any_model(draw), draw.choice(STAGES_AT[level])
    recipe, ranks = scenarios.states_recipe(draw, zero=stage), scenarios.ranks_for(draw, model)
    case = Case(
        model=model,
        recipe=recipe,
        gpu=scenarios.gpu_for(draw, ranks, precision=recipe[0]),
        stage=stage,
        ranks=ranks,
    )
    letters, right = some("PN"), held(case.parts, stage)
    return Draft(
        prompt=render(
            "states-formula",
            case=case,
            stage=STAGES[stage],
            recipe=recipe_said(*recipe, fsdp=stage == 3),
            letters=letters_said(letters),
        ),
        answer=SymbolicAnswer(
            formula=right,
            letters=letters,
            mistakes=telling(right, _mistakes(case)),
        ),
        hints=_hints(case),
        solution=tuple(_steps(case, right)),
        mistakes=(),
    )


def held(parts: Sequence[Part], stage: int) -> Formula:
    """Return the bytes of a GPU: what the stage shards over N, and the rest whole."""
    whole = sum(part.each for part in parts if part.stage > stage)
    split = sum(part.each for part in parts if part.stage <= stage)
    return whole * P + split * P / N


def _hints(case: Case) -> tuple[str, str, str]:
    names = listed([part.name for part in case.parts])
    return (
        "Each state has one entry for each parameter. Which of them does a GPU hold whole?",
        f"The states are {names}; {STAGES[case.stage]} {SHARDS[case.stage]}.",
        (
            f"Their bytes a parameter are {sum_said(case.parts)}, in that order. What is sharded "
            "is divided by N, what is whole is not."
        ),
    )


def _steps(case: Case, right: Formula) -> Iterator[Step]:
    for part in case.parts:
        sharded = part.stage <= case.stage
        own = part.each * P / N if sharded else part.each * P
        how = "sharded" if sharded else "whole on every GPU"
        yield Step(
            text=f"{part.name}, {bytes_of(part.each)} a parameter, {how}: {own.said}",
            depth="whiteboard",
        )
    size = size_of(case.parts, case.model.parameters, case.stage, case.ranks)
    yield Step(
        text=f"with {number(case.model.parameters)} parameters on {number(case.ranks)} GPUs that "
        f"is {gb(size)} each"
    )
    yield Step(text=f"together: {right.said}")


def _mistakes(case: Case) -> Iterator[WrongFormula]:
    parts = case.parts
    total = each_of(parts)
    for stage, name in ((0, "not shared"), (1, "ZeRO-1 instead"), (2, "ZeRO-2 instead")):
        says = f"is {STAGES[stage]}, which {SHARDS[stage]}."
        yield wrong(name, held(parts_of(*case.recipe), stage), says)
    says = f"shards all {bytes_of(total)} a parameter, as ZeRO-3 does."
    yield wrong("ZeRO-3 (FSDP2) instead", total * P / N, says)
    for change in changes(parts, case.recipe[0]):
        off = bytes_of(abs(each_of(change.parts) - total))
        says = change.why.format(missing=f"{off} a parameter")
        yield wrong(change.name, held(change.parts, case.stage), says)
    yield wrong(
        "elements taken for bytes",
        _counted(parts, case.stage),
        "counts elements; each takes 2 or 4 bytes.",
    )


def _counted(parts: Sequence[Part], stage: int) -> Formula:
    """Return the tensors of a GPU, each counted once: two moments are two."""
    one = [
        Part(name=part.name, each=2 if part.name == "moments" else 1, stage=part.stage)
        for part in parts
    ]
    return held(one, stage)
