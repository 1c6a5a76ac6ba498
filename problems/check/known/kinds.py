"""A kind as such: what it says of itself, and how its problems differ from each other."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import get_args

from problems.answers.count import CountAnswer
from problems.check.rule import FEW, Flaw, Series, each_kind
from problems.problem import TOPICS, Level, Problem

# Of how many times the smallest answer the largest is, over 200 seeds and over fewer.
SPREAD, SPREAD_OF_FEW = 20, 4
FEWEST_VALUES, FEWEST_DEGREES = 8, 5
# Degrees of a lever, of which there are few: powers of 2, and three stages.
DEGREES = frozenset({Fraction(3), *(Fraction(2**n) for n in range(12))})


@each_kind("described")
def kinds_say_what_they_are(series: Series) -> Iterator[Flaw]:
    """A kind has a name that can be typed, a title, sources, and a topic and levels that exist."""
    kind = series.kind
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", kind.name):
        yield Flaw(
            "name", f"{kind.name!r} has more than a-z, 0-9 and -", "name it like zero-states"
        )
    if not 5 <= len(kind.title) <= 80 or kind.title.endswith("."):
        yield Flaw("title", f"{kind.title!r} is no title", "give 5 to 80 characters, no stop")
    if not kind.sources or not all(source.strip() for source in kind.sources):
        yield Flaw("sources", "there is none, or an empty one", "name papers, files or questions")
    if kind.topic not in TOPICS:
        yield Flaw("topic", f"{kind.topic!r} is not known", f"one of {', '.join(TOPICS)}")
    for level in kind.levels or ("",):
        if level not in get_args(Level):
            yield Flaw("level", f"{level!r} is not known", f"one of {', '.join(get_args(Level))}")


@each_kind("same-type")
def a_kind_asks_for_the_same_thing(series: Series) -> Iterator[Flaw]:
    """A kind asks for a number, or for the same type of answer at every seed."""
    types = {type(problem.answer) for problem in series.problems}
    if len(types) > 1 and any(_value(problem) is None for problem in series.problems):
        names = ", ".join(sorted(one.type for one in types))
        yield Flaw("answers", f"are of several types: {names}", "make it two kinds")


@each_kind("distinct", may_be_broken=True)
def no_two_seeds_ask_the_same(series: Series) -> Iterator[Flaw]:
    """No two seeds give the same question."""
    asked = Counter(_asked(problem) for problem in series.problems)
    again = len(series.problems) - len(asked)
    if again:
        first = dict[Hashable, int]()
        for problem in series.problems:
            before = first.setdefault(_asked(problem), problem.seed)
            if before != problem.seed:
                what = (
                    f"{again} of {len(series.problems)} ask what another seed asks, first {before}"
                )
                yield Flaw("prompt", what, "draw one figure more", seed=problem.seed)
                return


def _asked(problem: Problem) -> Hashable:
    """Return what a person sees of a problem: prompt, exhibit, and what may be picked."""
    items = getattr(problem.answer, "items", ())
    return problem.prompt, problem.exhibit, tuple(getattr(item, "name", item) for item in items)


def _value(problem: Problem) -> Fraction | None:
    if isinstance(problem.answer, CountAnswer):
        return Fraction(problem.answer.value)
    asked = problem.answer.number
    return None if asked is None else asked.value


def _has_value(problem: Problem) -> bool:
    return _value(problem) is not None


@each_kind("spread", may_be_broken=True, fewest=FEW, concerns=_has_value)
def answers_spread(series: Series) -> Iterator[Flaw]:
    """Answers take many values, the largest 20 times the smallest or more."""
    values = [value for value in map(_value, series.problems) if value is not None]
    if not values:
        return
    different = set(values)
    fewest = FEWEST_DEGREES if different <= DEGREES else FEWEST_VALUES
    if len(different) < min(fewest, len(series.problems)):
        what = f"only {len(different)} different ones in {len(values)}"
        yield Flaw("answers", what, "draw more figures")
    if min(values) <= 0:
        yield Flaw("answers", f"one is {float(min(values)):g}", "draw on until it is positive")
    elif max(values) < (times := SPREAD if series.tells_much else SPREAD_OF_FEW) * min(values):
        what = f"from {float(min(values)):g} to {float(max(values)):g}, not {times} times apart"
        yield Flaw("answers", what, "draw from wider ranges, or say why not in `allows`")
