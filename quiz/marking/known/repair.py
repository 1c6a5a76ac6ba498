"""The first wrong step of a worked answer and its right number: half of the credit each."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from engine.units import KB
from problems.answers.repair import RepairAnswer, WorkedStep
from problems.problem import Problem
from quiz.answers import Quantity, Unreadable, describe
from quiz.answers.repair import Repair, read_repair
from quiz.answers.yes_no import leaves_out
from quiz.marking.assess import Assessment, assess
from quiz.marking.marker import Halves, Marker
from quiz.marking.nearness import credit
from quiz.marking.numbers import number_forms, read_number
from quiz.marking.verdict import Verdict, mark_of, opening

HALF = Fraction(1, 2)
# The right number of a later step: what follows was seen, its beginning was not.
LATER = Fraction(1, 2)
# No question has more steps; one that is not there is told when it is marked.
MOST = 99


def _mark(problem: Problem, answer: RepairAnswer, text: str) -> Verdict | Unreadable:
    typed = read_repair(text, len(answer.steps))
    if isinstance(typed, Unreadable):
        return typed
    if not typed.rest.strip():
        return _step_alone(problem, answer, text, typed)
    quantity = read_number(answer.steps[typed.step - 1].right, typed.rest)
    if isinstance(quantity, Unreadable):
        return replace(quantity, offset=quantity.offset + typed.offset)
    marked = _assessed(problem, answer, typed.step, quantity)
    if not marked.mistake and _is_whole_size(answer.steps[typed.step - 1], quantity):
        unit = _few_bytes(answer.steps[typed.step - 1])
        reason = f"step {typed.step} is shown in {unit}, not as a size; type its number in those"
        return Unreadable(offset=typed.offset, reason=reason)
    score = _earned(answer, typed) + marked.score / 2
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed={"step": Fraction(typed.step), "number": quantity.value},
        score=score,
        verdict=mark_of(score),
        mistake=marked.mistake,
        held=marked.held,
        feedback=" ".join([*_said(answer, typed, score), *marked.says]),
        reading=f"step {typed.step}, {describe(quantity)}",
        remarks=quantity.remarks,
    )


def _assessed(problem: Problem, answer: RepairAnswer, step: int, quantity: Quantity) -> Assessment:
    """Mark the number against the first wrong step's, or as that of a later step."""
    right = answer.steps[step - 1].right
    if step > answer.step and credit(quantity.value, right.value, right.band) == 1:
        mended = f"{answer.steps[step - 1].said} once step {answer.step} is mended"
        says = (f"The number is right for that step, which is {mended}.",)
        return Assessment(score=LATER, mistake=None, says=says)
    if right.unit != answer.proof.unit:
        return Assessment(score=Fraction(0), mistake=None, says=())
    return assess(quantity, answer.proof, problem)


def _few_bytes(step: WorkedStep) -> str:
    """Return "bytes a parameter" where a step is shown in these, "" where in GB and the like."""
    found = re.search(r" bytes?(?P<of>[a-z ]*)$", step.text)
    return f"bytes{found['of']}" if found else ""


def _is_whole_size(step: WorkedStep, typed: Quantity) -> bool:
    """Return whether a few bytes are asked for and something like all of them is typed."""
    return bool(_few_bytes(step)) and typed.value > KB * max(step.shown, step.right.value)


def _step_alone(problem: Problem, answer: RepairAnswer, text: str, typed: Repair) -> Verdict:
    score = _earned(answer, typed)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed={"step": Fraction(typed.step), "number": None},
        score=score,
        verdict=mark_of(score),
        feedback=" ".join([*_said(answer, typed, score), "The right number is the other half."]),
        reading=f"step {typed.step}, without a number",
    )


def _said(answer: RepairAnswer, typed: Repair, score: Fraction) -> Iterator[str]:
    """Yield the right answer, what is wrong there, and what is with the step that was named."""
    yield f"{opening(score)}{answer.said}. {answer.why}"
    if answer.steps[typed.step - 1].holds:
        yield f"Step {typed.step} holds as it stands."
    elif typed.step > answer.step:
        yield f"Step {typed.step} only goes on from the number of an earlier one."


def _earned(answer: RepairAnswer, typed: Repair) -> Fraction:
    return HALF if typed.step == answer.step else Fraction(0)


def _lacks_number(verdict: Verdict) -> bool:
    return isinstance(verdict.parsed, dict) and verdict.parsed["number"] is None


def _lead(pending: str, line: str) -> str | Unreadable:
    """Return the first line as it goes before the number: the step that was named stands."""
    first, again = read_repair(pending, MOST), read_repair(line, MOST)
    if not isinstance(first, Repair) or not isinstance(again, Repair):
        return f"{pending}, "
    if not again.rest.strip() and again.step == first.step:
        return Unreadable(offset=0, reason="type its right number; Enter alone leaves it out")
    if again.step != first.step and "step" in line.lower():
        reason = f"your step {first.step} stands; type its number, or undo to take it back"
        return Unreadable(offset=0, reason=reason)
    # A number may look like a step, as in "2 - 3 GB"; one that names the same step is whole.
    return "" if again.step == first.step else f"{pending}, "


def _forms(answer: RepairAnswer) -> tuple[str, ...]:
    """Return the first step with a number of its unit, and that step alone."""
    form = "12" if _few_bytes(answer.steps[0]) else number_forms(answer.steps[0].right)[0]
    return (f"1, {form}", f"step 1: {form}", "1")


MARKER = Marker(
    of=RepairAnswer,
    mark=_mark,
    forms=_forms,
    halves=Halves(
        lacks=_lacks_number,
        lead=_lead,
        leaves_out=leaves_out,
        wants=lambda _: "And the right number at that step? Enter alone leaves it out.",
        withdrawn="Taken back: name the first wrong step again.",
    ),
)
