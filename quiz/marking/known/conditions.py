"""Marks stated conditions and a number under them: half of the credit each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from engine.errors import InputError
from engine.estimate import ledger
from engine.scenario import Scenario
from engine.units import both
from problems.answers.conditions import ConditionsAnswer
from problems.answers.numbers import rounded
from problems.exact import PHASES_SAID, before_step
from problems.layers import layer_terms, per_token
from problems.problem import Problem
from problems.stated import CONDITIONS, OVERTURNS, Stated, configured, in_words, others, size
from problems.wording import gb, listed, number
from quiz.answers import Conditions, Quantity, Unreadable, describe, read_conditions
from quiz.answers.yes_no import leaves_out
from quiz.marking.marker import Halves, Marker, Request
from quiz.marking.nearness import credit, credit_of_range, distance
from quiz.marking.verdict import Verdict, mark_of, opening

HALF = Fraction(1, 2)
# Below this factor a distance is told in percent.
FACTOR = 2
LEFT_OUT = "a decisive condition left out"
LINES_SHOWN = 5
# One way to say each condition.
EXAMPLES: Mapping[str, str] = {
    "precision": "bf16 mixed",
    "optimizer": "AdamW",
    "micro-batch": "b = 4",
    "length": "s = 4096",
    "attention": "flash",
    "recomputation": "full recompute",
    "sharding": "ZeRO-1 over 8",
}


@dataclass(frozen=True, kw_only=True)
class _Run:
    """The run that was stated: the rest as in the problem's scenario."""

    scenario: Scenario
    answer: ConditionsAnswer
    stated: Stated

    @cached_property
    def size(self) -> int:
        return size(self.scenario, self.answer.measure, self.stated)

    @cached_property
    def usual(self) -> int:
        """The size without a convention of its own."""
        return size(self.scenario, self.answer.measure)

    @property
    def terms(self) -> str:
        """What adds up to the size: "weights 13.48 GB, master copy 3.37 GB"."""
        if self.answer.measure == "activations":
            layers, each = self.scenario.architecture.layers, per_token(layer_terms(self.scenario))
            return (
                f"{layers} layers × {number(self.scenario.tokens)} tokens × {number(each)} bytes"
            )
        phase, rows = before_step(ledger(self.scenario))
        shown = [f"{name} {gb(amount)}" for name, amount in rows[:LINES_SHOWN]]
        if len(rows) > LINES_SHOWN:
            shown.append(f"smaller lines {gb(sum(amount for _, amount in rows[LINES_SHOWN:]))}")
        more = self.size - self.usual
        if more:
            word = "more" if more > 0 else "less"
            shown.append(f"{gb(abs(more))} {word} at your bytes a parameter")
        return f"At {PHASES_SAID[phase]}: {listed(shown)}"

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(key for key in self.answer.open if key not in self.stated.conditions)

    def other(self, key: str) -> tuple[str, int] | None:
        """Return another value of a condition that overturns the answer, and what it gives."""
        for other in others(key, self.scenario):
            here = size(other, self.answer.measure)
            if max(here, self.usual) >= OVERTURNS * min(here, self.usual):
                return in_words(key, other), here
        return None


def _mark(problem: Problem, answer: ConditionsAnswer, text: str) -> Verdict | Unreadable:
    typed = read_conditions(text)
    if isinstance(typed, Unreadable) or problem.scenario is None:
        return typed if isinstance(typed, Unreadable) else Unreadable(offset=0, reason="no run")
    run = _run(problem.scenario, answer, typed.stated)
    if isinstance(run, Unreadable):
        return run
    found = len(answer.open) - len(run.missing)
    number = None if typed.quantity is None else typed.quantity.value
    form = Fraction(found, len(answer.open))
    score = HALF * form + HALF * _of_number(typed.quantity, Fraction(run.size))
    decisive = {key: other for key in run.missing if (other := run.other(key))}
    says = [
        *_of_size(run, problem.scenario),
        *_distance(typed.quantity, run.size),
        *_left_out(run, decisive),
    ]
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed={"stated": tuple(sorted(typed.stated.conditions)), "number": number},
        score=score,
        verdict=mark_of(score),
        mistake=LEFT_OUT if decisive else None,
        feedback=opening(score) + " ".join(says),
        reading=_reading(typed, run),
        remarks=typed.remarks,
    )


def _run(base: Scenario, answer: ConditionsAnswer, stated: Stated) -> _Run | Unreadable:
    try:
        scenario = configured(base, stated)
    except InputError as error:
        fault = error.faults[0]
        return Unreadable(offset=0, reason=f"this run cannot be computed: {fault.what}")
    for key in answer.given:
        if in_words(key, scenario) != in_words(key, base):
            reason = f"the question gives {CONDITIONS[key]}: {in_words(key, base)}; type no other"
            return Unreadable(offset=0, reason=reason)
    return _Run(scenario=scenario, answer=answer, stated=stated)


def _of_number(quantity: Quantity | None, right: Fraction) -> Fraction:
    if quantity is None:
        return Fraction(0)
    if quantity.low != quantity.high:
        return credit_of_range(quantity.low, quantity.high, right, "estimate")
    return credit(quantity.value, right, "estimate")


def _of_size(run: _Run, example: Scenario) -> Iterator[str]:
    """Yield what the stated run comes to and of what; the terms of the example stand below."""
    yield f"{both(run.size)} for what you stated."
    if run.scenario != example or run.stated.each is not None:
        yield f"{run.terms}."
    if run.missing:
        said = [in_words(key, run.scenario) for key in run.missing]
        yield f"Assumed for you: {listed(said)}."


def _distance(quantity: Quantity | None, right: int) -> Iterator[str]:
    if quantity is None:
        yield "The number is the other half."
        return
    off = distance(quantity.value, Fraction(right))
    if not off or not quantity.value or _of_number(quantity, Fraction(right)) == 1:
        return
    ratio = max(quantity.value / right, right / quantity.value)
    word = "high" if quantity.value > right else "low"
    if ratio < FACTOR:
        yield f"Your number is {float(off):.0%} too {word}."
    else:
        yield f"Your number is too {word} by a factor of {rounded(ratio, 3)}."


def _left_out(run: _Run, decisive: dict[str, tuple[str, int]]) -> Iterator[str]:
    small = [CONDITIONS[key] for key in run.missing if key not in decisive]
    for key, (said, here) in decisive.items():
        what = f"{CONDITIONS[key]} ({said}: {gb(here)})"
        yield f"Not stated, and it would overturn the answer: {what}."
    if small:
        yield f"Not stated: {listed(small)}."


def _reading(typed: Conditions, run: _Run) -> str:
    keys = [key for key in CONDITIONS if key in typed.stated.conditions]
    words = [in_words(key, run.scenario) for key in keys]
    if typed.stated.each is not None:
        words = [f"{float(typed.stated.each):g} bytes a parameter", *words[2:]]
    conditions = ", ".join(words) or "no conditions"
    if typed.quantity is None:
        return f"{conditions}, without a number"
    return f"{conditions}: {describe(typed.quantity)}"


def _lacks_number(verdict: Verdict) -> bool:
    return isinstance(verdict.parsed, dict) and verdict.parsed["number"] is None


def _lead(pending: str, line: str) -> str | Unreadable:
    """Return the conditions as they go before the number; none where the line has its own."""
    again = read_conditions(line)
    if isinstance(again, Conditions) and again.stated != Stated():
        if again.quantity is None:
            reason = "type the memory of what you stated; Enter alone leaves it out"
            return Unreadable(offset=0, reason=reason)
        return ""
    return f"{pending.rstrip(' :')}: "


def _request(_: ConditionsAnswer) -> Request:
    wants = "Type what you assume, commas between, then a colon and the memory: this, that: 118 GB"
    return Request(items=(), wants=wants)


def _forms(answer: ConditionsAnswer) -> tuple[str, ...]:
    said = EXAMPLES[answer.open[0]]
    return (f"{said}: 118 GB", said)


MARKER = Marker(
    of=ConditionsAnswer,
    mark=_mark,
    names=lambda *_: (LEFT_OUT,),
    request=_request,
    forms=_forms,
    halves=Halves(
        lacks=_lacks_number,
        lead=_lead,
        leaves_out=leaves_out,
        wants=lambda _: "And the memory under these conditions? Enter alone leaves it out.",
        withdrawn="Taken back: state the conditions again.",
    ),
)
