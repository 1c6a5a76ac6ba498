"""A set as an IMS QTI 2.1 package: the rules that are written mark as the grader does.

The rules are run here by the words of the specification, the part of it that they need:
https://www.imsglobal.org/question/qtiv2p1/imsqti_infov2p1.html
"""

import operator
from fractions import Fraction
from io import BytesIO
from itertools import permutations
from pathlib import PurePosixPath
from xml.etree.ElementTree import XML
from zipfile import ZipFile

import pytest

from problems.registry import build
from quiz.formats.known.qti21 import FORMAT
from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.sheets import questions_of
from quiz.grading import grade
from quiz.sets.problem_set import ProblemSet, Slot, Variant

PATH = PurePosixPath("qti21.zip")
QTI = {"": "http://www.imsglobal.org/xsd/imsqti_v2p1"}
PACKAGE = {"": "http://www.imsglobal.org/xsd/imscp_v1p1"}
OPERATORS = {
    "and": lambda *parts: all(parts),
    "gte": operator.ge,
    "lte": operator.le,
    "gt": operator.gt,
    "lt": operator.lt,
    "match": operator.eq,
    "sum": lambda *parts: sum(parts),
}
TYPES = {"float": float, "integer": int, "identifier": str}


def members(problems):
    with ZipFile(BytesIO(FORMAT.files(problems)[PATH])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def items(problems):
    files = members(problems)
    refs = XML(files["test.xml"]).iterfind(".//assessmentItemRef", QTI)
    return [XML(files[ref.get("href")]) for ref in refs]


def alone(problem):
    """The item of a set that asks this problem, and the question it asks."""
    slot = Slot(
        number=1,
        kind=problem.kind,
        type=problem.answer.type,
        topic=problem.topic,
        level=problem.level,
        points=Fraction(1),
        minutes=Fraction(1),
    )
    variant = Variant(problems=(problem,))
    asked = ProblemSet(title="One", version="1", seed=0, slots=(slot,), variants=(variant,))
    return items(asked)[0], questions_of(asked, variant)[0]


def tag(node):
    return node.tag.rpartition("}")[2]


def expression(node, values):
    """What an expression gives; None is NULL, which makes what is made of it NULL."""
    match tag(node):
        case "variable":
            return values.get(node.get("identifier"))
        case "baseValue":
            return TYPES[node.get("baseType")](node.text)
    parts = [expression(child, values) for child in node]
    return None if None in parts else operators(node, parts)


def operators(node, parts):
    if tag(node) == "index":
        at = int(node.get("n"))
        return parts[0][at - 1] if at <= len(parts[0]) else None
    return OPERATORS[tag(node)](*parts)


def run(rules, values):
    for rule in rules:
        if tag(rule) == "setOutcomeValue":
            values[rule.get("identifier")] = expression(rule[0], values)
        else:
            branch = next((one for one in rule if expression(one[0], values)), [None])
            run(branch[1:], values)


def outcomes(item, **responses):
    """What the outcomes of an item are when it was answered so."""
    values = dict(responses)
    for one in item.iterfind("outcomeDeclaration", QTI):
        default = one.findtext("defaultValue/value", None, QTI)
        kind = TYPES[one.get("baseType")]
        values[one.get("identifier")] = None if default is None else kind(default)
    run(item.find("responseProcessing", QTI), values)
    return values


def told(item, values):
    """What is shown of an item behind it."""
    return {
        "".join(one.itertext()).strip()
        for one in item.iterfind("modalFeedback", QTI)
        if one.get("identifier") == values[one.get("outcomeIdentifier")]
    }


@pytest.fixture(scope="module")
def asked(every_type):
    """Every question with its item."""
    questions = questions_of(every_type, every_type.variants[0])
    return list(zip(questions, items(every_type), strict=True))


def test_the_manifest_has_the_test_and_every_item(every_type):
    files = members(every_type)
    manifest = XML(files["imsmanifest.xml"])
    resources = manifest.findall(".//resource", PACKAGE)
    assert {one.get("href") for one in resources} | {"imsmanifest.xml"} == files.keys()
    needed = {one.get("identifierref") for one in manifest.iterfind(".//dependency", PACKAGE)}
    assert needed == {one.get("identifier") for one in resources[1:]}


def test_a_set_has_the_same_bytes_each_time(personal):
    assert FORMAT.files(personal) == FORMAT.files(personal)


def test_each_part_has_an_interaction(asked):
    tags = {
        NumberPart: "textEntryInteraction",
        PickPart: "choiceInteraction",
        OrderPart: "orderInteraction",
        WordsPart: "extendedTextInteraction",
    }
    for question, item in asked:
        shown = [tag(one) for one in item.iter() if tag(one) in tags.values()]
        assert shown == [tags[type(part)] for part in question.parts]


def test_what_rules_and_fields_name_is_declared_once(asked):
    for _, item in asked:
        names = [one.get("identifier") for one in item if tag(one).endswith("Declaration")]
        assert len(set(names)) == len(names)
        for one in item.iter():
            if tag(one) in {"variable", "setOutcomeValue"}:
                assert one.get("identifier") in names
            assert one.get("responseIdentifier", names[0]) in names


def test_the_right_answers_earn_all_but_what_is_in_words(asked):
    for question, item in asked:
        responses = {}
        for one in item.iterfind("responseDeclaration", QTI):
            values = [value.text for value in one.iterfind(".//value", QTI)]
            kind = one.get("baseType")
            typed = [TYPES[kind](value) for value in values]
            ordered = one.get("cardinality") == "ordered"
            responses[one.get("identifier")] = typed if ordered else next(iter(typed), None)
        due = sum(part.weight for part in question.parts if not isinstance(part, WordsPart))
        score = outcomes(item, **responses)["SCORE"]
        assert score == pytest.approx(float(due * question.points))


def test_nothing_answered_earns_nothing_and_is_told_the_solution(asked):
    for question, item in asked:
        values = outcomes(item)
        assert values["SCORE"] == 0
        assert len(told(item, values)) == 1
        assert all(line in " ".join(told(item, values)) for line in question.solution)


@pytest.mark.parametrize(
    "kind", ["adapter-states", "activation-scaling", "largest-micro-batch", "bytes-per-parameter"]
)
@pytest.mark.parametrize("seed", range(3))
def test_a_number_earns_and_is_told_what_the_grader_says(kind, seed):
    problem = build(kind, seed)
    item, question = alone(problem)
    [part] = question.parts
    told_apart = 0
    for span in (part.right, *part.spans):
        number = f"{float(span.value):.12g}"
        verdict = grade(problem, f"{number} {part.unit}".strip())
        if verdict.mistake != (span.mistake or None):
            continue  # two mistakes are as near: the grader names neither
        told_apart += bool(span.mistake)
        values = outcomes(item, RESPONSE_1=float(number))
        assert values["SCORE"] == pytest.approx(float(verdict.score))
        assert not span.feedback or told(item, values) >= {span.feedback}
        assert span.feedback in verdict.feedback
    assert told_apart > 1


@pytest.mark.parametrize("kind", ["rank-levers", "oom-checklist"])
@pytest.mark.parametrize("seed", range(2))
def test_an_order_earns_its_share_of_the_pairs(kind, seed):
    problem = build(kind, seed)
    item, question = alone(problem)
    [part] = question.parts
    keys = [one.key for one in part.items]
    lengths = range(2, len(keys) + 1) if part.leaves_out else [len(keys)]
    orders = [order for length in lengths for order in [*permutations(keys, length)][::7]]
    for order in orders[:: max(1, len(orders) // 60)]:
        values = outcomes(item, RESPONSE_1=[f"ITEM_{key}" for key in order])
        verdict = grade(problem, " ".join(order))
        assert values["SCORE"] == pytest.approx(float(verdict.score)), order


def test_a_pick_earns_all_or_nothing_and_is_told_why(asked):
    for question, item in asked:
        for at, part in enumerate(question.parts, 1):
            for pick, option in enumerate(getattr(part, "options", ()), 1):
                values = outcomes(item, **{f"RESPONSE_{at}": f"PICK_{pick}"})
                due = part.weight * question.points if option.is_right else 0
                assert values["SCORE"] == pytest.approx(float(due))
                assert not option.feedback or told(item, values) >= {option.feedback}


def test_a_bound_is_not_widened(asked):
    for question, item in asked:
        spans = [
            span
            for part in question.parts
            if isinstance(part, NumberPart)
            for span in (part.right, *part.spans)
        ]
        tests = [one for one in item.iter() if tag(one) == "and" and tag(one[0]) == "gte"]
        for span, test in zip(spans, tests, strict=True):
            assert span.low <= Fraction(test[0][1].text) <= Fraction(test[1][1].text) <= span.high


def test_markup_in_a_problem_is_text_in_the_item(marked_up):
    questions = questions_of(marked_up, marked_up.variants[0])
    for question, item in zip(questions, items(marked_up), strict=True):
        body = item.find("itemBody", QTI)
        shown = "".join(body.itertext())
        assert all(line in shown for line in question.prompt.splitlines())
        assert body.findtext("pre", None, QTI) == question.exhibit


def test_a_scorer_sees_the_right_words(asked):
    for question, item in asked:
        said = [part.said for part in question.parts if isinstance(part, WordsPart)]
        rubrics = item.iterfind(".//rubricBlock[@view='scorer']/p", QTI)
        assert [one.text for one in rubrics] == said


def test_each_slot_of_a_personal_set_draws_one_of_the_students_items(personal):
    files = members(personal)
    test = XML(files["test.xml"])
    assert test.get("title") == personal.title
    sections = test.findall(".//assessmentSection", QTI)
    assert len(sections) == len(personal.slots)
    for section in sections:
        assert section.find("selection", QTI).get("select") == "1"
        drawn = [XML(files[one.get("href")]) for one in section.iterfind("assessmentItemRef", QTI)]
        whose = [one.get("title").rpartition(", ")[2] for one in drawn]
        assert whose == [variant.student.id for variant in personal.variants]


def test_the_test_is_worth_its_points(every_type):
    declared = "outcomeDeclaration[@identifier='MAXSCORE']//value"
    worth = [item.findtext(declared, None, QTI) for item in items(every_type)]
    assert sum(map(Fraction, worth)) == every_type.points
