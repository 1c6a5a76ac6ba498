"""What data and tensor parallelism send over the links."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.errors import InputError
from engine.levers.splits import megatrons
from engine.scenario import Hardware, Model, Parallel, Recipe, Scenario, Workload
from problems import scenarios
from problems.amounts import in_billions
from problems.answers.quantity import QuantityAnswer
from problems.costs.told import Row, is_near, told
from problems.counted import gathered, reduced, tensor_parallel_bytes
from problems.draft import Draft
from problems.draw import Draw
from problems.problem import Step
from problems.prompts import render
from problems.slips import unit_slips
from problems.wording import all_of, gb, number, paper, rounded


def data_parallel(draw: Draw) -> Draft | None:
    """Ask for the bytes that a GPU sends in a step under DDP or a ZeRO stage."""
    zero, model = draw.below(4), scenarios.modelled(draw.choice(scenarios.trainable()))
    ranks = draw.choice((2, 4, 8, 16, 32, 64))
    x = Scenario(
        model=model,
        workload=Workload(
            sequence=scenarios.SEQUENCES[0][0], gradient_accumulation=draw.choice((1, 2, 4, 8, 16))
        ),
        parallel=Parallel(data=ranks, zero=zero),
        hardware=Hardware(gpu=scenarios.gpu_for(draw, ranks, precision="pure-bf16"), gpus=ranks),
    )
    many, parameters = x.workload.gradient_accumulation, model.architecture.parameters
    value = reduced(x) + gathered(x)
    passes = "one micro-batch" if many == 1 else f"{many} micro-batches"
    _, said = _bytes_sent(zero, many)
    return Draft(
        prompt=render("cost-wire", x=x, passes=passes),
        answer=QuantityAnswer(value=Fraction(value), symbols={"P": parameters}),
        hints=(
            "An all-reduce is a reduce-scatter and an all-gather. Which happens, and how often?",
            (
                "On a ring each of N GPUs sends (N - 1)/N of a tensor in a reduce-scatter or in "
                "an all-gather, and twice that in an all-reduce."
            ),
            f"In bytes a parameter and step, before (N - 1)/N: {said}.",
        ),
        solution=tuple(_wire_steps(x, value)),
        mistakes=(*told(_wire_mistakes(x, value), gb), *unit_slips(value)),
        scenario=x,
    )


def _wire_steps(x: Scenario, value: int) -> Iterator[Step]:
    ranks, parameters = x.parallel.data, x.architecture.parameters
    each, said = _bytes_sent(x.parallel.zero, x.workload.gradient_accumulation)
    on_paper = each * rounded(parameters) * (ranks - 1) // ranks
    product = f"{each} × {in_billions(parameters)} × {ranks - 1}/{ranks}"
    for text in (
        f"bytes a parameter: {said} = {each}",
        f"of which a ring sends (N - 1)/N = {ranks - 1}/{ranks}",
        f"{product} = {paper(on_paper)}",
    ):
        yield Step(text=text, depth="whiteboard")
    if x.parallel.zero:
        yield Step(text=f"gradients: {gb(reduced(x))}")
        yield Step(text=f"weights: {gb(gathered(x))}")
    yield Step(text=f"With nothing rounded: {gb(value)}")


def _bytes_sent(zero: int, many: int) -> tuple[int, str]:
    """Return bytes a parameter and step, and the sum that gives them."""
    times = f"{many} × " if many > 1 else ""
    return {
        0: (4, "2 × 2 of gradients"),
        1: (4, "2 of gradients + 2 of weights"),
        2: (2 * many + 2, f"{times}2 of gradients + 2 of weights"),
        3: (8 * many, f"{times}(2 + 2 of weights + 4 of gradients)"),
    }[zero]


def _wire_mistakes(x: Scenario, value: int) -> Iterator[Row]:
    zero, ranks, many = x.parallel.zero, x.parallel.data, x.workload.gradient_accumulation
    parameters = x.architecture.parameters
    yield (
        "share of the ring forgotten",
        value * ranks // (ranks - 1),
        f"leaves out (N - 1)/N: with {ranks} GPUs a ring sends {ranks - 1}/{ranks} of it.",
    )
    yield (
        "one way only",
        2 * parameters * (ranks - 1) // ranks,
        "is one pass of the parameters; reduce and gather are a pass each, or more.",
    )
    yield "all of the group", value * ranks, f"is what {all_of(ranks)} GPUs send; asked is one."
    if many > 1:
        once = _bytes_sent(zero, 1)[0] * parameters * (ranks - 1) // ranks
        yield (
            "accumulation forgotten",
            once,
            f"counts one micro-batch; this stage sends in each of {many}.",
        )
        if zero < 3:
            yield (
                "accumulation counted",
                value * many,
                f"counts all of it {many} times; what is sent once in a step is sent once.",
            )
    if zero == 3:
        yield (
            "gathered once only",
            value * 6 // 8,
            "has 6 bytes a parameter and micro-batch; weights are gathered twice, 2 + 2 + 4.",
        )


def tensor_parallel(draw: Draw) -> Draft | None:
    """Ask for the bytes that a tensor-parallel rank sends in a micro-batch."""
    gpu = scenarios.gpu_for(draw, scenarios.MOST_RANKS[0])
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    a, t = model.architecture, draw.choice((2, 4, 8))
    work = Workload(
        micro_batch=draw.choice((1, 2, 4, 8)),
        sequence=scenarios.sequence_for(draw, model, attention="flash"),
    )
    recompute = draw.choice(("none", "none", "full"))
    sound = not (a.kv_heads % t or a.parallel_residual or scenarios.is_old(gpu))
    if not sound or work.micro_batch * work.sequence > scenarios.MOST_TOKENS:
        return None
    x = _split(model, work, recompute, gpu, t)
    if x is None:
        return None
    sums = Reduces.of(x)
    value = tensor_parallel_bytes(x)
    if not is_near(sums.sent(), value):
        return None
    symbols = {"b": work.micro_batch, "s": work.sequence, "h": a.hidden, "L": a.layers, "t": t}
    return Draft(
        prompt=render("cost-tensor", x=x),
        answer=QuantityAnswer(value=Fraction(value), symbols=symbols),
        hints=(
            "Count the all-reduces of a micro-batch first, then the bytes of one.",
            f"One is of b·s·h elements of 2 bytes: {paper(sums.size)}.",
            "On a ring each GPU sends 2·(t - 1)/t of a tensor to all-reduce it.",
        ),
        solution=tuple(_tensor_steps(x, sums, value)),
        mistakes=(*told(_tensor_mistakes(sums), gb), *unit_slips(value)),
        scenario=x,
    )


def _split(
    model: Model, work: Workload, recompute: str, gpu: Accelerator, t: int
) -> Scenario | None:
    """Return the run, None where Megatron-LM has no such model here."""
    try:
        return Scenario(
            model=model,
            implementation="megatron",
            workload=work,
            recipe=megatrons(Recipe(recompute=recompute)),
            parallel=Parallel(tensor=t),
            hardware=Hardware(gpu=gpu, gpus=t),
        )
    except InputError:
        return None


@dataclass(frozen=True, kw_only=True)
class Reduces:
    """All-reduces of a micro-batch: how many a layer and in all, and of how many bytes each."""

    each: int
    layers: int
    ranks: int
    size: int

    @classmethod
    def of(cls, x: Scenario) -> "Reduces":
        """Return those of a run: two a layer and pass, and one of the embedding and the head."""
        return cls(
            each=6 if x.recipe.recompute == "full" else 4,
            layers=x.architecture.layers,
            ranks=x.parallel.tensor,
            size=2 * x.tokens * x.architecture.hidden,
        )

    @property
    def count(self) -> int:
        """All of them."""
        return self.each * self.layers + 2

    def sent(self, count: int = 0) -> int:
        """Return the bytes that a rank sends for so many, or all, of them over a ring."""
        return (count or self.count) * 2 * self.size * (self.ranks - 1) // self.ranks


def _tensor_steps(x: Scenario, sums: Reduces, value: int) -> Iterator[Step]:
    t, size = sums.ranks, paper(sums.size)
    for text in (
        f"all-reduces: {sums.each} × {sums.layers} + 2 = {sums.count}",
        f"each: 2 bytes × {number(x.tokens)} tokens × {number(x.architecture.hidden)} = {size}",
        f"{sums.count} × 2 × {t - 1}/{t} × {size} = {paper(sums.sent())}",
    ):
        yield Step(text=text, depth="whiteboard")
    yield Step(text=f"counted, one all-reduce: {gb(sums.sent(1))} from each GPU")
    yield Step(text=f"Nothing else is left of the difference: {gb(value)}")


def _tensor_mistakes(sums: Reduces) -> Iterator[Row]:
    t, other = sums.ranks, 10 - sums.each
    yield (
        "backward forgotten",
        sums.sent(2 * sums.layers + 1),
        "is the forward pass alone; the backward pass sums up as many gradients.",
    )
    yield (
        "one all-reduce a layer and pass",
        sums.sent(sums.each // 2 * sums.layers + 2),
        "has one all-reduce a layer and pass; attention and MLP end in one each.",
    )
    yield (
        "ring forgotten",
        sums.count * sums.size,
        "has each tensor once on the wire; a ring sends 2·(t - 1)/t of it.",
    )
    yield (
        "share of the ring forgotten",
        2 * sums.count * sums.size,
        f"leaves out (t - 1)/t, which is {t - 1}/{t}.",
    )
    yield (
        "bytes for elements",
        sums.sent() // 2,
        "counts an element as one byte; in 16 bits it takes two.",
    )
    yield (
        "passes miscounted",
        sums.sent(other * sums.layers + 2),
        f"has {other} all-reduces a layer; here there are {sums.each}.",
    )
