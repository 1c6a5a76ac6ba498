"""Topic H, real failures: the save, for which a sharded model is put together again."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.estimate import ledger
from engine.ledger import Category, Ledger
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import bare_gb, billions, gb, number, paper, recipe_said, rounded
from problems.wrong_sizes import wrong_size

MODEL = "get_model_state_dict(model, options=options)"
BOTH = "get_state_dict(model, optimizer, options=options)"
ADAM = ("adamw", "adamw-fused")


@dataclass(frozen=True, kw_only=True)
class Save:
    """A run under FSDP2 that gathers what it saves on its GPUs.

    Args:
        run: the run.
        moments: whether the optimizer's states are saved with the weights.
        beside: whether what lies there already is asked for too.
    """

    run: Scenario
    moments: bool
    beside: bool

    @cached_property
    def book(self) -> Ledger:
        """The run's ledger."""
        return ledger(self.run)

    @property
    def width(self) -> int:
        """Bytes of a parameter of the shards."""
        return PRECISIONS[self.run.recipe.precision].stepped

    @property
    def each(self) -> int:
        """Bytes a parameter that are gathered."""
        return self.width * (3 if self.moments else 1)

    @property
    def full(self) -> int:
        """What is gathered, whole."""
        return self.each * self.run.architecture.parameters

    @property
    def shard(self) -> int:
        """What the rank keeps of weights and moments."""
        return self.book.total(Category.WEIGHTS, Category.OPTIMIZER_STATE)

    @property
    def size(self) -> int:
        """What is asked for."""
        return self.full + self.shard if self.beside else self.full


@kind_at_levels(
    name="save-gathers",
    topic="H",
    levels=("junior", "mid", "senior"),
    title="What a save puts together on a GPU",
    sources=(
        "huggingface/transformers#23386",
        "PyTorch documentation, torch.distributed.checkpoint.state_dict: StateDictOptions",
    ),
)
def save_gathers(draw: Draw, level: Level) -> Draft | None:
    """Ask for what a full state dict takes on a GPU, with the moments, beside the shards."""
    model = scenarios.any_model(draw)
    ranks = scenarios.ranks_for(draw, model)
    recipe = (draw.weighted(scenarios.SHARDED_PRECISIONS), draw.choice(ADAM))
    gpu = scenarios.gpu_for(draw, ranks, precision=recipe[0])
    run = scenarios.of_states(model, recipe, gpu, 3, ranks)
    if run is None:
        return None
    moments = level != "junior" and draw.chance(50)
    save = Save(run=run, moments=moments, beside=level == "senior")
    if save.shard > gpu.memory:
        return None
    return Draft(
        prompt=render(
            "save-gathers",
            x=run,
            recipe=recipe_said(*recipe, fsdp=True),
            beside=save.beside,
            fails=save.full + save.shard > gpu.memory,
        ),
        exhibit=_code(save, step=50 * draw.between(1, 400)),
        answer=QuantityAnswer(value=Fraction(save.size)),
        hints=_hints(save),
        solution=tuple(_steps(save)),
        mistakes=tuple(no_unit_slip(save.size, _mistakes(save))),
        scenario=run,
    )


def _code(save: Save, *, step: int) -> str:
    return "\n".join(
        (
            "options = StateDictOptions(full_state_dict=True, cpu_offload=False)",
            f"state = {BOTH if save.moments else MODEL}",
            "if dist.get_rank() == 0:",
            f'    torch.save(state, "step-{step}.pt")',
        )
    )


def _hints(save: Save) -> tuple[str, str, str]:
    more = "What is gathered comes on top of what the rank has."
    what = "weights and both moments" if save.moments else "the weights, and nothing else"
    return (
        "A full state dict has whole tensors: all shards of all ranks, on each of them.",
        f"It has {what}. In which precision do the shards lie?",
        f"{save.each} bytes × {billions(rounded(save.run.architecture.parameters))} billion."
        + (f" {more}" if save.beside else ""),
    )


def _steps(save: Save) -> Iterator[Step]:
    parameters = save.run.architecture.parameters
    on_paper = rounded(parameters)
    yield Step(
        text=f"{save.each} × {billions(on_paper)} billion = {paper(save.each * on_paper)}",
        depth="whiteboard",
    )
    if save.beside:
        yield Step(
            text=f"{bare_gb(save.full)} + {bare_gb(save.shard)} of its own shards = "
            f"{paper(save.size)}",
            depth="whiteboard",
        )
    yield Step(text=f"gathered: {save.each} × {number(parameters)} = {gb(save.full)}")
    yield Step(
        text="gather to the host on rank 0 (cpu_offload=True), or save the shards as they are"
    )
    said = f"the rank's shards of weights and moments are {gb(save.shard)}"
    yield Step(text=f"{said}; {'with them' if save.beside else 'gathered'}: {gb(save.size)}")


def _mistakes(save: Save) -> Iterator[Mistake]:
    size, parameters = save.size, save.run.architecture.parameters
    yield wrong_size(
        Fraction(save.full, save.run.parallel.data),
        size,
        "the share of one rank",
        "is one rank's part of it; the tensors are gathered whole, {off} more.",
    )
    if save.width == 4:
        yield wrong_size(
            save.full // 2 + size - save.full,
            size,
            "saved in 16 bits",
            "has 16-bit entries; the shards are fp32, {off} more.",
        )
    yield _of_moments(save)
    if save.beside:
        yield wrong_size(
            save.full,
            size,
            "the shard forgotten",
            "is what is gathered; the rank's own shards lie beside it, {off} more.",
        )
    yield wrong_size(
        16 * parameters,
        size,
        "all states counted",
        "is all model states at 16 bytes; gradients are not saved, and no second copy of the "
        "weights: {off} off.",
    )


def _of_moments(save: Save) -> Mistake:
    """Return what comes of moments gathered that are not, or left out where they are."""
    size, weights = save.size, save.width * save.run.architecture.parameters
    if save.moments:
        return wrong_size(
            size - 2 * weights,
            size,
            "moments left out of the save",
            "gathers the weights alone; both moments go with them, {off} more.",
        )
    return wrong_size(
        size + 2 * weights,
        size,
        "moments saved too",
        "gathers the moments too; only the model's state is asked of it, {off} less.",
    )
