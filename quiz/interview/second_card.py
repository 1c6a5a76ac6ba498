"""The scorecard of an interview of two: what the interviewer marked, heard and noted."""

from datetime import datetime
from fractions import Fraction

from problems.interview.script import Point, Question
from quiz.interview.answer_in import Before, answer_in
from quiz.interview.marking import assembled, expects, share
from quiz.interview.scorecard import Heard, Reply, Scorecard, Unmarked
from quiz.interview.second_screen import Desk
from quiz.marking.verdict import Verdict


def card(desk: Desk, *, started: datetime) -> Scorecard:
    """Return the scorecard of an interview, finished or not."""
    return assembled(
        desk.interview,
        [_reply(desk, question) for question in desk.interview.questions],
        mode="two",
        started=started,
        finished=desk.closed,
    )


def _reply(desk: Desk, question: Question) -> Reply:
    key, answer = question.key, desk.answers.get(question.key, "")
    made = _made(desk, question)
    earned, score = _earned(desk, question), counts(desk, question)
    told = key in desk.reached and score is not None
    # A full mark without a tick says that points were not ticked, not that none was made.
    listed = told and (bool(made) or score != 1)
    return Reply(
        question=question,
        typed=tuple(note for name, note in desk.notes if name == key),
        answer=answer,
        verdict=_verdict(question, answer),
        score=score,
        heard=tuple(Heard(point=one, words="") for one in made),
        missed=tuple(one for one in _expected(desk, question) if one not in made)
        if listed
        else (),
        reused=key in desk.reused if question.reuses and told else None,
        carried=False,
        hints=0,
        seconds=desk.seconds.get(key, 0.0),
        unmarked=_unmarked(desk, key),
        reads=earned if key in desk.marks and earned != score else None,
    )


def counts(desk: Desk, question: Question) -> Fraction | None:
    """Return the interviewer's mark; where none was given, what was typed and heard earns."""
    return desk.marks.get(question.key, _earned(desk, question))


def _earned(desk: Desk, question: Question) -> Fraction | None:
    """Return what was typed and heard earns; None where nothing was."""
    made, expected = _made(desk, question), _expected(desk, question)
    points = share(len(made), len(expected)) if made else None
    verdict = _verdict(question, desk.answers.get(question.key, ""))
    if question.aspect == "number" or points is None:
        return points if verdict is None else Fraction(verdict.score)
    return points if verdict is None else (Fraction(verdict.score) + points) / 2


def _made(desk: Desk, question: Question) -> tuple[Point, ...]:
    return tuple(one for one in question.points if (question.key, one.name) in desk.heard)


def _expected(desk: Desk, question: Question) -> tuple[Point, ...]:
    return tuple(one for one in question.points if expects(desk.interview.level, one))


def _unmarked(desk: Desk, key: str) -> Unmarked:
    if key in desk.passed:
        return "passed over"
    return "not marked" if key in desk.reached else "not reached"


def _verdict(question: Question, answer: str) -> Verdict | None:
    if question.problem is None or not answer:
        return None
    found = answer_in(question, answer, Before())
    return found if isinstance(found, Verdict) else None
