"""Topic A, model states: which of them a ZeRO stage shards."""

from fractions import Fraction

from problems import scenarios
from problems.answers.ranking import RankedItem
from problems.answers.selection import SelectionAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind
from problems.model_states import SHARDS, STAGES, parts_of
from problems.problem import Step
from problems.wording import bytes_of, number, recipe_said, sentence


@kind(
    name="what-zero-shards",
    topic="A",
    level="junior",
    title="What a ZeRO stage shards",
    sources=("arXiv 1910.02054 section 3",),
)
def what_zero_shards(draw: Draw) -> Draft | None:
    """Ask which of the model states a stage divides by the ranks."""
    stage, recipe = draw.choice((1, 2)), scenarios.states_recipe(draw)
    model = scenarios.any_model(draw)
    ranks = scenarios.ranks_for(draw, model)
    parts = parts_of(*recipe)
    items = tuple(
        RankedItem(key=str(place), name=part.name, value=Fraction(part.each))
        for place, part in enumerate(parts, 1)
    )
    right = frozenset(str(place) for place, part in enumerate(parts, 1) if part.stage <= stage)
    if len(right) < 2:  # one thing is no selection
        return None
    return Draft(
        prompt=(
            f"{model.title} ({number(model.parameters)} parameters) on {ranks} GPUs. "
            f"{sentence(recipe_said(*recipe))}.\nWhich of them does {STAGES[stage]} shard, so "
            "that a GPU keeps a part of them only? Name all that it does and no other."
        ),
        answer=SelectionAnswer(items=items, right=right),
        hints=(
            "A stage shards what its name counts up to.",
            "The first stage shards what the optimizer holds; each next one shards one more.",
            f"{STAGES[stage]} {SHARDS[stage]}.",
        ),
        solution=(
            Step(text=f"{STAGES[stage]} {SHARDS[stage]}", depth="whiteboard"),
            *(Step(text=f"{part.name}: {bytes_of(part.each)} a parameter") for part in parts),
        ),
        mistakes=(),
    )
