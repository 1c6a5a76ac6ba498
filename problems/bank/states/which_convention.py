"""Topic A, model states: by which accounting a number is right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from engine.catalog import CatalogModel
from engine.units import GB
from problems import scenarios
from problems.answers.choice import Choice, ChoiceAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.model_states import SHARDS, STAGES, Part, each_of, size_of, total_said
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import billions, bytes_of, gb, paper, rounded, sentence, short

LETTERS = "abcde"
FEWEST, MOST = 3, 5
SMALLEST = 6 * GB // 10
# Nearer numbers could not be told apart on paper.
APART = Fraction(106, 100)
SAYS = (
    "a course",
    "a blog post",
    "a quiz",
    "a colleague",
    "an estimator",
    "a model card",
    "a lecture",
    "a forum post",
    "a paper",
    "a vendor's page",
    "a spreadsheet",
    "a candidate",
)


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """A way to count model states that somebody uses.

    Args:
        name: as a choice says it.
        parts: what is counted.
        source: where it is counted so.
    """

    name: str
    parts: tuple[Part, ...]
    source: str


def _accounting(name: str, source: str, **widths: int) -> Accounting:
    stages = {"weights": 3, "gradients": 2, "allowance": 4}
    parts = tuple(
        Part(name=part.replace("_", " "), each=each, stage=stages.get(part, 1))
        for part, each in widths.items()
    )
    return Accounting(name=name, parts=parts, source=source)


ACCOUNTINGS = (
    _accounting("16-bit weights alone", "serving a model", weights=2),
    _accounting("16-bit weights and gradients", "states that SGD has", weights=2, gradients=2),
    _accounting(
        "16-bit weights and gradients, two 8-bit moments",
        "arXiv 2110.02861",
        weights=2,
        gradients=2,
        moments=2,
    ),
    _accounting(
        "everything in bf16: weights, gradients, two moments",
        "pytorch/torchtune README, bf16 recipes",
        weights=2,
        gradients=2,
        moments=4,
    ),
    _accounting(
        "16-bit weights and two fp32 moments",
        "jax-ml/scaling-book training.md",
        weights=2,
        moments=8,
    ),
    _accounting(
        "16-bit weights and gradients, two fp32 moments, no master copy",
        "arXiv 1910.02054 section 3.1, less the master copy",
        weights=2,
        gradients=2,
        moments=8,
    ),
    _accounting(
        "fp32 weights, gradients and momentum",
        "SGD with momentum in fp32",
        weights=4,
        gradients=4,
        momentum=4,
    ),
    _accounting(
        "fp32 weights, gradients and two moments",
        "arinsoracle.blogspot.com 2024/08; stanford-cs336/lectures#3",
        weights=4,
        gradients=4,
        moments=8,
    ),
    _accounting(
        "16-bit weights and gradients, fp32 master copy, two fp32 moments",
        "arXiv 1910.02054 section 3.1",
        weights=2,
        gradients=2,
        master_copy=4,
        moments=8,
    ),
    _accounting(
        "16-bit weights, fp32 gradients, master copy and two moments",
        "NVIDIA/Megatron-LM#654",
        weights=2,
        gradients=4,
        master_copy=4,
        moments=8,
    ),
    _accounting(
        "16-bit weights and gradients beside fp32 gradients, master copy and two moments",
        "AI-Hypercomputer/maxtext#606",
        weights=2,
        gradients=6,
        master_copy=4,
        moments=8,
    ),
    _accounting(
        "fp32 weights, gradients and two moments, and half as much again for activations",
        "arinsoracle.blogspot.com 2024/08",
        weights=4,
        gradients=4,
        moments=8,
        allowance=8,
    ),
)
# The same 16 bytes, of which ZeRO-1 shards 8 and 12.
FP32, USUAL = ACCOUNTINGS[7:9]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model, and how its states are shared out."""

    model: CatalogModel
    stage: int
    ranks: int

    def size(self, accounting: Accounting) -> int:
        """Return the bytes on a GPU by an accounting."""
        return size_of(accounting.parts, self.model.parameters, self.stage, self.ranks)


@kind_at_levels(
    name="which-convention",
    topic="A",
    levels=("mid", "senior"),
    title="The accounting by which a number is right",
    sources=(
        "jax-ml/scaling-book training.md",
        "stanford-cs336/lectures#3",
        "distillprep.com peft",
    ),
)
def which_convention(draw: Draw, level: Level) -> Draft | None:
    """Ask by which of a few accountings a number of GB is right."""
    model = scenarios.any_model(draw)
    stage = draw.choice((1, 1, 2, 3)) if level == "senior" else 0
    ranks = draw.choice((4, 8, 16, 32, 64)) if stage else 1
    case = Case(model=model, stage=stage, ranks=ranks)
    shown = _shown(draw, stage)
    right = draw.choice(shown)
    if case.size(right) < SMALLEST or not _apart(case, shown):
        return None
    return Draft(
        prompt=render(
            "which-convention",
            case=case,
            stage=STAGES[stage],
            who=sentence(draw.choice(SAYS)),
            size=paper(case.size(right)),
        ),
        answer=_answer(case, shown, right),
        hints=_hints(case, right),
        solution=tuple(_steps(case, shown, right)),
        mistakes=(),
    )


def _shown(draw: Draw, stage: int) -> tuple[Accounting, ...]:
    """Return three to five accountings; where states are shared, often two of the same total."""
    many = draw.between(FEWEST, MOST)
    if not (stage and draw.chance(40)):
        return draw.sample(ACCOUNTINGS, many)
    others = [one for one in ACCOUNTINGS if one not in {FP32, USUAL}]
    shown = (FP32, USUAL, *draw.sample(others, many - 2))
    return draw.sample(shown, many)


def _apart(case: Case, shown: Sequence[Accounting]) -> bool:
    sizes = [case.size(one) for one in shown]
    return all(max(pair) >= APART * min(pair) for pair in combinations(sizes, 2))


def _answer(case: Case, shown: Sequence[Accounting], right: Accounting) -> ChoiceAnswer:
    return ChoiceAnswer(
        choices=tuple(
            Choice(
                item=RankedItem(key=key, name=one.name, value=_each(case, one)),
                mistake="" if one is right else "another accounting",
                feedback=_feedback(case, one),
            )
            for key, one in zip(LETTERS, shown, strict=False)
        )
    )


def _each(case: Case, one: Accounting) -> Fraction:
    return each_of(one.parts, case.stage, case.ranks)


def _feedback(case: Case, one: Accounting) -> str:
    said = total_said(one.parts, case.stage, case.ranks)
    return f"By {said} a parameter it is {gb(case.size(one))}{_against_the_usual(case, one)}."


def _against_the_usual(case: Case, one: Accounting) -> str:
    """Return what an accounting has less than the usual 16 bytes, or more."""
    off = case.size(USUAL) - case.size(one)
    if not off:
        return ""
    usual = short(_each(case, USUAL))
    return f"; {'less' if off > 0 else 'more'} by {gb(abs(off))} than the usual {usual} bytes"


def _hints(case: Case, right: Accounting) -> tuple[str, str, str]:
    shares = (
        f"{sentence(STAGES[case.stage])} {SHARDS[case.stage]}."
        if case.stage
        else ("On one GPU nothing is divided, so the sum of the widths is what you look for.")
    )
    return (
        "Divide the number by the parameters: how many bytes has each of them?",
        f"{shares} An fp32 entry takes 4 bytes, a 16-bit one 2, an 8-bit one 1.",
        f"It is {bytes_of(_each(case, right))} a parameter on a GPU; add up each choice.",
    )


def _steps(case: Case, shown: Sequence[Accounting], right: Accounting) -> Iterator[Step]:
    size, parameters = case.size(right), rounded(case.model.parameters)
    yield Step(
        text=f"{paper(size)} / {billions(parameters)} billion parameters is about "
        f"{bytes_of(Fraction(size, case.model.parameters))} each",
        depth="whiteboard",
    )
    for one in shown:
        said = total_said(one.parts, case.stage, case.ranks)
        yield Step(text=f"{one.name}: {said}", depth="whiteboard")
    for one in shown:
        yield Step(text=f"{bytes_of(_each(case, one))} a parameter are {gb(case.size(one))}")
    yield Step(text=f"so it is right by this accounting: {right.name}")
