"""Which mistakes of a draft are kept: those that a wrong number can be traced to."""

from collections.abc import Iterable
from dataclasses import replace

from problems.answers.answer import Answer
from problems.mistakes import is_rare
from problems.problem import Mistake


def telling(answer: Answer, mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """Return the mistakes that a wrong number can be traced to, in the order given.

    Left out is what no number could reveal: a value that is not positive or that earns full
    credit, and a rare mistake within 3% of a common one. Of two alike the first is kept, and the
    other stands beside it as `also`. An order, a pick and a reason are no numbers.
    """
    given = tuple(mistakes)
    kept: list[Mistake] = []
    # The common ones first: a rare one that gives way would leave its place to a number that was
    # not compared with the others.
    for mistake in sorted(given, key=lambda one: is_rare(one.name)):
        part = answer.part(mistake.term)
        if mistake.value <= 0 or not part.tells(mistake.value):
            continue
        of_part = (one for one in kept if one.term == mistake.term)
        near = next((one for one in of_part if not part.apart(mistake.value, one.value)), None)
        if near is None:
            kept.append(mistake)
        else:
            kept[kept.index(near)] = _either(near, mistake)
    order = {(one.term, one.name): place for place, one in reversed([*enumerate(given)])}
    return tuple(sorted(kept, key=lambda one: order[one.term, one.name]))


def _either(first: Mistake, second: Mistake) -> Mistake:
    """Return the mistake to which a number is put down that both of them give."""
    if _idea(second) in {_idea(first), *first.also}:
        return first
    if is_rare(first.name) != is_rare(second.name):
        return first
    return replace(first, also=(*first.also, second.name))


def _idea(mistake: Mistake) -> str:
    """Return the name without what comes of it: "..., at another moment" is the same idea."""
    return mistake.name.partition(",")[0]
