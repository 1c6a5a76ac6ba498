"""Marks the one of a few things that was typed: right or wrong, and what a wrong one overlooks."""

from fractions import Fraction

from problems.answers.choice import ChoiceAnswer
from problems.problem import Problem
from quiz.answers import Unreadable, read_choice
from quiz.answers.ranking_text import LONGEST_ORDER
from quiz.marking.marker import Marker, Request, behind_keys
from quiz.marking.verdict import Verdict, mark_of, opening


def _mark(problem: Problem, answer: ChoiceAnswer, text: str) -> Verdict | Unreadable:
    """Mark `text`: all of the credit for the right one, none for another."""
    picked = read_choice(text, answer.items)
    if isinstance(picked, Unreadable):
        return picked
    typed, right = answer.choice(picked.key), answer.right
    score = Fraction(int(typed is right))
    return Verdict(
        problem=problem.id,
        answer=text,
        parsed=((picked.key,),),
        score=score,
        verdict=mark_of(score),
        mistake=typed.mistake or None,
        feedback=" ".join(
            [
                f"{opening(score)}{answer.said.removesuffix('.')}.",
                *dict.fromkeys((typed.feedback, right.feedback)),
            ]
        ),
        reading=typed.item.name,
        remarks=picked.remarks,
    )


def _request(answer: ChoiceAnswer) -> Request:
    noun = "number" if answer.items[0].key.isdigit() else "letter"
    return Request(items=behind_keys(answer.items), wants=f"Type its {noun} or name.")


MARKER = Marker(
    of=ChoiceAnswer,
    mark=_mark,
    longest=LONGEST_ORDER,
    request=_request,
    forms=lambda answer: (answer.items[0].key, answer.items[0].name),
    names=lambda _, answer: (choice.mistake for choice in answer.choices if choice.mistake),
)
