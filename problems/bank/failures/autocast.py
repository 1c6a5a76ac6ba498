"""Topic H, real failures: autocast, whose casts of the weights can cost more than it saves."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.errors import UnmodelledError
from engine.estimate import ledger
from engine.ledger import Category, Ledger, Phase
from engine.scenario import Hardware, Recipe, Scenario, Workload
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.letters import letters
from problems.problem import Level, Mistake, Step
from problems.prompts import render
from problems.slips import no_unit_slip
from problems.wording import billions, gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

CASTS = ("weight casts of the layers", "weight cast of the head")
SHORT = tuple(range(64, 1025, 8))
# Of a card: what the tensors of either run may take at most.
ROOM = Fraction(95, 100)
BATCHES = tuple(range(1, 9))


@kind_at_levels(
    name="autocast-casts",
    topic="H",
    levels=("junior", "mid"),
    title="What autocast adds for the weights",
    sources=(
        "pytorch/pytorch#61173",
        "PyTorch documentation, torch.amp: autocast op reference",
    ),
)
def autocast_casts(draw: Draw, level: Level) -> Draft | None:
    """Ask for the 16-bit casts of the weights that autocast keeps until the backward pass."""
    x = _run(draw)
    if x is None:
        return None
    book = ledger(x)
    before = ledger(_in_fp32(x))
    if book.phases[Phase.FORWARD] <= before.phases[Phase.FORWARD]:
        return None
    size = sum(book.size(name) for name in CASTS)
    cast = size // 2
    prompt = render("autocast-casts", x=x, junior=level == "junior", cast=cast)
    return Draft(
        prompt=prompt,
        answer=QuantityAnswer(value=Fraction(size), symbols=letters(x, prompt)),
        hints=(
            "Under autocast the weights stay in fp32. What do the matrix products read?",
            (
                "A 16-bit copy of each matrix, made when it is first used and kept until the "
                "region ends, for the backward pass needs it too."
            ),
            f"{number(cast)} entries of matrices are multiplied with; a cast has 2 bytes of each.",
        ),
        solution=tuple(_steps(x, book, before)),
        mistakes=tuple(no_unit_slip(size, _mistakes(x, book, size))),
        scenario=x,
    )


def _run(draw: Draw) -> Scenario | None:
    """Return a short batch under autocast, as much of its memory is weights, on a card for it."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    cards = scenarios.gpus_for(1, precision="pure-bf16")
    try:
        x = Scenario(
            model=model,
            workload=Workload(sequence=draw.choice(SHORT), micro_batch=draw.choice(BATCHES)),
            recipe=Recipe(precision="autocast"),
            hardware=Hardware(gpu=cards[0]),
        )
        most = max(ledger(x).peak, ledger(_in_fp32(x)).peak)
    except UnmodelledError:
        return None
    hold = [gpu for gpu in cards if gpu.memory * ROOM >= most]
    return replace(x, hardware=Hardware(gpu=draw.choice(hold))) if hold else None


def _in_fp32(x: Scenario) -> Scenario:
    return replace(x, recipe=replace(x.recipe, precision="fp32"))


def _steps(x: Scenario, book: Ledger, before: Ledger) -> Iterator[Step]:
    size = sum(book.size(name) for name in CASTS)
    a, cast = x.architecture, size // 2
    table = a.vocab * a.hidden
    if not a.tied:
        yield Step(
            text=f"the embedding is looked up and not cast: {billions(rounded(a.parameters))} − "
            f"{billions(rounded(table))} = {billions(rounded(cast))} billion in matrices",
            depth="whiteboard",
        )
    yield Step(
        text=f"2 × {billions(rounded(cast))} billion = {paper(2 * rounded(cast))}",
        depth="whiteboard",
    )
    for name in CASTS:
        yield Step(text=f"{name}: {gb(book.size(name))}")
    saved, wide = (one.total(Category.ACTIVATIONS, phase=Phase.FORWARD) for one in (book, before))
    yield Step(text=f"the layers save {gb(saved)} here and {gb(wide)} in fp32")
    yield Step(text=f"all casts: {gb(size)}")


def _mistakes(x: Scenario, book: Ledger, size: int) -> Iterator[Mistake]:
    a = x.architecture
    yield wrong_size(
        2 * size,
        size,
        "fp32 weights taken for the casts",
        "has 4 bytes an entry, the fp32 weights themselves; a cast has 2, {off} less.",
    )
    if not a.tied:
        yield wrong_size(
            2 * a.parameters,
            size,
            "embedding taken as cast",
            "casts every parameter; the embedding is looked up, not multiplied: {off} less.",
        )
        yield wrong_size(
            book.size(CASTS[0]),
            size,
            "head forgotten",
            "leaves out the head, which is a matrix product too, {off} more.",
        )
    yield wrong_size(
        Fraction(book.size(CASTS[0]), a.layers),
        size,
        "one layer's casts",
        f"is one layer; the casts of {'all' if a.layers > 2 else 'both'} {a.layers} are kept for "
        "the backward pass, {off} more.",
    )
    yield wrong_size(
        size // 2,
        size,
        "elements taken for bytes",
        "counts entries; a cast has 2 bytes of each, {off} more.",
    )
