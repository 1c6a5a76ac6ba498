"""Moodle XML, read back by a parser of XML: what is asked, what is right, what is told."""

import html
import re
from dataclasses import replace
from fractions import Fraction
from xml.etree.ElementTree import XML

import pytest

from quiz.formats.known.moodle import FORMAT, PATH
from quiz.formats.parts import NumberPart
from quiz.formats.questions import question_of
from tests.quiz.formats.conftest import MARKUP

GAP = re.compile(r"\{(\d+):(NUMERICAL|MULTICHOICE):((?:[^}\\]|\\.)*)\}")


def read(problems):
    return XML(FORMAT.files(problems)[PATH])


def asked(quiz):
    return {one.findtext("idnumber"): one for one in quiz if one.get("type") != "category"}


def plain(text):
    """Return HTML as it is shown."""
    return html.unescape(re.sub(r"<br>", "\n", re.sub(r"</?(?:p|b|pre|ul|li)>", "", text)))


def of_kind(problems, kind):
    """Return (question, element) of the first problem of a kind."""
    variant = problems.variants[0]
    slot = next(slot for slot in problems.slots if slot.kind == kind)
    question = question_of(slot, variant, variant.problems[slot.number - 1])
    found = asked(read(problems))
    return question, found.get(question.id), found


def spans(element):
    """Yield (low, high, share, feedback) of each answer."""
    for answer in element.iter("answer"):
        value, within = Fraction(answer.findtext("text")), Fraction(answer.findtext("tolerance"))
        share = Fraction(answer.get("fraction")) / 100
        told = answer.findtext("feedback/text") or ""
        yield value - within, value + within, share, plain(told)


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        ("zero-states", "numerical"),
        ("fewest-gpus", "numerical"),
        ("activation-scaling", "numerical"),
        ("which-convention", "multichoice"),
        ("fits", "cloze"),
        ("repair-sum", "cloze"),
        ("states-ledger", "cloze"),
        ("zero-table", "cloze"),
        ("own-convention", "essay"),
        ("frozen-formula", "essay"),
        ("activations-conditions", "essay"),
        ("oom-checklist", "matching"),
    ],
)
def test_each_type_of_answer_is_a_type_of_question(every_type, kind, type_):
    _, element, _ = of_kind(every_type, kind)
    assert element.get("type") == type_


def test_a_claim_is_true_or_false_and_an_essay_on_why_with_half_of_the_points_each(every_type):
    question, whole, found = of_kind(every_type, "claim")
    verdict, why = found[f"{question.id}a"], found[f"{question.id}b"]
    assert whole is None
    assert (verdict.get("type"), why.get("type")) == ("truefalse", "essay")
    assert verdict.findtext("defaultgrade") == why.findtext("defaultgrade") == "0.5"
    right = [
        one.findtext("text") for one in verdict.iter("answer") if one.get("fraction") == "100"
    ]
    assert right == [question.parts[0].said]
    assert question.parts[1].said in plain(why.findtext("graderinfo/text"))


def test_all_plain_text_is_shown_as_it_was_typed(marked_up):
    found = asked(read(marked_up))
    for slot, problem in zip(marked_up.slots, marked_up.variants[0].problems, strict=True):
        question = question_of(slot, marked_up.variants[0], problem)
        for element in (one for key, one in found.items() if key.startswith(problem.id)):
            text = element.findtext("questiontext/text")
            assert "<b>&" not in text
            assert problem.prompt in plain(GAP.sub("", text))
            assert problem.exhibit in plain(GAP.sub("", text))
            assert [plain(one.findtext("text")) for one in element.iter("hint")] == [
                *question.hints
            ]
            for step in question.solution:
                assert step in plain(element.findtext("generalfeedback/text"))


@pytest.mark.parametrize("kind", ["zero-states", "fewest-gpus", "activation-scaling"])
def test_a_number_has_the_bounds_shares_and_feedback_of_its_spans(marked_up, kind):
    question, element, _ = of_kind(marked_up, kind)
    (part,) = question.parts
    due = [(span.low, span.high, span.share, span.feedback) for span in (part.right, *part.spans)]
    for row, told in zip(sorted(due), sorted(spans(element)), strict=True):
        assert row[0] <= told[0] <= told[1] <= row[1]
        assert told[1] - told[0] >= (row[1] - row[0]) * (1 - Fraction(1, 10**15))
        assert told[2:] == row[2:]
    shares = [share for _, _, share, _ in spans(element)]
    assert shares == sorted(shares, reverse=True)


def test_a_unit_is_chosen_and_its_multiplier_is_how_many_of_it_the_own_one_is(every_type):
    _, element, _ = of_kind(every_type, "zero-states")
    units = {one.findtext("unit_name"): one.findtext("multiplier") for one in element.iter("unit")}
    assert [*units] == ["GB", "GiB"]
    assert units["GB"] == "1"
    assert float(units["GiB"]) == 10**9 / 2**30
    kept = ("unitgradingtype", "unitpenalty", "showunits")
    assert [element.findtext(one) for one in kept] == ["1", "0.5", "2"]


def test_a_count_has_no_unit(every_type):
    _, element, _ = of_kind(every_type, "fewest-gpus")
    assert element.find("units") is None
    assert element.findtext("showunits") == "3"


def alternatives(gap):
    """Yield (share, answer, feedback) of a gap, read by the rules of Moodle's cloze."""
    for one in re.split(r"(?<!\\)~", gap):
        head, _, told = one.partition("#")
        share = re.match(r"=|%([\d.]+)%|", head)
        credit = 100 if share[0] == "=" else float(share[1] or 0)
        yield credit, head[share.end() :], plain(html.unescape(told.replace(r"\#", "#")))


@pytest.mark.parametrize("kind", ["fits", "repair-sum", "states-ledger", "zero-table"])
def test_the_gaps_of_a_cloze_are_its_parts(marked_up, kind):
    question, element, _ = of_kind(marked_up, kind)
    gaps = GAP.findall(element.findtext("questiontext/text"))
    assert len(gaps) == len(question.parts)
    for part, (weight, type_, inside) in zip(question.parts, gaps, strict=True):
        assert weight == "1"
        told = [*alternatives(inside)]
        if isinstance(part, NumberPart):
            assert type_ == "NUMERICAL"
            due = {(float(100 * one.share), one.feedback) for one in (part.right, *part.spans)}
            assert {(share, feedback) for share, _, feedback in told} == due
            middle, within = map(Fraction, told[0][1].split(":"))
            assert part.right.low <= middle - within < middle + within <= part.right.high
        else:
            assert type_ == "MULTICHOICE"
            assert [(share, text) for share, text, _ in told] == [
                (100 * one.is_right, one.text) for one in part.options
            ]


@pytest.mark.parametrize(("points", "weights"), [(4, {"2"}), (5, {"1"}), (0, {"1"})])
def test_weights_are_points_where_those_are_whole(every_type, points, weights):
    slots = tuple(replace(slot, points=Fraction(points)) for slot in every_type.slots)
    _, element, _ = of_kind(replace(every_type, slots=slots), "fits")
    assert {
        weight for weight, _, _ in GAP.findall(element.findtext("questiontext/text"))
    } == weights


def test_each_choice_has_its_feedback(marked_up):
    question, element, _ = of_kind(marked_up, "which-convention")
    told = [
        (plain(one.findtext("text")), one.get("fraction") == "100", one.findtext("feedback/text"))
        for one in element.iter("answer")
    ]
    options = question.parts[0].options
    assert [row[:2] for row in told] == [(one.text, one.is_right) for one in options]
    assert [plain(row[2]) for row in told] == [one.feedback for one in options]


def test_an_order_without_ties_is_one_to_put_in_order_and_marked_by_its_pairs(every_type):
    variant = every_type.variants[0]
    at = next(slot.number - 1 for slot in every_type.slots if slot.kind == "rank-levers")
    answer = variant.problems[at].answer
    ordered = sorted(answer.items, key=lambda item: item.value)
    order = tuple((item.key,) for item in ordered)
    problems = list(variant.problems)
    problems[at] = replace(problems[at], answer=replace(answer, order=order))
    strict = replace(every_type, variants=(replace(variant, problems=tuple(problems)),))
    _, element, _ = of_kind(strict, "rank-levers")
    assert element.get("type") == "ordering"
    assert element.findtext("gradingtype") == "RELATIVE_ALL_PREVIOUS_AND_NEXT"
    shown = [plain(one.findtext("text")) for one in element.iter("answer")]
    assert shown == [item.name for item in ordered]
    assert element.findtext("selectcount") == str(len(shown))


def test_what_is_to_be_left_out_is_a_place_of_its_own(every_type):
    question, element, _ = of_kind(every_type, "oom-checklist")
    (part,) = question.parts
    names = {item.key: item.name for item in part.items}
    told = {
        plain(one.findtext("text")): one.findtext("answer/text")
        for one in element.iter("subquestion")
    }
    assert {name for name, place in told.items() if place == "left out"} == {
        names[key] for key in part.idle
    }
    for place, group in enumerate(part.order, 1):
        assert {told[names[key]] for key in group} == {str(place)}


def test_a_slot_of_a_personal_set_is_a_category_with_each_students_question(personal):
    quiz = read(personal)
    rows = [one.findtext("category/text") or one.findtext("name/text") for one in quiz]
    paths = [html.unescape(row) for row in rows if row.startswith("$course$")]
    assert len(paths) == len(personal.slots)
    assert all(MARKUP.replace("  ", " ") in path for path in paths)
    assert not any("<" in row for row in rows)
    for student in personal.variants:
        mine = [row for row in rows if student.student.id in html.unescape(row)]
        assert len(mine) == len(personal.slots)
    ids = [one.findtext("idnumber") for one in quiz if one.get("type") != "category"]
    assert sorted(ids) == sorted(
        problem.id for variant in personal.variants for problem in variant.problems
    )


def test_a_problem_that_all_students_have_is_written_once(personal):
    first = personal.variants[0]
    alike = tuple(replace(one, problems=first.problems) for one in personal.variants)
    found = asked(read(replace(personal, variants=alike)))
    assert [*found] == [problem.id for problem in first.problems]
    names = [one.findtext("name/text") for one in found.values()]
    assert not any("s&lt;" in name for name in names)


def test_points_tags_and_ids_stand_where_moodle_reads_them(personal):
    found = asked(read(personal))
    problem = personal.variants[0].problems[1]
    element = found[problem.id]
    assert element.findtext("defaultgrade") == "2.5"
    tags = [one.findtext("text") for one in element.iter("tag")]
    assert tags == ["model states", problem.level, "which-convention"]


def test_the_same_set_gives_the_same_bytes(every_type):
    assert FORMAT.files(every_type) == FORMAT.files(every_type)
