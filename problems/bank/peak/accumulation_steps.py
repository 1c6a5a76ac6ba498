"""Topic D, the peak: the steps of accumulation that a batch takes."""

from collections.abc import Iterator
from fractions import Fraction

from problems.answers.count import CountAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.wording import number

STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
MICRO = (1, 2, 3, 4, 6, 8, 16)
DATA = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
TENSOR, PIPELINE = (2, 4, 8), (1, 2, 4, 8)
SEQUENCES = (1024, 2048, 4096, 8192, 16384, 32768)


@kind_at_levels(
    name="accumulation-steps",
    topic="D",
    levels=("junior", "mid", "senior"),
    title="Steps of accumulation in a batch",
    sources=("jax-ml/scaling-book training.md", "NVIDIA/Megatron-LM, global batch size"),
)
def accumulation_steps(draw: Draw, level: Level) -> Draft | None:
    """Ask for the micro-batches that a rank runs for one batch of all ranks."""
    steps, micro, data = draw.unlike(
        lambda: (draw.choice(STEPS), draw.choice(MICRO), draw.choice(DATA))
    )
    split = (draw.choice(TENSOR), draw.choice(PIPELINE)) if level != "junior" else (1, 1)
    gpus, batch = data * split[0] * split[1], steps * micro * data
    sequence = draw.choice(SEQUENCES) if level == "senior" else 0
    said = f"{number(batch)} sequences"
    if sequence:
        said = f"{number(batch * sequence)} tokens, in sequences of {number(sequence)},"
    return Draft(
        prompt=(
            f"A batch of {said} is trained on {number(gpus)} GPUs{_split(split)}, with a "
            f"micro-batch of {micro}.\nOver how many micro-batches does each GPU accumulate "
            "gradients before the optimizer steps? The answer is a whole number of micro-batches."
        ),
        answer=CountAnswer(value=steps, noun="micro-batches"),
        hints=(
            "Which GPUs see different sequences, and how many sequences does one of them get?",
            f"{number(data)} groups of GPUs each take a share of the batch.",
            f"One group gets {number(batch)} / {number(data)} sequences, {micro} at a time.",
        ),
        solution=tuple(_steps(steps, micro, (data, *split), batch, sequence)),
        mistakes=tuple(_mistakes(steps, micro, (data, *split))),
    )


def _split(split: tuple[int, int]) -> str:
    tensor, pipeline = split
    if tensor == pipeline == 1:
        return ", all data parallel"
    rest = f" and pipeline parallel over {pipeline} stages" if pipeline > 1 else ""
    return f", tensor parallel over {tensor}{rest}, the rest data parallel"


def _steps(
    steps: int, micro: int, ranks: tuple[int, int, int], batch: int, sequence: int
) -> Iterator[Step]:
    data, tensor, pipeline = ranks
    if sequence:
        tokens = number(batch * sequence)
        text = f"{tokens} tokens / {number(sequence)} = {number(batch)} sequences"
        yield Step(text=text, depth="whiteboard")
    if tensor * pipeline > 1:
        gpus = number(data * tensor * pipeline)
        text = f"data-parallel groups: {gpus} GPUs / ({tensor} × {pipeline}) = {number(data)}"
        yield Step(text=text, depth="whiteboard")
    text = f"{number(batch)} / ({number(data)} × {micro}) = {number(steps)}"
    yield Step(text=text, depth="whiteboard")
    yield Step(text=f"activations and logits are those of {micro} at a time, whatever the batch")
    yield Step(text=f"micro-batches for each step of the optimizer: {number(steps)}")


def _mistakes(steps: int, micro: int, ranks: tuple[int, int, int]) -> Iterator[Mistake]:
    data, tensor, pipeline = ranks
    rows = (
        (
            steps * micro,
            "micro-batch not divided",
            (f"divides by the ranks alone, not by the micro-batch of {micro}."),
        ),
        (
            steps * data,
            "ranks forgotten",
            (f"is the batch over the micro-batch; {data} groups of GPUs share it."),
        ),
        (
            Fraction(steps, tensor * pipeline),
            "all GPUs taken as data parallel",
            "divides by all GPUs; those that hold parts of one model see the same sequences.",
        ),
        (
            steps * pipeline,
            "stages not taken out",
            ("counts the pipeline's stages as if they shared the batch the other way."),
        ),
        (2 * steps, "twice as many", "is two times too many: check the groups."),
        (Fraction(steps, 2), "half as many", "is half of it: check the groups."),
    )
    for value, name, why in rows:
        if value != steps and value >= 1 and Fraction(value).denominator == 1:
            whole = int(value)
            yield Mistake(name=name, value=Fraction(whole), feedback=f"{number(whole)} {why}")
