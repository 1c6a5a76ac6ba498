"""Topic H, real failures: what is resident when the second step begins."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.estimate import ledger
from engine.ledger import Category, Ledger
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from engine.units import GB, MIB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.artefacts.failing import outside
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import STAGES
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import bare_gb, billions, gb, number, paper, recipe_said, rounded
from problems.wrong_sizes import wrong_size

# In percent of the first step's peak: what PyTorch has reserved then.
RESERVED = (101, 108)
HUNDRED = 100
LEAST = GB


@dataclass(frozen=True, kw_only=True)
class Second:
    """A run between its first two steps.

    Args:
        run: the run.
        reserved: by PyTorch, bytes.
        around: of the process, and not PyTorch's.
    """

    run: Scenario
    reserved: int
    around: int

    @cached_property
    def book(self) -> Ledger:
        """The run's ledger."""
        return ledger(self.run)

    @property
    def loaded(self) -> int:
        """Weights in every form, in whole MiB."""
        size = self.book.total(Category.WEIGHTS, Category.MASTER_WEIGHTS)
        return -(-size // MIB) * MIB

    @property
    def states(self) -> int:
        """What the optimizer has made."""
        return self.book.total(Category.OPTIMIZER_STATE)

    @property
    def ends(self) -> tuple[int, int]:
        """What the driver says after loading, and after the first step."""
        return self.loaded + self.around, self.reserved + self.around

    @property
    def cache(self) -> int:
        """What PyTorch has reserved and no tensor uses."""
        return self.reserved - self.loaded - self.states


@kind(
    name="second-step",
    topic="H",
    level="mid",
    title="What is resident before the second step",
    sources=("jquesnelle/yarn#23", "NVIDIA/Megatron-LM#640"),
)
def second_step(draw: Draw) -> Draft | None:
    """Ask how much of what the first step added is cache, from the driver's figures."""
    run = scenarios.run(draw, low=45, high=90)
    if run is None or not optimizers()[run.recipe.optimizer].states:
        return None
    if run.workload.gradient_accumulation > 1 or run.recipe.precision == "mixed-fp32-grad":
        return None  # their gradients stay
    if run.parallel.data > 1 and run.parallel.zero < 3:
        return None  # so do their buckets
    most = max(ledger(run).first_step.values()) * draw.between(*RESERVED) // HUNDRED
    around = outside(draw, run.hardware.gpus)
    x = Second(run=run, reserved=most // (2 * MIB) * 2 * MIB, around=around)
    if min(x.states, x.cache) < LEAST or x.ends[1] > run.hardware.gpu.memory:
        return None
    return Draft(
        prompt=_prompt(x),
        exhibit=_printed(x),
        answer=QuantityAnswer(value=Fraction(x.cache)),
        hints=(
            "Two things are there that were not when the model was loaded. One is live.",
            (
                "The optimizer made its states in the first step, and they stay. What the step "
                "needed besides is released, to PyTorch and not to the driver."
            ),
            (
                f"{number((x.ends[1] - x.ends[0]) // MIB)} MiB more in all, less "
                f"{_each(x)} bytes for each of {number(x.states // _each(x))} parameters."
            ),
        ),
        solution=tuple(_steps(x)),
        mistakes=tuple(no_unit_slip(x.cache, _mistakes(x))),
        scenario=run,
    )


def _each(x: Second) -> int:
    """Return the bytes of the states of one parameter."""
    recipe = x.run.recipe
    return PRECISIONS[recipe.precision].stepped * optimizers()[recipe.optimizer].states


def _prompt(x: Second) -> str:
    recipe, zero = x.run.recipe, x.run.parallel.zero
    return render(
        "second-step",
        x=x.run,
        recipe=recipe_said(recipe.precision, recipe.optimizer, fsdp=zero == 3),
        stage=STAGES[zero],
        owned=x.states // _each(x),
    )


def _printed(x: Second) -> str:
    after, later = x.ends
    return "\n".join(
        (
            "nvidia-smi, memory of the process on one GPU",
            f"model loaded, before step 1   {after // MIB:>8,} MiB",
            f"step 1 done, before step 2    {later // MIB:>8,} MiB",
        )
    )


def _steps(x: Second) -> Iterator[Step]:
    rise = x.ends[1] - x.ends[0]
    own = rounded(x.states // _each(x))
    yield Step(
        text=f"states: {_each(x)} × {billions(own)} billion = {paper(_each(x) * own)}",
        depth="whiteboard",
    )
    yield Step(
        text=f"more at the driver, less these: {bare_gb(rise)} − {bare_gb(x.states)} = "
        f"{paper(x.cache)}",
        depth="whiteboard",
    )
    yield Step(text=f"the optimizer's states, alive from now on: {gb(x.states)}")
    yield Step(
        text="the next batch can use the cache again, where its requests fit the pieces; it has "
        "less room than the first by the states"
    )
    yield Step(text=f"in PyTorch's cache: {gb(x.cache)}")


def _mistakes(x: Second) -> Iterator[Mistake]:
    cache = x.cache
    yield wrong_size(
        x.ends[1] - x.ends[0],
        cache,
        "moments forgotten",
        "is all that was added; {off} of it are the optimizer's states, which stay.",
    )
    if optimizers()[x.run.recipe.optimizer].states > 1:
        yield wrong_size(
            cache + x.states // 2,
            cache,
            "one moment for two",
            "takes off one moment; Adam has two, {off} more.",
        )
    yield wrong_size(
        cache - x.states // optimizers()[x.run.recipe.optimizer].states,
        cache,
        "master copy counted too",
        "takes off a master copy too; the weights were loaded in every form, {off} more.",
    )
    yield wrong_size(
        x.states,
        cache,
        "the other gap",
        "is what the optimizer made, and no cache; the cache is {off} off.",
    )
    yield wrong_size(
        x.ends[1] - x.states,
        cache,
        "weights counted",
        "has the weights and the context in it, {off}; they were there before step 1.",
    )
