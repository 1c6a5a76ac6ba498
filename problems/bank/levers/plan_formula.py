"""Topic E, levers: the model states of a GPU under several ways to split them, as a formula."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.scenario import Model
from engine.units import GB
from problems import scenarios
from problems.answers.symbolic import SymbolicAnswer, WrongFormula, telling, wrong
from problems.draft import Draft
from problems.draw import Draw
from problems.formula import ONE, Formula, letter
from problems.kind import kind_at_levels
from problems.lettered import letters_said, some
from problems.model_states import Part, each_of, parts_of, sum_said
from problems.problem import Level, Step
from problems.wording import gb, number, recipe_said, sentence

C, G, N, P, PP, T, GROUP = map(letter, "cGNPptn")
# Nobody splits a smaller model.
SMALLEST = 3 * GB
STAGES = {0: "plain data parallelism", 1: "ZeRO-1", 2: "ZeRO-2", 3: "ZeRO-3"}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a model is split.

    Args:
        stage: of ZeRO, over the data-parallel GPUs.
        tensor: and over t tensor-parallel ones.
        pipeline: and over p stages.
        context: c context-parallel GPUs share the states with the data-parallel ones.
        total: GPUs in all are given in place of the data-parallel ones.
        hybrid: states are sharded in groups of n GPUs and replicated over the groups.
    """

    stage: int
    tensor: bool = False
    pipeline: bool = False
    context: bool = False
    total: bool = False
    hybrid: bool = False

    @property
    def letters(self) -> str:
        """Those that the prompt defines."""
        flags = (("t", self.tensor), ("p", self.pipeline), ("c", self.context), ("n", self.hybrid))
        return "P" + "".join(name for name, has in flags if has) + ("G" if self.total else "N")

    @property
    def parameters(self) -> Formula:
        """Parameters of a GPU's part of the model."""
        return P / (T if self.tensor else ONE) / (PP if self.pipeline else ONE)

    @property
    def ranks(self) -> Formula:
        """GPUs that hold the same part of the model and share its states."""
        if self.hybrid:
            return GROUP
        if not self.total:
            return N * (C if self.context else ONE)
        # G = data × tensor × pipeline × context, and context is among those that share.
        return G / (T if self.tensor else ONE) / (PP if self.pipeline else ONE)

    def held(self, parts: tuple[Part, ...]) -> Formula:
        """Return the bytes of a GPU."""
        whole = sum(part.each for part in parts if part.stage > self.stage)
        split = sum(part.each for part in parts if part.stage <= self.stage)
        return self.parameters * whole + self.parameters * split / self.ranks


PLANS = {
    "junior": (
        Plan(stage=0, tensor=True),
        Plan(stage=0, tensor=True, pipeline=True),
        Plan(stage=1, tensor=True),
        Plan(stage=1, pipeline=True),
    ),
    "mid": (
        Plan(stage=1, tensor=True, pipeline=True),
        Plan(stage=2, tensor=True),
        Plan(stage=3, tensor=True),
        Plan(stage=3, hybrid=True),
        Plan(stage=1, tensor=True, context=True),
    ),
    "senior": (
        Plan(stage=1, tensor=True, pipeline=True, total=True),
        Plan(stage=1, tensor=True, pipeline=True, context=True),
        Plan(stage=3, tensor=True, hybrid=True),
        Plan(stage=3, tensor=True, total=True),
        Plan(stage=2, tensor=True, context=True, total=True),
    ),
}


@kind_at_levels(
    name="plan-formula",
    topic="E",
    levels=("junior", "mid", "senior"),
    title="Model states under a parallel plan as a formula",
    sources=("arXiv 2104.04473 section 3", "arXiv 2304.11277 section 3.2"),
)
def plan_formula(draw: Draw, level: Level) -> Draft | None:
    """Ask for the model states of a GPU in the letters of a plan."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    plan, recipe = draw.choice(PLANS[level]), scenarios.states_recipe(draw)
    parts = parts_of(*recipe)
    small = model.architecture.parameters < SMALLEST
    if small or (plan.stage and not any(part.stage <= plan.stage for part in parts)):
        return None
    values = _values(draw, plan, model)
    letters = some(plan.letters, P="parameters of the whole model")
    right = plan.held(parts)
    return Draft(
        prompt=_prompt(model, plan, recipe, values) + f" {letters_said(letters)}.",
        answer=SymbolicAnswer(
            formula=right, letters=letters, mistakes=telling(right, _mistakes(parts, plan))
        ),
        hints=_hints(parts, plan),
        solution=tuple(_steps(parts, plan, values)),
        mistakes=(),
    )


def _values(draw: Draw, plan: Plan, model: Model) -> dict[str, int]:
    values = {
        "t": draw.choice((2, 4, 8)) if plan.tensor else 1,
        "p": draw.choice((2, 4, 8)) if plan.pipeline else 1,
        "c": draw.choice((2, 4)) if plan.context else 1,
        "n": 8,
        "N": draw.choice((16, 32, 64) if plan.hybrid else (4, 8, 16, 32, 64)),
        "P": model.architecture.parameters,
    }
    return {**values, "G": values["t"] * values["p"] * values["c"] * values["N"]}


def _prompt(model: Model, plan: Plan, recipe: tuple[str, str], values: dict[str, int]) -> str:
    ways = []
    if plan.tensor:
        ways.append(f"tensor parallelism over t = {values['t']} GPUs")
    if plan.pipeline:
        ways.append(f"p = {values['p']} pipeline stages")
    if plan.context:
        ways.append(f"context parallelism over c = {values['c']} GPUs")
    over = f"N = {values['N']} data-parallel GPUs"
    if plan.hybrid:
        where = f"{STAGES[plan.stage]} inside groups of n = {values['n']} of the {over}, with a "
        where += "replica in each group"
    elif plan.total:
        where = f"G = {number(values['G'])} GPUs in all and {STAGES[plan.stage]} over those that "
        where += "hold the same part of the model"
    else:
        with_c = ", the context-parallel ones among those that share," if plan.context else ""
        where = f"{STAGES[plan.stage]} over {over}{with_c}".rstrip(",")
    cut = plan.tensor or plan.pipeline
    equal = " All parts that this cuts the model into are equal." if cut else ""
    return (
        f"{model.title} is trained with {'; '.join([*ways, where])}.{equal} "
        f"{sentence(recipe_said(*recipe))}.\nHow many bytes of model states does a GPU hold? "
        "Answer with a formula in these letters, numbers as numbers; one that does not matter "
        "stays out:"
    )


def _hints(parts: tuple[Part, ...], plan: Plan) -> tuple[str, str, str]:
    cut = [name for name, has in (("t", plan.tensor), ("p", plan.pipeline)) if has]
    of_model = f"P/({'·'.join(cut)})" if len(cut) > 1 else f"P/{cut[0]}" if cut else "P"
    return (
        (
            "Two questions: how many parameters has a GPU's part of the model, and how many GPUs "
            "share the states of that part?"
        ),
        f"Its part has {of_model} parameters; their bytes are {sum_said(parts)} each.",
        (
            f"{sentence(STAGES[plan.stage])} shards {_split_said(parts, plan.stage)}, over "
            f"{plan.ranks.said} GPUs."
        ),
    )


def _split_said(parts: tuple[Part, ...], stage: int) -> str:
    split = sum(part.each for part in parts if part.stage <= stage)
    return f"{split} of the bytes" if split else "nothing"


def _steps(parts: tuple[Part, ...], plan: Plan, values: dict[str, int]) -> Iterator[Step]:
    right = plan.held(parts)
    yield Step(text=f"parameters of a GPU's part: {plan.parameters.said}", depth="whiteboard")
    yield Step(
        text=f"GPUs that share the states of a part: {plan.ranks.said}; {STAGES[plan.stage]} "
        f"shards {_split_said(parts, plan.stage)} over them",
        depth="whiteboard",
    )
    used = [name for name in plan.letters if name in right.letters]
    said = ", ".join(f"{name} = {number(values[name])}" for name in used)
    yield Step(text=f"with {said}: {gb(right.at(values))}")
    yield Step(text=f"together: {right.said}")


def _mistakes(parts: tuple[Part, ...], plan: Plan) -> Iterator[WrongFormula]:
    total, right = each_of(parts), plan.held(parts)
    if plan.total:
        says = "shards over all G GPUs; only those with the same part of the model share."
        alone = replace(plan, total=False)
        whole = sum(part.each for part in parts if part.stage > plan.stage)
        yield wrong(
            "shared by all GPUs",
            plan.parameters * whole + alone.parameters * (total - whole) / G,
            says,
        )
        says = "divides by all G GPUs at once, as if they all shared one model."
        yield wrong("everything divided by all GPUs", total * P / G, says)
    if plan.hybrid:
        says = "shards over all N GPUs; the groups are replicas of each other."
        yield wrong("replicas forgotten", replace(plan, hybrid=False).held(parts), says)
        says = "divides by the number of groups, N/n; a state is shared inside a group."
        yield wrong("groups for members", plan.parameters * total * GROUP / N, says)
    if plan.context and not plan.total:
        says = "leaves out that context-parallel GPUs hold the same weights and share them."
        yield wrong("context ranks forgotten", replace(plan, context=False).held(parts), says)
    for flag, name in (
        ("tensor", "tensor parallelism forgotten"),
        ("pipeline", "stages forgotten"),
    ):
        if getattr(plan, flag) and not plan.total:
            says = "is not divided by " + ("t." if flag == "tensor" else "p.")
            yield wrong(name, replace(plan, **{flag: False}).held(parts), says)
    yield from _other_stages(parts, plan)
    says = "is the weights alone."
    yield wrong("weights only", plan.held(tuple(x for x in parts if x.name == "weights")), says)
    kept = tuple(x for x in parts if x.name != "master copy")
    says = "leaves out the fp32 master copy that the optimizer steps."
    yield wrong("master copy forgotten", plan.held(kept), says)
    yield wrong("ranks forgotten", plan.parameters * total, "shards nothing at all.")
    yield wrong(
        "elements taken for bytes", right * (1 / total), "counts each parameter as one byte."
    )


def _other_stages(parts: tuple[Part, ...], plan: Plan) -> Iterator[WrongFormula]:
    for stage, name in ((1, "ZeRO-1"), (2, "ZeRO-2"), (3, "ZeRO-3")):
        if stage != plan.stage:
            says = f"is {name}; the plan has {STAGES[plan.stage]}."
            yield wrong(f"{name} taken", replace(plan, stage=stage).held(parts), says)
