"""Topic A, model states: each of them apart, and their sum."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel
from engine.scenario import Scenario
from problems import scenarios
from problems.answers.ledger import LedgerAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import SHARDS, STAGES, Part, parts_of, size_of, sum_said, total_said
from problems.problem import Level, Mistake, Step
from problems.terms_asked import (
    ALIASES,
    UNIT_SAID,
    last_step,
    of_term,
    part_mistakes,
    size_term,
    total_term,
)
from problems.wording import (
    billions,
    card,
    listed,
    number,
    paper,
    recipe_said,
    rest_of_rounding,
    rounded,
    sentence,
)
from problems.wrong_sizes import wrong_size

EIGHT_BIT = (
    Part(name="weights", each=2, stage=3),
    Part(name="gradients", each=2, stage=2),
    Part(name="master copy", each=4, stage=1),
    Part(name="8-bit moments", each=2, stage=1),
)
TWO_GRADIENTS = (
    Part(name="weights", each=2, stage=3),
    Part(name="16-bit gradients", each=2, stage=2),
    Part(name="fp32 gradients", each=4, stage=2),
    Part(name="master copy", each=4, stage=1),
    Part(name="moments", each=8, stage=1),
)
MORE_ALIASES = {
    "8-bit moments": ("moments", "adam", "optimizer states", "optimizer"),
    "16-bit gradients": ("bf16 gradients", "gradients", "grads"),
    "fp32 gradients": ("main gradients", "fp32 grads", "accumulated gradients"),
}
FP32_MOMENTS = "has two fp32 moments, 8 bytes; here each has one byte, {off} less."
ONE_MOMENT = "has one moment; AdamW keeps two, {off} more."
WIDE = "mixed-fp32-grad"
SENIOR = {
    "8-bit": (
        EIGHT_BIT,
        (
            "8-bit AdamW: bf16 weights and gradients, an fp32 master copy, and two moments of one "
            "byte each (the scales of their blocks not counted)"
        ),
    ),
    "two gradients": (
        TWO_GRADIENTS,
        (
            "AdamW, mixed precision: bf16 weights, a bf16 gradient from the backward pass that is "
            "added into an fp32 gradient of its own, both kept; fp32 master copy and moments"
        ),
    ),
}


def states_answer(
    parts: tuple[Part, ...], parameters: int, stage: int = 0, ranks: int = 1
) -> LedgerAnswer:
    """Return the bytes of each part on one of `ranks` GPUs, and of all."""
    terms = [
        size_term(
            part.name,
            size_of((part,), parameters, stage, ranks),
            *MORE_ALIASES.get(part.name, ()),
            symbols={"P": parameters},
        )
        for part in parts
    ]
    return LedgerAnswer(terms=(*terms, total_term(terms)))


@kind_at_levels(
    name="states-ledger",
    topic="A",
    levels=("junior", "mid", "senior"),
    title="Each of the model states and their sum",
    sources=(
        "arXiv 1910.02054 section 3.1",
        "NVIDIA/Megatron-LM#654",
        "AI-Hypercomputer/maxtext#606",
        "bitsandbytes-foundation/bitsandbytes#407",
    ),
)
def states_ledger(draw: Draw, level: Level) -> Draft | None:
    """Ask for weights, gradients, master copy and moments apart, and together."""
    model = scenarios.any_model(draw)
    ranks = 1 if level == "junior" else scenarios.ranks_for(draw, model)
    stage = 0 if level == "junior" else draw.choice((1, 2, 3) if level == "mid" else (1, 2))
    recipe = scenarios.states_recipe(draw, zero=stage)
    if level == "senior":
        variant = draw.choice((*SENIOR, WIDE))
        if variant in SENIOR:
            return _senior(draw, model, variant, stage, ranks)
        recipe = (WIDE, recipe[1])
    gpu = scenarios.gpu_for(draw, ranks, precision=recipe[0])
    return _Asked(
        model=model,
        gpu=gpu,
        parts=parts_of(*recipe, fsdp=stage == 3),
        says=recipe_said(*recipe, fsdp=stage == 3),
        precision=recipe[0],
        stage=stage,
        ranks=ranks,
        scenario=scenarios.of_states(model, recipe, gpu, stage, ranks),
    ).draft()


def _senior(draw: Draw, model: CatalogModel, variant: str, stage: int, ranks: int) -> Draft | None:
    parts, says = SENIOR[variant]
    if draw.chance(40):
        stage, ranks = 0, 1
    gpu = scenarios.gpu_for(draw, ranks, precision="pure-bf16")
    return _Asked(model=model, gpu=gpu, parts=parts, says=says, stage=stage, ranks=ranks).draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Parts of the states of a model, on one of some ranks."""

    model: CatalogModel
    gpu: Accelerator
    parts: tuple[Part, ...]
    says: str
    precision: str = "mixed"
    stage: int = 0
    ranks: int = 1
    scenario: Scenario | None = None

    @property
    def parameters(self) -> int:
        return self.model.parameters

    def draft(self) -> Draft | None:
        if len(self.parts) < 2:
            return None
        answer = states_answer(self.parts, self.parameters, self.stage, self.ranks)
        return Draft(
            prompt=self._prompt(),
            answer=answer,
            hints=self._hints(),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
            scenario=self.scenario,
        )

    def _prompt(self) -> str:
        where = f"all on one {card(self.gpu)}"
        if self.ranks > 1:
            where = f"{number(self.ranks)} × {card(self.gpu)}, {STAGES[self.stage]}, equal shards"
        names = listed([part.name for part in self.parts])
        return (
            f"{self.model.title} (P = {number(self.parameters)} parameters); {where}. "
            f"{sentence(self.says)}.\n"
            f"How much do {names} each take on {'the' if self.ranks == 1 else 'a'} GPU, and how "
            f"much do they take in total? {UNIT_SAID.format(2)}"
        )

    def _hints(self) -> tuple[str, str, str]:
        split = "All of it is on the one GPU."
        if self.ranks > 1:
            split = f"{STAGES[self.stage]} {SHARDS[self.stage]}."
        return (
            "Each of them has one entry for every parameter: how many bytes has an entry?",
            f"In bytes a parameter, in the order asked: {sum_said(self.parts)}. {split}",
            (
                f"Multiply each by {billions(rounded(self.parameters))} billion{self._shared()}; "
                "a billion bytes is one GB."
            ),
        )

    def _shared(self) -> str:
        sharded = [part.name for part in self.parts if part.stage <= self.stage]
        if self.ranks == 1 or not sharded:
            return ""
        return f", and divide the {listed(sharded)} by {number(self.ranks)}"

    def _steps(self, answer: LedgerAnswer) -> Iterator[Step]:
        on_paper = rounded(self.parameters)
        for part in self.parts:
            said = sum_said((part,), self.stage, self.ranks)
            size = size_of((part,), on_paper, self.stage, self.ranks)
            text = f"{part.name}: {said} × {billions(on_paper)} billion = {paper(size)}"
            yield Step(text=text, depth="whiteboard")
        each = total_said(self.parts, self.stage, self.ranks)
        size = size_of(self.parts, on_paper, self.stage, self.ranks)
        yield Step(text=f"total: {each} a parameter, {paper(size)}", depth="whiteboard")
        yield last_step(
            answer,
            rest_of_rounding(
                self.parameters,
                (
                    (
                        size_of(parts, on_paper, self.stage, self.ranks),
                        size_of(parts, self.parameters, self.stage, self.ranks),
                    )
                    for parts in (*((part,) for part in self.parts), self.parts)
                ),
            ),
        )

    def _mistakes(self) -> Iterator[Mistake]:
        at = (self.parameters, self.stage, self.ranks)
        known = {"weights", "gradients", "master copy", "moments", *ALIASES}
        if all(part.name in known for part in self.parts):
            yield from part_mistakes(self.parts, self.precision, *at)
        else:
            yield from self._of_senior()
        active = self.model.architecture.active_parameters
        if active == self.parameters:
            return
        for part in self.parts:
            size, wrong = (size_of((part,), count, *at[1:]) for count in (at[0], active))
            why = f"counts the {number(active)} parameters that one token meets, {{off}} too few."
            yield from of_term(part.name, [wrong_size(wrong, size, "active parameters only", why)])

    def _of_senior(self) -> Iterator[Mistake]:
        """Yield what comes of the usual widths where these parts have others."""
        at = (self.parameters, self.stage, self.ranks)
        right = size_of(self.parts, *at)
        for part in self.parts:
            own, other = size_of((part,), *at), {2: 4, 4: 2, 8: 4}[part.each]
            wrong = other * own // part.each
            why = f"takes {other} bytes a parameter for them; they have {part.each}."
            if part.name == "8-bit moments":
                yield from of_term(
                    part.name,
                    [
                        wrong_size(4 * own, own, "optimizer states in 32 bits", FP32_MOMENTS),
                        wrong_size(own // 2, own, "one moment forgotten", ONE_MOMENT),
                    ],
                )
            else:
                yield from of_term(part.name, [wrong_size(wrong, own, "another width", why)])
            if part.each > 1:
                why = f"leaves out the {part.name}, {{off}}."
                name = f"{part.name} forgotten"
                yield from of_term("total", [wrong_size(right - own, right, name, why)])
