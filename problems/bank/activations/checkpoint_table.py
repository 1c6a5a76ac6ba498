"""Topic B, activations: what checkpoints every few blocks keep at the worst moment."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from engine.estimate import ledger
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from engine.units import GB, MB
from problems import scenarios
from problems.answers.table import TableAnswer
from problems.answers.terms import Term
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import saved
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.terms_asked import UNIT_SAID, last_step, of_term, size_term
from problems.wording import gb, listed, number, paper
from problems.wrong_sizes import wrong_size

NONE = 0
EVERY = (1, 2, 4)
SEGMENTS = (1, 2, 3, 4, 5, 6, 8)
FEWEST_BLOCKS, SMALLEST, LARGEST = 12, 5 * MB, 160 * GB
# With fewer the block's own residuals are hardly more than its input.
FEWEST_TIMES = 6

# Else the block that is run again would have its checkpoint in what it keeps.
COPY = "all of it counted, with a copy of its input, which its norm makes"


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """Blocks that are alike.

    Args:
        layers: how many.
        residuals: bytes that one keeps for its backward pass, its input not among them.
        checkpoint: bytes of one's input.
    """

    layers: int
    residuals: int
    checkpoint: int

    def kept(self, every: int) -> int:
        """Bytes at the worst moment with a checkpoint every so many blocks; 0 is without any."""
        if every == NONE:
            return self.layers * self.residuals
        return -(-self.layers // every) * self.checkpoint + every * self.residuals

    def answer(self, rows: tuple[int, ...]) -> TableAnswer:
        """Return what is kept with each of these distances of checkpoints."""
        return TableAnswer(terms=tuple(self._row(every) for every in rows), over="rows")

    def _row(self, every: int) -> Term:
        aliases = ("none", "no recomputation", "without checkpoints")
        if every:
            aliases = (f"every {every}", f"every {every} block", f"{every} blocks")
        return size_term(row_name(every), self.kept(every), *aliases)


def row_name(every: int) -> str:
    """Return what a row is called."""
    return {0: "no checkpoints", 1: "every block"}.get(every, f"every {every} blocks")


@kind_at_levels(
    name="checkpoint-table",
    topic="B",
    levels=("junior", "mid", "senior"),
    title="Activations with a checkpoint every 1, 2 or 4 blocks",
    sources=(
        "arXiv 1604.06174 section 4",
        "stanford-cs336/assignment2-systems",
        "stas00/ml-engineering training/performance/README.md",
    ),
)
def checkpoint_table(draw: Draw, level: Level) -> Draft | None:
    """Ask for what is kept without checkpoints, and with one every so many blocks."""
    scenario = scenarios.one_gpu_step(draw, recomputes=("none",))
    layers, tokens = scenario.architecture.layers, scenario.tokens
    width = PRECISIONS[scenario.recipe.precision].compute
    unit = tokens if level == "senior" else MB
    blocks = Blocks(
        layers=layers,
        residuals=round(Fraction(saved(ledger(scenario)), layers * unit)) * unit,
        checkpoint=round(Fraction(width * scenario.architecture.hidden * tokens, unit)) * unit,
    )
    if layers < FEWEST_BLOCKS or blocks.checkpoint < SMALLEST:
        return None
    if blocks.residuals < FEWEST_TIMES * blocks.checkpoint:
        return None
    if blocks.kept(1) > LARGEST or (level == "mid" and layers % max(EVERY)):
        return None
    rows = {"junior": (NONE, 1), "mid": (NONE, *EVERY)}.get(level) or tuple(
        sorted(draw.sample(SEGMENTS, 4))
    )
    return _Asked(scenario=scenario, blocks=blocks, rows=rows, each=level == "senior").draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    scenario: Scenario
    blocks: Blocks
    rows: tuple[int, ...]
    each: bool

    def draft(self) -> Draft:
        blocks, answer = self.blocks, self.blocks.answer(self.rows)
        return Draft(
            prompt=self._prompt(),
            answer=answer,
            hints=(
                "Two things are there at the worst moment: checkpoints, and what is run again.",
                (
                    "With a checkpoint every k blocks a segment of k blocks is run again at once, "
                    "and keeps all of theirs until it is through."
                ),
                (
                    f"L / k checkpoints (rounded up) of {gb(blocks.checkpoint)}, and k × "
                    f"{gb(blocks.residuals)}; without any, all {blocks.layers} blocks keep theirs."
                ),
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
            scenario=self.scenario,
        )

    def _prompt(self) -> str:
        x, blocks = self.scenario, self.blocks
        figures = (
            f"One block keeps r = {number(blocks.residuals // MB)} MB for its backward pass, "
            f"{COPY}; the input itself, the checkpoint, is another c = "
            f"{number(blocks.checkpoint // MB)} MB."
        )
        if self.each:
            tokens = x.tokens
            figures = (
                f"For each token a block keeps {number(blocks.residuals // tokens)} bytes for its "
                f"backward pass, {COPY}; the input itself, the checkpoint, is another "
                f"{number(blocks.checkpoint // tokens)} bytes a token."
            )
        return (
            f"{x.model.title}, L = {blocks.layers} blocks, micro-batch {x.workload.micro_batch} × "
            f"{number(x.workload.sequence)} tokens, {x.workload.gradient_accumulation} of them a "
            f"step. {figures} With a checkpoint every k blocks "
            "only the inputs of the segments of k blocks stay; in the backward pass one segment "
            "at a time is run again, and nothing is checkpointed within it.\n"
            "How much do the blocks keep together at the worst moment with "
            f"{listed([row_name(row) for row in self.rows])}? Embedding, head and loss are not "
            f"counted. {UNIT_SAID.format(2)}"
        )

    def _steps(self, answer: TableAnswer) -> Iterator[Step]:
        b = self.blocks
        if self.each:
            for name, size in (("block", b.residuals), ("checkpoint", b.checkpoint)):
                tokens = self.scenario.tokens
                text = f"{name}: {number(size // tokens)} × {number(tokens)} = {paper(size)}"
                yield Step(text=text, depth="whiteboard")
        for row in self.rows:
            kept = f"{b.layers} × {paper(b.residuals)}"
            if row:
                again = f"{row} × {paper(b.residuals)}" if row > 1 else paper(b.residuals)
                kept = f"{-(-b.layers // row)} × {paper(b.checkpoint)} + {again}"
            text = f"{row_name(row)}: {kept} = {paper(b.kept(row))}"
            yield Step(text=text, depth="whiteboard")
        yield Step(text=f"one block {gb(b.residuals)}, one checkpoint {gb(b.checkpoint)}")
        yield last_step(answer, "Nothing is left of the difference but rounding")

    def _mistakes(self) -> Iterator[Mistake]:
        for row in self.rows:
            yield from of_term(row_name(row), self._of_row(row))
            right, many = self.blocks.kept(row), self.scenario.workload.gradient_accumulation
            why = f"counts {many} micro-batches; each one's is gone before the next begins."
            called = "all accumulated micro-batches counted"
            yield from of_term(row_name(row), [wrong_size(many * right, right, called, why)])

    def _of_row(self, row: int) -> Iterator[Mistake]:
        b, right = self.blocks, self.blocks.kept(row)
        inputs = "is the inputs of the blocks alone; "
        if row == NONE:
            why = f"is one block; all {b.layers} keep theirs, {{off}} more."
            yield wrong_size(b.residuals, right, "one layer for all", why)
            why = f"{inputs}without checkpoints each keeps all, {{off}} more."
            yield wrong_size(b.layers * b.checkpoint, right, "layer inputs only", why)
            return
        stored = -(-b.layers // row) * b.checkpoint
        why = "is the checkpoints alone; the segment that is run again has {off} more."
        yield wrong_size(stored, right, "segment that is run again forgotten", why)
        if row > 1:
            why = f"has one block run again; a segment is {row}, {{off}} more."
            yield wrong_size(stored + b.residuals, right, "one block run again only", why)
            why = "has a checkpoint of every block; there are fewer, {off} less."
            wrong = b.layers * b.checkpoint + row * b.residuals
            yield wrong_size(wrong, right, "a checkpoint of every block", why)
        why = "is all blocks' own; what is run again is not kept before, {off} less."
        yield wrong_size(b.layers * b.residuals, right, "recomputation forgotten", why)
        why = "leaves out the checkpoints, {off}."
        yield wrong_size(row * b.residuals, right, "checkpoints forgotten", why)
