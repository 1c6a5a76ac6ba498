"""Markdown sheets, read back by a reader of Markdown."""

import re
from dataclasses import replace

import pytest

from quiz.formats.known.markdown import escaped
from quiz.formats.registry import formats
from quiz.formats.sheets import file_names
from quiz.sets.problem_set import Student


def text_of(problems, path):
    return next(
        data.decode()
        for name, data in formats()["markdown"].files(problems).items()
        if name.match(path)
    )


def test_a_sheet_has_every_prompt_and_no_answer(every_type):
    sheet = text_of(every_type, "sheets/everyone.md")
    for problem in every_type.variants[0].problems:
        assert escaped(problem.prompt) in sheet
        assert f"**{escaped(problem.answer.said)}**" not in sheet


def test_solutions_have_every_answer_and_step(every_type):
    sheet = text_of(every_type, "solutions/everyone.md")
    for problem in every_type.variants[0].problems:
        assert f"**{escaped(problem.answer.said)}**" in sheet
        assert all(f"- {escaped(step.text)}" in sheet for step in problem.solution)


def test_a_sheet_for_each_student_is_named_by_the_id(personal):
    names = sorted(str(path) for path in formats()["markdown"].files(personal))
    assert names[:3] == ["sheets/s-0.md", "sheets/s-1.md", "sheets/s-2.md"]


def test_files_have_names_that_every_file_system_tells_apart(personal):
    ids = ("Ann", "ann", "ann-2", "CON", "../../x", "", "李")
    variants = tuple(replace(personal.variants[0], student=Student(id=one)) for one in ids)
    assert file_names(replace(personal, variants=variants)) == (
        "Ann", "ann-2", "ann-2-2", "CON-2", "x", "student", "student-2",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b & c", r"a \< b &amp; c"),
        ("*not* _this_", r"\*not\* \_this\_"),
        ("2. second", r"2\. second"),
        ("581.59 GB", "581.59 GB"),
        ("- a list", r"\- a list"),
        ("# head", r"\# head"),
        ("a\nb", "a  \nb"),
    ],
)
def test_text_is_shown_as_it_is(text, shown):
    assert escaped(text) == shown


def test_a_fence_is_longer_than_any_inside(marked_up):
    sheet = text_of(marked_up, "sheets/everyone.md")
    fences = re.findall(r"^`{3,}(?:text)?$", sheet, re.MULTILINE)
    assert len(fences) % 2 == 0
