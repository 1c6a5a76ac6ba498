"""Topic H, real failures: the second step, which has what the first one made."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.estimate import ledger
from engine.ledger import Category, Ledger
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from engine.units import GB, MIB, count
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import STAGES
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import bare_gb, billions, bytes_of, gb, number, paper, recipe_said, rounded
from problems.wrong_sizes import wrong_size

# Smaller states could not be read within 2% off a log of so many digits.
LEAST = GB
ADAM = ("adamw", "adamw-fused")


@dataclass(frozen=True, kw_only=True)
class Log:
    """A run whose later steps have more at their peak than the first by the optimizer's states."""

    run: Scenario

    @cached_property
    def book(self) -> Ledger:
        """Its ledger."""
        return ledger(self.run)

    @property
    def first(self) -> int:
        """The first step's peak."""
        return max(self.book.first_step.values())

    @property
    def states(self) -> int:
        """What the optimizer made."""
        return self.book.total(Category.OPTIMIZER_STATE)

    @property
    def later(self) -> int:
        """The peak of all other steps."""
        return self.book.peak

    @property
    def each(self) -> int:
        """Bytes a parameter of one of the states."""
        return PRECISIONS[self.run.recipe.precision].stepped

    @property
    def tensors(self) -> int:
        """How many states there are."""
        return optimizers()[self.run.recipe.optimizer].states

    @property
    def owned(self) -> int:
        """Parameters that this rank's optimizer steps."""
        return self.states // (self.each * self.tensors)

    @property
    def called(self) -> str:
        """The states in words, with their widths."""
        noun = "moments" if self.tensors > 1 else optimizers()[self.run.recipe.optimizer].called
        return f"{'fp32' if self.each == 4 else '16-bit'} {noun}"


@kind_at_levels(
    name="moments-appear",
    topic="H",
    levels=("junior", "mid"),
    title="What the second step has that the first had not",
    sources=("NVIDIA/Megatron-LM#640", "jquesnelle/yarn#23"),
)
def moments_appear(draw: Draw, level: Level) -> Draft | None:
    """Ask for the later steps' peak, or for the parameters that a rank steps, from a log."""
    run = scenarios.run(draw, low=25, high=110)
    if run is None or not optimizers()[run.recipe.optimizer].states:
        return None
    log = Log(run=run)
    if log.states < LEAST or log.later - log.first != log.states:
        return None
    return _forecast(log) if level == "junior" else _traced(log)


def _forecast(log: Log) -> Draft:
    run = log.run
    return Draft(
        prompt=_prompt(log, asks="later"),
        exhibit=_lines(log, steps=1),
        answer=QuantityAnswer(value=Fraction(log.later)),
        hints=(
            "What is made in the first step, when the optimizer steps, and is there ever after?",
            f"For each parameter that it steps: the {log.called}.",
            f"{bytes_of(log.each * log.tensors)} × {number(log.owned)}, and the first peak.",
        ),
        solution=(
            Step(
                text=f"{log.each * log.tensors} × {billions(rounded(log.owned))} billion = "
                f"{paper(log.each * log.tensors * rounded(log.owned))} more from step 2 on",
                depth="whiteboard",
            ),
            Step(
                text=f"{bare_gb(log.first)} + {bare_gb(log.states)} = {paper(log.later)}",
                depth="whiteboard",
            ),
            Step(text=f"the {log.called} of {number(log.owned)} parameters: {gb(log.states)}"),
            Step(text=f"the first step's peak was {gb(log.first)}, before they were there"),
            Step(text=f"from the second step on: {gb(log.later)}"),
        ),
        mistakes=tuple(no_unit_slip(log.later, _of_peak(log))),
        scenario=run,
    )


def _traced(log: Log) -> Draft:
    run = log.run
    return Draft(
        prompt=_prompt(log, asks="owned"),
        exhibit=_lines(log, steps=4),
        answer=QuantityAnswer(value=Fraction(log.owned), unit="1", default_unit=None),
        hints=(
            "What is made in the first step, when the optimizer steps, and is there ever after?",
            f"It is the {log.called}; all else was there in the first step too.",
            (
                f"The peaks are {number((log.later - log.first) // MIB)} MiB apart; a parameter's "
                f"share of it is {bytes_of(log.each * log.tensors)}."
            ),
        ),
        solution=(
            Step(
                text=f"{number(log.later // MIB)} − {number(log.first // MIB)} = "
                f"{number(log.states // MIB)} MiB = {paper(log.states)} more",
                depth="whiteboard",
            ),
            Step(
                text=f"{paper(log.states)} / {bytes_of(log.each * log.tensors)} = "
                f"{count(rounded(log.owned))} parameters",
                depth="whiteboard",
            ),
            Step(text=f"the {log.called}: {gb(log.states)}"),
            Step(text=f"parameters that this rank steps: {number(log.owned)}"),
        ),
        mistakes=tuple(_of_parameters(log)),
        scenario=run,
    )


def _prompt(log: Log, *, asks: str) -> str:
    x = log.run
    recipe, zero = x.recipe, x.parallel.zero
    return render(
        "moments-appear",
        x=x,
        recipe=recipe_said(recipe.precision, recipe.optimizer, fsdp=zero == 3),
        stage=STAGES[zero],
        asks=asks,
        owned=log.owned,
    )


def _lines(log: Log, *, steps: int) -> str:
    rows = ["step   peak of torch.cuda.memory_allocated() in the step"]
    for step in range(1, steps + 1):
        peak = log.first if step == 1 else log.later
        rows.append(f"{step:>4}   {number(peak // MIB)} MiB")
    return "\n".join(rows)


def _of_peak(log: Log) -> Iterator[Mistake]:
    size, one = log.later, log.each * log.owned
    yield Mistake(
        name="nothing new after the first step",
        value=Fraction(log.first),
        feedback=f"{gb(log.first)} is the first step's peak; at its end come the {log.called}, "
        f"{gb(log.states)} more.",
    )
    if log.tensors > 1:
        yield wrong_size(
            log.first + one,
            size,
            "one moment for two",
            "has one moment; Adam has two, {off} more.",
        )
    yield wrong_size(
        size + one,
        size,
        "master copy counted too",
        "counts a master copy as new; the first step had its weights in every form, {off} less.",
    )
    gradients = log.book.total(Category.GRADIENTS)
    yield wrong_size(
        size + gradients,
        size,
        "gradients taken as new",
        "counts the gradients as new; the first step had them too, {off} less.",
    )


def _of_parameters(log: Log) -> Iterator[Mistake]:
    own = log.owned
    each = log.each * log.tensors
    rows = [
        ("one moment for two", log.each, f"divides by {bytes_of(log.each)}, one moment"),
        (
            "master copy counted too",
            each + log.each,
            f"divides by {bytes_of(each + log.each)}: a master copy was there before",
        ),
        (
            "all states counted",
            16,
            "divides by 16 bytes, all model states: weights and gradients were there before",
        ),
    ]
    for name, by, why in rows:
        value = Fraction(log.states, by)
        yield Mistake(
            name=name,
            value=value,
            feedback=f"{number(round(value))} {why}; it is {bytes_of(each)}.",
        )
    whole = log.run.architecture.parameters
    yield Mistake(
        name="the whole model's parameters",
        value=Fraction(whole),
        feedback=f"{number(whole)} are those of the model; the log has {number(own)} of them on "
        "this rank.",
    )
