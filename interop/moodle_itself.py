"""Moodle's own importers read what memquiz writes, and its questions mark as the grader does.

Moodle is no package of any registry, so this runs by itself, where one (4.4 or newer) is
installed: MOODLE=/srv/moodle python3 bootstrap.py interop moodle_itself.py
"""

import html
import json
import os
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from problems.registry import kinds
from quiz.formats.cloze import weights
from quiz.formats.items import TWINS, in_order, is_strict, is_truth, items, places
from quiz.formats.markup import html as shown
from quiz.formats.numbers import plain
from quiz.formats.parts import NumberPart, OrderPart, PickPart
from quiz.formats.questions import question_of
from quiz.formats.registry import formats
from quiz.grading import grade
from quiz.sets.blueprint import blueprint_of
from quiz.sets.drawing import draw_set

READER = Path(__file__).with_name("moodle_reads.php")
BORDER, LOST = Fraction(2, 1000), Fraction(1, 10**6)
SEED = int(os.environ.get("SEED", "0"))


@pytest.fixture(scope="module")
def drawn():
    part = [{"kinds": [kind], "points": 4} for kind in kinds()]
    return draw_set(blueprint_of({"title": "Every kind", "part": part}, "test"), SEED)


def read(problems, name, folder, responses=None):
    """Have Moodle import a set; what it has of each question, by its id."""
    (data,) = formats()[name].files(problems).values()
    path, typed = folder / "written", folder / "typed"
    path.write_bytes(data)
    typed.write_text(json.dumps(responses or {}))
    importer = {"moodle": "xml"}.get(name, name)
    command = ["php", READER, os.environ["MOODLE"], importer, path, typed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr + done.stdout
    rows = json.loads(done.stdout)
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


def questions(problems):
    for slot, problem in zip(problems.slots, problems.variants[0].problems, strict=True):
        yield question_of(slot, problems.variants[0], problem), problem


def numbers(part):
    """Yield numbers to type, in every span and off them all.

    None is so near a border of two mistakes that the grader names neither.
    """
    spans = (part.right, *part.spans)
    borders = {border for span in part.spans for border in (span.low, span.high)}
    for span in spans:
        for at in (0, 1, 10, 30, 50, 70, 90, 99, 100):
            number = span.low + (span.high - span.low) * Fraction(at, 100)
            if span.low == span.high or all(abs(number / one - 1) > BORDER for one in borders):
                yield number
    yield part.right.value * 40


def share(part, number):
    spans = sorted((part.right, *part.spans), key=lambda span: -span.share)
    return next((span.share for span in spans if span.low <= number <= span.high), Fraction(0))


def inside(span, number):
    return span.low * (1 + LOST) < number < span.high * (1 - LOST)


def typed(number):
    return plain(Fraction(f"{float(number):.13g}"))


@pytest.fixture(scope="module")
def answered(drawn, tmp_path_factory):
    """What Moodle has of each item, and for each response what it gives and what is due."""
    responses, due = {}, {}
    for question, problem in questions(drawn):
        for item in items(question, together=True):
            rows = [*rows_of(item, problem)]
            responses[item.id] = [response for response, _ in rows]
            due[item.id] = [score for _, score in rows]
    found = read(drawn, "moodle", tmp_path_factory.mktemp("moodle"), responses)
    return found, due, responses


def rows_of(item, problem):
    """Yield (response, share of the credit that is due)."""
    match item.parts:
        case (NumberPart() as part,):
            yield from of_number(part, problem)
        case (PickPart(options=options),):
            for one in options:
                picked = int(one.text == "true") if is_truth(options) else shown(one.text)
                yield {"answer": picked}, Fraction(one.is_right)
        case (OrderPart() as part,) if is_strict(part):
            yield from of_order(part, problem)
        case (OrderPart() as part,):
            yield dict(places(part)), Fraction(1)
        case (_, _, *_):
            yield from of_gaps(item)


def of_number(part, problem):
    unit = part.unit in TWINS
    for number in dict.fromkeys(map(typed, numbers(part))):
        response = {"answer": number} | ({"unit": part.unit} if unit else {})
        verdict = grade(problem, f"{number} {part.unit}".strip())
        # a count is whole: anything else is no answer there
        yield response, getattr(verdict, "score", Fraction(0))
        # digits that are lost in the other unit must not carry a bound across itself
        if unit and inside(part.right, Fraction(number)):
            name, ratio = TWINS[part.unit]
            yield {"answer": typed(Fraction(number) * ratio), "unit": name}, Fraction(1)
            wrong = share(part, Fraction(number) / ratio)
            yield {"answer": number, "unit": name}, max(wrong, Fraction(1, 2))


def of_order(part, problem):
    right = in_order(part)
    keys = {one.name: one.key for one in part.items}
    for order in (right, right[::-1], (*right[1:], right[0]), (right[1], right[0], *right[2:])):
        score = grade(problem, " > ".join(keys[name] for name in order)).score
        yield [shown(name) for name in order], score


def of_gaps(item):
    """Yield each part by itself, the others unanswered or wrong."""
    far = {at: wrong(part) for at, part in enumerate(item.parts, 1)}
    for at, part in enumerate(item.parts, 1):
        if isinstance(part, NumberPart):
            for number in dict.fromkeys(map(typed, numbers(part))):
                score = part.weight * share(part, Fraction(number))
                yield far | {at: {"answer": number}}, score
        else:
            for one in part.options:
                yield far | {at: {"answer": shown(one.text)}}, part.weight * one.is_right


def wrong(part):
    if isinstance(part, NumberPart):
        return {"answer": "-7"}
    return {"answer": next(shown(one.text) for one in part.options if not one.is_right)}


def test_every_response_is_marked_as_the_grader_marks_it(answered):
    found, due, responses = answered
    off = [
        (key, found[key]["type"], responses[key][at], row["fraction"], float(score))
        for key, rows in due.items()
        for at, (score, row) in enumerate(zip(rows, found[key]["marks"], strict=True))
        if abs(float(row["fraction"] or 0) - float(score)) > 1e-6
    ]
    print(sum(map(len, due.values())), "responses")
    assert not off, f"{len(off)}: {off[:20]}"


@pytest.mark.parametrize("name", ["moodle", "gift"])
def test_all_that_is_shown_arrives_as_it_was_typed(marked_up, name, tmp_path):
    found = read(marked_up, name, tmp_path)
    for question, _ in questions(marked_up):
        for item in items(question, together=name == "moodle"):
            row = found.pop(item.id)
            assert question.prompt in plain_text(row["text"])
            assert question.exhibit in plain_text(row["text"])
            assert all(step in plain_text(row["general"]) for step in question.solution)
            assert html.unescape(row["category"]) == f"{question.number} {question.about}"
            assert html.unescape(row["name"]).startswith(question.title)
            assert {*row["tags"]} == {question.topic_title, question.level, question.kind}
            assert fed_back(row) <= {says(one) for part in item.parts for one in told_of(part)}
            if name == "moodle":
                gaps = row["type"] == "multianswer"
                points = sum(weights(item.parts, item.points)) if gaps else item.points
                assert row["points"] == float(points)
                hints = () if row["type"] == "essay" else question.hints
                assert [*map(plain_text, row["hints"])] == [*hints]
    assert not found


def told_of(part):
    match part:
        case NumberPart():
            return (part.right, *part.spans)
        case PickPart():
            return part.options
        case _:
            return ()


def says(one):
    return plain_text(shown(one.feedback))


def fed_back(row):
    answers = [*row["answers"], *(one for gap in row["gaps"] for one in gap["answers"])]
    # of an order Moodle has the places there
    return {plain_text(one["feedback"]) for one in answers if row["type"] != "ordering"}


def plain_text(text):
    """Return HTML as it is shown."""
    return html.unescape(re.sub(r"</?(?:p|b|pre|ul|li)>", "", text).replace("<br>", "\n"))


def test_gift_marks_numbers_picks_and_places(drawn, tmp_path):
    responses, due = {}, {}
    for question, _ in questions(drawn):
        for item in items(question, together=False):
            rows = [*of_part(item.parts[0])]
            responses[item.id] = [response for response, _ in rows]
            due[item.id] = [score for _, score in rows]
    found = read(drawn, "gift", tmp_path, responses)
    for key, scores in due.items():
        marks = [row["fraction"] for row in found[key]["marks"]]
        assert marks == pytest.approx([*map(float, scores)], abs=1e-6)


def of_part(part):
    match part:
        case NumberPart():
            for number in dict.fromkeys(map(typed, numbers(part))):
                yield {"answer": number}, share(part, Fraction(number))
        case PickPart(options=options):
            for one in options:
                picked = int(one.text == "true") if is_truth(options) else shown(one.text)
                yield {"answer": picked}, Fraction(one.is_right)
        case OrderPart():
            yield dict(places(part)), Fraction(1)


def test_a_personal_set_has_a_category_a_slot(personal, tmp_path):
    for name in ("moodle", "gift"):
        found = read(personal, name, tmp_path)
        assert len(found) == len(personal.slots) * len(personal.variants)
        assert len({row["category"] for row in found.values()}) == len(personal.slots)
        for variant in personal.variants:
            for problem in variant.problems:
                title = html.unescape(found[problem.id]["name"])
                assert title.startswith(f"{variant.student.id}: ")
