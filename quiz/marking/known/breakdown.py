"""Marks a breakdown: half for the sum, half for tensors that training has, each with its width."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from problems.answers.breakdown import NEEDED, WIDTHS, BreakdownAnswer
from problems.problem import Problem
from problems.wording import bytes_of, listed
from quiz.answers import Breakdown, Unreadable, read_breakdown
from quiz.marking.marker import Marker, Request
from quiz.marking.verdict import Verdict, mark_of, opening

HALF = Fraction(1, 2)
FP32 = 4  # bytes


def _mark(problem: Problem, answer: BreakdownAnswer, text: str) -> Verdict | Unreadable:
    typed = read_breakdown(text)
    if isinstance(typed, Unreadable):
        return typed
    parts = dict(typed.parts)
    faults = tuple(_faults(parts, answer.example))
    form = max(Fraction(0), 1 - Fraction(len(faults), len(NEEDED)))
    score = HALF * form + HALF * (typed.total == answer.total)
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed={name: Fraction(each) for name, each in typed.parts},
        score=score,
        verdict=mark_of(score),
        feedback=_feedback(answer, typed, faults, score),
        reading=typed.said,
    )


def _faults(parts: Mapping[str, int], example: Mapping[str, int]) -> Iterator[str]:
    """Yield each way in which the tensors are none that a run has together."""
    missing = [name for name in NEEDED if name not in parts]
    yield from (f"Training has {name} too." for name in missing)
    for name, each in parts.items():
        if each not in WIDTHS[name]:
            widths = listed([str(width) for width in sorted(WIDTHS[name])]).replace("and", "or")
            yield f"A parameter's {name} take {widths} bytes, not {each}."
    if example["weights"] == FP32 and parts.get("weights", FP32) < FP32:
        yield "This run is in fp32, and so are its weights."
    if "master copy" in parts and parts.get("weights") == FP32:
        yield "With fp32 weights there is no master copy: the optimizer steps the weights."
    states, kept = parts.get("optimizer states", 0), example["optimizer states"]
    if states > kept:
        yield f"This run's optimizer keeps {kept} bytes a parameter, not {states}."
    elif states == 2 * FP32 and parts.get("weights", FP32) < FP32 and "master copy" not in parts:
        yield "Two fp32 moments step an fp32 copy of the weights, 4 bytes."


def _feedback(
    answer: BreakdownAnswer, typed: Breakdown, faults: tuple[str, ...], score: Fraction
) -> str:
    says = list(faults)
    if typed.total != answer.total:
        off = bytes_of(abs(typed.total - answer.total))
        word = "less" if typed.total < answer.total else "more"
        says.insert(0, f"Yours is {typed.total}, {off} {word}.")
    if score == 1:
        return f"{opening(score)}{typed.said}."
    return " ".join([f"{opening(score)}for example {answer.said}.", *says])


def _request(_: BreakdownAnswer) -> Request:
    return Request(items=(), wants="Type each tensor with its bytes, a plus between them.")


MARKER = Marker(
    of=BreakdownAnswer, mark=_mark, request=_request, forms=lambda _: ("weights 4 + gradients 4",)
)
