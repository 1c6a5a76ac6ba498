"""A scorecard in words: scores, times, and what is said of a question."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from problems.answers.numbers import rounded
from problems.interview.script import Aspect
from quiz.interview.answers_told import short
from quiz.interview.reusing import asked_for, number_of
from quiz.interview.scorecard import Reply, Scorecard

SECONDS = 60
BY_HAND = "marked by the interviewer"


def clock(seconds: float) -> str:
    """Return a time as a clock shows it: "3:07"."""
    return f"{int(seconds) // SECONDS}:{int(seconds) % SECONDS:02}"


def minutes(seconds: float) -> int:
    """Return whole minutes, the nearest."""
    return int(seconds / SECONDS + 0.5)


def score_said(score: Fraction | None) -> str:
    """Return a score to two digits, "-" where nothing was marked."""
    return "-" if score is None else f"{float(score):.2f}"


def mark_said(score: Fraction | None, replies: Iterable[Reply]) -> str:
    """Return the mark of some replies to two digits: "0.75", or why there is none."""
    if score is not None:
        return score_said(score)
    why = {one.unmarked for one in replies}
    return next((one for one in ("not marked", "passed over") if one in why), "not reached")


def aspect_said(card: Scorecard, aspect: Aspect) -> str:
    """Return the mark of an aspect to two digits, or why there is none."""
    replies = (reply for part in card.parts for reply in part.replies)
    own = [one for one in replies if one.question.aspect == aspect]
    return mark_said(card.aspects[aspect], own)


def name_of(reply: Reply) -> str:
    """Return the question's key as words."""
    return reply.question.key.replace("-", " ")


def figures(reply: Reply) -> tuple[str, str, str] | None:
    """Return the candidate's number, the reference and their ratio; None where none is asked."""
    asked = asked_for(reply.question)
    if asked is None:
        return None
    own = number_of(reply.verdict)
    ratio = rounded(own / asked.value, 3) if own is not None and own and asked.value else "-"
    return ("-" if own is None else short(own, asked), short(asked.value, asked), ratio)


def of_reply(reply: Reply) -> Iterator[str]:
    """Yield what is said of a question at once behind it."""
    if reply.score is None:
        return
    yield f"{score_said(reply.score)} of 1{_verdict(reply)}"
    if reply.carried:
        yield "It follows from your own earlier number, so it counts in full."
    if reply.reused is not None:
        way = reply.question.reuses[0].says
        yield "You used an earlier line." if reply.reused else f"An earlier line gives it: {way}."
    for one in reply.heard:
        where = ", said before" if one.unasked else ""
        yield f"heard{where}: {one.point.says} (“{one.words}”)"
    yield from (f"not said: {point.says}" for point in reply.missed)
    if reply.score < 1:
        yield f"a stronger answer: {reply.question.stronger}"


def _verdict(reply: Reply) -> str:
    if reply.verdict is not None:
        return f". {reply.verdict.feedback}"
    problem = reply.question.problem
    return "" if problem is None else f". It is {problem.answer.said}."
