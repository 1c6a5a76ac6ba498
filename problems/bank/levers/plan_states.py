"""Topic E, levers: the states on a GPU under tensor, pipeline and data parallelism together."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel, models
from engine.units import GB
from problems import scenarios
from problems.answers.ledger import LedgerAnswer
from problems.answers.quantity import QuantityAnswer
from problems.answers.terms import Follows, Term
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.terms_asked import UNIT_SAID, last_step, of_term, size_term, total_term
from problems.wording import billions, bytes_of, card, number, paper, rounded, short
from problems.wrong_sizes import wrong_size

PARAMETERS, WEIGHTS, GRADIENTS, OPTIMIZER = "parameters", "weights", "gradients", "optimizer"
STATES = 12  # bytes a parameter: the fp32 master copy and two fp32 moments
TENSOR, PIPELINE = (2, 4, 8), (2, 4, 8, 16)
DATA = (2, 4, 8, 16, 32, 64)
SMALLEST, NODE = 6 * GB, 8


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A model over tensor × pipeline × data GPUs.

    Args:
        parameters: of the whole model.
        tensor: GPUs that share each layer.
        pipeline: stages.
        data: replicas.
        zero: 1 where the replicas share the optimizer's part, else 0.
        wide: bytes of a gradient.
    """

    parameters: int
    tensor: int
    pipeline: int
    data: int
    zero: int
    wide: int

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return self.tensor * self.pipeline * self.data

    @property
    def held(self) -> Fraction:
        """Parameters on a GPU."""
        return Fraction(self.parameters, self.tensor * self.pipeline)

    @property
    def each(self) -> dict[str, Fraction]:
        """Bytes for each parameter that a GPU holds."""
        shares = self.data if self.zero else 1
        return {
            WEIGHTS: Fraction(2),
            GRADIENTS: Fraction(self.wide),
            OPTIMIZER: Fraction(STATES, shares),
        }

    @property
    def answer(self) -> LedgerAnswer:
        """Parameters, states and their sum on a GPU."""
        count = Term(
            name=PARAMETERS,
            aliases=("params", "parameters per gpu"),
            answer=QuantityAnswer(value=self.held, unit="1", default_unit=None),
        )
        rows = tuple(
            size_term(
                name,
                self.held * each,
                follows=Follows(how="sum", of=(PARAMETERS,), times=each),
                own_aliases={WEIGHTS: ("weight",)}.get(name),
            )
            for name, each in self.each.items()
        )
        return LedgerAnswer(terms=(count, *rows, total_term(rows)))


@kind_at_levels(
    name="plan-states",
    topic="E",
    levels=("mid", "senior"),
    title="Model states on a GPU under tensor, pipeline and data parallelism",
    sources=(
        "arXiv 2104.04473 section 3",
        "engineersofai.com, deep learning: distributed training",
    ),
)
def plan_states(draw: Draw, level: Level) -> Draft | None:
    """Ask for the parameters and the states on a GPU of a plan."""
    dense = [
        model
        for model in models().values()
        if model.architecture.experts is None and model.parameters > SMALLEST
    ]
    model, tensor = draw.choice(dense), draw.choice(TENSOR)
    shape = model.architecture
    fitting = [p for p in PIPELINE if shape.layers % p == 0]
    if shape.heads % tensor or not fitting:
        return None
    senior = level == "senior"
    plan = Plan(
        parameters=model.parameters,
        tensor=tensor,
        pipeline=draw.choice(fitting),
        data=draw.choice(DATA),
        zero=1 if senior or draw.chance(50) else 0,
        wide=4 if senior and draw.chance(60) else 2,
    )
    if plan.gpus <= NODE:
        return None
    gpu = scenarios.gpu_for(draw, plan.gpus, precision="pure-bf16")
    if plan.held * sum(plan.each.values()) > gpu.memory:
        return None
    return plan_of(model, plan, gpu)


def plan_of(model: CatalogModel, plan: Plan, gpu: Accelerator) -> Draft:
    """Return the question for the states on a GPU of a plan."""
    return _Asked(model=model, plan=plan, gpu=gpu).draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    model: CatalogModel
    plan: Plan
    gpu: Accelerator

    def draft(self) -> Draft:
        plan, answer = self.plan, self.plan.answer
        shares = f"shared by the {plan.data} replicas" if plan.zero else "held by each"
        return Draft(
            prompt=self._prompt(),
            answer=answer,
            hints=(
                "Which of tensor, pipeline and data parallelism divides nothing by itself?",
                (
                    f"A GPU holds one part of {plan.tensor} × {plan.pipeline}; data parallelism "
                    f"copies it. The optimizer's {STATES} bytes are {shares}."
                ),
                (
                    f"Take {billions(rounded(plan.parameters))} billion / "
                    f"{plan.tensor * plan.pipeline}, then times 2, {plan.wide} and "
                    f"{short(plan.each[OPTIMIZER])} bytes."
                ),
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
        )

    def _prompt(self) -> str:
        plan = self.plan
        gradients = (
            "16-bit weights and gradients"
            if plan.wide == 2
            else ("16-bit weights, gradients accumulated in fp32")
        )
        zero = (
            "ZeRO-1 shards master copy and moments over the data-parallel replicas"
            if plan.zero
            else "the data-parallel replicas share nothing (no ZeRO)"
        )
        return (
            f"{self.model.title} ({number(plan.parameters)} parameters) on {number(plan.gpus)} × "
            f"{card(self.gpu)}: tensor parallel {plan.tensor} × pipeline {plan.pipeline} × data "
            f"parallel {plan.data}, and {zero}. AdamW, mixed precision: {gradients}, fp32 master "
            "copy and moments. Take all parameters as divided evenly.\n"
            "How many parameters does a GPU hold, and how much do their weights, gradients and "
            "optimizer (master copy and moments) take, and in total? The parameters are a plain "
            f"number, such as 2.1e9 or 2.1B; of the sizes, {UNIT_SAID.format(2)}"
        )

    def _steps(self, answer: LedgerAnswer) -> Iterator[Step]:
        plan = self.plan
        whole, parts = rounded(plan.parameters), plan.tensor * plan.pipeline
        held = Fraction(whole, parts)
        yield Step(
            text=f"parameters: {billions(whole)} billion / ({plan.tensor} × {plan.pipeline}) = "
            f"{short(held / GB)} billion",
            depth="whiteboard",
        )
        for name, each in plan.each.items():
            yield Step(
                text=f"{name}: {bytes_of(each)} × {short(held / GB)} billion = "
                f"{paper(each * held)}",
                depth="whiteboard",
            )
        total = sum(plan.each.values(), Fraction(0))
        text = f"total: {short(total)} bytes a parameter, {paper(total * held)}"
        yield Step(text=text, depth="whiteboard")
        yield last_step(answer, f"With nothing rounded, P = {number(plan.parameters)}")

    def _mistakes(self) -> Iterator[Mistake]:
        plan = self.plan
        for name, times, why in (
            (
                "divided by all GPUs",
                Fraction(1, plan.data),
                "divides by all GPUs; data-parallel replicas are copies.",
            ),
            (
                "tensor parallelism forgotten",
                Fraction(plan.tensor),
                f"leaves out tensor parallelism, {plan.tensor} times too much.",
            ),
            (
                "stages forgotten",
                Fraction(plan.pipeline),
                f"leaves out the stages, {plan.pipeline} times too much.",
            ),
        ):
            value = plan.held * times
            said = f"{billions(round(value))} billion {why}"
            mistake = Mistake(name=name, value=value, feedback=said)
            yield from of_term(PARAMETERS, [mistake])
            for part, each in plan.each.items():
                right = plan.held * each
                yield from of_term(part, [wrong_size(right * times, round(right), name, why)])
        yield from self._of_sizes()

    def _of_sizes(self) -> Iterator[Mistake]:
        plan = self.plan
        sizes = {name: round(plan.held * each) for name, each in plan.each.items()}
        right = sum(sizes.values())
        for name, size in sizes.items():
            why = f"leaves out the {name}, {{off}}."
            wrong = wrong_size(right - size, right, f"{name} forgotten", why)
            yield from of_term("total", [wrong])
        own = sizes[OPTIMIZER]
        why = f"divides the optimizer by {plan.data}; here no ZeRO shares it, {{off}} more."
        size, name = own // plan.data, "a whole part sharded"
        if plan.zero:
            why = f"has the optimizer whole; ZeRO-1 shares it over {plan.data}, {{off}} less."
            size, name = own * plan.data, "a sharded part left whole"
        yield from of_term(OPTIMIZER, [wrong_size(size, own, name, why)])
        yield from of_term("total", [wrong_size(right - own + size, right, name, why)])
        why = "leaves out the fp32 master copy, {off}."
        yield from of_term(
            OPTIMIZER, [wrong_size(own * 2 // 3, own, "master copy forgotten", why)]
        )
        width = 4 if plan.wide == 2 else 2
        why = f"has gradients of {width} bytes; here they have {plan.wide}, {{off}} off."
        own = sizes[GRADIENTS]
        yield from of_term(
            GRADIENTS, [wrong_size(own * width // plan.wide, own, "another width", why)]
        )
