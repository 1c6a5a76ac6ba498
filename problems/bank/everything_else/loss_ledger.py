"""Topic C, everything else: the tensors of logits and loss apart, and their sum."""

from collections.abc import Iterator
from dataclasses import dataclass

from problems import scenarios
from problems.answers.ledger import LedgerAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.terms_asked import UNIT_SAID, last_step, of_term, size_term, total_term
from problems.wording import billions, listed, number, paper, rounded
from problems.wrong_sizes import wrong_size

# Bytes of an entry of each tensor, and what else it may be called.
LOGITS, COPY, GRADIENT = "16-bit logits", "fp32 copy", "fp32 gradient"
EACH = {LOGITS: 2, COPY: 4, GRADIENT: 4}
ALIASES = {
    LOGITS: ("logits", "bf16 logits", "bf16"),
    COPY: ("copy", "upcast", "fp32 logits", "fp32"),
    GRADIENT: ("gradient", "grad", "logit gradient"),
}
TENSOR_PARALLEL = (2, 4, 8)
MICRO_BATCHES = ((1, 4), (2, 3), (3, 1), (4, 2), (6, 1), (8, 1))
SMALLEST_VOCABULARY = 30_000


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What is as wide as the vocabulary.

    Args:
        names: the tensors that are alive together.
        tokens: of one micro-batch.
        vocab: entries of the vocabulary.
        split: tensor-parallel ranks that share the vocabulary.
    """

    names: tuple[str, ...]
    tokens: int
    vocab: int
    split: int = 1

    @property
    def answer(self) -> LedgerAnswer:
        """The tensors and their sum on one GPU."""
        symbols = {"V": self.vocab}
        rows = [
            size_term(name, self.size(name), *ALIASES[name], symbols=symbols)
            for name in self.names
        ]
        return LedgerAnswer(terms=(*rows, total_term(rows)))

    def size(self, *names: str) -> int:
        """Bytes of these tensors on one GPU."""
        return sum(EACH[name] for name in names) * self.tokens * -(-self.vocab // self.split)


@kind_at_levels(
    name="loss-ledger",
    topic="C",
    levels=("junior", "mid", "senior"),
    title="Logits, their fp32 copy and its gradient, apart and together",
    sources=(
        "stas00/ml-engineering training/performance/README.md",
        "hiyouga/LlamaFactory#4642",
        "NVIDIA-NeMo/Automodel#2336",
    ),
)
def loss_ledger(draw: Draw, level: Level) -> Draft | None:
    """Ask for the tensors of the loss apart, and for what they take together."""
    model = scenarios.any_model(draw)
    if model.architecture.vocab < SMALLEST_VOCABULARY:
        return None
    lengths = [row for row in scenarios.SEQUENCES if row[0] <= model.max_sequence]
    sequence, micro_batch = draw.weighted(lengths), draw.weighted(MICRO_BATCHES)
    if micro_batch * sequence > scenarios.MOST_TOKENS:
        return None
    loss = Loss(
        names=(LOGITS, COPY) if level == "junior" else tuple(EACH),
        tokens=micro_batch * sequence,
        vocab=model.architecture.vocab,
        split=draw.choice(TENSOR_PARALLEL) if level == "senior" else 1,
    )
    if loss.vocab % loss.split:
        return None
    accumulated = draw.choice((1, *scenarios.ACCUMULATIONS))
    return _Asked(
        title=model.title,
        hidden=model.architecture.hidden,
        loss=loss,
        micro_batch=micro_batch,
        accumulated=accumulated,
    ).draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    title: str
    hidden: int
    loss: Loss
    micro_batch: int
    accumulated: int

    def draft(self) -> Draft:
        loss, answer = self.loss, self.loss.answer
        bytes_said = listed([f"{EACH[name]} for the {name}" for name in loss.names])
        return Draft(
            prompt=self._prompt(),
            answer=answer,
            hints=(
                "Each of these tensors has one row for every token and one entry for every word.",
                f"Bytes an entry: {bytes_said}.",
                (
                    f"Entries: {number(loss.tokens)} tokens × {number(loss.vocab)}"
                    f"{f' / {loss.split}' if loss.split > 1 else ''}; multiply, then add up."
                ),
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
        )

    def _prompt(self) -> str:
        loss = self.loss
        sequences = "one sequence" if self.micro_batch == 1 else f"{self.micro_batch} sequences"
        length = number(loss.tokens // self.micro_batch)
        micro = f"A micro-batch is {sequences} of {length} tokens"
        if self.accumulated > 1:
            micro += f"; gradients are accumulated over {self.accumulated} of them"
        split = ""
        if loss.split > 1:
            split = (
                f" The vocabulary is split evenly over {loss.split} tensor-parallel GPUs, and "
                "each computes the loss on its own part."
            )
        gradient = ""
        if GRADIENT in loss.names:
            gradient = ", and the loss's gradient with respect to that copy is fp32 too"
        return (
            f"{self.title}: vocabulary V = {number(loss.vocab)}, h = {number(self.hidden)}. "
            f"{micro}.{split} The head makes 16-bit logits of all tokens, which stay; the loss "
            f"works on an fp32 copy of them{gradient}. Nothing is fused or chunked, and nothing "
            "else as wide as the vocabulary is counted.\n"
            f"How much do the {listed(loss.names)} each take{' on a GPU' if split else ''}, and "
            f"how much do they take in total? {UNIT_SAID.format(2)}"
        )

    def _steps(self, answer: LedgerAnswer) -> Iterator[Step]:
        loss = self.loss
        entries = loss.tokens * loss.vocab // loss.split
        over = f" / {loss.split}" if loss.split > 1 else ""
        yield Step(
            text=f"{number(loss.tokens)} tokens × {number(loss.vocab)}{over} = "
            f"{billions(rounded(entries))} billion entries",
            depth="whiteboard",
        )
        for name in loss.names:
            text = f"{name}: {EACH[name]} bytes each, {paper(EACH[name] * entries)}"
            yield Step(text=text, depth="whiteboard")
        each = sum(EACH[name] for name in loss.names)
        said = " + ".join(str(EACH[name]) for name in loss.names)
        yield Step(
            text=f"{said} = {each} bytes in total: {paper(each * entries)}", depth="whiteboard"
        )
        yield Step(text=f"each tensor has {number(entries)} entries")
        yield last_step(answer, "Nothing is left of the difference but rounding")

    def _mistakes(self) -> Iterator[Mistake]:
        loss = self.loss
        for name in loss.names:
            yield from of_term(name, self._of_one(name, EACH[name]))
        total = loss.size(*loss.names)
        yield from of_term("total", self._of_all(total))

    def _of_one(self, name: str, each: int) -> Iterator[Mistake]:
        right = self.loss.size(name)
        other = 4 if each == 2 else 2
        why = f"takes {other} bytes an entry; in the {name} each has {each}, {{off}} "
        why += "less." if each < other else "more."
        yield wrong_size(right * other // each, right, "another width", why)
        why = f"counts elements; each has {each} bytes, {{off}} more."
        yield wrong_size(right // each, right, "elements taken for bytes", why)
        yield from self._other_tokens(right)

    def _of_all(self, right: int) -> Iterator[Mistake]:
        loss = self.loss
        for name in loss.names:
            why = f"leaves out the {name}, {{off}}."
            yield wrong_size(right - loss.size(name), right, f"{name} forgotten", why)
        yield from self._other_tokens(right)

    def _other_tokens(self, right: int) -> Iterator[Mistake]:
        loss = self.loss
        if self.micro_batch > 1:
            why = f"is one sequence; the micro-batch has {self.micro_batch}, {{off}} more."
            yield wrong_size(right // self.micro_batch, right, "micro-batch forgotten", why)
        if self.accumulated > 1:
            why = (
                f"counts {self.accumulated} micro-batches; each one's logits are gone before the "
                "next begins, so {off} are too many."
            )
            name = "all accumulated micro-batches counted"
            yield wrong_size(right * self.accumulated, right, name, why)
        if loss.split > 1:
            why = f"is the whole vocabulary; a GPU has one part of {loss.split}, {{off}} less."
            yield wrong_size(right * loss.split, right, "vocabulary left whole", why)
        else:
            length = loss.tokens // self.micro_batch
            why = "has the last token of each sequence, as in generation; training needs all."
            yield wrong_size(right // length, right, "last token only", why)
