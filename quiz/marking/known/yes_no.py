"""A yes or no, and the number that proves it: half of the credit each."""

import re
from dataclasses import replace
from fractions import Fraction

from problems.answers.yes_no import YesNoAnswer
from problems.problem import Problem
from quiz.answers import Unreadable, describe
from quiz.answers.yes_no import YesNo, leaves_out, read_yes_no
from quiz.marking.assess import assess
from quiz.marking.marker import Halves, Marker
from quiz.marking.numbers import read_number
from quiz.marking.verdict import Verdict, mark_of, opening

HALF = Fraction(1, 2)
# What is said behind a number that is a difference: of one that is over, and of one that is not.
BEHIND = re.compile(
    r"\b(?:(?:is|are) )?(?:(?P<over>left(?: over)?|remain(?:ing|s)?|(?:to )?spare|free)|"
    r"(?:missing|short|lacking|too little|too much))[\s.!]*$",
    re.IGNORECASE,
)
EXAMPLES = {"bytes": "61 GB", "s": "1.5 s", "1": "250"}


def _mark(problem: Problem, answer: YesNoAnswer, text: str) -> Verdict | Unreadable:
    typed = _read(answer, text)
    if isinstance(typed, Unreadable):
        return typed
    if not typed.rest.strip():
        return _verdict_alone(problem, answer, text, typed)
    quantity = read_number(answer.proof, typed.rest)
    if isinstance(quantity, Unreadable):
        return replace(quantity, offset=quantity.offset + typed.offset)
    marked = assess(quantity, answer.proof, problem)
    score = _earned(answer, typed) + marked.score / 2
    wrong = () if typed.yes == answer.value else (f"It is {_word(yes=answer.value)}.",)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed={"yes": typed.yes, "number": quantity.value},
        score=score,
        verdict=mark_of(score),
        mistake=marked.mistake,
        held=marked.held,
        feedback=" ".join([f"{opening(score)}{answer.said}.", *wrong, *marked.says]),
        reading=f"{_word(yes=typed.yes)}, {describe(quantity)}",
        remarks=quantity.remarks,
    )


def _read(answer: YesNoAnswer, text: str) -> YesNo | Unreadable:
    """Return the verdict and the number, without a word that says again which of the two it is."""
    typed = read_yes_no(text, EXAMPLES[answer.proof.unit])
    behind = None
    if isinstance(typed, YesNo) and answer.difference:
        behind = BEHIND.search(typed.rest)
    if isinstance(typed, Unreadable) or not behind:
        return typed
    if typed.yes != bool(behind["over"]):
        said, of = ("yes", "missing") if typed.yes else ("no", "left over")
        reason = f"with {said} nothing is {of}; type yes or no with its number alone"
        return Unreadable(offset=typed.offset + behind.start(), reason=reason)
    return replace(typed, rest=typed.rest[: behind.start()])


def _verdict_alone(problem: Problem, answer: YesNoAnswer, text: str, typed: YesNo) -> Verdict:
    score = _earned(answer, typed)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed={"yes": typed.yes, "number": None},
        score=score,
        verdict=mark_of(score),
        feedback=f"{opening(score)}{answer.said}. The number is the other half.",
        reading=f"{_word(yes=typed.yes)}, without a number",
    )


def _earned(answer: YesNoAnswer, typed: YesNo) -> Fraction:
    return HALF if typed.yes == answer.value else Fraction(0)


def _lacks_number(verdict: Verdict) -> bool:
    return isinstance(verdict.parsed, dict) and verdict.parsed["number"] is None


def _lead(pending: str, line: str) -> str | Unreadable:
    """Return the first line as it goes before the number: what was said first stands."""
    first, again = read_yes_no(pending), read_yes_no(line)
    if isinstance(first, YesNo) and isinstance(again, YesNo):
        if first.yes != again.yes:
            said = _word(yes=first.yes)
            reason = f"your {said} stands; type its number, or undo to take it back"
            return Unreadable(offset=0, reason=reason)
        if not again.rest.strip():
            return Unreadable(offset=0, reason="type its number; Enter alone leaves it out")
    return f"{pending}, "


def _word(*, yes: bool) -> str:
    return "yes" if yes else "no"


MARKER = Marker(
    of=YesNoAnswer,
    mark=_mark,
    forms=lambda answer: tuple(f"{word}, {EXAMPLES[answer.proof.unit]}" for word in ("yes", "no")),
    halves=Halves(
        lacks=_lacks_number,
        lead=_lead,
        leaves_out=leaves_out,
        wants=lambda _: "And the number that proves it? Enter alone leaves it out.",
        withdrawn="Taken back: answer yes or no again.",
    ),
)
