"""A Jupyter notebook: the instructor's version, of which nbgrader makes the students'.

A number is typed in the unit that is said; the cell behind it holds hidden tests, whose last line
is the points that the number earns. Words are graded by hand.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import PurePosixPath
from pprint import pformat
from typing import Any

from markupsafe import escape

from quiz.formats.format import Files, Format
from quiz.formats.fragments import question_html
from quiz.formats.numbers import plain
from quiz.formats.questions import (
    NumberPart,
    OrderPart,
    Part,
    PickPart,
    Question,
    WordsPart,
)
from quiz.formats.sheets import file_names, questions_of
from quiz.sets.problem_set import ProblemSet

FOLDER = PurePosixPath("notebook")
SCHEMA = 3  # of nbgrader's metadata, https://nbgrader.readthedocs.io
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# Behind an answer: the first interval that holds the number gives its share and what is said.
MARK_NUMBER = """\
### BEGIN HIDDEN TESTS
spans = {spans}
def earned(answer):
    for low, high, share, says in spans:
        if answer is not None and float(low) <= answer <= float(high):
            print(says)
            return share * {points}
    return 0.0
earned({name})
### END HIDDEN TESTS"""
MARK_PICK = """\
### BEGIN HIDDEN TESTS
options = {options}
def earned(answer):
    share, says = options.get(str(answer).strip().lower(), (0.0, "type one of those above"))
    print(says)
    return share * {points}
earned({name})
### END HIDDEN TESTS"""
MARK_ORDER = """\
### BEGIN HIDDEN TESTS
groups = {groups}
def earned(answer):
    left = [str(key).strip().lower() for key in answer or []]
    for group in groups:
        if sorted(left[: len(group)]) != sorted(group):
            return 0.0
        left = left[len(group) :]
    return {points} if not left else 0.0
earned({name})
### END HIDDEN TESTS"""


def _files(problems: ProblemSet) -> Files:
    files = {}
    for name, variant in zip(file_names(problems), problems.variants, strict=True):
        cells = [_text(f"<h1>{_escaped(problems.title)}</h1>", "title")]
        for one in questions_of(problems, variant):
            cells += _cells(one)
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
        files[FOLDER / f"{name}.ipynb"] = f"{text}\n".encode()
    return files


def _cells(one: Question) -> Iterator[dict[str, Any]]:
    head = f"<h2>{one.number}. {_escaped(one.about)} ({plain(one.points)} points)</h2>\n"
    yield _text(head + question_html(one), f"question-{one.number}")
    for at, part in enumerate(one.parts, 1):
        name = f"answer_{one.number}" + (f"_{at}" if len(one.parts) > 1 else "")
        points = part.weight * one.points
        if isinstance(part, WordsPart):
            label = f"{part.label}: " if part.label else ""
            text = f"{_escaped(label + part.said)}"
            yield _cell("markdown", text, name, points, solution=True)
            continue
        yield _cell("code", _asked(part, name), name, solution=True)
        marked = _marked(part, name, float(points))
        yield _cell("code", marked, f"{name}-test", points, locked=True)


def _asked(part: Part, name: str) -> str:
    """Return the cell to type an answer into, with the right one for nbgrader to take out."""
    behind = f", {part.label}" if part.label else ""
    match part:
        case NumberPart():
            wants = f"a number in {part.unit}" if part.unit else "a number"
            right = plain(part.right.value)
        case PickPart():
            wants = f"one of {', '.join(_keys(part))}, in quotes"
            right = repr(next(key for key, one in _keyed(part) if one.is_right))
        case OrderPart():
            wants = 'a list of keys, the first one first: ["a", "b"]'
            right = repr([key for group in part.order for key in group])
        case _:
            raise TypeError(part)
    said = f"# {name} = {wants}{behind}\n"
    return f"{said}### BEGIN SOLUTION\n{name} = {right}\n### END SOLUTION"


def _marked(part: Part, name: str, points: float) -> str:
    match part:
        case NumberPart():
            spans = [
                (plain(span.low), plain(span.high), float(span.share), span.feedback)
                for span in (part.right, *part.spans)
            ]
            return MARK_NUMBER.format(spans=pformat(spans), name=name, points=points)
        case PickPart():
            options = {key: (float(one.is_right), one.feedback) for key, one in _keyed(part)}
            return MARK_PICK.format(options=pformat(options), name=name, points=points)
        case OrderPart():
            groups = [list(group) for group in part.order]
            return MARK_ORDER.format(groups=pformat(groups), name=name, points=points)
        case _:
            raise TypeError(part)


def _keyed(part: PickPart) -> Iterator[tuple[str, Any]]:
    """Yield each option with what is typed for it: a word such as "yes", else its letter."""
    for at, one in enumerate(part.options):
        yield (one.text if one.text.isalnum() else chr(ord("a") + at)), one


def _keys(part: PickPart) -> list[str]:
    return [key for key, _ in _keyed(part)]


def _text(html: str, name: str) -> dict[str, Any]:
    return _cell("markdown", html, name, locked=True)


def _cell(
    cell_type: str, source: str, name: str, points: Fraction | None = None, **roles: bool
) -> dict[str, Any]:
    """Return a cell with what nbgrader knows it by; with points it is graded."""
    told: dict[str, Any] = {
        "grade": points is not None,
        "grade_id": name,
        "locked": False,
        "schema_version": SCHEMA,
        "solution": False,
        "task": False,
    }
    if points is not None:
        told |= {"points": float(points), "cell_type": cell_type}
    cell = {
        "cell_type": cell_type,
        "id": name,
        "metadata": {"nbgrader": told | roles},
        "source": source,
    }
    return cell | ({"execution_count": None, "outputs": []} if cell_type == "code" else {})


def _escaped(text: str) -> str:
    return str(escape(text))


FORMAT = Format(
    name="notebook",
    says="a Jupyter notebook a student, the source of an nbgrader assignment",
    cannot=(
        "other units than the one that is said",
        "part credit of an order",
        "marking of words and formulas, which is by hand",
    ),
    files=_files,
)
