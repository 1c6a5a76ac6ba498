"""Canvas: a quiz in the dialect of QTI 1.2 that Canvas itself exports and imports.

What its importer takes of a numerical question was read in the source of Canvas, in
`gems/plugins/qti_exporter/lib/qti/numeric_interaction.rb`: every answer, a number or a range, gets
all of the credit, so that a mistake written as an answer would be marked as right. Only what is
right is an answer here; what there is to say of mistakes stands in the comment on wrong answers.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from quiz.formats.archive import zipped
from quiz.formats.canvas_items import fields, item
from quiz.formats.elements import document, element
from quiz.formats.format import Files, Format
from quiz.formats.numbers import plain
from quiz.formats.pieces import mark_of_set, pieces_of, questions_in
from quiz.sets.problem_set import ProblemSet

PATH = PurePosixPath("canvas-qti.zip")
QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
QUIZ = "http://canvas.instructure.com/xsd/cccv1p0"
META_TYPE = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
META = "assessment_meta.xml"


def _files(problems: ProblemSet) -> Files:
    name = f"memquiz_{mark_of_set(problems)}"
    members = {
        "imsmanifest.xml": _manifest(name),
        f"{name}/{META}": _meta(name, problems),
        f"{name}/{name}.xml": _assessment(name, problems),
    }
    return {PATH: zipped({path: document(root) for path, root in members.items()})}


def _manifest(name: str) -> Element:
    path, meta = f"{name}/{name}.xml", f"{name}/{META}"
    return element(
        "manifest",
        element(
            "metadata",
            element("schema", "IMS Content"),
            element("schemaversion", "1.1.3"),
        ),
        element("organizations"),
        element(
            "resources",
            element(
                "resource",
                element("file", href=path),
                element("dependency", identifierref=f"{name}_meta"),
                identifier=name,
                type="imsqti_xmlv1p2",
            ),
            element(
                "resource",
                element("file", href=meta),
                identifier=f"{name}_meta",
                type=META_TYPE,
                href=meta,
            ),
        ),
        identifier=f"{name}_manifest",
        xmlns=PACKAGE,
    )


def _meta(name: str, problems: ProblemSet) -> Element:
    return element(
        "quiz",
        element("title", problems.title),
        element("description"),
        element("shuffle_answers", "false"),
        element("quiz_type", "assignment"),
        element("points_possible", plain(problems.points)),
        element("allowed_attempts", "1"),
        identifier=name,
        xmlns=QUIZ,
    )


def _assessment(name: str, problems: ProblemSet) -> Element:
    sections = _groups(problems) if problems.is_personal else _items(problems)
    return element(
        "questestinterop",
        element(
            "assessment",
            fields({"cc_maxattempts": "1"}),
            element("section", *sections, ident="root_section"),
            ident=name,
            title=problems.title,
        ),
        xmlns=QTI,
    )


def _items(problems: ProblemSet) -> Iterator[Element]:
    for slot in problems.slots:
        for question in questions_in(problems, slot):
            yield from map(item, pieces_of(question))


def _groups(problems: ProblemSet) -> Iterator[Element]:
    """Yield for each slot, and each part in it, a group of which Canvas asks one question."""
    for slot in problems.slots:
        rows = [pieces_of(question) for question in questions_in(problems, slot)]
        for at in range(max(map(len, rows))):
            column = [row[at] for row in rows if at < len(row)]
            first = column[0]
            title = f"{first.number} {first.question.about}: {slot.kind}"
            yield _group(f"group_{first.number}", title, first.points, map(item, column))


def _group(ident: str, title: str, points: Fraction, items: Iterable[Element]) -> Element:
    selection = element(
        "selection",
        element("selection_number", "1"),
        element("selection_extension", element("points_per_item", plain(points))),
    )
    ordering = element("selection_ordering", selection)
    return element("section", ordering, *items, ident=ident, title=title)


FORMAT = Format(
    name="canvas",
    says="a quiz for Canvas, one question for each part of a problem",
    cannot=(
        "hints",
        "marking of words",
        "numbers but in digits and in the unit it names",
        "partial credit for a number",
        "which mistake was made (a wrong number is told of each)",
        "credit for the pairs of an order (its places count there)",
        "whose question is whose in a personal set (each slot draws one)",
    ),
    files=_files,
)
