"""GIFT, read back by the rules of its page in Moodle's manual."""

import html
import re
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from quiz.formats.known.gift import FORMAT, PATH
from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.questions import question_of
from tests.quiz.formats.conftest import MARKUP

ID = re.compile(r"\[id:([^]]*)\]")
ANSWERS = re.compile(r"(?<!\\)\{(.*)(?<!\\)\}", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Read:
    """A question as a reader of GIFT has it."""

    category: str
    id: str
    tags: list
    title: str
    stem: str
    general: str
    answers: str


def freed(text):
    """Return text without the backslashes in front of what has a meaning."""
    return re.sub(r"\\([~=#{}:\\])", r"\1", text)


def plain(text):
    """Return HTML as it is shown."""
    shown = re.sub(r"</?(?:p|b|pre|ul|li)>", "", freed(text)).replace("<br>", "\n")
    return html.unescape(shown)


def read(problems):
    """Return every question by its id; blank lines are between two of them."""
    found, category = {}, ""
    for block in FORMAT.files(problems)[PATH].decode().strip().split("\n\n"):
        if block.startswith("$CATEGORY: "):
            category = block.removeprefix("$CATEGORY: ")
            continue
        comment, body = block.split("\n", 1)
        title, asked = re.fullmatch(r"::((?:[^:\\]|\\.)*)::\[html\](.*)", body, re.DOTALL).groups()
        answers = ANSWERS.search(asked)
        inside, general = answers[1].split("####")
        (one,) = ID.findall(comment)
        found[one] = Read(
            category=category,
            id=one,
            tags=re.findall(r"\[tag:([^]]*)\]", comment),
            title=html.unescape(freed(title)),
            stem=plain(asked[: answers.start()]),
            general=plain(general),
            answers=inside.strip(),
        )
    return found


def items(problems):
    """Yield (question, part, what was read of it)."""
    found = read(problems)
    for slot, problem in zip(problems.slots, problems.variants[0].problems, strict=True):
        question = question_of(slot, problems.variants[0], problem)
        letters = "abcdefgh" if len(question.parts) > 1 else [""]
        for part, letter in zip(question.parts, letters, strict=False):
            yield question, part, found[question.id + letter]


@pytest.fixture(scope="module")
def read_items(marked_up):
    return tuple(items(marked_up))


def lines(one, mark):
    return [line for line in one.answers.split("\n") if line.startswith(mark)]


def test_each_part_is_a_question_and_no_other_is_there(marked_up, read_items):
    assert len({one.id for _, _, one in read_items}) == len(read_items) == len(read(marked_up))


def test_all_plain_text_is_shown_as_it_was_typed(read_items):
    for question, part, one in read_items:
        assert question.prompt in one.stem
        assert question.exhibit in one.stem
        assert question.said in one.general
        assert all(step in one.general for step in question.solution)
        if len(question.parts) > 1:
            assert part.label in one.stem


def test_a_number_has_the_bounds_shares_and_feedback_of_its_spans(read_items):
    for _, part, one in read_items:
        if not isinstance(part, NumberPart):
            continue
        assert one.answers.startswith("#")
        rows = [
            re.fullmatch(r"=(?:%([\d.]+)%)?([\d.]+):([\d.]+)(?:#(.*))?", line)
            for line in lines(one, "=")
        ]
        for span, row in zip((part.right, *part.spans), rows, strict=True):
            share, value, within, told = row.groups()
            assert Fraction(share or 100) == 100 * span.share
            assert span.low <= Fraction(value) - Fraction(within)
            assert Fraction(value) + Fraction(within) <= span.high
            assert plain(told or "") == span.feedback


def test_a_unit_is_said_to_be_left_out(read_items):
    for _, part, one in read_items:
        if isinstance(part, NumberPart) and part.unit:
            assert f"Give a number in {part.unit}, without the unit." in one.stem


def test_a_pick_has_its_right_one_and_feedback(read_items):
    for _, part, one in read_items:
        if not isinstance(part, PickPart) or one.answers in {"T", "F"}:
            continue
        rows = [re.fullmatch(r"([=~])(.*?)(?:(?<!\\)#(.*))?", line) for line in lines(one, "")]
        assert [(row[1] == "=", plain(row[2]), plain(row[3] or "")) for row in rows] == [
            (option.is_right, option.text, option.feedback) for option in part.options
        ]


def test_a_claim_is_true_or_false(read_items):
    truths = [(part.said, one.answers) for _, part, one in read_items if one.answers in {"T", "F"}]
    assert len(truths) == 1
    assert all(said[0].upper() == letter for said, letter in truths)


def test_an_order_is_places_to_match(read_items):
    orders = [(part, one) for _, part, one in read_items if isinstance(part, OrderPart)]
    assert len(orders) == 2
    for part, one in orders:
        pairs = dict(line[1:].rsplit(" -> ", 1) for line in lines(one, "="))
        place = {plain(text): at for text, at in pairs.items()}
        names = {item.key: item.name for item in part.items}
        due = {names[key]: "left out" for key in part.idle} | {
            names[key]: str(at) for at, group in enumerate(part.order, 1) for key in group
        }
        assert place == due


def test_words_are_an_essay(read_items):
    essays = [one.answers for _, part, one in read_items if isinstance(part, WordsPart)]
    assert essays == [""] * 4


def test_a_slot_of_a_personal_set_is_a_category_with_each_students_question(personal):
    found = read(personal)
    assert {problem.id for one in personal.variants for problem in one.problems} == set(found)
    for variant in personal.variants:
        for slot, problem in zip(personal.slots, variant.problems, strict=True):
            one = found[problem.id]
            assert one.title.startswith(f"{variant.student.id}: {slot.number} ")
            path = one.category.split("/")
            assert path[:2] == ["$course$", "top"]
            assert html.unescape(path[2]) == MARKUP
            assert path[3].startswith(f"{slot.number} ")
            assert one.tags[1:] == [problem.level, slot.kind]


def test_a_comment_in_a_prompt_is_no_comment(every_type):
    variant = every_type.variants[0]
    first = replace(variant.problems[0], prompt="a\n\n// [id:b]\n$CATEGORY: c\n::d:: {T}")
    problems = (first, *variant.problems[1:])
    found = read(replace(every_type, variants=(replace(variant, problems=problems),)))
    assert found[first.id].stem.startswith(first.prompt)
