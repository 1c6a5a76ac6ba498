"""Marks the one of a few things that was typed: right or wrong, and what a wrong one overlooks."""

from fractions import Fraction

from problems.choice import ChoiceAnswer
from problems.problem import Problem
from quiz.answers import Unreadable, read_choice
from quiz.marking.reference import reference
from quiz.marking.verdict import Verdict, mark_of, opening


def grade_choice(problem: Problem, answer: ChoiceAnswer, text: str) -> Verdict | Unreadable:
    """Mark `text`: all of the credit for the right one, none for another."""
    picked = read_choice(text, answer.items)
    if isinstance(picked, Unreadable):
        return picked
    typed, right = answer.choice(picked.key), answer.right
    score = Fraction(int(typed is right))
    return Verdict(
        problem=problem.id,
        answer=text,
        ranked=((picked.key,),),
        score=score,
        verdict=mark_of(score),
        mistake=typed.mistake or None,
        feedback=" ".join(
            [
                f"{opening(score)}{reference(answer)}.",
                *dict.fromkeys((typed.feedback, right.feedback)),
            ]
        ),
        reading=typed.item.name,
        remarks=picked.remarks,
    )


def request_one(answer: ChoiceAnswer) -> str:
    """Return what to type, in one line below the items."""
    return f"Type its {'number' if answer.items[0].key.isdigit() else 'letter'} or name."
