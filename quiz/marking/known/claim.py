"""Marks what was said about a claim as an answer to a question: score, words, what is missing."""

from collections.abc import Iterator

from problems.answers.claim import ClaimAnswer
from problems.claims import Claim, FalseStatement, claim, falsehoods
from problems.problem import Problem
from quiz.answers import Unreadable
from quiz.claims.grade import HEDGED, UNNAMED, ClaimVerdict, Span, grade_claim
from quiz.claims.text import LONGEST_REASON
from quiz.marking.claim_numbers import wrong_number
from quiz.marking.marker import Marker
from quiz.marking.verdict import CLOSE_CALL, LABELS, Verdict, mark_of, opening

LONGEST_QUOTE = 60
WRONG_NUMBER = "a number that is not the run's"
SOMETHING_FALSE = "a false reason"
WRONG_SIDE = "hedged the wrong way"
# Below this the label may as well be another, and the learner is told so.
CLOSE = 0.6


def _mark(problem: Problem, answer: ClaimAnswer, text: str) -> Verdict | Unreadable:
    """Mark `text`, and say which of its words earned or lost what."""
    marked = grade_claim(answer.claim, text)
    if isinstance(marked, Unreadable):
        return marked
    asked, score = claim(answer.claim), LABELS[marked.label]
    wrong = None if answer.run is None else wrong_number(text, answer.run)
    if wrong is not None:
        score = min(score, LABELS["partial"])
    return Verdict(
        problem=problem.id,
        answer=text,
        score=score,
        verdict=mark_of(score),
        mistake=_mistake(asked, marked) or (WRONG_NUMBER if wrong else None),
        feedback=" ".join(
            [
                f"{opening(score)}{answer.said}.",
                *([wrong.says] if wrong else []),
                *_says(asked, marked),
            ]
        ),
        reading=_heard_verdict(marked),
        remarks=tuple(_remarks(asked, marked)),
    )


def _mistake(asked: Claim, marked: ClaimVerdict) -> str | None:
    """Return the name of what was false: the statement itself, where it is known."""
    known = {error.id: error.says.removesuffix(".") for error in _errors(asked)}
    known |= {UNNAMED: SOMETHING_FALSE, **dict.fromkeys(HEDGED.values(), WRONG_SIDE)}
    return known[marked.error] if marked.error else None


def _heard_verdict(marked: ClaimVerdict) -> str:
    if marked.said is None:
        return "no verdict"
    return "true" if marked.said else "false"


def _says(asked: Claim, marked: ClaimVerdict) -> Iterator[str]:
    """Yield the false statement that was heard, or what a stronger answer would add."""
    false = next((error for error in _errors(asked) if error.id == marked.error), None)
    if false is not None:
        yield f"Not so: “{false.says}” {false.why}"
    for span in marked.spans:
        if span.name == UNNAMED:
            yield f"This does not hold: “{_quoted(marked.answer, span)}”."
    missing = [asked.point(name) for name in marked.missing]
    core = [point for point in missing if point.core]
    if core and not any(asked.point(name).core for name in marked.credited):
        yield f"What is missing: {core[0].says}"
    elif missing:
        yield f"A stronger answer adds: {missing[0].says}"


def _remarks(asked: Claim, marked: ClaimVerdict) -> Iterator[str]:
    yield from _heard(asked, marked)
    if marked.sure < CLOSE:
        yield f"{CLOSE_CALL}: {marked.label} at {marked.sure:.0%}"


def _heard(asked: Claim, marked: ClaimVerdict) -> Iterator[str]:
    """Yield the words that earned or lost something, each with what they were heard as."""
    says = {point.id: point.says for point in asked.points}
    says |= {error.id: f"false: {error.says}" for error in _errors(asked)}
    for span in marked.spans:
        if span.kind != "verdict" and span.name in says:
            yield f"“{_quoted(marked.answer, span)}”: {says[span.name]}"


def _errors(asked: Claim) -> tuple[FalseStatement, ...]:
    """Return the false statements that may be heard: the claim's own, and those of the field."""
    return (*asked.errors, *falsehoods())


def _names(_: Problem, answer: ClaimAnswer) -> Iterator[str]:
    """Yield what may be named; of the field's false statements any claim may have any."""
    asked = claim(answer.claim)
    yield from (error.says.removesuffix(".") for error in asked.errors)
    yield SOMETHING_FALSE
    yield WRONG_SIDE
    if answer.run is not None:
        yield WRONG_NUMBER


def _quoted(answer: str, span: Span) -> str:
    words = " ".join(answer[span.start : span.end].split())
    shown = "".join(letter for letter in words if letter.isprintable())
    return shown if len(shown) <= LONGEST_QUOTE else f"{shown[: LONGEST_QUOTE - 1]}…"


MARKER = Marker(
    of=ClaimAnswer,
    mark=_mark,
    longest=LONGEST_REASON,
    own_mark=True,
    forms=lambda _: ("true, because …", "false: …", "it depends: …"),
    remarks_tell=True,
    names=_names,
    gives_reason=True,
)
