"""Topic H, real failures: the tensor that a message of the allocator is about."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.allocator import segment
from engine.catalog import accelerators
from engine.errors import InputError
from engine.estimate import ledger
from engine.scenario import Hardware, Parallel, Recipe, Scenario, Workload
from engine.units import MB, count
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.artefacts.failing import failed
from problems.artefacts.message import OutOfMemory
from problems.artefacts.message import size as said
from problems.artefacts.tensors import Tensor, tensors
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import STAGES
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import sentence

LETTERS = "abcde"
CHOICES = {"mid": (3, 4), "senior": (4, 5)}
SMALLEST = 100 * MB
# Two tensors that are nearer to each other could not be told apart on paper.
APART = Fraction(108, 100)


@kind_at_levels(
    name="which-tensor",
    topic="H",
    levels=("mid", "senior"),
    title="The tensor that an out-of-memory message is about",
    sources=(
        "pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp",
        "karpathy/nanoGPT#88",
        "tatsu-lab/stanford_alpaca#223",
    ),
)
def which_tensor(draw: Draw, level: Level) -> Draft | None:
    """Ask for the tensor whose size a message has, out of three to five."""
    drawn = _run(draw)
    if drawn is None:
        return None
    found = [one for one in tensors(drawn) if one.size >= SMALLEST]
    right = draw.choice(found) if found else None
    if right is None:
        return None
    failure = _failure(draw, drawn, right)
    if failure is None:
        return None
    run, message = failure
    others = [one for one in found if _is_apart(one, right)]
    size = draw.between(*CHOICES[level])
    if len(others) < size - 1:
        return None
    shown = draw.sample((right, *draw.sample(others, size - 1)), size)
    return Draft(
        prompt=render("which-tensor", x=run, stage=STAGES[run.parallel.zero]),
        exhibit=message.text,
        answer=_answer(shown, right, message),
        hints=_hints(run, message, right),
        solution=tuple(_steps(shown, right, message)),
        mistakes=(),
        scenario=run,
    )


def _run(draw: Draw) -> Scenario | None:
    """Return a step on a card that is changed for another later on."""
    model = scenarios.modelled(draw.choice(scenarios.trainable()))
    ranks = draw.choice((1, 2, 4, 8, 16, 64))
    attention = "eager" if draw.chance(30) else "flash"
    sequence = scenarios.sequence_for(draw, model, attention=attention)
    try:
        return Scenario(
            model=model,
            workload=Workload(
                micro_batch=draw.choice((1, 2, 4, 8, 16)),
                sequence=sequence,
            ),
            recipe=Recipe(attention=attention),
            parallel=Parallel(
                data=ranks, zero=0 if ranks == 1 else draw.weighted(((1, 1), (2, 1), (3, 2)))
            ),
            hardware=Hardware(gpu=accelerators()["a100-80gb"], gpus=ranks),
        )
    except InputError:
        return None


def _failure(draw: Draw, run: Scenario, right: Tensor) -> tuple[Scenario, OutOfMemory] | None:
    """Return the run on the first card of a drawn order on which `right` does not fit."""
    book, gpus = ledger(run), run.hardware.gpus
    cards = [gpu for gpu in scenarios.gpus_for(gpus) if _suits(gpu)]
    for gpu in draw.sample(cards, len(cards)):
        message = failed(draw, right, book, gpu, gpus)
        if message is not None:
            return replace(run, hardware=Hardware(gpu=gpu, gpus=gpus)), message
    return None


def _suits(gpu: Accelerator) -> bool:
    return gpu.vendor == "NVIDIA" and not scenarios.is_old(gpu)


def _is_apart(one: Tensor, right: Tensor) -> bool:
    small, large = sorted((segment(one.size), segment(right.size)))
    return large > APART * small


def _answer(shown: Sequence[Tensor], right: Tensor, message: OutOfMemory) -> ChoiceAnswer:
    asked = said(message.request)
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter, name=one.name, aliases=(one.short,), value=Fraction(one.size)
                ),
                mistake="" if one is right else "another tensor of the step",
                feedback=f"{sentence(one.name)}: {one.both}"
                + (", as asked." if one is right else f"; {asked} were asked for."),
            )
            for letter, one in zip(LETTERS, shown, strict=False)
        )
    )


def _hints(run: Scenario, message: OutOfMemory, right: Tensor) -> tuple[str, str, str]:
    entries = count(message.request // right.bytes, digits=1)
    return (
        (
            "Only the first number of the message is about the tensor; the others are about what "
            "was there before. Turn it into bytes: a GiB is 1.074 GB."
        ),
        (
            "Each tensor is a product: bytes an entry × its sides. Those with tokens have "
            f"{run.tokens:,} of them."
        ),
        (f"The one asked for has {right.bytes} bytes an entry, and so about {entries} entries."),
    )


def _steps(shown: Sequence[Tensor], right: Tensor, message: OutOfMemory) -> Iterator[Step]:
    yield Step(
        text=f"asked for: {said(message.request)} = {message.request / MB:,.0f} MB, in one piece",
        depth="whiteboard",
    )
    for one in shown:
        yield Step(text=f"{one.name}: {one.product}", depth="whiteboard")
    if segment(right.size) == right.size:
        yield Step(text=f"{right.size:,} bytes are a multiple of 2 MiB: nothing is rounded")
    else:
        yield Step(
            text=f"{right.size:,} bytes are rounded up to {message.request:,}, a multiple of 2 MiB"
        )
    yield Step(text=f"the tensor of that size: {right.name}")
