"""What a clause says of a thing that stands in it: there, denied, divided, left whole."""

from quiz.interview.clauses import Clause
from quiz.interview.cues import (
    ASKING,
    BEFORE_THINGS,
    BY_LACK,
    DIVIDING,
    DOING,
    IN_THE_SUM,
    KNOWING,
    LEAVING_OUT,
    PRESENCE,
    RIGHT_BEFORE,
    SUMMED,
    TURNING,
    UNASKED,
    VERBS,
    WHOLE,
)

# With one of these it is not so yet, or but for one case.
LATER = frozenset({"unless", "until", "yet"})
# Words between "no" and what it denies: "no extra fp32 master copy".
REACH = 4


def denied(clause: Clause, first: int, last: int) -> bool:
    """Return whether a clause says that the thing at these places is not there."""
    if unknown(clause) or _denied_before(clause, first) or _denied_at_once(clause, first):
        return True
    before = [at for at in clause.negators if at < first]
    if before and any(before[0] < at < first for at in clause.places(DOING)):
        return not _denies_dividing(clause)
    later = any(token.word in LATER for token in clause.said)
    if not later and _ends_in_not_it(clause):
        return True
    if not later and (before or _behind(clause, last)):
        present = any(not first <= at <= last for at in clause.places(PRESENCE))
        if present and not _leaves_out(clause, first, last) and not _denies_dividing(clause):
            return True
    return _leaves_out(clause, first, last)


def _ends_in_not_it(clause: Clause) -> bool:
    """Return whether a clause ends as "fragmentation is not it" does."""
    last = len(clause.said) - 1
    return last - 1 in clause.negators and clause.said[last].word in {"it", "that", "this"}


def unknown(clause: Clause) -> bool:
    """Return whether who speaks says not to know."""
    return any(no < at for no in clause.negators for at in clause.places(KNOWING))


def unasked(clause: Clause) -> bool:
    """Return whether a clause says that something does not matter, or is not asked for."""
    if clause.has(UNASKED):
        return True
    return any(no < at for no in clause.negators for at in clause.places(ASKING))


def turns_nothing(clause: Clause, first: int) -> bool:
    """Return whether a clause says that the thing leaves the answer as it is."""
    if clause.has(UNASKED) or (_opens_by_denying(clause) and _denied_at_once(clause, first)):
        return True
    if any(token.word in {"if", "unless", "whether"} for token in clause.said):
        return False
    last = len(clause.said) - 1
    return bool(clause.negators) and (clause.has(TURNING) or clause.negators[-1] == last)


def _opens_by_denying(clause: Clause) -> bool:
    """Return whether a clause begins with "not" or "it is not"; "fp32 is not" names a thing."""
    before = clause.said[: min(clause.negators, default=0)]
    return all(token.stem in {"it", "this", "that", "be"} for token in before)


def is_nowhere(clause: Clause, first: int, last: int) -> bool:
    """Return whether the thing is said to be in the sum or not at all, not beside the sum."""
    if unknown(clause) or (clause.has(SUMMED) and not clause.negators):
        return True
    if _not_any(clause, first):
        return True
    if _denied_before(clause, first):
        without = any(token.word == "without" for token in clause.said[:first])
        return not without and not clause.has(IN_THE_SUM)
    return _denied_there(clause, last)


def _not_any(clause: Clause, first: int) -> bool:
    """Return whether "not any" stands before the thing: "there is not any fragmentation"."""
    return any(
        at < first <= at + REACH and clause.said[at + 1].word == "any" for at in clause.negators
    )


def _denied_there(clause: Clause, last: int) -> bool:
    places = tuple(clause.places("exist there present matter reason need use thing card"))
    return any(last < no < at for no in clause.negators for at in places)


def left_whole(clause: Clause, first: int, last: int) -> bool:
    """Return whether a clause says that the thing is not divided, not reached or left out."""
    outside = [at for at in clause.places(WHOLE) if not first <= at <= last]
    if any(not any(0 < at - no <= 3 for no in clause.negators) for at in outside):
        return True
    if _leaves_out(clause, first, last):
        return True
    denials = [at for at in clause.negators if clause.said[at].word not in BEFORE_THINGS]
    if outside:  # "not replicated"
        return False
    if any(not first <= at <= last for at in clause.places(DIVIDING)):
        return bool(clause.negators)
    return bool(denials) and (not clause.has(VERBS) or denials[-1] == len(clause.said) - 1)


def divided(clause: Clause, named: range = range(0)) -> bool:
    """Return whether a clause says of something, named at these places, that it is divided."""
    said = any(at not in named for at in clause.places(DIVIDING))
    return said or (bool(clause.negators) and clause.has(WHOLE))


def _behind(clause: Clause, last: int) -> bool:
    return any(at > last for at in clause.negators)


def _denies_dividing(clause: Clause) -> bool:
    sharding = "shard divide split partition slice reduce shrink fall replicate"
    return bool(clause.negators) and clause.has(sharding)


def _by_lack(clause: Clause, first: int) -> bool:
    return first in clause.places(BY_LACK)


def _denied_before(clause: Clause, first: int) -> bool:
    """Return whether "no" or "without" stands before the thing and reaches it."""
    for at in clause.negators:
        word = clause.said[at].word
        between = [token.word for token in clause.said[at + 1 : first]]
        if at >= first or word not in BEFORE_THINGS or _by_lack(clause, first):
            continue
        if word == "without" or (len(between) < REACH and "and" not in between):
            return not _has_division(clause, at, first)
    return False


def _denied_at_once(clause: Clause, first: int) -> bool:
    """Return whether "not" and its like stand before the thing with no verb between."""
    verbs = tuple(clause.places(VERBS))
    for at in clause.negators:
        between = [token.word for token in clause.said[at + 1 : first]]
        if at >= first or clause.said[at].word not in RIGHT_BEFORE or _by_lack(clause, first):
            continue
        near = len(between) < REACH and not {"and", "but", "enough"} & set(between)
        if near and not any(at < place < first for place in verbs):
            return not _has_division(clause, at, first)
    return False


def _has_division(clause: Clause, at: int, first: int) -> bool:
    """Return whether "no" denies that something is divided, not that it is there."""
    return any(at < place < first for place in clause.places(DIVIDING))


def _leaves_out(clause: Clause, first: int, last: int) -> bool:
    """Return whether a clause leaves out the thing at these places; "do not forget" does not."""
    places = tuple(at for at in clause.places(LEAVING_OUT) if not first <= at <= last)
    return any(not any(0 < at - no <= 2 for no in clause.negators) for at in places)
