"""What speaks against giving a set out: a key with a pattern, numbers that two students share."""

import operator
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, starmap
from math import sqrt

from engine.errors import Fault
from problems.answers.choice import ChoiceAnswer
from problems.answers.claim import ClaimAnswer
from problems.answers.yes_no import YesNoAnswer
from problems.problem import Problem
from quiz.sets.problem_set import ProblemSet, Slot, Variant

# Fewer in a row are alike by chance too often: five of two kinds in 1 of 16 sheets.
FEWEST_IN_A_ROW = 6
LONGEST_CYCLE = 3
FEWEST_STUDENTS = 12
# So many standard deviations above its even share an answer is not the commonest by chance.
DEVIATIONS = 3
# An answer that more of the students have in common can be told on.
MOST_IN_COMMON = Fraction(1, 2)
NAMED = 3
# As many are told as can be read; the rest is counted.
TOLD = 12


def refusals(problems: ProblemSet, minutes: Fraction | None = None) -> tuple[Fault, ...]:
    """Return every reason not to give the set out; none where it may be.

    Args:
        problems: the set.
        minutes: that a sheet may take; None where nothing is said.
    """
    found = [
        *_too_long(problems, minutes),
        *(fault for slot in problems.slots for fault in _of_slot(problems, slot)),
        *(fault for variant in problems.variants for fault in _twice(variant)),
        *_patterns_of_all(problems),
        *inside(problems),
    ]
    if len(found) > TOLD:
        found = [*found[:TOLD], Fault("and", f"{len(found) - TOLD} more of these")]
    return tuple(found)


def _too_long(problems: ProblemSet, minutes: Fraction | None) -> Iterator[Fault]:
    if minutes is not None and problems.minutes > minutes:
        what = f"{float(problems.minutes):g} minutes by estimate, and {float(minutes):g} are given"
        yield Fault("minutes", what, "ask less, or say `minutes` of a part")


def _of_slot(problems: ProblemSet, slot: Slot) -> Iterator[Fault]:
    """Yield what two students have in common who should not."""
    if slot.same or not problems.is_personal:
        return
    where, column = f"question {slot.number}, {slot.kind}", [*problems.column(slot)]
    asked = defaultdict[tuple[str, str], list[str]](list)
    for variant, problem in column:
        asked[problem.prompt, problem.exhibit].append(variant.said)
    for names in asked.values():
        if len(names) > 1:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            what = f"the same numbers for {', '.join(names[:NAMED])}{more}"
            few = f"another kind: this one has few questions for {len(column)} students"
            yield Fault(where, what, f"{few}; or `same = true` in its part")
            break
    if len(column) >= FEWEST_STUDENTS:
        yield from _one_sided(where, [problem for _, problem in column])


def _one_sided(where: str, column: Sequence[Problem]) -> Iterator[Fault]:
    """Yield an answer that is right for too many of the students."""
    answers = Counter(_pick(problem) or problem.answer.said for problem in column)
    answer, times = answers.most_common(1)[0]
    if times > _most(len(column), max(_sides(problem) for problem in column)):
        what = f"the right answer is {answer} for {times} of {len(column)} students"
        yield Fault(where, what, "another --seed, or another kind")


def _most(students: int, sides: int) -> float:
    """Return how many of the students may have one answer, of so many that may be right."""
    half = float(students * MOST_IN_COMMON)
    if not sides:
        return half
    share = 1 / sides
    return max(half, students * share + DEVIATIONS * sqrt(students * share * (1 - share)))


def _twice(variant: Variant) -> Iterator[Fault]:
    asked = Counter((problem.prompt, problem.exhibit) for problem in variant.problems)
    for problem in variant.problems:
        if asked[problem.prompt, problem.exhibit] > 1:
            what = f"{problem.kind} asks the same twice"
            yield Fault(f"the sheet of {variant.said}", what, "another --seed, or more kinds")
            return


def _patterns_of_all(problems: ProblemSet) -> Iterator[Fault]:
    """Yield the pattern of everyone's sheet, or those that every student's has.

    Of a class all truths are taken together too: that most are true can be told on.
    """
    rows = [[*_patterns(variant)] for variant in problems.variants]
    if all(rows):
        yield from rows[0]
    for words in (("yes", "no"), ("true", "false")):
        picks = Counter(
            pick
            for variant in problems.variants
            for slot, problem in zip(problems.slots, variant.problems, strict=True)
            if not slot.same and (pick := _pick(problem)) in words
        )
        students, all_picks = len(problems.variants), picks.total()
        for word, times in picks.items():
            if all_picks >= FEWEST_STUDENTS and students > 1 and times > _most(all_picks, 2):
                what = f"{word} is right for {times} of {all_picks} answers"
                yield Fault("key", what, "another --seed, or other kinds")


def _patterns(variant: Variant) -> Iterator[Fault]:
    """Yield a pattern in what is right from question to question."""
    picks = [pick for problem in variant.problems if (pick := _pick(problem))]
    families = {
        "yes, no, true and false": [pick for pick in picks if len(pick) > 1],
        "letters": [pick for pick in picks if len(pick) == 1],
    }
    for family, row in families.items():
        length = _cycle(row)
        if length:
            again = f"{', '.join(row[:length])}, again and again"
            yield Fault("key", f"the {family} are {again}", "another --seed")
    sizes = [
        problem.answer.number.value
        for problem in variant.problems
        if problem.answer.number is not None and problem.answer.number.unit == "bytes"
    ]
    for way, goes_on in (("grow", operator.lt), ("fall", operator.gt)):
        if len(sizes) >= FEWEST_IN_A_ROW and all(starmap(goes_on, pairwise(sizes))):
            yield Fault("key", f"the sizes only {way} from question to question", "another --seed")


def _cycle(row: Sequence[str]) -> int:
    """Return after how many answers a row begins anew; 0 where it has no pattern."""
    if len(row) < FEWEST_IN_A_ROW:
        return 0
    lengths = range(1, LONGEST_CYCLE + 1)
    return next((n for n in lengths if all(a == b for a, b in zip(row, row[n:], strict=False))), 0)


def inside(problems: ProblemSet) -> Iterator[Fault]:
    """Yield mistakes whose number earns full credit, as a changed key may have them."""
    for variant in problems.variants:
        for slot, problem in zip(problems.slots, variant.problems, strict=True):
            for mistake in problem.mistakes:
                if not problem.answer.part(mistake.term).tells(mistake.value):
                    where = f"question {slot.number}, {problem.id}"
                    what = f"{mistake.name!r} gives what is right within its tolerance"
                    yield Fault(where, what, "take the mistake out, or change its number")


def _pick(problem: Problem) -> str:
    """Return which of a few is right: "yes", "true", "b"; "" where it is not one of a few."""
    match problem.answer:
        case YesNoAnswer(value=value):
            return "yes" if value else "no"
        case ClaimAnswer(truth=truth):
            return "true" if truth else "false"
        case ChoiceAnswer() as answer:
            return answer.right.item.key
        case _:
            return ""


def _sides(problem: Problem) -> int:
    """Return of how many one is right; 0 where it is not one of a few."""
    match problem.answer:
        case YesNoAnswer() | ClaimAnswer():
            return 2
        case ChoiceAnswer(choices=choices):
            return len(choices)
        case _:
            return 0
