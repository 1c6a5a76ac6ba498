"""Topic A, model states: adapters beside a frozen base."""

from collections.abc import Iterator
from fractions import Fraction

from engine.adapters import four_bit, trained
from engine.estimate import ledger
from engine.ledger import MODEL_STATES, Category, Phase
from engine.scenario import Adapters, Hardware, Scenario, Workload
from problems import scenarios
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.one_size import one_size
from problems.problem import Level, Mistake
from problems.wording import billions, gb, number, paper, rounded
from problems.wrong_sizes import wrong_size

RANKS = (4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256)
TARGETS = {
    "all": "all linear layers",
    "attention": "the four matrices of attention",
    "query,value": "queries and values",
    "mlp": "the matrices of the MLP",
}
STATES = 16  # bytes of all states of a trained parameter, mixed precision with AdamW
# Bytes of an element in 4 bits: with a byte for 64 of them and an fp32 number for 256 such bytes.
QUARTER = Fraction(1, 2) + Fraction(1, 64) + Fraction(4, 64 * 256)


@kind_at_levels(
    name="adapter-states",
    topic="A",
    levels=("mid", "senior"),
    title="Model states beside a frozen base",
    sources=("arXiv 2106.09685 section 4", "arXiv 2305.14314 section 3"),
)
def adapter_states(draw: Draw, level: Level) -> Draft | None:
    """Ask for the states of low-rank adapters and of the base they are trained beside."""
    name, rank, targets = draw.unlike(
        lambda: (
            draw.choice(scenarios.trainable()),
            draw.choice(RANKS),
            draw.choice(tuple(TARGETS)),
        )
    )
    model = scenarios.modelled(name)
    base = "4-bit" if level == "senior" else "16-bit"
    wanted = Adapters(rank=rank, targets=targets, base=base)
    x = Scenario(
        model=model,
        workload=Workload(sequence=scenarios.SEQUENCES[0][0]),
        adapters=wanted,
        hardware=Hardware(gpu=scenarios.gpu_for(draw, 1)),
    )
    book = ledger(x)
    size = book.total(*MODEL_STATES, phase=Phase.REDUCE)
    return one_size(
        prompt=_prompt(x, trained_in(x)),
        size=size,
        hints=_hints(x),
        on_paper=_on_paper(x),
        exact=_exact(x),
        mistakes=_mistakes(x, size),
    )


def trained_in(x: Scenario) -> int:
    """Return the parameters of the adapters."""
    return sum(t.size * t.copies for t in trained(x.architecture.tensors, x.adapters))


def elements_in_4_bits(x: Scenario) -> int:
    """Return the elements of the base that are kept in 4 bits."""
    return four_bit(x.architecture.tensors, x.adapters).elements


def _prompt(x: Scenario, adapters: int) -> str:
    stored = "in bf16"
    if quarter := elements_in_4_bits(x):
        stored = (
            f"with the {number(quarter)} parameters of the layers' matrices in 4 bits (a one-byte "
            "scale for 64 of them, and an fp32 factor for 256 scales) and the rest in bf16"
        )
    return (
        f"{x.model.title} (P = {number(x.architecture.parameters)} parameters) stays frozen, "
        f"{stored}. LoRA of rank {x.adapters.rank} on {TARGETS[x.adapters.targets]} trains "
        f"{number(adapters)} parameters: AdamW, mixed precision, 16-bit weights and gradients, "
        "fp32 master copy and moments. Nothing is sharded or offloaded.\n"
        "How much do the model states take, the frozen base included?"
    )


def _hints(x: Scenario) -> tuple[str, str, str]:
    quarter = elements_in_4_bits(x)
    base = (
        f"The base is {float(QUARTER):.3f} bytes for each element in 4 bits and 2 for the others."
        if quarter
        else "The base is 2 bytes for each of its parameters."
    )
    return (
        "What has a gradient and moments, and what is only read?",
        base,
        f"The adapters have {STATES} bytes for each parameter that is trained.",
    )


def _on_paper(x: Scenario) -> Iterator[str]:
    quarter, adapters = rounded(elements_in_4_bits(x)), rounded(trained_in(x))
    rest = rounded(x.architecture.parameters - elements_in_4_bits(x))
    base = 2 * rest + QUARTER * quarter
    if quarter:
        yield (
            f"base: {float(QUARTER):.3f} × {billions(quarter)} billion + 2 × {billions(rest)} "
            f"billion = {paper(base)}"
        )
    else:
        yield f"base: 2 × {billions(rest)} billion = {paper(base)}"
    own = STATES * adapters
    yield f"adapters: {STATES} × {billions(adapters)} billion = {paper(own)}"
    yield f"together {paper(base + own)}"


def _exact(x: Scenario) -> Iterator[str]:
    book = ledger(x)
    for category in MODEL_STATES:
        if size := book.total(category, phase=Phase.REDUCE):
            name = "frozen base and adapters" if category is Category.WEIGHTS else category.value
            yield f"{name.replace('_', ' ')}: {gb(size)}"


def _mistakes(x: Scenario, size: int) -> Iterator[Mistake]:
    parameters, adapters = x.architecture.parameters, trained_in(x)
    own = STATES * adapters
    why = "is the adapters alone; the frozen base is {off} more."
    yield wrong_size(own, size, "base forgotten", why)
    why = "is the base alone; the adapters' states are {off} more."
    yield wrong_size(size - own, size, "adapters forgotten", why)
    why = "is all of the model trained; a frozen parameter has no gradient and no moments."
    yield wrong_size(STATES * parameters, size, "nothing frozen", why)
    why = "gives the frozen base gradients too, {off} too many."
    yield wrong_size(size + 2 * parameters, size, "gradients of the frozen base", why)
    if quarter := elements_in_4_bits(x):
        base = 2 * (parameters - quarter)
        why = "has the base in bf16; most of it is in 4 bits, {off} less."
        yield wrong_size(2 * parameters + own, size, "base in 16 bits", why)
        why = "leaves the scales out, {off}."
        yield wrong_size(base + quarter // 2 + own, size, "scales forgotten", why)
        why = "has all parameters in 4 bits; embedding and head are bf16, {off} more."
        yield wrong_size(QUARTER * parameters + own, size, "everything in 4 bits", why)
    else:
        why = "has the base in fp32; it is bf16, {off} less."
        yield wrong_size(size + 2 * parameters, size, "base in 32 bits", why)
        why = "has the base in 4 bits; it is bf16 here, {off} more."
        yield wrong_size(parameters // 2 + own, size, "base in 4 bits", why)
