"""What a question of an interview is called."""

from problems.interview.script import Question


def name_of(question: Question) -> str:
    """Return a question's name, with what it changes where it is a follow-up."""
    name = question.key.replace("-", " ")
    return f"{name} ({question.changes})" if question.changes else name


def heading(question: Question) -> str:
    """Return a question's name with what its answer is marked for."""
    name = name_of(question)
    return name if question.key == question.aspect else f"{name}, {question.aspect}"
