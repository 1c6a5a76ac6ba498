"""The scorecard of an interview of two: what the interviewer marked, heard and noted."""

from datetime import datetime
from fractions import Fraction

from problems.interview.script import Question
from quiz.grading import grade
from quiz.interview.marking import assembled, expects, share
from quiz.interview.scorecard import Heard, Reply, Scorecard
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
    made = tuple(one for one in question.points if (key, one.name) in desk.heard)
    expected = [one for one in question.points if expects(desk.interview.level, one)]
    verdict = _verdict(question, answer)
    score = _score(desk, question, verdict, share(len(made), len(expected)) if made else None)
    told = key in desk.reached and score is not None
    return Reply(
        question=question,
        typed=tuple(note for name, note in desk.notes if name == key),
        answer=answer,
        verdict=verdict,
        score=score,
        heard=tuple(Heard(point=one, words="") for one in made),
        missed=tuple(one for one in expected if one not in made) if told and score != 1 else (),
        reused=key in desk.reused if question.reuses and told else None,
        carried=False,
        hints=0,
        seconds=desk.seconds.get(key, 0.0),
    )


def _verdict(question: Question, answer: str) -> Verdict | None:
    if question.problem is None or not answer:
        return None
    found = grade(question.problem, answer)
    return found if isinstance(found, Verdict) else None


def _score(
    desk: Desk, question: Question, verdict: Verdict | None, points: Fraction | None
) -> Fraction | None:
    """Return the interviewer's mark; where none was given, what was typed and heard earns."""
    if question.key in desk.marks:
        return desk.marks[question.key]
    if question.aspect == "number" or points is None:
        return points if verdict is None else Fraction(verdict.score)
    return points if verdict is None else (Fraction(verdict.score) + points) / 2
