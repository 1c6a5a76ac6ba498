"""Topic A, model states: models that are trained beside models that are frozen, as a formula."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from problems import scenarios
from problems.answers.symbolic import SymbolicAnswer, WrongFormula, telling, wrong
from problems.draft import Draft
from problems.draw import Draw
from problems.formula import Formula, letter
from problems.kind import kind_at_levels
from problems.lettered import letters_said, some
from problems.model_states import Part, each_of, parts_of
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import gb, listed, number, recipe_said, short

P, A, N = letter("P"), letter("A"), letter("N")
RECIPES = (
    ("mixed", "adamw"),
    ("mixed", "adamw-fused"),
    ("mixed-fp32-grad", "adamw"),
    ("pure-bf16", "adamw"),
    ("mixed", "sgd-momentum"),
)
FOUR_BITS = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is trained and what is frozen.

    Args:
        says: both, as the question says them.
        parts: states of what is trained.
        trained: how many models of P parameters are trained; 0 where adapters are.
        frozen: how many are frozen.
        width: bytes of a frozen parameter.
        stage: of ZeRO, for what is trained.
        all_sharded: the frozen ones are sharded too.
    """

    says: str
    parts: tuple[Part, ...]
    trained: int
    frozen: int
    width: Fraction = Fraction(2)
    stage: int = 0
    all_sharded: bool = False

    @property
    def states(self) -> Formula:
        """The states of what is trained, on a GPU."""
        of = self.trained * P if self.trained else A
        whole = sum(part.each for part in self.parts if part.stage > self.stage)
        split = sum(part.each for part in self.parts if part.stage <= self.stage)
        return of * whole + of * split / N

    @property
    def kept(self) -> Formula:
        """The weights of what is frozen, on a GPU."""
        whole = P * (self.frozen * self.width)
        return whole / N if self.all_sharded else whole

    @property
    def formula(self) -> Formula:
        """Both."""
        return self.states + self.kept


# What is trained, how many models and how many frozen ones, and the width of these.
SETUPS = {
    "mid": (
        ("adapters of A parameters in all, on a frozen model in 16 bits", 0, 1, Fraction(2)),
        ("adapters of A parameters in all, on a frozen model in 4 bits", 0, 1, FOUR_BITS),
        ("the model by DPO, beside a frozen reference of the same size", 1, 1, Fraction(2)),
    ),
    "senior": (
        (
            (
                "policy and value model by PPO, beside a frozen reference and a frozen reward "
                "model, all four of the same size"
            ),
            2,
            2,
            Fraction(2),
        ),
        (
            (
                "the policy by GRPO, beside a frozen reference and a frozen reward model of the "
                "same size"
            ),
            1,
            2,
            Fraction(2),
        ),
        ("the model by distillation, from a frozen teacher of its size", 1, 1, Fraction(2)),
        ("adapters of A parameters in all, on a frozen model in 4 bits", 0, 1, FOUR_BITS),
    ),
}
STAGES_AT = {"mid": (0, 0, 2), "senior": (1, 2, 3)}
RANKS = {0: "on every GPU for itself (DDP)", 1: "ZeRO-1", 2: "ZeRO-2", 3: "ZeRO-3"}


@kind_at_levels(
    name="frozen-formula",
    topic="A",
    levels=("mid", "senior"),
    title="States beside frozen models as a formula",
    sources=("huggingface/trl#1245", "arXiv 2106.09685 section 4.2", "arXiv 2305.14314 section 3"),
)
def frozen_formula(draw: Draw, level: Level) -> Draft:
    """Ask for the states of what is trained and the weights of what is frozen."""
    model, recipe = scenarios.any_model(draw), draw.choice(RECIPES)
    says, trained, frozen, width = draw.choice(SETUPS[level])
    stage = draw.choice(STAGES_AT[level])
    case = Case(
        says=says,
        parts=parts_of(*recipe),
        trained=trained,
        frozen=frozen,
        width=width,
        stage=stage,
        all_sharded=stage == 3 and width > 1 and draw.chance(50),
    )
    values = {"P": model.parameters, "A": model.parameters // 200, "N": draw.choice((2, 4, 8, 16))}
    letters, right = some("PN" if trained else "PAN", P="parameters of one model"), case.formula
    return Draft(
        prompt=render(
            "frozen-formula",
            model=model,
            case=case,
            recipe=recipe_said(*recipe),
            ranks=values["N"],
            gpu=scenarios.gpu_for(draw, values["N"], precision=recipe[0]),
            where=RANKS[stage],
            letters=letters_said(letters),
        ),
        answer=SymbolicAnswer(
            formula=right, letters=letters, mistakes=telling(right, _mistakes(case))
        ),
        hints=_hints(case),
        solution=tuple(_steps(case, values)),
        mistakes=(),
    )


def _hints(case: Case) -> tuple[str, str, str]:
    names = listed([part.name for part in case.parts])
    what = "What is trained has" if case.trained else "Adapters have"
    frozen = "a model" if case.frozen == 1 else f"{case.frozen} models"
    return (
        "Two sums: the states of what is trained, and the weights alone of what is frozen.",
        f"{what} {names}; a frozen model has neither gradients nor an optimizer.",
        (
            f"Frozen is {frozen} with {short(case.width)} bytes a parameter, "
            f"{'divided by N too' if case.all_sharded else 'whole on every GPU'}."
        ),
    )


def _steps(case: Case, values: dict[str, int]) -> Iterator[Step]:
    yield Step(text=f"trained: {case.states.said}", depth="whiteboard")
    yield Step(text=f"frozen: {case.kept.said}", depth="whiteboard")
    used = [name for name in values if name in case.formula.letters]
    said = ", ".join(f"{name} = {number(values[name])}" for name in used)
    yield Step(text=f"with {said}: {gb(case.formula.at(values))}")
    yield Step(text=f"together: {case.formula.said}")


def _mistakes(case: Case) -> Iterator[WrongFormula]:
    yield wrong("frozen models forgotten", case.states, "leaves out what is frozen; it is there.")
    says = "gives the frozen models gradients and an optimizer too."
    all_trained = each_of(case.parts) * case.frozen * P
    yield wrong("frozen models trained", case.states + all_trained, says)
    if case.stage:
        says = "shards nothing; the trained part's states are shared out."
        yield wrong("ranks forgotten", replace(case, stage=0).formula, says)
        if not case.all_sharded:
            says = "shards what is frozen too; it is whole on every GPU."
            sharded = replace(case, all_sharded=True).formula
            yield wrong("frozen models taken as sharded", sharded, says)
        else:
            says = "leaves what is frozen whole; it is sharded too."
            yield wrong("frozen models left whole", replace(case, all_sharded=False).formula, says)
    else:
        says = "shards what every GPU holds for itself."
        yield wrong("ZeRO-3 taken", replace(case, stage=3).formula, says)
    if case.width == FOUR_BITS:
        says = "has the frozen model in 16 bits; in 4 bits it is half a byte."
        yield wrong("frozen model in 16 bits", replace(case, width=Fraction(2)).formula, says)
    if case.trained + case.frozen > 2:
        one = replace(case, trained=1, frozen=1).formula
        yield wrong("one model of each", one, "is one trained model and one frozen one.")
    for part in case.parts[:-1]:
        kept = tuple(x for x in case.parts if x is not part)
        says = f"leaves out the {part.name} of what is trained."
        yield wrong(f"{part.name} forgotten", replace(case, parts=kept).formula, says)
