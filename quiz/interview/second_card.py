"""The scorecard of an interview of two: what the interviewer marked, heard and noted."""

from datetime import datetime
from fractions import Fraction

from problems.interview.script import Question
from quiz.interview.marking import assembled, expects, share
from quiz.interview.scorecard import Heard, Reply, Scorecard
from quiz.interview.second_screen import Desk


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
    key = question.key
    made = tuple(one for one in question.points if (key, one.name) in desk.heard)
    expected = [one for one in question.points if expects(desk.interview.level, one)]
    score = _score(desk, question, len(made), len(expected))
    told = key in desk.reached and score is not None
    return Reply(
        question=question,
        typed=tuple(note for name, note in desk.notes if name == key),
        answer="",
        verdict=None,
        score=score,
        heard=tuple(Heard(point=one, words="") for one in made),
        missed=tuple(one for one in expected if one not in made) if told else (),
        reused=key in desk.reused if question.reuses and told else None,
        carried=False,
        hints=0,
        seconds=desk.seconds.get(key, 0.0),
    )


def _score(desk: Desk, question: Question, made: int, expected: int) -> Fraction | None:
    """Return the interviewer's mark; where none was given, the share of points that were heard."""
    if question.key in desk.marks:
        return desk.marks[question.key]
    return share(made, expected) if made else None
