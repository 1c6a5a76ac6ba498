"""IMS QTI 2.1: a content package with a test and an item for each question."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from quiz.formats.archive import zipped
from quiz.formats.elements import document, element, paragraph
from quiz.formats.format import Files, Format
from quiz.formats.pieces import mark_of, mark_of_set, questions_in, solution, stem
from quiz.formats.qti21_parts import Asked, Names, asked
from quiz.formats.qti21_rules import (
    FEEDBACK,
    MAXIMUM,
    SCORE,
    added,
    assigned,
    outcome,
    shown,
    shown_outcome,
)
from quiz.formats.questions import Question
from quiz.sets.problem_set import ProblemSet, Slot

PATH = PurePosixPath("qti21.zip")
TEST, MANIFEST = "test.xml", "imsmanifest.xml"
SOLUTION = "SOLUTION"
QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
SCHEMA = "http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
NAMESPACES = {
    "xmlns": QTI,
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xsi:schemaLocation": f"{QTI} {SCHEMA}",
}


def _files(problems: ProblemSet) -> Files:
    questions = {slot: tuple(questions_in(problems, slot)) for slot in problems.slots}
    items = {
        _path(question): document(_item(question))
        for column in questions.values()
        for question in column
    }
    whole = {
        MANIFEST: document(_manifest(problems, questions)),
        TEST: document(_test(problems, questions)),
    }
    return {PATH: zipped(whole | items)}


def _name(question: Question) -> str:
    return f"memquiz_{mark_of(question.student)}_{question.number}"


def _path(question: Question) -> str:
    return f"items/{_name(question)}.xml"


def _title(question: Question) -> str:
    return f"{question.title}, {question.student}" if question.student else question.title


def _item(question: Question) -> Element:
    names = [
        Names(at=at, points=question.points * part.weight)
        for at, part in enumerate(question.parts, 1)
    ]
    parts = [asked(part, name) for part, name in zip(question.parts, names, strict=True)]
    scores = [name.score for name in names]
    return element(
        "assessmentItem",
        *(part.response for part in parts),
        outcome(SCORE),
        outcome(MAXIMUM, question.points),
        shown_outcome(FEEDBACK),
        *map(outcome, scores),
        *(one for part in parts for one in part.outcomes),
        element("itemBody", *stem(question), *(one for part in parts for one in part.body)),
        element(
            "responseProcessing",
            *(rule for part in parts for rule in part.rules),
            assigned(SCORE, added(scores)),
            shown(FEEDBACK, SOLUTION),
        ),
        *_says(parts, names),
        _modal(FEEDBACK, SOLUTION, *solution(question)),
        identifier=_name(question),
        title=_title(question),
        label=question.id,
        adaptive="false",
        timeDependent="false",
        **NAMESPACES,
    )


def _says(parts: Sequence[Asked], names: Sequence[Names]) -> Iterator[Element]:
    for part, name in zip(parts, names, strict=True):
        for ident, text in part.says:
            yield _modal(name.feedback, ident, paragraph(text))


def _modal(feedback: str, name: str, *inside: Element) -> Element:
    attributes = {"outcomeIdentifier": feedback, "identifier": name, "showHide": "show"}
    return element("modalFeedback", *inside, **attributes)


def _test(problems: ProblemSet, questions: dict[Slot, tuple[Question, ...]]) -> Element:
    total = element("sum", element("testVariables", variableIdentifier=SCORE))
    return element(
        "assessmentTest",
        outcome(SCORE),
        outcome(MAXIMUM, problems.points),
        element(
            "testPart",
            element("itemSessionControl", maxAttempts="1", showFeedback="true"),
            *_sections(problems, questions),
            identifier="PART",
            navigationMode="nonlinear",
            submissionMode="simultaneous",
        ),
        element("outcomeProcessing", assigned(SCORE, total)),
        identifier=f"memquiz_{mark_of_set(problems)}",
        title=problems.title,
        toolName="memquiz",
        toolVersion=problems.version,
        **NAMESPACES,
    )


def _sections(
    problems: ProblemSet, questions: dict[Slot, tuple[Question, ...]]
) -> Iterator[Element]:
    """Yield one section with all questions, or one a slot, of which one question is asked."""
    if not problems.is_personal:
        items = [_reference(question) for column in questions.values() for question in column]
        yield element(
            "assessmentSection", *items, identifier="ALL", title=problems.title, visible="false"
        )
        return
    for slot, column in questions.items():
        yield element(
            "assessmentSection",
            element("selection", select="1"),
            *map(_reference, column),
            identifier=f"SLOT_{slot.number}",
            title=f"{slot.number} {column[0].about}: {slot.kind}",
            visible="false",
        )


def _reference(question: Question) -> Element:
    return element("assessmentItemRef", identifier=_name(question), href=_path(question))


def _manifest(problems: ProblemSet, questions: dict[Slot, tuple[Question, ...]]) -> Element:
    every = [question for column in questions.values() for question in column]
    needs = (element("dependency", identifierref=_name(question)) for question in every)
    name = f"memquiz_{mark_of_set(problems)}"
    test = _resource(name, "imsqti_test_xmlv2p1", TEST, *needs)
    items = (_resource(_name(one), "imsqti_item_xmlv2p1", _path(one)) for one in every)
    metadata = element(
        "metadata", element("schema", "QTIv2.1 Package"), element("schemaversion", "1.0.0")
    )
    return element(
        "manifest",
        metadata,
        element("organizations"),
        element("resources", test, *items),
        identifier=f"{name}_package",
        xmlns=PACKAGE,
    )


def _resource(name: str, kind: str, path: str, *needs: Element) -> Element:
    attributes = {"identifier": name, "type": kind, "href": path}
    return element("resource", element("file", href=path), *needs, **attributes)


FORMAT = Format(
    name="qti21",
    says="an IMS QTI 2.1 package, an item for each problem",
    cannot=(
        "hints",
        "marking of words",
        "numbers but in digits and in the unit it names",
        "two mistakes at once",
        "credit for what follows from a wrong number",
        "ties typed in an order",
        "whose question is whose in a personal set (each slot draws one)",
    ),
    files=_files,
)
