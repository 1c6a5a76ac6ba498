"""Topic H, real failures: a run that died without a log, and what to look at, in what order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from engine.estimate import ledger
from engine.ledger import Category, Ledger
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from engine.units import GB, KB
from problems import scenarios
from problems.answers.checklist import Action, ChecklistAnswer
from problems.answers.ranking import RankedItem
from problems.draft import Draft
from problems.draw import Draw
from problems.exhibits import item
from problems.kind import kind_at_levels
from problems.problem import Level, Step
from problems.prompts import render
from problems.wording import bare_gb, gb, number, paper, recipe_said

LETTERS = "abcdefg"
NAME_WIDTH = 22
COUNTS: dict[Level, tuple[int, int]] = {"mid": (5, 5), "senior": (6, 7)}
# What is not PyTorch's of a card.
OUTSIDE = 2 * GB
# How far the asked bytes of two that count lie apart at least, and those of all from the card.
CLEAR = Fraction(8, 100)
FEWEST = 2
LENGTHS = (256, 512, 1024, 2048)
EXAMPLES = (10, 20, 40, 50, 80, 100, 160, 200, 300, 400, 500, 800, 1000, 1600, 2000, 4000)
EVERY = (1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000)
# Percent of a card that a list of tensors takes, so that some ask for too much and some do not.
LISTED = (15, 130)
BLOCK = 512  # bytes that the caching allocator gives to a tensor of one number


@dataclass(frozen=True, kw_only=True)
class Life:
    """A run whose batches are as long as their longest sequence, and what it has done."""

    run: Scenario
    longest: int
    steps: int

    @property
    def capacity(self) -> int:
        """What PyTorch has of a card."""
        return self.run.hardware.gpu.memory - OUTSIDE

    @cached_property
    def book(self) -> Ledger:
        """The ledger of a usual step."""
        return ledger(self.run)

    @property
    def peak(self) -> int:
        """The peak of a usual step."""
        return self.book.peak

    @cached_property
    def highest(self) -> int:
        """The peak of a step with the longest sequences."""
        work = replace(self.run.workload, sequence=self.longest)
        return ledger(replace(self.run, workload=work)).peak

    @property
    def live(self) -> int:
        """What is there between two steps."""
        states = (Category.WEIGHTS, Category.MASTER_WEIGHTS, Category.OPTIMIZER_STATE)
        return self.book.total(*states) + self.book.size("cuBLAS workspace")

    @property
    def slope(self) -> Fraction:
        """Bytes that a further token of each sequence adds to the peak."""
        return Fraction(self.highest - self.peak, self.longest - self.run.workload.sequence)

    @property
    def whole(self) -> int:
        """Bytes of all weights in the precision of the shards."""
        return PRECISIONS[self.run.recipe.precision].stepped * self.run.architecture.parameters


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """What may have done it.

    Args:
        name: how it is called.
        also: what it may be typed as.
        says: what is known of it.
        base: bytes that are there when it comes.
        more: bytes that it asks for beside them.
        product: how they come about, on paper.
    """

    name: str
    also: tuple[str, ...]
    says: str
    base: int
    more: int = 0
    product: str = ""

    @property
    def asks(self) -> int:
        """Bytes that are alive then."""
        return self.base + self.more

    @property
    def sum_said(self) -> str:
        """The sum on paper: "20.1 + 4 × 500 × 512 × 32,000 = 52.9 GB"."""
        return f"{bare_gb(self.base)} GB + {self.product} = {paper(self.asks)}"


@kind_at_levels(
    name="late-suspects",
    topic="H",
    levels=("mid", "senior"),
    title="Out of memory late and unlogged: what to check first",
    sources=("tensorflow/tensor2tensor#581", "verl-project/verl#3035"),
)
def late_suspects(draw: Draw, level: Level) -> Draft | None:
    """Ask which of a few events ask for more than the card has, what asks for most first."""
    life = _life(draw)
    if life is None:
        return None
    drawn = (*_that_count(draw, life), *_idle(draw, life))
    size = min(draw.between(*COUNTS[level]), len(drawn))
    shown = draw.sample(drawn, size)
    order = sorted((x for x in shown if x.asks > life.capacity), key=lambda x: -x.asks)
    if not FEWEST <= len(order) < size or not _is_clear(shown, order, life.capacity):
        return None
    return Draft(
        prompt=render(
            "late-suspects",
            x=life.run,
            life=life,
            recipe=recipe_said(life.run.recipe.precision, life.run.recipe.optimizer,
                               fsdp=life.run.parallel.zero == 3),
            capacity=gb(life.capacity),
            live=gb(life.live),
            peak=gb(life.peak),
            slope=gb(KB * life.slope),
        ),
        exhibit="\n".join(item(x.name, x.says, room=NAME_WIDTH) for x in shown),
        answer=_answer(shown, order, life.capacity),
        hints=_hints(shown, order, life),
        solution=tuple(_steps(order, shown, life)),
        mistakes=(),
        scenario=life.run,
    )  # fmt: skip


def _life(draw: Draw) -> Life | None:
    """Return a run that is whole on one GPU or shared by FSDP2, with room on its card."""
    run = scenarios.run(draw, low=40, high=150)
    part = draw.choice((2, 4, 8))
    steps = KB * draw.between(3, 90)
    if run is None or run.parallel.zero not in {0, 3} or run.recipe.attention != "flash":
        return None
    longest = run.workload.sequence
    if (run.parallel.zero == 0 and run.hardware.gpus > 1) or longest // part < LENGTHS[0]:
        return None
    usual = replace(run, workload=replace(run.workload, sequence=longest // part))
    life = Life(run=usual, longest=longest, steps=steps)
    return life if life.peak < (1 - 2 * CLEAR) * life.capacity else None


def _that_count(draw: Draw, life: Life) -> Iterator[Suspect]:
    """Yield what asks for so much that it must be priced."""
    run, model = life.run, life.run.architecture
    further = life.longest - run.workload.sequence
    yield Suspect(
        name="the longest batch",
        also=("longest",),
        says=f"{number(life.longest)} tokens a sequence",
        base=life.peak,
        more=life.highest - life.peak,
        product=f"{number(further)} × {bare_gb(KB * life.slope)} GB / 1,000",
    )
    length = draw.choice(LENGTHS)
    examples = _near(draw, life, EXAMPLES, 4 * length * model.vocab)
    yield Suspect(
        name="the evaluation",
        also=("evaluation", "eval"),
        says=f"keeps the fp32 logits of {number(examples)} × {number(length)} tokens on each GPU",
        base=life.live,
        more=4 * examples * length * model.vocab,
        product=f"4 × {number(examples)} × {number(length)} × {number(model.vocab)}",
    )
    if run.parallel.zero == 3:
        wide = PRECISIONS[run.recipe.precision].stepped
        yield Suspect(
            name="the save",
            also=("save",),
            says=f"gathers all weights on each GPU, {wide} bytes a parameter",
            base=life.live,
            more=life.whole,
            product=f"{wide} × {number(model.parameters)}",
        )
    each = PRECISIONS[run.recipe.precision].residual
    of_one = each * run.tokens * model.hidden
    times = _near(draw, life, [life.steps // n for n in EVERY], of_one)
    product = f"{times} × {each} × {number(run.tokens)} × {number(model.hidden)}"
    yield Suspect(
        name="the hook",
        also=("hook", "leak"),
        says=f"keeps the last hidden state (b × s × h, {each} bytes) of {number(times)} steps",
        base=life.peak,
        more=times * of_one,
        product=product,
    )


def _near(draw: Draw, life: Life, counts: Sequence[int], each: int) -> int:
    """Return one of `counts` with which so many times `each` is about a card, or the nearest."""
    shares = {n: 100 * n * each // life.capacity for n in counts if n}
    near = [n for n, share in shares.items() if LISTED[0] <= share <= LISTED[1]]
    return draw.choice(near or [min(shares, key=lambda n: abs(shares[n] - LISTED[0]))])


def _idle(draw: Draw, life: Life) -> Iterator[Suspect]:
    """Yield what asks for next to nothing."""
    if life.run.parallel.zero != 3:
        yield Suspect(
            name="the save",
            also=("save",),
            says="writes weights and optimizer states from where they lie",
            base=life.live,
        )
    pieces = (life.capacity - life.peak) * draw.between(20, 70) // 100
    yield Suspect(
        name="the cache in pieces",
        also=("pieces", "fragmentation"),
        says=f"{gb(pieces)} were reserved beyond the peak, at the first step and at the last",
        base=life.peak,
    )
    yield Suspect(
        name="the loader's workers",
        also=("workers",),
        says=f"{draw.choice((4, 8, 16, 32))} processes with {draw.between(1, 6)} GB each",
        base=life.peak,
    )
    yield Suspect(
        name="the logged losses",
        also=("losses", "log"),
        says="the detached loss of every step, on the GPU, 512 bytes each",
        base=life.peak,
        more=BLOCK * life.steps,
        product=f"{BLOCK} × {number(life.steps)}",
    )


def _is_clear(shown: Sequence[Suspect], order: Sequence[Suspect], capacity: int) -> bool:
    """Return whether rounding on paper leaves the order, and what is in it, as they are."""
    if any(abs(x.asks - capacity) < CLEAR * capacity for x in shown if x.more):
        return False
    return all(one.asks > (1 + CLEAR) * two.asks for one, two in pairwise(order))


def _why(x: Suspect, capacity: int) -> str:
    if not x.more:
        return f"Nothing more is asked of the card: {gb(x.base)} as before."
    than = "more than" if x.asks > capacity else "within"
    return f"It makes {gb(x.base)} into {gb(x.asks)}, {than} the {gb(capacity)}."


def _answer(shown: Sequence[Suspect], order: Sequence[Suspect], capacity: int) -> ChecklistAnswer:
    keys = {x.name: letter for x, letter in zip(shown, LETTERS, strict=False)}
    return ChecklistAnswer(
        actions=tuple(
            Action(
                item=RankedItem(
                    key=keys[x.name], name=x.name, aliases=x.also, value=Fraction(x.asks)
                ),
                why=_why(x, capacity),
            )
            for x in shown
        ),
        order=tuple((keys[x.name],) for x in order),
        first="largest",
    )


def _hints(shown: Sequence[Suspect], order: Sequence[Suspect], life: Life) -> tuple[str, str, str]:
    idle = next(x for x in shown if x not in order)
    return (
        "Each comes on top of something: of what is alive between two steps, or of a step's peak.",
        (
            f"Evaluation and save begin at {gb(life.live)}, the others at {gb(life.peak)}. What "
            "lives on the host, or is no live tensor, adds nothing."
        ),
        (
            f"{len(order)} of the {len(shown)} ask for more than {gb(life.capacity)}; {idle.name} "
            "does not."
        ),
    )


def _steps(order: Sequence[Suspect], shown: Sequence[Suspect], life: Life) -> Iterator[Step]:
    for x in shown:
        if x.more:
            yield Step(text=f"{x.name}: {x.sum_said}", depth="whiteboard")
        else:
            yield Step(text=f"{x.name}: nothing on the GPU", depth="whiteboard")
    for x in shown:
        than = "more than" if x in order else "within"
        yield Step(text=f"{x.name}: {gb(x.asks)}, {than} {gb(life.capacity)}")
    yield Step(
        text="to meet it at once and not by chance: run the longest batch, an evaluation and a "
        "save before the first step"
    )
    yield Step(text=f"what asks for most first: {' > '.join(x.name for x in order)}")
