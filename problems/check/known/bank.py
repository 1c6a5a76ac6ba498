"""The bank as a whole: all of the catalogue, every topic and every level is asked about."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from engine.catalog import accelerators, models
from problems.check.rule import MANY, Flaw, Series, whole_bank
from problems.problem import TOPICS, Level
from problems.wording import card


@whole_bank("models-appear", fewest=MANY)
def every_model_appears(found: Sequence[Series]) -> Iterator[Flaw]:
    """Every model of the catalogue is asked about somewhere in 200 problems of each kind."""
    text = _prompts(found)
    for model in models().values():
        if model.title not in text:
            yield Flaw("models", f"{model.name} is never asked about", "draw it in some kind")


@whole_bank("cards-appear", fewest=MANY)
def every_card_appears(found: Sequence[Series]) -> Iterator[Flaw]:
    """Every card of the catalogue is asked about somewhere in 200 problems of each kind."""
    text = _prompts(found)
    for gpu in accelerators().values():
        if gpu.title not in text and card(gpu) not in text:
            yield Flaw("cards", f"{gpu.name} is never asked about", "draw it in some kind")


@whole_bank("titles-differ")
def titles_differ(found: Sequence[Series]) -> Iterator[Flaw]:
    """No two kinds have the same title."""
    for title, times in Counter(series.kind.title for series in found).items():
        if times > 1:
            yield Flaw("titles", f"{times} kinds are called {title!r}", "say what sets them apart")


@whole_bank("topics-and-levels")
def every_topic_and_level_is_asked(found: Sequence[Series]) -> Iterator[Flaw]:
    """Every topic and every level has a kind."""
    topics = {series.kind.topic for series in found}
    levels = {level for series in found for level in series.kind.levels}
    for topic in TOPICS.keys() - topics:
        yield Flaw("topics", f"{topic}, {TOPICS[topic]}, has no kind", "write one")
    for level in set(get_args(Level)) - levels:
        yield Flaw("levels", f"{level} has no kind", "write one")


def _prompts(found: Sequence[Series]) -> str:
    return "\n".join(
        f"{problem.prompt}\n{problem.exhibit}" for series in found for problem in series.problems
    )
