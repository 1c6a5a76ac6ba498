"""Topic F, inference: is the share of the card free that a serving engine asks for?"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.accelerator import Accelerator
from engine.units import MB, MIB
from problems.answers.quantity import QuantityAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.served import and_units
from problems.serving import any_card
from problems.wording import gb, number, paper
from problems.wrong_sizes import wrong_size

PERCENTS = (60, 70, 75, 80, 85, 90, 92, 95, 97, 98, 99, 100)
# Who else is on a card, and what each takes there, in MiB.
OTHERS = (
    ("display server", 60, 900),
    ("notebook kernel", 400, 9000),
    ("embedding service", 700, 6000),
    ("another engine", 3000, 14_000),
    ("monitoring", 90, 500),
    ("video decoder", 200, 1500),
    ("stale worker", 500, 8000),
)
CONTEXT = ("engine's own context", 250, 700)
# How near to the share no clear answer is, as a part of the card.
NEAR = Fraction(1, 200)
WIDTH = 24
ATTEMPTS = 100


@dataclass(frozen=True, kw_only=True)
class Case:
    """A card, what lies on it already, and the share that an engine asks for."""

    gpu: Accelerator
    percent: int
    used: tuple[tuple[str, int], ...]

    @property
    def taken(self) -> int:
        """Bytes that lie on the card already."""
        return MIB * sum(size for _, size in self.used)

    @property
    def share(self) -> int:
        """Bytes that the engine asks for."""
        return self.gpu.memory * self.percent // 100

    @property
    def spare(self) -> int:
        """Bytes that stay free when the engine has its share; negative where they are missing."""
        return self.gpu.memory - self.taken - self.share


@kind(
    name="engine-starts",
    topic="F",
    level="junior",
    title="Is an engine's share of the card free?",
    sources=(
        "vllm-project/vllm#10797",
        "vLLM documentation, engine arguments: gpu_memory_utilization",
    ),
)
def engine_starts(draw: Draw) -> Draft | None:
    """Ask whether a share of the card is free beside what lies on it; as many are as are not."""
    wanted = draw.chance(50)
    tried = (_case(draw) for _ in range(ATTEMPTS))
    case = next((x for x in tried if (x.spare > 0) == wanted and _is_clear(x)), None)
    if case is None:
        return None
    size = abs(case.spare)
    return Draft(
        prompt=render("engine-starts", case=case),
        exhibit="\n".join(_table(case)),
        answer=YesNoAnswer(
            value=case.spare > 0,
            proof=QuantityAnswer(value=Fraction(size), band="count"),
            difference=True,
        ),
        hints=(
            "The share is one of the whole card, not of what is free on it.",
            (
                f"{case.percent}% of {number(case.gpu.memory_mib)} MiB are asked for. How much is "
                "free?"
            ),
            (
                f"On the card lie {number(case.taken // MIB)} MiB; take these and the share off "
                f"{number(case.gpu.memory_mib)} MiB."
            ),
        ),
        solution=tuple(_steps(case)),
        mistakes=and_units(_mistakes(case), size),
    )


def _case(draw: Draw) -> Case:
    rows = (CONTEXT, *draw.sample(OTHERS, draw.between(1, 3)))
    return Case(
        gpu=any_card(draw),
        percent=draw.choice(PERCENTS),
        used=tuple((name, draw.between(low, high)) for name, low, high in rows),
    )


def _is_clear(case: Case) -> bool:
    near = abs(case.spare) <= NEAR * case.gpu.memory
    return not near and case.taken < case.gpu.memory


def _table(case: Case) -> Iterator[str]:
    yield f"{'process':<{WIDTH}}{'GPU memory':>12}"
    for name, size in case.used:
        yield f"{name:<{WIDTH}}{size:>8} MiB"
    yield f"{'card in all':<{WIDTH}}{case.gpu.memory_mib:>8} MiB"


def _steps(case: Case) -> Iterator[Step]:
    memory, taken = case.gpu.memory_mib, case.taken // MIB
    share = case.percent * memory // 100
    yield Step(
        text=f"on the card: {' + '.join(number(size) for _, size in case.used)} = "
        f"{number(taken)} MiB, so {number(memory - taken)} MiB are free",
        depth="whiteboard",
    )
    yield Step(
        text=f"asked for: {case.percent}% of {number(memory)} = {number(share)} MiB",
        depth="whiteboard",
    )
    high, low = sorted((memory - taken, share), reverse=True)
    yield Step(
        text=f"{number(high)} - {number(low)} = {number(high - low)} MiB = "
        f"{paper(MIB * (high - low))}",
        depth="whiteboard",
    )
    verdict, said = ("yes", "to spare") if case.spare > 0 else ("no", "missing")
    yield Step(
        text=f"{verdict}: free are {gb(case.gpu.memory - case.taken)}, asked for {gb(case.share)}"
    )
    yield Step(text=f"With nothing rounded: {said} {gb(abs(case.spare))}")


def _mistakes(case: Case) -> Iterator[Mistake]:
    size, free = abs(case.spare), case.gpu.memory - case.taken
    yield wrong_size(
        abs(free - free * case.percent // 100),
        size,
        "share of what is free",
        f"takes {case.percent}% of what is free; the share is of the whole card: {{off}} off.",
    )
    yield wrong_size(
        abs(case.gpu.memory - case.share),
        size,
        "other processes forgotten",
        f"leaves out what lies on the card already, {gb(case.taken)}.",
    )
    context = MIB * case.used[0][1]
    yield wrong_size(
        abs(case.spare + context),
        size,
        "context forgotten",
        f"leaves out the context, {gb(context)}: it lies on the card outside of the share.",
    )
    yield wrong_size(
        free, size, "free memory alone", f"is what is free; {gb(case.share)} are asked for."
    )
    yield wrong_size(
        case.share, size, "the share alone", f"is the share; {gb(free)} are free for it."
    )
    yield wrong_size(
        Fraction(size * MB, MIB), size, "MiB taken for MB", "reads MiB as MB: {off} off."
    )
