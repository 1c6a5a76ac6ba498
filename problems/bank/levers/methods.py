"""Topic E, levers: how much of a model one GPU can train."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.estimate import ledger
from engine.ledger import MODEL_STATES, Phase
from engine.scenario import Adapters, Hardware, Model, Scenario, Workload
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Step
from problems.wording import billions, card, gb, number, paper, rounded, sentence

RANK = 16
# Name, what it may be typed as, bytes a parameter on paper.
METHODS = (
    ("full fine-tuning", ("full", "everything"), Fraction(16)),
    ("LoRA on a 16-bit base", ("lora", "16-bit adapters"), Fraction(2)),
    ("LoRA on a 4-bit base", ("qlora", "4-bit adapters"), Fraction(33, 64)),
)
NONE = "none of the three"
LETTERS = "abcd"
# Percent of the card that states may take, and how far from it they must be.
ROOM, CLEAR = (50, 60, 70, 75, 80, 85, 90), Fraction(1, 12)


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way of training and what its states take on one GPU."""

    name: str
    also: tuple[str, ...]
    each: Fraction
    size: int


@kind(
    name="which-method",
    topic="E",
    level="mid",
    title="Full fine-tuning, LoRA or QLoRA on one GPU",
    sources=(
        "arXiv 2305.14314 section 3",
        "velocode.ai, LoRA vs QLoRA vs full fine-tuning",
        "artidoro/qlora#225",
    ),
)
def which_method(draw: Draw) -> Draft | None:
    """Ask which of three methods is the first whose states fit in a part of one card."""
    wanted = draw.below(len(METHODS) + 1)
    name, gpu, room = draw.unlike(
        lambda: (
            draw.choice(scenarios.trainable()),
            scenarios.gpu_for(draw, 1),
            draw.choice(ROOM),
        ),
        lambda figures: (figures[0], figures[1].name, figures[2]),
    )
    model = scenarios.modelled(name)
    most = gpu.memory * room // 100
    guess = [each * model.architecture.parameters <= most for _, _, each in METHODS]
    if (guess.index(True) if True in guess else len(METHODS)) != wanted:
        return None
    methods = tuple(_methods(model, gpu))
    if any(abs(method.size - most) < CLEAR * most for method in methods):
        return None
    fitting = [method for method in methods if method.size <= most]
    right = fitting[0] if fitting else None
    return Draft(
        prompt=_prompt(model, gpu, room),
        answer=_answer(methods, right, most),
        hints=_hints(model, methods, most),
        solution=tuple(_steps(model, methods, right, most)),
        mistakes=(),
    )


def _scenario(model: Model, gpu: Accelerator, base: str) -> Scenario:
    return Scenario(
        model=model,
        workload=Workload(sequence=scenarios.SEQUENCES[0][0]),
        adapters=Adapters(rank=RANK, base=base) if base else Adapters(),
        hardware=Hardware(gpu=gpu),
    )


def _methods(model: Model, gpu: Accelerator) -> Iterator[Method]:
    for (name, also, each), base in zip(METHODS, ("", "16-bit", "4-bit"), strict=True):
        book = ledger(_scenario(model, gpu, base))
        size = book.total(*MODEL_STATES, phase=Phase.REDUCE)
        yield Method(name=name, also=also, each=each, size=size)


def _prompt(model: Model, gpu: Accelerator, room: int) -> str:
    return (
        f"{model.title} (P = {number(model.architecture.parameters)} parameters) on one "
        f"{card(gpu)} with {number(gpu.memory_mib)} MiB, of which {room}% may hold model states. "
        "Full fine-tuning is mixed precision with AdamW: 16-bit weights and gradients, fp32 "
        f"master copy and moments. LoRA has rank {RANK} on all linear layers, and trains its "
        "adapters the same way beside a frozen base, in 16 bits or with the layers' matrices in 4 "
        "bits (blocks of 64, double quantisation). Nothing is offloaded.\nWhich is the first of "
        "these whose model states fit?"
    )


def _answer(methods: Sequence[Method], right: Method | None, most: int) -> ChoiceAnswer:
    choices = [
        Choice(
            item=RankedItem(key=letter, name=one.name, aliases=one.also, value=Fraction(one.size)),
            mistake="" if one is right else _mistake(one, most),
            feedback=_feedback(one, right, most),
        )
        for letter, one in zip(LETTERS, methods, strict=False)
    ]
    smallest = methods[-1].size
    choices.append(
        Choice(
            item=RankedItem(key=LETTERS[-1], name=NONE, aliases=("none",), value=Fraction(0)),
            mistake="a method that fits overlooked" if right else "",
            feedback=f"The smallest of them takes {gb(smallest)}; states may take {gb(most)}.",
        )
    )
    return ChoiceAnswer(choices=tuple(choices))


def _mistake(method: Method, most: int) -> str:
    return "a larger method overlooked" if method.size <= most else "a method that does not fit"


def _feedback(method: Method, right: Method | None, most: int) -> str:
    said = f"{sentence(method.name)} takes {gb(method.size)}"
    if method.size > most:
        return f"{said}, more than the {gb(most)} that states may take."
    if method is right:
        return f"{said} of the {gb(most)} that states may take."
    return f"{said} and fits too, but more of the model can be trained."


def _hints(model: Model, methods: Sequence[Method], most: int) -> tuple[str, str, str]:
    return (
        "What does each method hold for a parameter that is frozen, and for one that is trained?",
        (
            f"In bytes a parameter of the model: about {methods[0].each}, {methods[1].each} and a "
            "little more than a half; the adapters themselves are small."
        ),
        (
            f"Compare {billions(rounded(model.architecture.parameters))} billion times each with "
            f"{paper(most)}."
        ),
    )


def _steps(
    model: Model, methods: Sequence[Method], right: Method | None, most: int
) -> Iterator[Step]:
    count = rounded(model.architecture.parameters)
    for one in methods:
        each = f"{float(one.each):.3g}"
        yield Step(
            text=f"{one.name}: {each} × {billions(count)} billion = {paper(count * one.each)}",
            depth="whiteboard",
        )
    yield Step(text=f"states may take {paper(most)}", depth="whiteboard")
    yield Step(text=f"{methods[0].name}: {gb(methods[0].size)}")
    for one in methods[1:]:
        yield Step(text=f"{one.name}, adapters and 16-bit embeddings counted: {gb(one.size)}")
    yield Step(text=f"the first that fits: {right.name if right else NONE}")
