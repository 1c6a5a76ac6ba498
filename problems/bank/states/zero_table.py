"""Topic A, model states: what a GPU holds under plain data parallel and each ZeRO stage."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel
from problems import scenarios
from problems.answers.table import TableAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import (
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
from problems.terms_asked import UNIT_SAID, last_step, of_term, size_term
from problems.wording import (
    billions,
    bytes_of,
    card,
    number,
    paper,
    recipe_said,
    rest_of_rounding,
    rounded,
    sentence,
)
from problems.wrong_sizes import wrong_size

ROWS = {
    0: ("DDP", ("plain DDP", "data parallel", "ZeRO-0", "stage 0", "z0")),
    1: ("ZeRO-1", ("stage 1", "z1")),
    2: ("ZeRO-2", ("stage 2", "z2")),
    3: ("ZeRO-3", ("stage 3", "z3", "FSDP")),
}
RANKS = (4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)


def zero_answer(parts: tuple[Part, ...], parameters: int, ranks: int) -> TableAnswer:
    """Return the bytes on a GPU under each stage."""
    rows = tuple(
        size_term(name, size_of(parts, parameters, stage, ranks), *aliases,
                  symbols={"P": parameters})
        for stage, (name, aliases) in ROWS.items()
    )  # fmt: skip
    return TableAnswer(terms=rows, over="stages")


@kind_at_levels(
    name="zero-table",
    topic="A",
    levels=("mid", "senior"),
    title="Model states per GPU under DDP and each ZeRO stage",
    sources=(
        "arXiv 1910.02054 figure 1",
        "deepspeedai/DeepSpeed#3734",
        "lm-sys/FastChat#1110",
    ),
)
def zero_table(draw: Draw, level: Level) -> Draft | None:
    """Ask for the model states on a GPU under all four."""
    model = scenarios.any_model(draw)
    ranks = draw.choice(RANKS)
    recipe = (
        draw.weighted((("mixed", 3), ("mixed-fp32-grad", 1), ("fp32", 1))),
        draw.choice(("adamw", "adamw-fused")),
    )
    if level == "senior":
        recipe = scenarios.states_recipe(draw)
    if len(parts_of(*recipe)) < 3:
        return None
    gpu = scenarios.gpu_for(draw, ranks, precision=recipe[0])
    return _Asked(model=model, ranks=ranks, gpu=gpu, recipe=recipe).draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    model: CatalogModel
    ranks: int
    gpu: Accelerator
    recipe: tuple[str, str]

    @property
    def parameters(self) -> int:
        return self.model.parameters

    @property
    def parts(self) -> tuple[Part, ...]:
        return parts_of(*self.recipe)

    def size(self, stage: int, parts: tuple[Part, ...] | None = None) -> int:
        return size_of(parts or self.parts, self.parameters, stage, self.ranks)

    def draft(self) -> Draft:
        answer = zero_answer(self.parts, self.parameters, self.ranks)
        return Draft(
            prompt=(
                f"{self.model.title} (P = {number(self.parameters)} parameters) on "
                f"{number(self.ranks)} × {card(self.gpu)}, data-parallel. "
                f"{sentence(recipe_said(*self.recipe))}. Each stage shards evenly, ZeRO-3 all of "
                "these states.\n"
                "How much do the model states take on each GPU under DDP, ZeRO-1, ZeRO-2 and "
                f"ZeRO-3? {UNIT_SAID.format(2)}"
            ),
            answer=answer,
            hints=(
                "DDP shards nothing. Each stage shards what the one before does, and a part more.",
                (
                    f"In bytes a parameter the states are {sum_said(self.parts)}. ZeRO-1 shards "
                    "what the optimizer holds, ZeRO-2 the gradients too, ZeRO-3 the weights too."
                ),
                (
                    "So, in bytes a parameter: "
                    f"{', '.join(sum_said(self.parts, s, self.ranks) for s in (1, 2, 3))} from "
                    f"ZeRO-1 on; times {billions(rounded(self.parameters))} billion."
                ),
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
        )

    def _steps(self, answer: TableAnswer) -> Iterator[Step]:
        on_paper = rounded(self.parameters)
        for stage, (name, _) in ROWS.items():
            size = size_of(self.parts, on_paper, stage, self.ranks)
            each = total_said(self.parts, stage, self.ranks)
            text = f"{name}: {each} × {billions(on_paper)} billion = {paper(size)}"
            yield Step(text=text, depth="whiteboard")
        yield last_step(
            answer,
            rest_of_rounding(
                self.parameters,
                (
                    (size_of(self.parts, on_paper, stage, self.ranks), self.size(stage))
                    for stage in ROWS
                ),
            ),
        )

    def _mistakes(self) -> Iterator[Mistake]:
        for stage, (name, _) in ROWS.items():
            yield from of_term(name, self._of_row(stage))

    def _of_row(self, stage: int) -> Iterator[Mistake]:
        right = self.size(stage)
        for other in (1, 2, 3, 0):
            called = f"{STAGES[other]} instead" if other else "nothing sharded"
            each = bytes_of(each_of(self.parts, other, self.ranks))
            if other != stage:
                why = f"is {each} a parameter, which is {STAGES[other]}, {{off}} off."
                yield wrong_size(self.size(other), right, called, why)
        for change in changes(self.parts, self.recipe[0]):
            why = change.why.replace("{missing}", "{off}")
            yield wrong_size(self.size(stage, change.parts), right, change.name, why)
