"""Topic E, levers: checkpoints that wait on the host."""

from collections.abc import Iterator
from fractions import Fraction

from engine.units import GB
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.wording import gb, in_seconds, number, paper

SEQUENCES = (8192, 16384, 32768, 65536, 131072)
BATCHES = (1, 2, 4)
RATES = (12, 14, 20, 22, 25, 28, 40, 45, 50, 55)  # GB/s of a PCIe x16 link, as measured in use
HALF = 2


@kind(
    name="checkpoints-to-host",
    topic="E",
    level="mid",
    title="Checkpoints moved to the host",
    sources=(
        "harvard-edge/cs249r_book interviews/README.md",
        "stas00/ml-engineering training/performance/README.md",
    ),
)
def checkpoints_to_host(draw: Draw) -> Draft | None:
    """Ask for the seconds that all layers' checkpoints take to the host, one way."""
    name, rate, batch, sequence = draw.unlike(
        lambda: (
            draw.choice(scenarios.trainable()),
            draw.choice(RATES),
            draw.choice(BATCHES),
            draw.choice(SEQUENCES),
        )
    )
    model = scenarios.modelled(name)
    a = model.architecture
    if a.positions and sequence > a.positions:
        return None
    size = a.layers * batch * sequence * a.hidden * HALF
    seconds = one_way(size, rate)
    product = f"{a.layers} × {number(batch * sequence)} × {number(a.hidden)} × {HALF}"
    return Draft(
        prompt=(
            f"{model.title}: L = {a.layers} layers, h = {number(a.hidden)}. Micro-batch b = "
            f"{batch} × s = {number(sequence)} tokens. Every layer is checkpointed, and its "
            "16-bit input goes to the host after its forward pass and comes back before its "
            f"backward pass. The link carries {rate} GB/s in each direction.\nHow long do the "
            "checkpoints of all layers take to the host, one way? The answer is in seconds; "
            "full credit within 2%."
        ),
        answer=QuantityAnswer(value=seconds, unit="s", default_unit="s"),
        hints=(
            "How large is one layer's input, and how many of them travel?",
            f"Together they are {product} bytes.",
            f"That is {paper(size)}; the link carries {rate} GB in a second.",
        ),
        solution=tuple(_steps(size, rate, a.layers, product)),
        mistakes=tuple(_mistakes(size, rate, a.layers)),
    )


def one_way(size: int, rate: int) -> Fraction:
    """Return the seconds that so many bytes take at `rate` GB/s."""
    return Fraction(size, rate * GB)


def _steps(size: int, rate: int, layers: int, product: str) -> Iterator[Step]:
    seconds = one_way(size, rate)
    yield Step(text=f"{product} = {paper(size)}", depth="whiteboard")
    yield Step(text=f"{paper(size)} / {rate} GB/s = {in_seconds(seconds)}", depth="whiteboard")
    yield Step(text=f"a layer's input: {gb(Fraction(size, layers))}")
    yield Step(
        text="it hides where a forward pass takes longer than this, and so does the way back"
    )
    yield Step(text=f"one way: {in_seconds(seconds)}")


def _mistakes(size: int, rate: int, layers: int) -> Iterator[Mistake]:
    right = one_way(size, rate)
    rows = (
        ("both ways counted", 2 * right, "is there and back; one way is asked for."),
        ("one layer for all", right / layers, f"is one layer; {layers} layers send theirs."),
        ("elements taken for bytes", right / 2, "counts elements; each has 2 bytes."),
        ("activations in 32 bits", 2 * right, "has 4 bytes an element; here it is 2."),
        ("GB/s for Gb/s", 8 * right, "takes the rate in bits; it is in bytes."),
    )
    for name, value, why in rows:
        yield Mistake(name=name, value=value, feedback=f"{in_seconds(value)} {why}")
