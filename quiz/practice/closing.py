"""What is said when a set ends: the score, where points were lost, how to go on."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from problems.problem import TOPICS
from quiz.practice.dialogue import Ending
from quiz.practice.session import Session
from quiz.practice.sitting import BARE


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A set in numbers.

    Args:
        answered: questions done with.
        score: the sum of their scores.
        own: how many of these scores are the learner's own marks.
        topics: (topic, questions, score), in the order in which they were met.
        mistakes: (name, times), the most frequent first.
        ranges: whether each range that was typed held the reference.
        weakest: the topic in which most was lost; None where nothing was.
    """

    answered: int
    score: Fraction
    own: int
    topics: tuple[tuple[str, int, Fraction], ...]
    mistakes: tuple[tuple[str, int], ...]
    ranges: tuple[bool, ...]
    weakest: str | None


def summary(session: Session) -> Summary:
    """Return the numbers of what has been answered so far."""
    asked: Counter[str] = Counter(attempt.topic for attempt in session.attempts)
    scores = dict.fromkeys(asked, Fraction(0))
    for attempt in session.attempts:
        scores[attempt.topic] += attempt.score
    named = Counter(a.verdict.mistake for a in session.attempts if a.verdict.mistake)
    shares = {topic: scores[topic] / asked[topic] for topic in asked}
    weakest = min(shares, key=lambda topic: shares[topic], default=None)
    return Summary(
        answered=len(session.attempts),
        score=sum(scores.values(), Fraction(0)),
        own=sum(attempt.own is not None for attempt in session.attempts),
        topics=tuple((topic, asked[topic], scores[topic]) for topic in asked),
        mistakes=tuple(named.most_common()),
        ranges=tuple(a.verdict.held for a in session.attempts if a.verdict.held is not None),
        weakest=weakest if weakest is not None and shares[weakest] < 1 else None,
    )


def closing(session: Session, ending: Ending, ever: tuple[int, int] | None = None) -> str:
    """Return the score, and where points were lost, of a set that ended so.

    Args:
        session: the set.
        ending: how it ended.
        ever: of all ranges that were kept, how many held the reference, and how many there are.
    """
    result = summary(session)
    own = f", {result.own} by your own mark" if result.own else ""
    lines = [f"Score {points(result.score)} of {result.answered}{own}"]
    if ending != "finished":
        lines = [f"Stopped at question {session.position + 1} of {session.whole}."]
        if session.pending:
            lines.append(f"Its answer was only begun and is not kept: {session.pending}")
        if result.answered:
            lines.append(f"Score so far {points(result.score)} of {result.answered}{own}")
    for topic, asked, score in result.topics:
        lines.append(f"  {TOPICS[topic]}: {points(score)} of {asked}")
    for name, times in result.mistakes:
        lines.append(f"  mistake: {name}" + (f", {times} times" if times > 1 else ""))
    if result.ranges:
        lines.append(f"  ranges: {_held(sum(result.ranges), len(result.ranges), ever)}")
    return "\n".join(lines)


def _held(held: int, typed: int, ever: tuple[int, int] | None) -> str:
    said = f"{held} of {typed} held the answer"
    return said if ever is None or ever[1] <= typed else f"{said}, {ever[0]} of {ever[1]} so far"


def onward(session: Session, ending: Ending, *, again: str, saved: bool) -> str:
    """Return the last lines, which hold a command to copy: `again`, or what to practise next."""
    if ending != "finished":
        not_kept = "It was not kept (--no-save). The same questions again:\n  "
        return ("Go on with it: " if saved else not_kept) + again
    weakest = summary(session).weakest
    return f"Next: {BARE} " + ("--level senior" if weakest is None else f"--topic {weakest}")


def points(score: Fraction) -> str:
    """Return a score as a person writes it: 7, 7.5, 7.25."""
    exact = score.denominator in {1, 2, 4, 8}
    return f"{float(score):g}" if exact else f"{float(score):.2f}".rstrip("0").rstrip(".")
