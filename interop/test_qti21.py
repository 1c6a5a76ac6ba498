"""IMS QTI 2.1, brought to QTI 3 by Cito's qti-convert and played by its qti-components.

Both are programs of others: the one reads the package, the other runs the rules of its items.
"""

import subprocess
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from xml.etree.ElementTree import XML
from zipfile import ZipFile

import pytest
from qti_convert import convert_qti3_to_qti21
from qti_player import played

from quiz.formats.bounds import bounds
from quiz.formats.known.qti21 import FORMAT
from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.sheets import questions_of
from quiz.grading import grade

HERE = Path(__file__).resolve().parent
CONVERT = HERE / "node_modules" / ".bin" / "qti-convert-pkg"
QTI21 = {"": "http://www.imsglobal.org/xsd/imsqti_v2p1"}
QTI3 = {"": "http://www.imsglobal.org/xsd/imsqtiasi_v3p0"}
ORDERS = 12
# The player has three decimals of a score, and adds them up.
ROUNDED = 0.03


def packed(problems, folder):
    [data] = FORMAT.files(problems).values()
    path = folder / "set.zip"
    path.write_bytes(data)
    return path


def converted(path):
    """Return the members of a package after it was brought to QTI 3."""
    subprocess.run([CONVERT, path], check=True, capture_output=True, timeout=120)
    with ZipFile(path.with_name("set-qti3.zip")) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def refs(test):
    return [one.get("href") for one in test.iterfind(".//qti-assessment-item-ref", QTI3)]


def share(part, value):
    spans = (part.right, *part.spans)
    return next((one for one in spans if one.low <= value <= one.high), None)


def tries(part, at, problem):
    """Yield answers to a part: what to enter, what it earns of the part and what it is told."""
    for typed, score, feedback in TRIES[type(part)](part, problem):
        yield {f"RESPONSE_{at}": typed}, score, feedback


def numbers(part, problem):
    del problem
    for span in (part.right, *part.spans):
        for text in (*bounds(span.low, span.high), f"{float(span.value):.12g}"):
            due = share(part, Fraction(text))
            yield text, due.share if due else 0, due.feedback if due else ""
    yield f"{float(part.right.high * 100):.12g}", 0, ""


def picks(part, problem):
    del problem
    for at, option in enumerate(part.options, 1):
        yield f"PICK_{at}", int(option.is_right), option.feedback


def orders(part, problem):
    keys = [item.key for item in part.items]
    lengths = range(2, len(keys) + 1) if part.leaves_out else [len(keys)]
    every = [order for length in lengths for order in permutations(keys, length)]
    right = tuple(key for group in part.order for key in group)
    for order in [right, *every[:: len(every) // ORDERS]]:
        yield [f"ITEM_{key}" for key in order], grade(problem, " ".join(order)).score, ""


def words(part, problem):
    del problem
    yield part.said, 0, ""


TRIES = {NumberPart: numbers, PickPart: picks, OrderPart: orders, WordsPart: words}


@pytest.fixture(scope="module")
def rows(marked_up, tmp_path_factory):
    """Every question with its answers, and what the player says of each."""
    files = converted(packed(marked_up, tmp_path_factory.mktemp("qti")))
    [variant] = marked_up.variants
    questions = questions_of(marked_up, variant)
    answers = [
        [(part, *one) for at, part in enumerate(question.parts, 1)
         for one in tries(part, at, problem)]
        for question, problem in zip(questions, variant.problems, strict=True)
    ]  # fmt: skip
    items = [files[path] for path in refs(XML(files["test.xml"]))]
    asked = [(xml, [one[1] for one in row]) for xml, row in zip(items, answers, strict=True)]
    return list(zip(questions, answers, played(asked), strict=True))


def test_every_question_arrives_with_its_text(rows):
    for question, _, found in rows:
        assert found["title"] == question.title
        assert all(line in found["text"] for line in question.prompt.splitlines())
        assert all(line in found["text"] for line in question.exhibit.splitlines())


def test_every_answer_earns_its_share(rows):
    count = 0
    for question, answers, found in rows:
        for (part, typed, due, _), row in zip(answers, found["rows"], strict=True):
            points = float(due * part.weight * question.points)
            score = float(row["values"]["SCORE"])
            assert score == pytest.approx(points, abs=ROUNDED), (question.id, typed)
            count += 1
    print(count, "answers")


def test_every_answer_is_told_its_feedback_and_the_solution(rows):
    for question, answers, found in rows:
        for (_, typed, _, feedback), row in zip(answers, found["rows"], strict=True):
            told = row["told"]
            assert not feedback or feedback in told, (question.id, typed)
            assert len(told) == 1 + bool(feedback)
            assert all(line in told[-1] for line in (question.said, *question.solution))


def test_the_rules_come_back_from_qti_3_as_they_were(marked_up, tmp_path):
    path = packed(marked_up, tmp_path)
    with ZipFile(path) as archive:
        first = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, xml in converted(path).items():
        if name.startswith("items/"):
            again = convert_qti3_to_qti21(xml)
            assert not again.warnings
            due = rules(first[name])
            # qti-convert sets every outcome to 0 before them
            assert rules(again.xml)[-len(due) :] == due


def rules(xml):
    """Return each rule of an item as its elements with their attributes and texts."""
    processing = XML(xml).find("responseProcessing", QTI21)
    return [
        [(one.tag, one.attrib, (one.text or "").strip()) for one in rule.iter()]
        for rule in processing
    ]


def test_a_personal_set_arrives_with_a_section_for_each_slot(personal, tmp_path):
    files = converted(packed(personal, tmp_path))
    test = XML(files["test.xml"])
    assert test.get("title") == personal.title
    sections = test.findall(".//qti-assessment-section", QTI3)
    assert len(sections) == len(personal.slots)
    for section in sections:
        assert section.find("qti-selection", QTI3).get("select") == "1"
        titles = [XML(files[path]).get("title") for path in refs(section)]
        whose = [variant.student.id for variant in personal.variants]
        assert [title.rpartition(", ")[2] for title in titles] == whose
