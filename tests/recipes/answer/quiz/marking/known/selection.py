"""Marks a selection: the share of the items that were rightly named or rightly left out."""

from fractions import Fraction

from problems.answers.selection import SelectionAnswer
from problems.problem import Problem
from quiz.answers import Unreadable, read_ranking
from quiz.marking.marker import Marker, Request, behind_keys
from quiz.marking.verdict import Verdict, mark_of, opening


def _mark(problem: Problem, answer: SelectionAnswer, text: str) -> Verdict | Unreadable:
    typed = read_ranking(text, answer.items)
    if isinstance(typed, Unreadable):
        return typed
    named = {key for group in typed.order for key in group}
    wrong = [one.name for one in answer.items if (one.key in named) != (one.key in answer.right)]
    score = 1 - Fraction(len(wrong), len(answer.items))
    says = f" Taken wrongly: {', '.join(wrong)}." if wrong else ""
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=tuple(sorted(named)),
        score=score,
        verdict=mark_of(score),
        feedback=f"{opening(score)}{answer.said}.{says}",
        reading=", ".join(item.name for item in answer.items if item.key in named),
        remarks=typed.remarks,
    )


def _request(answer: SelectionAnswer) -> Request:
    return Request(items=behind_keys(answer.items), wants="Type the numbers of all of them.")


def _forms(answer: SelectionAnswer) -> tuple[str, ...]:
    return tuple(item.key for item in answer.items[:2])


MARKER = Marker(of=SelectionAnswer, mark=_mark, request=_request, forms=_forms)
