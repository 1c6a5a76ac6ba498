"""Topic B, activations: what tensor parallelism divides, alone and with sequence parallelism."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.accelerator import Accelerator
from engine.catalog import models
from engine.estimate import ledger
from engine.scenario import Hardware, Model, Parallel, Recipe, Scenario, Workload
from engine.units import GB
from problems import scenarios
from problems.answers.table import TableAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import saved
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.terms_asked import UNIT_SAID, last_step, of_term, size_term
from problems.wording import number, paper, short
from problems.wrong_sizes import wrong_size

WHOLE, TENSOR, BOTH = "no split", "tensor parallel", "tensor and sequence parallel"
ALIASES = {
    WHOLE: ("one GPU", "whole", "unsplit", "without"),
    TENSOR: ("tensor", "tp", "tp alone", "tensor alone", "without sp"),
    BOTH: ("both", "sequence parallel", "sp", "with sp", "tp and sp", "tp sp"),
}
BLOCK_OF = "gpt3-175b"
HEAD = 128
DEGREES = (2, 4, 8)
LENGTHS = (1024, 2048, 4096, 8192, 16384)  # tokens
LARGEST = 400 * GB
# Bytes a token of width h: all of the block, and what tensor parallelism alone leaves whole.
ALL, LEFT, SCORES = 34, 10, 5


@dataclass(frozen=True, kw_only=True)
class Block:
    """GPT blocks with dropout and an MLP of 4h on a GPU of a tensor-parallel group.

    Args:
        heads: of 128 each, which makes the width.
        layers: how many blocks there are on the GPU.
        sequence: tokens.
        micro_batch: sequences.
        degree: tensor-parallel GPUs.
        attention: "flash", which keeps no scores, or "eager".
    """

    heads: int
    layers: int
    sequence: int
    micro_batch: int
    degree: int
    attention: str

    @property
    def hidden(self) -> int:
        """The width h."""
        return HEAD * self.heads

    @property
    def scores(self) -> int:
        """Bytes a token of what has an entry for each pair of tokens."""
        return SCORES * self.heads * self.sequence if self.attention == "eager" else 0

    def scenario(self, degree: int, gpu: Accelerator, *, sequence_parallel: bool) -> Scenario:
        """Return a step of such blocks on so many tensor-parallel GPUs."""
        shape = replace(
            models()[BLOCK_OF].architecture,
            layers=self.layers,
            hidden=self.hidden,
            ffn=4 * self.hidden,
            heads=self.heads,
            kv_heads=self.heads,
            head_dim=HEAD,
            positions=self.sequence,
        )
        return Scenario(
            model=Model(name="gpt", title="gpt", architecture=shape, max_sequence=self.sequence),
            implementation="megatron",
            workload=Workload(micro_batch=self.micro_batch, sequence=self.sequence),
            recipe=Recipe(
                precision="mixed-fp32-grad",
                optimizer="adamw-fused",
                loss="fused",
                attention=self.attention,
                dropout=scenarios.USUAL_DROPOUT,
            ),
            parallel=Parallel(tensor=degree, sequence_parallel=sequence_parallel),
            hardware=Hardware(gpu=gpu, gpus=degree),
        )

    def answer(self, gpu: Accelerator) -> TableAnswer:
        """Return what all layers save on a GPU, by the ledger."""
        sizes = (
            (WHOLE, self.scenario(1, gpu, sequence_parallel=False)),
            (TENSOR, self.scenario(self.degree, gpu, sequence_parallel=False)),
            (BOTH, self.scenario(self.degree, gpu, sequence_parallel=True)),
        )
        rows = tuple(
            size_term(name, saved(ledger(scenario)), *ALIASES[name]) for name, scenario in sizes
        )
        return TableAnswer(terms=rows, over="rows")

    def on_paper(self, left: int, degree: int) -> int:
        """Return the bytes on a GPU where `left`·h bytes a token stay whole on each."""
        each = left * self.hidden + ((ALL - left) * self.hidden + self.scores) // degree
        return each * self.layers * self.sequence * self.micro_batch


@kind_at_levels(
    name="sequence-parallel-table",
    topic="B",
    levels=("mid", "senior"),
    title="Activations under tensor parallelism, without and with sequence parallelism",
    sources=(
        "arXiv 2205.05198 table 2",
        "cli99/llm-analysis#19",
    ),
)
def sequence_parallel_table(draw: Draw, level: Level) -> Draft | None:
    """Ask for what blocks keep on a GPU unsplit, with tensor and with sequence parallelism."""
    degree = draw.choice(DEGREES)
    eager = level == "senior"
    block = Block(
        heads=8 * draw.between(2, 20),
        layers=draw.between(6, 96),
        sequence=draw.choice(LENGTHS[:3] if eager else LENGTHS),
        micro_batch=draw.choice((1, 2, 4, 8)),
        degree=degree,
        attention="eager" if eager else "flash",
    )
    if block.on_paper(0, 1) > LARGEST:
        return None
    return _Asked(block=block, gpu=scenarios.gpu_for(draw, degree, precision="pure-bf16")).draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    block: Block
    gpu: Accelerator

    def draft(self) -> Draft:
        block, answer = self.block, self.block.answer(self.gpu)
        scores = " and the 5·a·s of the scores" if block.scores else ""
        return Draft(
            prompt=self._prompt(),
            answer=answer,
            hints=(
                "Which tensors are made inside attention and MLP, and which at the norms?",
                (
                    f"Of the 34·h bytes a token and layer, 24·h{scores} lie inside attention and "
                    "MLP: tensor parallelism splits these. Norms, their inputs and two dropout "
                    "masks are 10·h."
                ),
                (
                    f"Bytes a token and layer: 34·h, then 10·h + 24·h/{block.degree}, then "
                    f"34·h/{block.degree}{', and the scores over the same' if scores else ''}."
                ),
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
        )

    def _prompt(self) -> str:
        block = self.block
        attention = "flash attention, which keeps no scores"
        if block.scores:
            attention = (
                f"eager attention with a = {block.heads} heads, which keeps 5·a·s bytes a token "
                "of scores, probabilities and their mask"
            )
        return (
            f"{block.layers} blocks of a GPT of width h = {number(block.hidden)} lie on a group "
            f"of t = {block.degree} tensor-parallel GPUs. A block is attention and an MLP of 4h "
            "with GELU, each behind a LayerNorm and before dropout; 16-bit activations, masks of "
            f"one byte; {attention}; no recomputation. One micro-batch: b = {block.micro_batch} × "
            f"s = {number(block.sequence)} tokens.\n"
            "How much do these blocks keep for the backward pass on each GPU with no split (as on "
            "one GPU), tensor parallel, and tensor and sequence parallel? "
            f"{UNIT_SAID.format(2)}"
        )

    def _steps(self, answer: TableAnswer) -> Iterator[Step]:
        block, tokens = self.block, self.block.sequence * self.block.micro_batch
        for name, left, degree in self._rows():
            each = block.on_paper(left, degree) // (tokens * block.layers)
            yield Step(
                text=f"{name}: {self._sum(left, degree)} = {number(each)} bytes a token and layer",
                depth="whiteboard",
            )
        sizes = " · ".join(paper(block.on_paper(left, degree)) for _, left, degree in self._rows())
        yield Step(
            text=f"times {number(tokens)} tokens × {block.layers} layers: {sizes}",
            depth="whiteboard",
        )
        yield Step(text="The ledger counts tensor by tensor, and statistics of a few bytes a head")
        yield last_step(answer, "They are all that is left of the difference")

    def _rows(self) -> tuple[tuple[str, int, int], ...]:
        """Return name, what stays whole in units of h, and the degree of each row."""
        degree = self.block.degree
        return (WHOLE, 0, 1), (TENSOR, LEFT, degree), (BOTH, 0, degree)

    def _sum(self, left: int, degree: int) -> str:
        inside = f"{ALL - left}·h" + (" + 5·a·s" if self.block.scores else "")
        if degree == 1:
            return inside
        split = f"({inside})/{degree}" if self.block.scores else f"{inside}/{degree}"
        return f"{left}·h + {split}" if left else split

    def _mistakes(self) -> Iterator[Mistake]:
        block, degree = self.block, self.block.degree
        sizes = {name: block.on_paper(left, at) for name, left, at in self._rows()}
        for name, right in sizes.items():
            yield from of_term(name, self._common(right))
        whole, tensor, both = sizes.values()
        why = f"divides all by {degree}; norms and residuals stay whole on each GPU, {{off}} more."
        yield from of_term(TENSOR, [wrong_size(both, tensor, "everything split", why)])
        why = "is the whole block; what is inside attention and MLP is split, {off} less."
        yield from of_term(TENSOR, [wrong_size(whole, tensor, "nothing split", why)])
        why = "leaves norms and residuals whole; sequence parallelism splits them, {off} less."
        yield from of_term(BOTH, [wrong_size(tensor, both, "norms left whole", why)])
        why = f"is the whole block; all of it is split by {degree}, {{off}} less."
        yield from of_term(BOTH, [wrong_size(whole, both, "nothing split", why)])

    def _common(self, right: int) -> Iterator[Mistake]:
        block = self.block
        why = f"is one block; there are {block.layers}, {{off}} more."
        yield wrong_size(right // block.layers, right, "one layer for all", why)
        if block.micro_batch > 1:
            why = f"is one sequence; the micro-batch has {short(block.micro_batch)}, {{off}} more."
            yield wrong_size(right // block.micro_batch, right, "micro-batch forgotten", why)
        why = "doubles the bytes; the 34 has them in it, and masks have one, {off} less."
        yield wrong_size(2 * right, right, "bytes counted twice", why)
