"""A Jupyter notebook: the instructor's version, of which nbgrader makes the students'.

A number is typed in the unit that is said; the cell behind it holds hidden tests, whose last line
is the points that the number earns. Words are graded by hand.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePosixPath
from pprint import pformat
from typing import Any

from markupsafe import escape

from problems.answers.numbers import counted
from quiz.formats.format import Files, Format
from quiz.formats.fragments import question_html
from quiz.formats.numbers import plain
from quiz.formats.parts import NumberPart, Option, OrderPart, Part, PickPart, WordsPart
from quiz.formats.questions import Question
from quiz.formats.sheets import file_names, questions_of
from quiz.sets.problem_set import ProblemSet

FOLDER = PurePosixPath("notebook")
SCHEMA = 3  # of nbgrader's metadata, https://nbgrader.readthedocs.io
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# What typesets formulas leaves alone what has these classes, of MathJax 2 and of later ones.
AS_IT_IS = "tex2jax_ignore mathjax_ignore"
# Behind an answer: the first interval that holds the number gives its share and what is said.
MARK_NUMBER = """\
### BEGIN HIDDEN TESTS
spans = {given}
def earned(answer):
    try:
        number = float(answer)
    except (TypeError, ValueError, OverflowError):
        print("type a number")
        return 0.0
    for low, high, share, says in spans:
        if float(low) <= number <= float(high):
            if says:
                print(says)
            return share * {points}
    return 0.0
earned({name})
### END HIDDEN TESTS"""
MARK_PICK = """\
### BEGIN HIDDEN TESTS
options = {given}
def earned(answer):
    typed = " ".join(str(answer).lower().split())
    for key, text, share, says in options:
        if typed in (key, text):
            if says:
                print(says)
            return share * {points}
    print("type one of those above")
    return 0.0
earned({name})
### END HIDDEN TESTS"""
# As quiz.marking.known.checklist counts pairs; of those in the last group some are left out.
MARK_ORDER = """\
### BEGIN HIDDEN TESTS
groups, idle = {given}
def earned(answer):
    typed = [str(key).strip().lower() for key in answer or ()]
    if len(set(typed)) < len(typed) or set(typed) - {{key for group in groups for key in group}}:
        print("type keys of those above, each once")
        return 0.0
    lost = []
    for at, group in enumerate(groups):
        for before in [key for earlier in groups[:at] for key in earlier]:
            for after in group:
                if before not in typed or (after not in typed and after not in idle):
                    lost.append(1)
                elif after not in typed:
                    lost.append(0)
                elif typed.index(after) < typed.index(before):
                    lost.append(1)
                else:
                    lost.append(0.5 if after in idle else 0)
    print(len(lost) - sum(lost), "of", len(lost), "pairs are in order")
    return (1 - sum(lost) / len(lost)) * {points}
earned({name})
### END HIDDEN TESTS"""


def _files(problems: ProblemSet) -> Files:
    files = {}
    for name, variant in zip(file_names(problems), problems.variants, strict=True):
        cells = [_text(f"<h1>{escape(problems.title)}</h1>", "title")]
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
    by_words = any(isinstance(part, WordsPart) for part in one.parts)
    asked = question_html(one if by_words else replace(one, wants=""))
    points = f"{plain(one.points)} {counted(one.points, 'points')}"
    head = f"<h2>{one.number}. {escape(one.about)} ({points})</h2>"
    yield _text(f"{head}\n{asked}", f"question-{one.number}")
    for at, part in enumerate(one.parts, 1):
        name = f"answer_{one.number}" + (f"_{at}" if len(one.parts) > 1 else "")
        worth = part.weight * one.points
        if isinstance(part, WordsPart):
            label = f"{part.label}: " if part.label else ""
            text = _markdown(f"<p>{escape(label + part.said)}</p>")
            yield _cell("markdown", text, name, worth, solution=True)
            continue
        yield _cell("code", _asked(part, name, one), name, solution=True)
        marked = _marked(part, name, one, float(worth))
        yield _cell("code", marked, f"{name}-test", worth, locked=True)


def _asked(part: Part, name: str, one: Question) -> str:
    """Return the cell to type an answer into, with the right one for nbgrader to take out."""
    behind = f", {part.label}" if part.label else ""
    match part:
        case NumberPart():
            wants = f"a number in {part.unit}" if part.unit else "a number"
            right = plain(part.right.value)
        case PickPart():
            wants = f"one of {', '.join(key for key, _ in _keyed(part, one))}, in quotes"
            right = repr(next(key for key, each in _keyed(part, one) if each.is_right))
        case OrderPart():
            shown = [item.key for item in part.items[:2]]
            without = ", without those that do not help" * part.leaves_out
            wants = f"a list, the {part.first} first{without}, such as {shown}"
            right = repr([key for group in part.order for key in group])
        case _:
            raise TypeError(part)
    said = " ".join(f"# {name} = {wants}{behind}".split())
    return f"{said}\n### BEGIN SOLUTION\n{name} = {right}\n### END SOLUTION"


def _marked(part: Part, name: str, one: Question, points: float) -> str:
    given: object
    match part:
        case NumberPart():
            test = MARK_NUMBER
            given = [
                (plain(span.low), plain(span.high), float(span.share), span.feedback)
                for span in (part.right, *part.spans)
            ]
        case PickPart():
            test = MARK_PICK
            given = [
                (
                    key.lower(),
                    " ".join(each.text.lower().split()),
                    float(each.is_right),
                    each.feedback,
                )
                for key, each in _keyed(part, one)
            ]
        case OrderPart():
            test = MARK_ORDER
            given = [[*part.order, *([part.idle] if part.idle else [])], part.idle]
        case _:
            raise TypeError(part)
    return test.format(given=_literal(given), name=name, points=points)


def _literal(value: object) -> str:
    """Return a value as Python writes it, with no mark by which nbgrader cuts a cell."""
    return pformat(value).replace("###", r"\x23##")


def _keyed(part: PickPart, one: Question) -> Iterator[tuple[str, Option]]:
    """Yield each option with what is typed for it: the key it is shown with, else its word."""
    shown = [line.split()[0] for line in one.choices] or [each.text for each in part.options]
    yield from zip(shown, part.options, strict=True)


def _text(html: str, name: str) -> dict[str, Any]:
    return _cell("markdown", _markdown(html), name, locked=True)


def _markdown(html: str) -> str:
    """Return HTML as one block of Markdown, which ends at a blank line, and with no formula."""
    block = re.sub(r"(?<=\n)([ \t]*)\n", r"\1&#10;", html)
    block = block.replace("$", "&#36;").replace("\\", "&#92;")
    return f'<div class="{AS_IT_IS}">\n{block.strip()}\n</div>'


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


FORMAT = Format(
    name="notebook",
    says="a Jupyter notebook a student, the source of an nbgrader assignment",
    cannot=(
        "other units than the one that is said",
        "ties typed in an order",
        "marking of words and formulas, which is by hand",
    ),
    files=_files,
)
