"""PrairieLearn: a folder a question, and an assessment that names them with their points.

Elements and their attributes are those of https://docs.prairielearn.com/elements/. A question is
a Mustache template, so no brace of a text may stand in it; its elements show feedback as HTML.
"""

import json
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.resources import files as resources
from math import lcm
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID, uuid5

from markupsafe import escape

from problems.problem import TOPICS
from quiz.formats.banks import Bank, Entry, banks
from quiz.formats.format import Files, Format
from quiz.formats.numbers import plain
from quiz.formats.parts import NumberPart, OrderPart, Part, PickPart, WordsPart
from quiz.formats.questions import Question
from quiz.formats.sheets import file_names
from quiz.output.pages import environment
from quiz.sets.problem_set import ProblemSet

FOLDER = PurePosixPath("prairielearn")
# Drawn once: ids of questions and assessments are made from it.
NAMESPACE = UUID("5f0c6a52-8a4b-4d5e-9d0a-4b1f6a0f2c71")
# What lets a part be left out; a number would else be read as 0.
BLANK = {
    "pl-number-input": {"allow-blank": "true", "blank-value": ""},
    "pl-multiple-choice": {"allow-blank": "true"},
    "pl-order-blocks": {"allow-blank": "true"},
    "pl-rich-text-editor": {"allow-blank": "true"},
}
SERVER = resources("quiz").joinpath("formats/prairielearn_server.py")


@dataclass(frozen=True, kw_only=True)
class _Element:
    """An element of a question, as the template writes it; all text in it is escaped there.

    Args:
        answers: what stands inside, each with attributes of its own.
        marks: what spans.json holds of it; none where the element marks itself or a person does.
    """

    element: str
    label: str
    wants: str = ""
    attributes: dict[str, str]
    answers: tuple[tuple[dict[str, str], str], ...] = ()
    marks: dict[str, Any] = field(default_factory=dict)


def _files(problems: ProblemSet) -> Files:
    files, slots = Files(), []
    ids = [variant.student and variant.student.id for variant in problems.variants]
    names = dict(zip(ids, file_names(problems), strict=True))
    title = _slug(problems.title)
    for bank in banks(problems):
        paths = []
        for entry in bank.entries:
            whose = f"-{names[entry.students[0]]}" if entry.students else ""
            paths.append(f"{title}/{bank.slot.number:02}{whose}")
            folder = FOLDER / "questions" / paths[-1]
            files |= {folder / file: data for file, data in _question(paths[-1], entry).items()}
        slots.append(_slot(bank, tuple(paths)))
    assessment = FOLDER / "assessments" / title / "infoAssessment.json"
    return files | {assessment: _json(_assessment(problems, slots))}


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "set"


def _question(path: str, entry: Entry) -> dict[str, bytes]:
    one = entry.question
    weights = lcm(*(part.weight.denominator for part in one.parts))
    elements = {
        f"part{at}": _element(part, f"part{at}", one, int(part.weight * weights))
        for at, part in enumerate(one.parts, 1)
    }
    if len(elements) > 1:  # else what is left out would keep the others from being marked
        elements = {
            name: replace(each, attributes=each.attributes | BLANK[each.element])
            for name, each in elements.items()
        }
    marks = {name: element.marks for name, element in elements.items() if element.marks}
    return {
        "info.json": _json(_info(path, entry)),
        "question.html": _html(one, tuple(elements.values())).encode(),
        "server.py": SERVER.read_bytes(),
        "spans.json": _json(marks),
    }


def _info(path: str, entry: Entry) -> dict[str, Any]:
    """Return what PrairieLearn knows a question by; the comment is what no student reads."""
    one = entry.question
    by_hand = all(isinstance(part, WordsPart) for part in one.parts)
    return {
        "uuid": str(uuid5(NAMESPACE, f"{path}\n{one.id}")),
        "title": f"{one.number} {one.about}",
        "comment": ", ".join([one.id, *entry.students]),
        "topic": TOPICS[one.topic],
        "tags": ["memquiz", one.level, one.kind],
        "type": "v3",
        "gradingMethod": "Manual" if by_hand else "Internal",
        "singleVariant": True,
        "partialCredit": True,
    }


def _html(one: Question, elements: tuple[_Element, ...]) -> str:
    """Return the question as a template of Mustache in which nothing is to be put in."""
    by_words = any(isinstance(part, WordsPart) for part in one.parts)
    text = (
        environment()
        .get_template("prairielearn.html.jinja")
        .render(
            one=one,
            choices="\n".join(one.choices) if by_words else "",
            parts=elements,
        )
    )
    return text.replace("{", "&#123;")


def _element(part: Part, name: str, one: Question, weight: int) -> _Element:
    match part:
        case NumberPart():
            return _number(part, name, weight)
        case PickPart():
            return _pick(part, name, weight)
        case OrderPart():
            return _order(part, name, one, weight)
        case _:
            attributes = {"file-name": f"{name}.html"}
            return _Element(
                element="pl-rich-text-editor",
                label=part.label,
                wants=part.wants,
                attributes=attributes,
            )


def _number(part: NumberPart, name: str, weight: int) -> _Element:
    right = part.right
    within = (right.high - right.low) / 2 / abs(right.value or Fraction(1))
    attributes = {
        "answers-name": name,
        "aria-label": part.label or "answer",
        "correct-answer": plain(right.value),
        "rtol": plain(within),
        "atol": "0",
        "weight": str(weight),
    }
    if part.unit:
        attributes["suffix"] = part.unit
    spans = [
        {
            "low": plain(span.low),
            "high": plain(span.high),
            "share": float(span.share),
            "feedback": span.feedback,
        }
        for span in (right, *part.spans)
    ]
    marks = {"form": "number", "weight": weight, "spans": spans}
    return _Element(
        element="pl-number-input", label=part.label, attributes=attributes, marks=marks
    )


def _pick(part: PickPart, name: str, weight: int) -> _Element:
    answers = tuple(
        (
            {"correct": str(option.is_right).lower()}
            | ({"feedback": str(escape(option.feedback))} if option.feedback else {}),
            option.text,
        )
        for option in part.options
    )
    return _Element(
        element="pl-multiple-choice",
        label=part.label,
        attributes={"answers-name": name, "order": "fixed", "weight": str(weight)},
        answers=answers,
    )


def _order(part: OrderPart, name: str, one: Question, weight: int) -> _Element:
    ranks = {key: rank for rank, group in enumerate(part.order, 1) for key in group}
    answers = tuple(
        (
            {"tag": item.key}
            | ({"ranking": str(ranks[item.key])} if item.key in ranks else {"correct": "false"}),
            item.name,
        )
        for item in part.items
    )
    whys = {row.answer: row.says for row in one.feedback}
    marks = {
        "form": "order",
        "weight": weight,
        "order": part.order,
        "idle": part.idle,
        "says": {
            item.key: f"To be left out: {item.name}. {whys.get(item.name, '')}".strip()
            for item in part.items
            if item.key in part.idle
        },
    }
    attributes = {
        "answers-name": name,
        "grading-method": "ranking",
        "source-blocks-order": "ordered",
        "weight": str(weight),
    }
    return _Element(
        element="pl-order-blocks",
        label=part.label,
        wants=f"The {part.first} first"
        + (", without those that do not help." if part.leaves_out else "."),
        attributes=attributes,
        answers=answers,
        marks=marks,
    )


def _assessment(problems: ProblemSet, slots: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "uuid": str(uuid5(NAMESPACE, f"{problems.title}\n{problems.seed}")),
        "type": "Homework",
        "title": problems.title,
        "set": "Homework",
        "number": "1",
        "zones": [{"questions": slots}],
    }


def _slot(bank: Bank, paths: tuple[str, ...]) -> dict[str, Any]:
    """Return the question of a slot, or those of which each student is drawn one, with points."""
    words = [part for part in bank.entries[0].question.parts if isinstance(part, WordsPart)]
    by_hand = sum((part.weight for part in words), Fraction(0))
    points = {
        "autoPoints": float((1 - by_hand) * bank.slot.points),
        "manualPoints": float(by_hand * bank.slot.points),
    }
    if len(paths) == 1:
        return {"id": paths[0]} | points
    return {"numberChoose": 1, "alternatives": [{"id": path} for path in paths]} | points


def _json(plain_value: dict[str, Any]) -> bytes:
    return f"{json.dumps(plain_value, ensure_ascii=False, indent=2)}\n".encode()


FORMAT = Format(
    name="prairielearn",
    says="PrairieLearn questions that mark themselves, and an assessment with their points",
    cannot=(
        "other units than the one that is said",
        "numbers that follow from a wrong one",
        "ties typed in an order",
        "marking of words",
        "whose question is whose in a personal set (each slot draws one)",
    ),
    files=_files,
)
