"""Moodle XML: a question bank, a category for each slot of the set.

What Moodle reads of it: question/format/xml/format.php, and the import_from_xml of
question/type/ordering/questiontype.php (in Moodle itself from 4.4 on).
"""

from fractions import Fraction
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from quiz.formats.banks import Bank, Entry, banks
from quiz.formats.cloze import gaps, percent
from quiz.formats.format import Files, Format
from quiz.formats.items import (
    TWINS,
    Item,
    in_order,
    instruction,
    is_strict,
    is_truth,
    items,
    places,
)
from quiz.formats.markup import html, name, solution, stem
from quiz.formats.numbers import around, plain
from quiz.formats.parts import NumberPart, Option, OrderPart, PickPart, WordsPart
from quiz.sets.problem_set import ProblemSet

PATH = PurePosixPath("moodle.xml")
# What another try costs, of a question that is asked until it is right: Moodle's own.
PENALTY, PENALTY_OF_TWO = "0.3333333", "1"
# Constants of question/type/numerical/questiontype.php: a unit is chosen from a menu, or there is
# none; a wrong one takes its part off the mark.
MENU, NONE, OFF_THE_MARK = "2", "3", "1"
# What a number that is right in the other unit loses, as the grader has it.
WRONG_UNIT = Fraction(1, 2)
LETTERS = "abc"
ORDERED = "Put them in order, the first on top."


def _files(problems: ProblemSet) -> Files:
    quiz = Element("quiz")
    for bank in banks(problems):
        _category(quiz, problems, bank)
        for entry in bank.entries:
            for item in items(entry.question, together=True):
                _question(quiz, entry, item)
    indent(quiz)
    return {PATH: tostring(quiz, encoding="utf-8", xml_declaration=True) + b"\n"}


def _category(quiz: Element, problems: ProblemSet, bank: Bank) -> None:
    element = SubElement(quiz, "question", type="category")
    path = f"$course$/top/{name(problems.title)}/{name(bank.title)}"
    _text(element, "category", path)
    points = plain(bank.slot.points)
    _html(element, "info", html(f"{points} points, about {plain(bank.slot.minutes)} minutes"))


def _question(quiz: Element, entry: Entry, item: Item) -> None:
    of, asked = _asked(item)
    element = SubElement(quiz, "question", type=of)
    _text(element, "name", name(entry.title + f" ({item.letter})" * bool(item.letter)))
    _html(element, "questiontext", asked)
    _html(element, "generalfeedback", solution(item))
    penalty = PENALTY_OF_TWO if of == "truefalse" else PENALTY
    _set(element, defaultgrade=plain(item.points), penalty=penalty, hidden="0", idnumber=item.id)
    tags = SubElement(element, "tags")
    for tag in (item.question.topic_title, item.question.level, item.question.kind):
        _text(tags, "tag", tag)
    if of != "cloze":
        _answers(element, item)
    for hint in item.question.hints:
        _html(element, "hint", html(hint))


def _asked(item: Item) -> tuple[str, str]:
    """Return the type of question that an item is, and what it asks, as HTML."""
    part = item.parts[0]
    if len(item.parts) > 1:
        return "cloze", "\n".join([stem(item), *gaps(item.parts, item.points)])
    match part:
        case NumberPart():
            return "numerical", stem(item, _numbers_asked(part))
        case PickPart(options=options):
            return ("truefalse" if is_truth(options) else "multichoice"), stem(item)
        case OrderPart() if is_strict(part):
            return "ordering", stem(item, ORDERED)
        case OrderPart():
            return "matching", stem(item, instruction(part))
        case WordsPart():
            return "essay", stem(item, instruction(part))


def _answers(element: Element, item: Item) -> None:
    """Write what Moodle reads of the type of an item alone."""
    match item.parts[0]:
        case NumberPart() as part:
            _numbers(element, part)
        case PickPart(options=options) if is_truth(options):
            for one in options:
                _answer(element, one.text, Fraction(one.is_right), one.feedback)
        case PickPart(options=options):
            _options(element, options)
        case OrderPart() as part if is_strict(part):
            _ordered(element, part)
        case OrderPart() as part:
            _placed(element, part)
        case WordsPart() as part:
            _words(element, item, part)


def _numbers_asked(part: NumberPart) -> str:
    if part.unit in TWINS:
        return f"Give a number in {part.unit} or {TWINS[part.unit][0]}, and choose the unit."
    return instruction(part)


def _numbers(element: Element, part: NumberPart) -> None:
    """Write the spans of numbers, those that earn most first: the first that holds it counts.

    Moodle multiplies a number by the inverse of its unit's multiplier (apply_units of
    qtype_numerical_answer_processor), and takes one for right too that is right without that
    (get_matching_answer): so no unit is in the menu but the one that is mistaken for it.
    """
    for span in sorted((part.right, *part.spans), key=lambda span: -span.share):
        value, tolerance = around(span.low, span.high)
        answer = _answer(element, value, span.share, span.feedback)
        _set(answer, tolerance=tolerance)
    if part.unit not in TWINS:
        _set(element, unitgradingtype="0", unitpenalty="0", showunits=NONE, unitsleft="0")
        return
    units = SubElement(element, "units")
    for unit, multiplier in ((part.unit, Fraction(1)), TWINS[part.unit]):
        one = SubElement(units, "unit")
        _set(one, multiplier=plain(multiplier), unit_name=unit)
    penalty = plain(WRONG_UNIT)
    _set(element, unitgradingtype=OFF_THE_MARK, unitpenalty=penalty, showunits=MENU, unitsleft="0")


def _options(element: Element, options: tuple[Option, ...]) -> None:
    _set(element, single="true", shuffleanswers="false", answernumbering=LETTERS)
    _set(element, showstandardinstruction="0")
    for one in options:
        answer = _answer(element, html(one.text), Fraction(one.is_right), one.feedback)
        answer.set("format", "html")


def _ordered(element: Element, part: OrderPart) -> None:
    """Write an order, marked by the share of its pairs, as `quiz.marking.kendall` does."""
    right = in_order(part)
    _set(element, layouttype="VERTICAL", selecttype="ALL", selectcount=str(len(right)))
    _set(element, gradingtype="RELATIVE_ALL_PREVIOUS_AND_NEXT", showgrading="SHOW")
    _set(element, numberingstyle="123", shownumcorrect="1")
    for at, text in enumerate(right, 1):
        answer = SubElement(element, "answer", fraction=str(at), format="html")
        _set(answer, text=html(text))


def _placed(element: Element, part: OrderPart) -> None:
    _set(element, shuffleanswers="false")
    for text, place in places(part):
        one = SubElement(element, "subquestion", format="html")
        _set(one, text=html(text))
        _text(one, "answer", place)


def _words(element: Element, item: Item, part: WordsPart) -> None:
    _set(element, responseformat="plain", responserequired="1", responsefieldlines="5")
    _html(element, "graderinfo", f"<p>{html(part.said)}</p>\n{solution(item)}")


def _answer(element: Element, text: str, share: Fraction, feedback: str) -> Element:
    answer = SubElement(element, "answer", fraction=percent(share))
    _set(answer, text=text)
    if feedback:
        _html(answer, "feedback", html(feedback))
    return answer


def _set(element: Element, **values: str) -> None:
    """Add an element with text for each name."""
    for tag, value in values.items():
        SubElement(element, tag).text = value


def _text(element: Element, tag: str, text: str) -> None:
    _set(SubElement(element, tag), text=text)


def _html(element: Element, tag: str, text: str) -> None:
    _set(SubElement(element, tag, format="html"), text=text)


FORMAT = Format(
    name="moodle",
    says="Moodle XML (4.4 or newer), a question bank with a category a slot",
    cannot=(
        "ranges and arithmetic as answers",
        "units but the one asked for and its twin (GB and GiB)",
        "units of several numbers, which are in those asked for",
        "numbers that follow from a wrong one",
        "an order with ties but as places to match",
        "marks for words: essays, with the right answer for who grades and without hints",
        "points of several numbers other than whole ones",
    ),
    files=_files,
)
