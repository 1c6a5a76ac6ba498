"""What is said when a set ends: the score, where points were lost, how to go on."""

from fractions import Fraction

from problems.problem import TOPICS
from quiz.dialogue import Ending
from quiz.practice import Session, summary

ONWARD = {
    True: "Go on with it: memquiz practice",
    False: "It was not kept (--no-save); the same questions again: memquiz practice --seed {seed}",
}


def closing(session: Session, ending: Ending, *, seed: int, saved: bool) -> str:
    """Return the closing lines for a set that ended so."""
    result = summary(session)
    lines = [f"Score {points(result.score)} of {result.answered}"]
    if ending != "finished":
        lines = [f"Stopped at question {session.position + 1} of {len(session.problems)}."]
        if result.answered:
            lines.append(f"Score so far {points(result.score)} of {result.answered}")
    for topic, asked, score in result.topics:
        lines.append(f"  {TOPICS[topic]}: {points(score)} of {asked}")
    for name, times in result.mistakes:
        lines.append(f"  mistake: {name}" + (f", {times} times" if times > 1 else ""))
    lines.append(_next(result.weakest, ending, seed=seed, saved=saved))
    return "\n".join(lines)


def _next(weakest: str | None, ending: Ending, *, seed: int, saved: bool) -> str:
    if ending != "finished":
        return ONWARD[saved].format(seed=seed)
    if weakest is None:
        return "Next: memquiz practice --level senior"
    return f"Next: memquiz practice --topic {weakest}"


def points(score: Fraction) -> str:
    """Return a score as a person writes it: 7, 7.5, 7.25."""
    return f"{float(score):g}" if score.denominator <= 8 else f"{float(score):.2f}"
