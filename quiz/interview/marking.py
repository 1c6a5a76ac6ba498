"""What an interview came to: every question marked, the five aspects apart."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from problems.interview.script import ASPECTS, Aspect, Interview, Point, Question
from problems.problem import Level
from problems.wording import listed
from quiz.interview.advice import next_steps
from quiz.interview.contraries import CONTRARIES
from quiz.interview.hearing import Manner, manner
from quiz.interview.listening import STATED_POINTS, STATED_QUESTIONS, Listened, stand
from quiz.interview.reusing import (
    asked_for,
    carries,
    choice_of,
    moves_of,
    number_of,
    shows,
    shows_one_of,
)
from quiz.interview.scorecard import Heard, Mode, PartCard, Reply, Scorecard
from quiz.interview.sitting import Said, Sitting
from quiz.marking.verdict import Verdict

Phrases = Callable[[str], Sequence[str]]
"""From the name of a point to what it is heard by."""

ORDER: tuple[Level, ...] = ("junior", "mid", "senior")
# What takes memory is no cause yet, and a lever no effect, where it was but named before.
OWN_LINES = frozenset({"died-in-step-2", "interplay"})


def card(sitting: Sitting, *, started: datetime, phrases: Phrases) -> Scorecard:
    """Return the scorecard of an interview, finished or not."""
    interview = sitting.interview
    return assembled(
        interview,
        [reply(sitting, index, phrases) for index in range(len(interview.questions))],
        mode="alone",
        started=started,
        finished=sitting.finished,
    )


def assembled(
    interview: Interview,
    replies: Sequence[Reply],
    *,
    mode: Mode,
    started: datetime,
    finished: bool,
) -> Scorecard:
    """Return the scorecard of an interview with one reply for each question, in their order."""
    return Scorecard(
        interview=interview,
        mode=mode,
        started=started,
        finished=finished,
        parts=tuple(_parts(interview, replies)),
        aspects={aspect: _of_aspect(replies, aspect) for aspect in ASPECTS},
        reuse=_reuse(replies),
        mistakes=tuple(_mistakes(replies)),
        next=next_steps(interview.level, replies),
    )


def reply(sitting: Sitting, index: int, phrases: Phrases) -> Reply:
    """Return the question at `index` with what came of it."""
    question = sitting.interview.questions[index]
    if index >= len(sitting.exchanges):
        return _unreached(question)
    exchange = sitting.exchanges[index]
    made = tuple(_heard(sitting, index, phrases))
    answer = exchange.answer
    verdict = None if answer is None else answer.verdict
    follows = _follows(sitting, index, verdict)
    carried = bool(follows)
    if verdict is not None and carried:
        verdict = _told_as_carried(verdict, question, follows)
    reached = sitting.finished or index != sitting.position or bool(exchange.said)
    names = {one.point.name for one in made}
    expected = [one for one in question.points if expects(sitting.interview.level, one)]
    return Reply(
        question=question,
        typed=tuple(one.typed for one in exchange.said),
        answer="" if answer is None else answer.typed,
        verdict=verdict,
        score=_score(question, verdict, share(len(made), len(expected)), carried=carried)
        if reached
        else None,
        heard=made,
        missed=tuple(one for one in expected if one.name not in names) if reached else (),
        reused=_reused(sitting, index, carried=carried) if reached else None,
        carried=carried,
        hints=exchange.hints,
        seconds=exchange.seconds,
    )


def expects(level: Level, point: Point) -> bool:
    """Return whether a point is expected of a candidate at this level."""
    return ORDER.index(point.level) <= ORDER.index(level)


def _unreached(question: Question) -> Reply:
    return Reply(
        question=question,
        typed=(),
        answer="",
        verdict=None,
        score=None,
        heard=(),
        missed=(),
        reused=None,
        carried=False,
        hints=0,
        seconds=0.0,
    )


def _heard(sitting: Sitting, index: int, phrases: Phrases) -> Iterator[Heard]:
    """Yield the points of a question that were made there or before, and not taken back there."""
    question = sitting.interview.questions[index]
    for point in question.points:
        for place in (index, *range(index)):
            how = manner(question.aspect, asked=place == index, key=question.key)
            lines = [one.typed for one in _lines(sitting, index, place)]
            found = stand(lines, _listened(question, point, how, phrases))
            if found.words:
                yield Heard(point=point, words=found.words, unasked=place != index)
            if found.words or (found.taken_back and place == index):
                break


def _listened(question: Question, point: Point, how: Manner, phrases: Phrases) -> Listened:
    others = (one for one in question.points if one.width is not None and one is not point)
    return Listened(
        phrases=phrases(point.name),
        how=how,
        contraries=CONTRARIES.get(point.name, ()),
        width=point.width,
        others=tuple(phrases(one.name) for one in others),
        stated=question.key in STATED_QUESTIONS or point.name in STATED_POINTS,
    )


def _lines(sitting: Sitting, index: int, place: int) -> tuple[Said, ...]:
    """Return the lines at `place` in which points of the question at `index` count.

    Conditions come before the first number. A question on them that is asked behind it, such as
    what would overturn an answer, has its own lines alone, and so has one on causes and effects.
    """
    questions, said = sitting.interview.questions, sitting.exchanges[place].said
    if questions[index].key in OWN_LINES and place != index:
        return ()
    if questions[index].aspect != "conditions":
        return said
    if any(one.aspect == "number" for one in questions[:index]):
        return said if place == index else ()
    return tuple(one for one in said if one.early)


def share(made: int, expected: int) -> Fraction | None:
    """Return the share of what is expected; points above the level make up for missing ones."""
    return min(Fraction(made, expected), Fraction(1)) if expected else None


def _score(
    question: Question, verdict: Verdict | None, points: Fraction | None, *, carried: bool
) -> Fraction | None:
    """Return the score of a question's aspect: its number, its points, or both by halves."""
    number = None
    if question.problem is not None:
        number = Fraction(0) if verdict is None else Fraction(verdict.score)
        number = Fraction(1) if carried else number
    if question.aspect == "number" or points is None:
        return number
    return points if number is None else (number + points) / 2


def _follows(sitting: Sitting, index: int, verdict: Verdict | None) -> tuple[str, ...]:
    """Return the earlier questions but for which a wrong answer is right; () where none are."""
    question, earlier = sitting.interview.questions[index], sitting.interview.questions[:index]
    if verdict is None or verdict.score == 1:
        return ()
    off = dict(_off(sitting, index))
    made_of = {one.key: frozenset(x.question for x in moves_of(one)) for one in earlier}
    picked = question.picked
    if picked is None:
        return carries(question, verdict, off, made_of)
    own = number_of(_earlier(sitting, picked.question, index))
    if own is None or picked.question not in off or choice_of(verdict) != picked.of(own):
        return ()
    return (picked.question,)


def _off(sitting: Sitting, index: int) -> Iterator[tuple[str, Fraction]]:
    """Yield by how much each number before the question at `index` was off that was wrong."""
    for question in sitting.interview.questions[:index]:
        before, asked = _earlier(sitting, question.key, index), asked_for(question)
        own = number_of(before)
        if before is not None and before.score < 1 and own is not None and asked is not None:
            yield question.key, own - asked.value


def _told_as_carried(verdict: Verdict, question: Question, keys: Sequence[str]) -> Verdict:
    """Return a verdict that names no mistake, for an answer that follows from earlier ones."""
    own = listed([key.replace("-", " ") for key in keys])
    right = "" if question.problem is None else question.problem.answer.said
    return replace(
        verdict, mistake=None, feedback=f"Right but for your own {own}; the reference is {right}."
    )


def _reused(sitting: Sitting, index: int, *, carried: bool) -> bool | None:
    """Return whether an earlier line was used; None where none could be."""
    question = sitting.interview.questions[index]
    if not question.reuses:
        return None
    lines = [one.typed for one in sitting.exchanges[index].said]
    values = [
        move.times * value
        for move in moves_of(question)
        for value in _values(sitting, move.question, index)
    ]
    return (
        carried
        or shows_one_of(lines, values)
        or any(
            shows(lines, tuple(_values(sitting, reuse.question, index)), reuse)
            for reuse in question.reuses
        )
    )


def _values(sitting: Sitting, key: str, index: int) -> Iterator[Fraction]:
    """Yield the number of an earlier question: the candidate's own and the right one."""
    own = number_of(_earlier(sitting, key, index))
    if own is not None:
        yield own
    for question in sitting.interview.questions[:index]:
        if question.key == key and question.problem and question.problem.answer.number:
            yield question.problem.answer.number.value


def _earlier(sitting: Sitting, key: str, index: int) -> Verdict | None:
    asked = zip(sitting.interview.questions[:index], sitting.exchanges, strict=False)
    answers = [exchange.answer for question, exchange in asked if question.key == key]
    return answers[0].verdict if answers and answers[0] else None


def _parts(interview: Interview, replies: Sequence[Reply]) -> Iterator[PartCard]:
    at = 0
    for part in interview.parts:
        own = tuple(replies[at : at + len(part.questions)])
        at += len(part.questions)
        yield PartCard(
            part=part,
            replies=own,
            score=mean([one.score for one in own if one.score is not None]),
            seconds=sum(one.seconds for one in own),
        )


def mean(scores: Sequence[Fraction]) -> Fraction | None:
    """Return the mean of scores; None where there are none."""
    return sum(scores, Fraction(0)) / len(scores) if scores else None


def _of_aspect(replies: Sequence[Reply], aspect: Aspect) -> Fraction | None:
    own = [one for one in replies if one.question.aspect == aspect]
    return mean([one.score for one in own if one.score is not None])


def _reuse(replies: Sequence[Reply]) -> tuple[int, int]:
    told = [one.reused for one in replies if one.reused is not None]
    return sum(told), len(told)


def _mistakes(replies: Sequence[Reply]) -> Iterator[tuple[str, str, str]]:
    for one in replies:
        if one.verdict is not None and one.verdict.mistake and not one.carried:
            yield one.verdict.mistake, one.verdict.feedback, one.question.key
