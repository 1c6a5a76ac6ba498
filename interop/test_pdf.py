"""Sheets as PDF, their text read back by poppler."""

import re
import subprocess

import pytest

from quiz.formats.registry import formats


@pytest.fixture
def text_of(written):
    def text_of(problems, path):
        file = written(problems, "pdf") / path
        run = ["pdftotext", "-raw", file, "-"]
        return squeezed(subprocess.run(run, capture_output=True, text=True, check=True).stdout)

    return text_of


def squeezed(text):
    """Return text without blanks, hyphens, the feet of pages and what no font here has."""
    return re.sub(r"李|memquiz \d.*|-\n|\s|[-\u2010\u00ad]", "", text)


def test_every_prompt_and_exhibit_is_read_back(marked_up, text_of):
    text = text_of(marked_up, "sheets/everyone.pdf")
    for problem in marked_up.variants[0].problems:
        for line in (*problem.prompt.splitlines(), *problem.exhibit.splitlines()):
            assert squeezed(line) in text


def test_solutions_have_every_answer_and_the_sheet_none(every_type, text_of):
    solved = text_of(every_type, "solutions/everyone.pdf")
    sheet = text_of(every_type, "sheets/everyone.pdf")
    for problem in every_type.variants[0].problems:
        assert squeezed(problem.answer.said) in solved
        assert squeezed(problem.solution[-1].text) in solved
        assert squeezed(problem.solution[-1].text) not in sheet


def test_a_name_with_markup_is_shown_as_it_is(personal, text_of):
    assert squeezed(personal.variants[2].student.said) in text_of(personal, "sheets/s-2.pdf")


def test_the_same_set_gives_the_same_bytes(personal):
    assert formats()["pdf"].files(personal) == formats()["pdf"].files(personal)
