"""Topic C, everything else: the spike of logits and loss."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.estimate import ledger
from engine.ledger import Category, Ledger, Phase
from engine.precisions import PRECISIONS
from engine.scenario import Scenario, Workload
from problems import scenarios
from problems.answers.quantity import QuantityAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.exact import PHASES_SAID
from problems.kind import kind
from problems.letters import letters
from problems.on_paper import LOSS_BYTES
from problems.problem import Mistake, Step
from problems.prompts import render
from problems.wording import gb, number, paper
from problems.wrong_sizes import other_batches, wrong_size

MOST_ACCUMULATED = 64
# Name, bytes of an entry of the vocabulary, and what such a number leaves out.
TOO_FEW_BYTES = (
    (
        "one gradient forgotten",
        8,
        (
            "has two fp32 tensors; in the loss's backward there are three, {off} more: the "
            "log-probabilities, their gradient and the logits'."
        ),
    ),
    (
        "16-bit logits alone",
        2,
        "is one tensor in 16 bits; the loss's backward has three in fp32, {off} more.",
    ),
    (
        "fp32 logits alone",
        4,
        "is one fp32 tensor; two gradients of the same size are alive beside it, {off}.",
    ),
    (
        "elements taken for bytes",
        1,
        f"counts elements; at the worst moment each has {LOSS_BYTES} bytes, {{off}} more.",
    ),
)


@kind(
    name="logits-spike",
    topic="C",
    level="mid",
    title="Logits and loss at their worst moment",
    sources=(
        "traced steps of PyTorch 2.13",
        "arXiv 2410.10989",
    ),
)
def logits_spike(draw: Draw) -> Draft:
    """Ask for the most that the vocabulary-wide tensors take at once."""
    return spike(_accumulated(draw, scenarios.one_gpu_step(draw, recomputes=("none",))))


def spike(scenario: Scenario) -> Draft:
    """Return the question for the most that a run's vocabulary-wide tensors take at once."""
    book = ledger(scenario)
    at = {phase: book.total(Category.LOGITS, phase=phase) for phase in book.phases}
    size = max(at.values())
    prompt = render(
        "logits-spike", model=scenario.model, work=scenario.workload, recipe=scenario.recipe
    )
    return Draft(
        prompt=prompt,
        answer=QuantityAnswer(
            value=Fraction(size), band="estimate", symbols=letters(scenario, prompt)
        ),
        hints=(
            (
                "How many elements has one such tensor? Tokens of a micro-batch × "
                f"{number(scenario.architecture.vocab)}."
            ),
            (
                "Cross entropy keeps its log-probabilities in fp32 for the backward pass. Which "
                "tensors of that width are alive while the loss's backward runs?"
            ),
            (
                "In that backward three fp32 tensors are alive at once: the log-probabilities, "
                "their gradient and the gradient of the logits."
            ),
        ),
        solution=tuple(_steps(scenario, book, size)),
        mistakes=tuple(_mistakes(scenario, size)),
        scenario=scenario,
    )


def _accumulated(draw: Draw, scenario: Scenario) -> Scenario:
    """Return the run with any number of micro-batches, which the answer does not depend on."""
    times = draw.between(2, MOST_ACCUMULATED)
    return replace(scenario, workload=replace(scenario.workload, gradient_accumulation=times))


def _steps(scenario: Scenario, book: Ledger, size: int) -> Iterator[Step]:
    tokens, vocab = scenario.tokens, scenario.architecture.vocab
    yield Step(
        text=f"4 (log-probabilities) + 4 (their gradient) + 4 (the logits') = {LOSS_BYTES} bytes",
        depth="whiteboard",
    )
    yield Step(
        text=f"{LOSS_BYTES} × {number(tokens)} tokens × {number(vocab)} = "
        f"{paper(LOSS_BYTES * tokens * vocab)}",
        depth="whiteboard",
    )
    for phase in (Phase.LOSS, Phase.FORWARD):
        rows = [
            f"{line.name} {gb(book.size(line.name))}"
            for line in book.lines
            if line.category is Category.LOGITS and phase in line.phases
        ]
        yield Step(text=f"at {PHASES_SAID[phase]}: {', '.join(rows)}")
    yield Step(text=f"Nothing is left of the difference but rounding: exactly {gb(size)}")


def _mistakes(scenario: Scenario, size: int) -> Iterator[Mistake]:
    elements = scenario.tokens * scenario.architecture.vocab
    each = PRECISIONS[scenario.recipe.precision].compute
    forward = each + 4 if each == 4 else each + 8
    yield wrong_size(
        elements * forward,
        size,
        "end of the forward pass",
        f"is the end of the forward pass, {forward} bytes an entry; in the loss's backward it is "
        f"{LOSS_BYTES}, {{off}} more.",
    )
    for name, entry, why in TOO_FEW_BYTES:
        yield wrong_size(elements * entry, size, name, why)
    yield from _other_tokens(scenario.workload, size)


def _other_tokens(work: Workload, size: int) -> Iterator[Mistake]:
    yield from other_batches(size, work, "their logits are never alive together")
    yield wrong_size(
        Fraction(size, work.sequence),
        size,
        "last token only",
        "has the logits of one token of each sequence, as in generation; training needs those of "
        "all tokens, {off} more.",
    )
