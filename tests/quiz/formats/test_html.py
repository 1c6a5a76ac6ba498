"""HTML sheets, read back by a parser of HTML."""

from html.parser import HTMLParser

import pytest

from quiz.formats.registry import formats

ADDRESSES = ("src", "href", "action", "data", "srcset", "poster")


class Page(HTMLParser):
    """The text of a page, its elements, and what they would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.loads, self.texts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.loads += [value for name, value in attrs if name in ADDRESSES]
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


@pytest.fixture(scope="module")
def page():
    def page(problems, path):
        files = formats()["html"].files(problems)
        return Page(next(data.decode() for name, data in files.items() if name.match(path)))

    return page


def test_every_prompt_and_exhibit_is_there_as_it_is(marked_up, page):
    sheet = page(marked_up, "sheets/everyone.html")
    for problem in marked_up.variants[0].problems:
        assert all(line in sheet.text for line in problem.prompt.splitlines())
        assert problem.exhibit in sheet.text


def test_a_sheet_tells_no_answer(every_type, page):
    sheet = page(every_type, "sheets/everyone.html")
    for problem in every_type.variants[0].problems:
        assert problem.solution[-1].text not in sheet.text
        assert problem.id not in sheet.text
    assert "details" not in dict(sheet.tags)


def test_solutions_are_folded_with_hints_and_feedback(marked_up, page):
    sheet = page(marked_up, "solutions/everyone.html")
    assert "open" not in next(attrs for tag, attrs in sheet.tags if tag == "details")
    for problem in marked_up.variants[0].problems:
        assert problem.answer.said in sheet.text
        told = [*problem.hints, *(one.feedback for one in problem.mistakes)]
        assert all(text in sheet.text for text in told)


def test_nothing_is_loaded_and_nothing_runs(marked_up, page):
    sheet = page(marked_up, "solutions/everyone.html")
    assert {address for address in sheet.loads if address} == {"data:,"}
    assert "script" not in dict(sheet.tags)


def test_a_page_can_be_read_aloud(every_type, page):
    sheet = page(every_type, "solutions/everyone.html")
    tags = [tag for tag, _ in sheet.tags]
    assert dict(sheet.tags)["html"]["lang"] == "en"
    assert tags.count("h1") == 1
    assert tags.count("h2") == len(every_type.slots)
    assert tags.count("caption") == tags.count("table")
    assert all("scope" in attrs for tag, attrs in sheet.tags if tag == "th")


def test_a_student_s_sheet_has_the_name_as_it_is(personal, page):
    sheet = page(personal, "sheets/s-1.html")
    assert personal.variants[1].student.said in sheet.text
