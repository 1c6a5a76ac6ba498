"""A set as a quiz for Canvas, read back as XML and HTML."""

from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from io import BytesIO
from pathlib import PurePosixPath
from xml.etree.ElementTree import XML
from zipfile import ZipFile

import pytest

from problems.registry import build
from quiz.formats.bounds import bounds
from quiz.formats.known.canvas import FORMAT
from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.pieces import asks, pieces_of
from quiz.formats.questions import parts_of
from quiz.formats.sheets import questions_of

PATH = PurePosixPath("canvas-qti.zip")
QTI = {"": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"}
PACKAGE = {"": "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"}


class Text(HTMLParser):
    """What a browser shows of HTML, line by line."""

    def __init__(self, markup):
        super().__init__()
        self.lines = ""
        self.feed(markup)

    def handle_data(self, data):
        self.lines += data

    def handle_starttag(self, tag, attrs):
        del attrs
        self.lines += "\n" * (tag in {"br", "p", "pre", "li"})


def shown(markup):
    return Text(markup).lines


def members(problems):
    with ZipFile(BytesIO(FORMAT.files(problems)[PATH])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def quiz(problems):
    files = members(problems)
    [name] = (name for name in files if name.count("memquiz") > 1)
    return XML(files[name])


def pieces(problems):
    variant = problems.variants[0]
    return [one for question in questions_of(problems, variant) for one in pieces_of(question)]


@pytest.fixture(scope="module")
def asked(every_type):
    """Every part with the question that Canvas is given for it."""
    return list(zip(pieces(every_type), quiz(every_type).iterfind(".//item", QTI), strict=True))


def field(item, name):
    for one in item.iterfind(".//qtimetadatafield", QTI):
        if one.findtext("fieldlabel", None, QTI) == name:
            return one.findtext("fieldentry", None, QTI)
    return None


def scoring(item):
    return [
        one
        for one in item.iterfind(".//respcondition", QTI)
        if one.find("setvar", QTI) is not None
    ]


def feedback(item, ident):
    return shown(item.findtext(f"itemfeedback[@ident='{ident}']//mattext", "", QTI))


def of_type(asked, part_type):
    return [(piece.part, item) for piece, item in asked if isinstance(piece.part, part_type)]


def interval(item):
    [condition] = scoring(item)
    exact = condition.findtext(".//varequal", None, QTI)
    low = condition.findtext(".//vargte", exact, QTI)
    high = condition.findtext(".//varlte", exact, QTI)
    return Fraction(low), Fraction(high)


def test_the_manifest_names_the_files_of_the_package(every_type):
    files = members(every_type)
    manifest = XML(files["imsmanifest.xml"])
    named = {one.get("href") for one in manifest.iterfind(".//file", PACKAGE)}
    assert named | {"imsmanifest.xml"} == files.keys()


def test_a_set_has_the_same_bytes_each_time(personal):
    assert FORMAT.files(personal) == FORMAT.files(personal)


def test_each_part_is_a_question_of_the_type_that_canvas_has_for_it(asked):
    types = {(type(piece.part), field(item, "question_type")) for piece, item in asked}
    assert types == {
        (NumberPart, "numerical_question"),
        (PickPart, "multiple_choice_question"),
        (PickPart, "true_false_question"),
        (OrderPart, "matching_question"),
        (WordsPart, "essay_question"),
    }


def test_the_points_of_the_parts_add_up(asked, every_type):
    points = sum(Fraction(field(item, "points_possible")) for _, item in asked)
    assert float(points) == pytest.approx(float(every_type.points))


def test_a_number_is_right_within_its_bounds_and_no_wider(asked):
    for part, item in of_type(asked, NumberPart):
        low, high = interval(item)
        assert part.right.low <= low <= high <= part.right.high
        assert low - part.right.low <= part.right.low / 10**14
        assert part.right.high - high <= part.right.high / 10**14


def test_no_mistake_is_an_answer_as_canvas_gives_each_answer_all_of_the_credit(asked):
    for part, item in of_type(asked, NumberPart):
        low, high = interval(item)
        assert not [span for span in part.spans if span.mistake and low < span.value < high]


def test_a_wrong_number_is_told_what_every_mistake_gives(asked):
    for part, item in of_type(asked, NumberPart):
        told = feedback(item, "general_incorrect_fb")
        assert all(span.feedback in told for span in part.spans)


def test_the_right_pick_scores_and_each_is_told_why(asked):
    for part, item in of_type(asked, PickPart):
        labels = {
            one.get("ident"): one.findtext(".//mattext", None, QTI)
            for one in item.iterfind(".//response_label", QTI)
        }
        [condition] = scoring(item)
        assert labels[condition.findtext(".//varequal", None, QTI)].lower() == part.said.lower()
        for option, ident in zip(part.options, labels, strict=True):
            assert feedback(item, f"{ident}_fb").strip() == option.feedback


def test_an_order_that_is_right_scores_all_and_ties_share_a_place(asked):
    for part, item in of_type(asked, OrderPart):
        rows = item.findall(".//response_lid", QTI)
        right = {
            one.find(".//varequal", QTI).get("respident"): one.findtext(".//varequal", None, QTI)
            for one in scoring(item)
        }
        places = {
            row.findtext("material/mattext", None, QTI): right[row.get("ident")] for row in rows
        }
        names = {one.key: one.name for one in part.items}
        groups = [{places[names[key]] for key in group} for group in (*part.order, part.idle)]
        assert all(len(group) <= 1 for group in groups)
        assert len(set().union(*groups)) == sum(map(bool, groups))
        scores = sum(float(one.findtext("setvar", None, QTI)) for one in scoring(item))
        assert scores == pytest.approx(100, abs=0.05)


def test_words_are_left_to_a_person_who_is_shown_the_answer(asked):
    for part, item in of_type(asked, WordsPart):
        assert not scoring(item)
        assert part.said.rstrip(".") in feedback(item, "general_fb")


def test_markup_in_a_problem_is_text_in_canvas(marked_up):
    items = list(quiz(marked_up).iterfind(".//item", QTI))
    for piece, item in zip(pieces(marked_up), items, strict=True):
        text = shown(item.findtext("presentation/material/mattext", None, QTI))
        assert piece.question.prompt in text
        assert piece.question.exhibit in text
        assert all(line in feedback(item, "general_fb") for line in piece.question.solution)


def test_a_title_is_text(marked_up):
    assert quiz(marked_up).find("assessment", QTI).get("title") == marked_up.title


def test_what_xml_cannot_write_is_replaced(every_type):
    broken = quiz(replace(every_type, title="a\x07b\ud800c"))
    assert broken.find("assessment", QTI).get("title") == "a\ufffdb\ufffdc"


def test_each_slot_of_a_personal_set_draws_one_of_the_students_questions(personal):
    groups = quiz(personal).findall(".//section/section", QTI)
    assert len(groups) == len(personal.slots)
    for slot, group in zip(personal.slots, groups, strict=True):
        assert group.findtext(".//selection_number", None, QTI) == "1"
        assert Fraction(group.findtext(".//points_per_item", None, QTI)) == slot.points
        titles = [item.get("title") for item in group.findall("item", QTI)]
        whose = [variant.student.id for variant in personal.variants]
        assert [title.rpartition(", ")[2] for title in titles] == whose


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("fewest-gpus", ["The answer, a whole number, in digits alone."]),
        ("adapter-states", ["The answer in GB, in digits alone."]),
        ("activation-scaling", ["The answer, in digits alone."]),
        ("fits", ["Yes or no.", "The number in GB, in digits alone."]),
        ("which-convention", ["Pick one."]),
        ("claim", ["True or false.", "In your own words: why."]),
        ("rank-levers", ["Put all in order, the cheapest first."]),
        ("oom-checklist", ["Those that help, the cheapest first; leave out the rest."]),
    ],
)
def test_a_part_says_what_is_to_be_entered(kind, lines):
    problem = build(kind, 1)
    assert [asks(part) for part in parts_of(problem.answer, problem)] == lines


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        (Fraction(1, 3), Fraction(2, 3), ("0.333333333333334", "0.666666666666666")),
        (Fraction(1, 2), Fraction(5), ("0.5", "5")),
        (Fraction(4), Fraction(4), ("4", "4")),
        (Fraction(10**20), Fraction(10**20), ("1" + "0" * 20, "1" + "0" * 20)),
        (Fraction(2, 3) * 10**9, Fraction(10**9), ("666666666.666667", "1000000000")),
    ],
)
def test_bounds_are_written_inwards(low, high, written):
    assert bounds(low, high) == written
