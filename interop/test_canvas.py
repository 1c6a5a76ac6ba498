"""Canvas: the same elements as other programs write for it, and read back by another.

text2qti and qti-package-maker write quizzes that Canvas takes; qti2latex reads those it exports.
"""

from collections import Counter
from io import BytesIO
from xml.etree.ElementTree import XML
from zipfile import ZipFile

import pytest
import qti2latex
from qti_package_maker.assessment_items.item_types import MATCH
from qti_package_maker.engines.canvas_qti_v1_2 import write_item
from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from quiz.formats.known.canvas import FORMAT
from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.pieces import pieces_of
from quiz.formats.sheets import questions_of

QUIZ = """Quiz title: T

1. a range
... said
- wrong
=   [11.3967, 11.8625]

1. a whole number
... said
- wrong
=   4

1. one of three
... said
*a) yes
... why
b) no
... why
c) maybe
... why

1. true or false
... said
*a) True
b) False

1. words
... said
____

GROUP
pick: 1
points per question: 3

1. one of a group
... said
- wrong
=   [1, 2]

END_GROUP
"""
# Their vocabulary; other attributes name things of the quiz.
WORDS = {
    "rcardinality", "fibtype", "rshuffle", "continue", "action", "varname", "vartype", "minvalue",
    "maxvalue", "feedbacktype",
}  # fmt: skip


def archive(data):
    with ZipFile(BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def assessment(files):
    [text] = (data for data in files.values() if b"<questestinterop" in data)
    return XML(text)


def ours(problems):
    [data] = FORMAT.files(problems).values()
    return assessment(archive(data))


def tag(node):
    return node.tag.rpartition("}")[2]


def shape(node):
    """Return what an element is made of: elements, names of attributes, the format's own words."""
    words = {key: value if key in WORDS else "" for key, value in node.items()}
    labels = [tag(node), *sorted(words.items())]
    if tag(node) == "fieldlabel":
        labels.append(node.text)
    if tag(node) in {"response_label", "itemfeedback"}:
        return [labels]
    inside = [shape(child) for child in node]
    # conditions that only show something may stand in any order
    return [labels, *(sorted(inside, key=str) if tag(node) == "resprocessing" else inside)]


def kind(item):
    return qti2latex.get_qti_metadata(item)["question_type"]


def found(root, name):
    return [one for one in root.iter() if tag(one) == name]


def text_of(markup):
    return " ".join(
        "".join(XML(f"<div>{markup}</div>".replace("<br>", "<br/>")).itertext()).split()
    )


@pytest.fixture(scope="module")
def items(marked_up):
    return found(ours(marked_up), "item")


@pytest.fixture(scope="module")
def pieces(marked_up):
    [variant] = marked_up.variants
    return [one for each in questions_of(marked_up, variant) for one in pieces_of(each)]


@pytest.fixture(scope="module")
def theirs():
    quiz = Quiz(QUIZ, config=Config())
    return assessment(archive(QTI(quiz).zip_bytes()))


def test_each_type_has_the_elements_that_text2qti_writes(items, theirs):
    own = {str(shape(one)) for one in items}
    plain = [one for one in found(theirs, "item") if kind(one) != "multiple_choice_question"]
    for item in plain:
        assert str(shape(item)) in own, kind(item)


def test_a_pick_has_the_elements_that_text2qti_writes(items, theirs):
    def tags(item):
        return {tag(one) for one in item.iter()}

    [due] = (one for one in found(theirs, "item") if kind(one) == "multiple_choice_question")
    picks = [one for one in items if kind(one) == "multiple_choice_question"]
    assert any(tags(one) == tags(due) for one in picks)
    assert all(tags(one) <= tags(due) for one in picks)


def test_a_group_has_the_elements_that_text2qti_writes(theirs, personal):
    [due] = (one for one in found(theirs, "section") if "title" in one.attrib)
    for group in found(ours(personal), "section")[1:]:
        head, *inside = group
        assert shape(head) == shape(due[0])
        assert set(group.keys()) == set(due.keys())
        assert {tag(one) for one in inside} == {"item"}


def test_an_order_has_the_elements_that_qti_package_maker_writes(items):
    due = write_item.MATCH(MATCH("order", ["a", "b"], ["1", "2"]))
    tags = Counter(one.tag for one in due.iter())
    for item in (one for one in items if kind(one) == "matching_question"):
        assert {tag(one) for one in item.iter()} >= tags.keys()
        [lid, *_] = found(item, "response_lid")
        assert [tag(one) for one in lid] == [one.tag for one in due.find(".//response_lid")]
        scores = [one for one in found(item, "setvar") if one.get("action") == "Add"]
        assert len(scores) == len(found(item, "response_lid"))


def test_the_package_has_the_files_that_text2qti_writes(personal):
    [data] = FORMAT.files(personal).values()
    theirs = archive(QTI(Quiz(QUIZ, config=Config())).zip_bytes())
    assert sorted(map(role, archive(data))) == sorted(
        role(name) for name in theirs if not name.endswith("/")
    )


def role(path):
    """Return what a file of the package is: all but its quiz are named the same each time."""
    name = path.rpartition("/")[2]
    return name if name in {"imsmanifest.xml", "assessment_meta.xml"} else "the quiz"


def test_qti2latex_reads_every_stem(pieces, items):
    for piece, item in zip(pieces, items, strict=True):
        text = text_of(qti2latex.get_item_stem(item).replace("<br>", "<br/>\n"))
        assert " ".join(piece.question.prompt.split()) in " ".join(text.split())


def test_qti2latex_reads_the_points_and_the_type_of_every_part(pieces, items):
    types = {
        NumberPart: {"numerical_question"},
        PickPart: {"multiple_choice_question", "true_false_question"},
        OrderPart: {"matching_question"},
        WordsPart: {"essay_question"},
    }
    for piece, item in zip(pieces, items, strict=True):
        meta = qti2latex.get_qti_metadata(item)
        assert float(meta["points_possible"]) == pytest.approx(float(piece.points))
        assert qti2latex.guess_type(meta, item) in types[type(piece.part)]


def test_qti2latex_reads_every_choice_and_the_right_one(pieces, items):
    for piece, item in zip(pieces, items, strict=True):
        if isinstance(piece.part, PickPart):
            choices = dict(qti2latex.get_choices(item))
            assert [one.lower() for one in choices.values()] == [
                one.text.lower() for one in piece.part.options
            ]
            scored = [one for one in found(item, "respcondition") if found(one, "setvar")]
            [right] = (
                ident for one in scored for ident in qti2latex.get_correct_idents(wrapped(one))
            )
            assert choices[right].lower() == piece.part.said.lower()


def wrapped(condition):
    """Return an item with this condition alone: qti2latex takes each for a right answer."""
    item = XML("<item><resprocessing/></item>")
    item[0].append(condition)
    return item
