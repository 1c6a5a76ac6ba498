"""A question and its solution as pieces of HTML, for programs that show HTML."""

from quiz.formats.questions import Question
from quiz.output.pages import environment


def question_html(one: Question) -> str:
    """Return what is asked, escaped: prompt, exhibit, choices, and what to type."""
    return environment().get_template("question.html.jinja").render(one=one)


def solution_html(one: Question) -> str:
    """Return what is right, step by step, and what wrong answers come of, escaped."""
    return environment().get_template("solution.html.jinja").render(one=one)
