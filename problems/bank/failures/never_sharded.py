"""Topic H, real failures: memory that does not fall with more GPUs, and what stayed whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.catalog import CatalogModel
from engine.estimate import model_states
from engine.units import GB, GIB
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import billions, gb, number, rounded, sentence, short

LETTERS = "abcde"
RANKS = (2, 4, 8, 16, 24, 32, 48, 64, 96, 128)
ROWS = 3
OTHERS: dict[Level, tuple[int, int]] = {"mid": (2, 3), "senior": (3, 4)}
SMALLEST = GB
# Two pictures that are nearer to each other everywhere could not be told apart.
APART = Fraction(105, 100)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What may lie on a GPU between two steps, in bytes a parameter.

    Args:
        name: as a choice has it.
        short: another name that may be typed.
        whole: what every GPU has all of.
        shared: what the GPUs share.
        group: GPUs that share it at most; 0 for all.
        why: what leads to it.
    """

    name: str
    short: str
    whole: int
    shared: int
    group: int = 0
    why: str

    def size(self, parameters: int, ranks: int) -> int:
        """Return the bytes on one of so many GPUs."""
        among = min(ranks, self.group) if self.group else ranks
        return self.whole * parameters + -(-self.shared * parameters // among)

    @property
    def said(self) -> str:
        """The bytes a parameter: "2 + 12/N"."""
        parts = [str(self.whole)] if self.whole else []
        if self.shared:
            parts.append(f"{self.shared}/{f'min(N, {self.group})' if self.group else 'N'}")
        return " + ".join(parts)


PICTURES = (
    Picture(
        name="nothing is whole, it is as asked for",
        short="sharded",
        whole=0,
        shared=12,
        why="weights and moments in fp32, each GPU its part",
    ),
    Picture(
        name="the weights are whole in 16 bits",
        short="16-bit copy",
        whole=2,
        shared=12,
        why="the model was built on each GPU before it was sharded, or weights are not sharded",
    ),
    Picture(
        name="the weights are whole in fp32",
        short="fp32 copy",
        whole=4,
        shared=12,
        why="something still holds the model that was loaded: a name, or a reference copy",
    ),
    Picture(
        name="the moments are whole",
        short="moments",
        whole=8,
        shared=4,
        why="the optimizer was built on the parameters before they were sharded",
    ),
    Picture(
        name="all of it is whole",
        short="nothing sharded",
        whole=12,
        shared=0,
        why="the wrapper matched no module, so that each GPU trains a whole model",
    ),
    Picture(
        name="shards go round within eight GPUs only",
        short="hybrid",
        whole=0,
        shared=12,
        group=8,
        why="hybrid sharding: each node of eight has a whole model",
    ),
)


@kind_at_levels(
    name="never-sharded",
    topic="H",
    levels=("mid", "senior"),
    title="Memory that does not fall with the GPUs",
    sources=(
        "deepspeedai/DeepSpeed#4093",
        "https://discuss.pytorch.org/t/fsdp-training-no-gpu-memory-decrease/167734",
    ),
)
def never_sharded(draw: Draw, level: Level) -> Draft | None:
    """Ask what is whole on each GPU, out of three to five, by memory at three numbers of GPUs."""
    model, counts = scenarios.any_model(draw), sorted(draw.sample(RANKS, ROWS))
    right = draw.choice(PICTURES)
    others = [one for one in PICTURES if one is not right and _is_apart(one, right, counts)]
    count = draw.between(*OTHERS[level])
    least = model_states(
        model.parameters, precision="mixed", optimizer="adamw", zero=3, ranks=counts[-1]
    )
    if len(others) < count or min(least["weights"], least["optimizer states"]) < SMALLEST // 10:
        return None
    shown = draw.sample((right, *draw.sample(others, count)), count + 1)
    gpu = scenarios.gpu_for(draw, counts[-1])
    if right.size(model.parameters, counts[0]) > gpu.memory:
        return None
    return Draft(
        prompt=render("never-sharded", model=model, gpu=gpu),
        exhibit="\n".join(_table(model, counts, right)),
        answer=_answer(shown, right, model, counts),
        hints=_hints(model, counts, right),
        solution=tuple(_steps(model, counts, right)),
        mistakes=(),
    )


def _is_apart(one: Picture, right: Picture, counts: Sequence[int]) -> bool:
    """Return whether two pictures differ at some number of GPUs."""
    sizes = [sorted((one.size(GB, n), right.size(GB, n))) for n in counts]
    return any(large > APART * small for small, large in sizes)


def _table(model: CatalogModel, counts: Sequence[int], right: Picture) -> Iterator[str]:
    yield "GPUs   torch.cuda.memory_allocated() on each, between two steps"
    for ranks in counts:
        size = right.size(model.parameters, ranks)
        yield f"{ranks:>4}   {size / GIB:>8,.2f} GiB"


def _answer(
    shown: Sequence[Picture], right: Picture, model: CatalogModel, counts: Sequence[int]
) -> ChoiceAnswer:
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(
                    key=letter,
                    name=one.name,
                    aliases=(one.short,),
                    value=Fraction(one.size(model.parameters, counts[0])),
                ),
                mistake="" if one is right else "another picture than the one measured",
                feedback=_feedback(one, right, model, counts),
            )
            for letter, one in zip(LETTERS, shown, strict=False)
        )
    )


def _feedback(one: Picture, right: Picture, model: CatalogModel, counts: Sequence[int]) -> str:
    first, last = (_gb(one.size(model.parameters, n)) for n in (counts[0], counts[-1]))
    if one is right:
        return f"{one.said} bytes a parameter are {first} and {last}, as measured."
    name = sentence(one.short)
    return f"{name}: {one.said} bytes, {first} on {counts[0]} GPUs and {last} on {counts[-1]}."


def _gb(size: int) -> str:
    return gb(size) if gb(size).endswith("GB") else f"{size / GB:.3f} GB"


def _hints(model: CatalogModel, counts: Sequence[int], right: Picture) -> tuple[str, str, str]:
    first, last = (right.size(model.parameters, n) for n in (counts[0], counts[-1]))
    each = Fraction(first, model.parameters)
    return (
        "Divide what was measured by the parameters: how many bytes of each lie on a GPU?",
        (
            f"As asked for it is 12/N bytes: {short(Fraction(12, counts[0]))} on {counts[0]} GPUs "
            f"and {short(Fraction(12, counts[-1]))} on {counts[-1]}. What does not fall is whole."
        ),
        (
            f"On {counts[0]} GPUs it is {short(each)} bytes a parameter, on {counts[-1]} "
            f"{short(Fraction(last, model.parameters))}."
        ),
    )


def _steps(model: CatalogModel, counts: Sequence[int], right: Picture) -> Iterator[Step]:
    for ranks in (counts[0], counts[-1]):
        size = right.size(model.parameters, ranks)
        yield Step(
            text=f"N = {ranks}: {_gb(size)} / {billions(rounded(model.parameters))} billion = "
            f"{short(Fraction(size, model.parameters))} bytes a parameter",
            depth="whiteboard",
        )
    yield Step(text=f"that is {right.said}", depth="whiteboard")
    asked = PICTURES[0].size(model.parameters, counts[-1])
    yield Step(
        text=f"12/N bytes of {number(model.parameters)} parameters, N = {counts[-1]}: {_gb(asked)}"
    )
    yield Step(text=f"how it comes about: {right.why}")
    yield Step(text=f"what was measured: {right.name}")
