"""Which kinds of question ask about something, and how they come to its number on paper."""

from collections.abc import Iterable, Iterator

from engine.ledger import Category
from problems.kind import Kind
from problems.registry import build, kinds
from quiz.explain.explanation import OnPaper

# Whose topic is none of these has no line of its own.
TOPIC_OF = {
    Category.WEIGHTS: "A",
    Category.MASTER_WEIGHTS: "A",
    Category.GRADIENTS: "A",
    Category.OPTIMIZER_STATE: "A",
    Category.ACTIVATIONS: "B",
    Category.LOGITS: "C",
    Category.TEMPORARY: "C",
    Category.COMMUNICATION: "C",
    Category.KV_CACHE: "F",
    Category.ALLOCATOR_SLACK: "C",
    Category.CUDA_CONTEXT: "C",
    Category.UNIFIED_MEMORY: "A",
}
# Kinds whose whiteboard is shown, and the seeds at which a mistake is looked for.
SHOWN, SEED, LOOKED_AT = 2, 1, range(4)


def of_topic(*topics: str) -> tuple[str, ...]:
    """Return the names of the kinds of these topics."""
    return tuple(name for name, kind in kinds().items() if kind.topic in topics)


def with_mistake(mistake: str) -> tuple[str, ...]:
    """Return the names of the kinds whose first problems know the mistake."""
    return tuple(name for name, kind in kinds().items() if _knows(kind, mistake))


def _knows(kind: Kind, mistake: str) -> bool:
    return any(
        mistake in {one.name, *one.also}
        for seed in LOOKED_AT
        for one in build(kind.name, seed).mistakes
    )


def on_paper(names: Iterable[str]) -> tuple[OnPaper, ...]:
    """Return the whiteboard steps of the first of these kinds that have some."""
    return tuple(_steps(names))[:SHOWN]


def _steps(names: Iterable[str]) -> Iterator[OnPaper]:
    for name in [*names][:SHOWN]:
        problem = build(name, SEED)
        steps = tuple(step.text for step in problem.solution if step.depth == "whiteboard")
        yield OnPaper(problem=problem.id, steps=steps)
