"""Topic A, model states: what another optimizer takes less."""

from collections.abc import Iterator
from fractions import Fraction

from engine.estimate import ledger
from engine.ledger import Category, Phase
from engine.optimizers import optimizers
from engine.scenario import Hardware, Model, Parallel, Recipe, Scenario, Workload
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.one_size import one_size
from problems.problem import Mistake
from problems.wording import billions, gb, paper, rounded
from problems.wrong_sizes import wrong_size

# Optimizer, what its states are, and their bytes a parameter on paper.
INSTEAD = (
    ("adamw-8bit", "two moments of one byte, with an fp32 scale for each block of 256", 2),
    ("lion", "one fp32 momentum", 4),
    ("sgd-momentum", "one fp32 momentum", 4),
    ("sgd", "no state at all", 0),
    ("adafactor", "a second moment as one fp32 number for each row and each column", 0),
)
ADAM = 8
RANKS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@kind(
    name="optimizer-change",
    topic="A",
    level="junior",
    title="What another optimizer saves",
    sources=(
        "bitsandbytes-foundation/bitsandbytes#407",
        "arXiv 2110.02861",
        "arXiv 1804.04235 section 3",
    ),
)
def optimizer_change(draw: Draw) -> Draft:
    """Ask for the bytes by which an optimizer's states are smaller than AdamW's."""
    model_name, instead, ranks = draw.unlike(lambda: _figures(draw))
    model, (name, what, each) = scenarios.modelled(model_name), instead
    on = Hardware(gpu=scenarios.gpu_for(draw, ranks), gpus=ranks)
    before, after = states_of(model, "adamw", on), states_of(model, name, on)
    size, count = before - after, rounded(model.architecture.parameters)
    shared = f" / {ranks}" if ranks > 1 else ""
    title = optimizers()[name].title
    return one_size(
        prompt=(
            f"{model.title} (P = {model.architecture.parameters:,} parameters) is trained in "
            f"mixed precision on {_where(ranks)}: 16-bit weights and gradients, fp32 master copy. "
            f"AdamW, with two fp32 moments, is exchanged for {title}, which keeps {what}.\n"
            f"How much less do the optimizer's states take{' on each GPU' if shared else ''}? "
            "Leave the master copy out, which stays."
        ),
        size=size,
        hints=(
            "How many bytes a parameter are AdamW's own states, without the master copy?",
            f"They are {ADAM}. {title} keeps {what}.",
            f"Multiply the difference in bytes by {billions(count)}{shared} billion parameters.",
        ),
        on_paper=(
            f"{ADAM - each} bytes a parameter are saved: {each} for {ADAM}",
            (
                f"{billions(count)} billion × {ADAM - each}{shared} = "
                f"{paper(Fraction(count * (ADAM - each), ranks), digits=4)}"
            ),
        ),
        exact=(f"AdamW: {gb(before)}", f"{title}: {gb(after)}"),
        mistakes=_mistakes(model, after, size, ranks),
    )


def states_of(model: Model, optimizer: str, on: Hardware) -> int:
    """Return the bytes that an optimizer keeps on each GPU under ZeRO-1, in mixed precision."""
    scenario = Scenario(
        model=model,
        workload=Workload(sequence=scenarios.SEQUENCES[0][0]),
        recipe=Recipe(optimizer=optimizer),
        parallel=Parallel(data=on.gpus, zero=int(on.gpus > 1)),
        hardware=on,
    )
    return ledger(scenario).total(Category.OPTIMIZER_STATE, phase=Phase.STEP)


def _where(ranks: int) -> str:
    return f"{ranks} GPUs with ZeRO-1, even shards" if ranks > 1 else "one GPU"


def _mistakes(model: Model, after: int, size: int, ranks: int) -> Iterator[Mistake]:
    count = model.architecture.parameters // ranks
    if after:
        why = f"is all of AdamW's moments; the new states take {gb(after)} of that."
        yield wrong_size(size + after, size, "new states forgotten", why)
        why = "is what the new optimizer keeps; what it saves differs by {off}."
        yield wrong_size(after, size, "what stays, not what is saved", why)
    if ranks > 1:
        why = f"is the saving over all {ranks} GPUs; ZeRO-1 shares the states, {{off}} less."
        yield wrong_size(size * ranks, size, "not shared", why)
    why = "takes the master copy away too, {off}: it is stepped, so it stays."
    yield wrong_size(size + 4 * count, size, "master copy counted", why)
    why = "has AdamW with one moment; it keeps two, {off} more."
    yield wrong_size(size - 4 * count, size, "one moment forgotten", why)
    why = "is the saving with moments in 16 bits; here they are fp32, {off} more."
    yield wrong_size(
        size - ADAM // 2 * count + after // 2, size, "optimizer states in 16 bits", why
    )


def _figures(draw: Draw) -> tuple[str, tuple[str, str, int], int]:
    """Return a model's name, what AdamW is exchanged for, and a number of ranks."""
    instead = draw.choice(INSTEAD)
    # A flat shard has neither rows nor columns, so that nothing is factored there.
    ranks = 1 if instead[0] == "adafactor" else draw.choice(RANKS)
    return draw.choice(scenarios.trainable()), instead, ranks
