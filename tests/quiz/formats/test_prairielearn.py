"""PrairieLearn questions: read back by a parser of HTML, marked by the server.py of each."""

import html
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.registry import formats
from quiz.grading import grade
from tests.quiz.formats.conftest import MARKUP
from tests.quiz.formats.prairielearn_course import course

# https://github.com/PrairieLearn/PrairieLearn, apps/prairielearn/src/schemas/infoQuestion.ts and
# the schemas of each element, at commit 88fb855.
NEEDED = {"uuid", "title", "topic", "type"}
KNOWN = NEEDED | {"comment", "tags", "gradingMethod", "singleVariant", "partialCredit"}
ATTRIBUTES = {
    "pl-number-input": {
        "allow-blank", "answers-name", "aria-label", "atol", "blank-value", "correct-answer",
        "rtol", "suffix", "weight",
    },
    "pl-multiple-choice": {"allow-blank", "answers-name", "order", "weight"},
    "pl-order-blocks": {
        "allow-blank", "answers-name", "grading-method", "source-blocks-order", "weight",
    },
    "pl-rich-text-editor": {"allow-blank", "file-name"},
    "pl-answer": {"correct", "feedback", "tag", "ranking"},
    "pl-hint": {"show-after-submission"},
}  # fmt: skip


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    return lambda problems: course(problems, tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def plain(folders, every_type):
    return folders(every_type)[0]


@pytest.fixture(scope="session")
def marked(folders, marked_up):
    return folders(marked_up)[0]


def parts(found, form):
    """Yield each part of a form with its folder and the name of its answer."""
    for folder in found:
        for at, part in enumerate(folder.one.parts, 1):
            if isinstance(part, form):
                yield folder, f"part{at}", part


def test_a_question_says_what_the_schema_asks_for_and_no_more(plain):
    for folder in plain:
        assert NEEDED <= set(folder.info) <= KNOWN
        assert folder.info["type"] == "v3"
        assert folder.info["singleVariant"] is True
    assert len({folder.info["uuid"] for folder in plain}) == len(plain)


def test_no_title_tells_the_seed(plain):
    for folder in plain:
        assert folder.problem.id not in folder.info["title"]
        assert folder.info["comment"] == folder.problem.id


def test_elements_have_only_attributes_that_they_know(marked):
    seen = set()
    for folder in marked:
        for tag, attributes, _ in folder.elements.found:
            if tag.startswith("pl-"):
                assert set(attributes) <= ATTRIBUTES.get(tag, set())
                seen.add(tag)
    assert seen == {*ATTRIBUTES, "pl-question-panel", "pl-answer-panel", "pl-hidden-hints"}


def test_what_is_asked_is_read_back_as_it_is(marked):
    for folder in marked:
        asked = "".join(text for _, text in folder.elements.of("pl-question-panel"))
        assert all(line in asked for line in folder.problem.prompt.splitlines())
        assert folder.problem.exhibit in asked
        assert all(hint in asked for hint in folder.problem.hints)


def test_the_solution_stands_in_the_answer_panel_alone(marked):
    for folder in marked:
        ((_, solved),) = folder.elements.of("pl-answer-panel")
        assert folder.problem.answer.said in solved
        assert all(step.text in solved for step in folder.problem.solution)
        asked = "".join(text for _, text in folder.elements.of("pl-question-panel"))
        assert folder.problem.solution[-1].text not in asked


def test_no_mark_of_a_template_or_of_a_formula_is_left(marked):
    for folder in marked:
        assert "{" not in folder.template
        assert folder.template.startswith('<div class="mathjax_ignore">')
        assert "<b>&amp;" not in folder.template


def test_numbers_earn_all_up_to_the_bounds(plain):
    for folder, name, part in parts(plain, NumberPart):
        for value in (part.right.low, part.right.value, part.right.high):
            told = folder.graded({name: float(value)})["partial_scores"][name]
            assert told["score"] == 1
            assert "feedback" not in told


def test_beyond_the_bounds_no_number_earns_all(plain):
    for folder, name, part in parts(plain, NumberPart):
        for value in (
            part.right.low * Fraction(999, 1000),
            part.right.high * Fraction(1001, 1000),
        ):
            assert folder.graded({name: float(value)})["partial_scores"][name]["score"] < 1


def test_elements_have_the_key_the_tolerance_and_the_unit(plain):
    for folder, name, part in parts(plain, NumberPart):
        told = next(
            found
            for found, _ in folder.elements.of("pl-number-input")
            if found["answers-name"] == name
        )
        right = Fraction(told["correct-answer"])
        assert float(right) == float(part.right.value)
        assert float(right * (1 + Fraction(told["rtol"]))) == pytest.approx(
            float(part.right.high), rel=1e-15
        )
        assert told.get("suffix", "") == part.unit


def test_a_mistake_earns_its_share_and_is_told(marked):
    told_of = 0
    for folder, name, part in parts(marked, NumberPart):
        for span in part.spans:
            middle = float((span.low + span.high) / 2)
            told = folder.graded({name: middle})["partial_scores"][name]
            assert told["score"] == float(span.share)
            assert told.get("feedback", "") == span.feedback
            told_of += MARKUP in span.feedback
    assert told_of


def test_one_number_of_several_earns_its_weight(plain):
    folder = next(folder for folder in plain if folder.problem.answer.type == "ledger")
    rights = {f"part{at}": float(part.right.value) for at, part in enumerate(folder.one.parts, 1)}
    assert folder.graded(rights)["score"] == 1
    assert folder.graded(rights | {"part1": ""})["score"] == pytest.approx(1 - 1 / len(rights))


@pytest.mark.parametrize("left_out", [{}, {"part1": ""}, {"part1": None}])
def test_what_was_left_out_or_not_understood_earns_nothing_and_is_told_nothing(plain, left_out):
    for folder in plain:
        for told in folder.graded(left_out)["partial_scores"].values():
            assert told["score"] == 0
            assert "feedback" not in told


def test_what_an_element_marked_itself_is_kept(plain):
    folder = next(folder for folder in plain if folder.problem.answer.type == "yes-no")
    data = {"params": {}, "submitted_answers": {"part1": "a", "part2": None}}
    data["partial_scores"] = {"part1": {"score": 1.0, "weight": 1}}
    folder.server["grade"](data)
    assert data["partial_scores"]["part1"] == {"score": 1.0, "weight": 1}
    assert data["score"] == 0.5


def test_options_have_their_text_and_feedback(plain):
    for folder, name, part in parts(plain, PickPart):
        options = folder.elements.of("pl-answer")
        assert name == "part1"
        assert [text for _, text in options] == [one.text for one in part.options]
        assert [told["correct"] for told, _ in options] == [
            str(one.is_right).lower() for one in part.options
        ]
        # The element shows feedback as HTML.
        assert [html.unescape(told.get("feedback", "")) for told, _ in options] == [
            one.feedback for one in part.options
        ]


def test_orders_have_ranks_in_which_ties_are_level(plain):
    for folder, _, part in parts(plain, OrderPart):
        ranks = {
            told["tag"]: told.get("ranking", told.get("correct"))
            for told, _ in folder.elements.of("pl-answer")
        }
        groups = [{key for key in ranks if ranks[key] == str(at)} for at in range(1, len(ranks))]
        assert [group for group in groups if group] == [set(group) for group in part.order]
        assert {key for key in ranks if ranks[key] == "false"} == set(part.idle)


def test_an_order_earns_what_the_grader_gives(plain):
    for folder, _, part in parts(plain, OrderPart):
        keys = [item.key for item in part.items]
        rows = [row for length in (2, 3, len(keys)) for row in permutations(keys, length)]
        for row in rows[::13]:
            told = folder.ordered(row)["partial_scores"]["part1"]
            assert told["score"] == pytest.approx(
                float(grade(folder.problem, " ".join(row)).score)
            )


def test_the_right_order_earns_all_and_is_told_nothing(plain):
    for folder, _, part in parts(plain, OrderPart):
        told = folder.ordered([key for group in part.order for key in group])
        assert told["partial_scores"]["part1"] == {"score": 1, "weight": 1}


def test_what_does_not_help_is_told_as_html(folders, every_type):
    variant = every_type.variants[0]
    at = next(at for at, one in enumerate(every_type.slots) if one.type == "checklist")
    problem = variant.problems[at]
    actions = tuple(replace(one, why=f"{one.why} {MARKUP}") for one in problem.answer.actions)
    answer = replace(problem.answer, actions=actions)
    other = replace(variant, problems=(replace(problem, answer=answer),))
    (folder,), _ = folders(replace(every_type, slots=(every_type.slots[at],), variants=(other,)))
    told = folder.ordered(answer.idle[:1])["partial_scores"]["part1"]["feedback"]
    assert "<b>" not in told
    assert answer.action(answer.idle[0]).why in html.unescape(told)


def test_words_are_marked_by_hand(plain):
    for folder in plain:
        words = [isinstance(part, WordsPart) for part in folder.one.parts]
        assert len(folder.elements.of("pl-rich-text-editor")) == sum(words)
        assert folder.info["gradingMethod"] == ("Manual" if all(words) else "Internal")


def test_points_are_those_of_the_set(folders, every_type, plain):
    _, assessment = folders(every_type)
    for slot, folder in zip(assessment["zones"][0]["questions"], plain, strict=True):
        by_hand = sum(part.weight for part in folder.one.parts if isinstance(part, WordsPart))
        assert slot["manualPoints"] == by_hand * folder.one.points
        assert slot["autoPoints"] == (1 - by_hand) * folder.one.points


def test_students_have_questions_of_their_own_in_a_slot(folders, personal):
    found, assessment = folders(personal)
    first, second = assessment["zones"][0]["questions"]
    assert [row["id"].rpartition("/")[2] for row in first["alternatives"]] == [
        "01-s-0", "01-s-1", "01-s-2",
    ]  # fmt: skip
    assert (first["numberChoose"], second["autoPoints"]) == (1, 2.5)
    assert len({folder.info["uuid"] for folder in found}) == 6
    assert "s<1>&" in next(one for one in found if one.path.endswith("01-s-1")).info["comment"]


def test_a_question_that_tests_itself_expects_what_it_marks(plain):
    for folder, name, part in parts(plain, NumberPart):
        raw = {f"part{at}": "1.5" for at in range(1, len(folder.one.parts) + 1)}
        raw[name] = str(float(part.right.value))
        data = {"params": {}, "raw_submitted_answers": raw, "partial_scores": {}}
        folder.server["test"](data | {"test_type": "incorrect"})
        assert data["partial_scores"][name] == {"score": 1, "weight": 1}


def test_the_same_set_gives_the_same_bytes(personal):
    assert formats()["prairielearn"].files(personal) == formats()["prairielearn"].files(personal)
