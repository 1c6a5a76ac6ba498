import re
from html.parser import HTMLParser

import pytest

from quiz.output.figures import Box, Words
from quiz.progress.page import page
from quiz.progress.sections import sections

MARKUP = '<b>x</b> & "y" {{ 1 }}'
VOID = {"meta", "br"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.texts, self.rows = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in {"td", "th"}:
            self.rows[-1][-1] += data


def read(text):
    found = Page()
    found.feed(text)
    assert not found.open
    return found


@pytest.fixture
def shown(told, many):
    return read(page(told(many)))


def test_the_page_needs_nothing_else(shown):
    assert "script" not in {tag for tag, _ in shown.seen}
    for _, attributes in shown.seen:
        assert not {"src", "href", "onclick", "style"} & set(attributes)
    assert "http" not in "".join(shown.texts)


def test_every_picture_has_a_title_and_a_description_and_ids_are_unique(shown):
    ids = [attributes["id"] for _, attributes in shown.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    pictures = [attributes for tag, attributes in shown.seen if tag == "svg"]
    assert len(pictures) == 4
    for one in pictures:
        assert one["role"] == "img"
        assert set(one["aria-labelledby"].split()) <= set(ids)


def test_every_table_has_a_caption_and_titles(shown):
    tags = [tag for tag, _ in shown.seen]
    assert tags.count("caption") == tags.count("table") == tags.count("thead") >= 7
    assert all(x["scope"] in {"row", "col"} for tag, x in shown.seen if tag == "th")
    assert all(all(row) for row in shown.rows if "topic" in row)


def test_it_has_light_and_dark_and_paper(told, many):
    style = page(told(many)).partition("</style>")[0]
    assert "color-scheme: light dark" in style
    assert "@media print" in style


def test_names_of_mistakes_are_shown_as_they_are(told, answer, now):
    found = read(page(told([answer(now, score=0, mistake=MARKUP)])))
    assert any(row and row[0] == MARKUP for row in found.rows)
    assert "b" not in {tag for tag, _ in found.seen}


def test_a_page_of_no_answers_says_what_to_do(told):
    found = read(page(told(())))
    assert "svg" not in {tag for tag, _ in found.seen}
    assert any("memquiz practice" in text for text in found.texts)


def test_commands_are_those_that_start_the_program_here(told, many, monkeypatch):
    monkeypatch.setenv("MEMQUIZ_COMMAND", "python3 bootstrap.py")
    text = page(told(many))
    assert "python3 bootstrap.py practice --kind" in text
    assert "memquiz practice" not in text


def part(report, title):
    return next(one for one in sections(report) if one.title == title)


def boxes(figure):
    return [one for one in figure.shapes if isinstance(one, Box)]


def test_bars_of_days_are_the_numbers_of_the_table(told, many):
    found = part(told(many), "Days")
    numbers = [int(cell) for row in found.grids[0].rows for cell in row[1:-1] if cell]
    said = [int(one.says.partition(": ")[2].split()[0]) for one in boxes(found.figures[0])]
    assert said == [number for number in numbers if number]
    heights = {
        one.height / number for one, number in zip(boxes(found.figures[0]), said, strict=True)
    }
    assert max(heights) - min(heights) < 0.1


def test_bars_of_ranges_are_the_numbers_of_the_table(told, many):
    found = part(told(many), "Ranges")
    rows = [(int(row[2]), int(row[3])) for row in found.grids[0].rows]
    assert len(rows) == 4
    below = [one.text for one in found.figures[0].shapes if isinstance(one, Words)]
    assert [f"{held} of {typed}" for held, typed in rows] == below[-len(rows) :]
    for one, (held, typed) in zip(boxes(found.figures[0]), rows, strict=True):
        assert one.height == pytest.approx(150 * held / typed, abs=0.1)


def test_bars_of_mistakes_are_the_numbers_of_the_table(told, many):
    found = part(told(many), "Mistakes")
    weekly = found.grids[1]
    said = [int(one.says.rpartition(": ")[2]) for one in boxes(found.figures[0])]
    columns = zip(*(row[1:] for row in weekly.rows), strict=True)
    assert said == [int(cell) for column in columns for cell in column if cell != "0"]


def test_the_line_of_a_skill_goes_through_the_numbers_of_the_table(told, many):
    found = part(told(many), "Skill by topic")
    weekly = found.grids[1]
    lines = [one for one in found.figures[0].shapes if getattr(one, "look", "") == "line"]
    assert len(lines) == len(weekly.head) - 1
    for place, drawn in enumerate(lines):
        heights = [float(y) for y in re.findall(r" (-?[\d.]+)", drawn.d)]
        cells = [row[place + 1] for row in weekly.rows if row[place + 1]]
        assert len(heights) == len(cells)
        top = 142 * (place // 2)
        for height, cell in zip(heights, cells, strict=True):
            level = float(cell.split(" ± ")[0])
            assert (top + 90 - height) / 30 - 0.5 == pytest.approx(level, abs=0.06)
