"""What does not fit in a set that was read: problems of other slots, a size that none has."""

from collections.abc import Iterator

from engine.errors import Fault
from engine.fields import show
from problems.answers.answer import Answer
from problems.problem import Problem
from quiz.sets.problem_set import ProblemSet, Slot


def misfits(problems: ProblemSet, where: str) -> Iterator[Fault]:
    """Yield problems in a slot of other ones, and right answers that nobody could type."""
    for variant in problems.variants:
        for slot, problem in zip(problems.slots, variant.problems, strict=True):
            named = f"{where}, {variant.said}, question {slot.number}, {problem.id}"
            if what := _other(slot, problem):
                yield Fault(named, what, "put the problems in the order of the slots")
            elif what := _below(problem.answer):
                yield Fault(named, what, "give what is right, in bytes, seconds or as a number")


def _other(slot: Slot, problem: Problem) -> str:
    """Return in what a problem is not of its slot; "" where it is."""
    pairs = {
        "kind": (problem.kind, slot.kind),
        "level": (problem.level, slot.level),
        "type": (problem.answer.type, slot.type),
    }
    for name, (has, wants) in pairs.items():
        if has != wants:
            return f"is of the {name} {show(has)}, and its slot of {show(wants)}"
    return ""


def _below(answer: Answer) -> str:
    """Return which right number is not above 0, where an answer is; "" where none is."""
    for name, one in {"": answer, **answer.parts}.items():
        number = one.number
        if number is not None and (number.value < 0 or (number.value == 0 and not name)):
            of = f" of {show(name)}" if name else ""
            return f"the right value{of} is {show(str(number.value))}, and sizes are above 0"
    return ""
