import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

import pytest

from engine.errors import InputError
from problems.answers.answer import Number
from problems.answers.yes_no import YesNoAnswer
from problems.interview.drawing import interview as drawn
from quiz.interview.answers_told import accepted, short, wrong_answers
from quiz.interview.sheet_files import written
from quiz.interview.sheets import files

ALL = ("candidate.html", "candidate.md", "interviewer.html", "interviewer.md")
REAL = (("junior", 20, 1), ("mid", 30, 7), ("mid", 45, 12), ("senior", 45, 3), ("senior", 25, 8))
SIZE = re.compile(r"\d[\d,.]* (?:[KMGT]i?B|bytes|s|GPUs)\b")
EMPTY = {"meta", "br", "link", "hr"}


class Page(HTMLParser):
    """The text of a page, with its elements closed where they should be."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.texts = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        del attrs
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def said(self):
        return " ".join(" ".join(self.texts).split())


def sheets_of(interview):
    return {str(name): data.decode() for name, data in files(interview).items()}


def plain(text):
    return re.sub(r"\\(.)", r"\1", text).replace("&amp;", "&")


@pytest.fixture(scope="module")
def sheets(interview):
    return sheets_of(interview)


def test_each_of_the_two_has_a_page_and_a_text(sheets):
    assert tuple(sorted(sheets)) == ALL


@pytest.mark.parametrize("name", ["candidate.html", "interviewer.html"])
def test_the_pages_are_closed_and_need_nothing_else(sheets, name):
    assert Page(sheets[name]).open == []
    assert not re.search(r"https?:|//|url\(|@import|<script|javascript:| src=", sheets[name])
    assert "size: A4" in sheets[name]


@pytest.mark.parametrize(("level", "minutes", "seed"), REAL)
def test_the_candidates_sheet_tells_no_answer(level, minutes, seed):
    interview = drawn(level, minutes, seed)
    sheets = sheets_of(interview)
    said = [Page(sheets["candidate.html"]).said, plain(sheets["candidate.md"])]
    numbers = 0
    for question in interview.questions:
        for point in question.points:
            assert not any(point.says in one for one in said)
        assert not any(question.says in one or question.stronger in one for one in said)
        if question.problem is None:
            continue
        answer = question.problem.answer
        every = (answer.said, *(part.said for part in answer.parts.values()))
        for size in (size for one in every for size in SIZE.findall(one)):
            numbers += 1
            assert not any(size in one for one in said), size
        if len(answer.said) > len("tight"):
            assert not any(answer.said in one for one in said)
        for step in question.problem.solution:
            assert not any(step.text in one for one in said)
    assert numbers >= 8
    assert all(interview.opening in one for one in said)
    assert not any(interview.conditions in one for one in said)


def test_the_candidate_is_told_units_card_model_and_time(sheets):
    for said in (Page(sheets["candidate.html"]).said, plain(sheets["candidate.md"])):
        for part in (
            "Llama 2 7B is to be trained on 8 × A100 80GB. Will it fit?", "30 minutes",
            "GB is 10^9 bytes, GiB is 2^30 bytes", "81,920 MiB = 85.90 GB = 80.00 GiB",
            "312 TFLOP/s", "hidden size", "4,096", "32, 32", "About 10 minutes.",
            "Part 4: verify", "prediction: what a change saves",
        ):  # fmt: skip
            assert part in said, part


def test_there_is_room_to_write_for_each_part(sheets, interview):
    assert sheets["candidate.html"].count('class="space"') == len(interview.parts)
    assert sheets["candidate.md"].count("```text") == len(interview.parts)


def test_the_interviewer_has_answers_bands_mistakes_hints_and_room_for_marks(sheets, interview):
    for said in (Page(sheets["interviewer.html"]).said, plain(sheets["interviewer.md"])):
        for part in (
            "interview-mid-30@7", "18:00 to 27:00",
            "memquiz interview --interviewer --level mid --minutes 30 --seed 7",
            "Micro-batch 1, 4,096 tokens, mixed precision, AdamW, ZeRO-2.",
            "The answer: 107.81 GB = 100.41 GiB",
            # 2% of 107.81 GB on either side.
            "full from 105.66 GB to 109.97 GB",
            # 15%, 35% and a factor of 2 of 17.2 GB.
            "full from 14.62 GB to 19.78 GB, half from 11.18 GB to 23.22 GB, a quarter from 8.60",
            "weights only", "13.48 GB", "This is weights only.",
            "together 107.81 GB", "Which tensors stay?",
            "A follow-up. It changes: 16k context.",
            "activations: linear in the sequence: 4 × the line for 4,096",
            "The answer: b, the first step", "no states yet", "Nothing is new there.",
            "from senior on: a plus", "☐ half", "Rubric",
        ):  # fmt: skip
            assert part in said, part
        for question in interview.questions:
            assert question.says in said
            assert question.stronger in said
            assert all(point.says in said for point in question.points)


def test_the_rubric_has_a_row_for_each_question(sheets, interview):
    rows = [line for line in sheets["interviewer.md"].splitlines() if "| ☐ | ☐ | ☐ |" in line]
    assert len(rows) == len(interview.questions)


def test_every_number_of_a_real_interview_has_a_band_and_its_mistakes():
    for level in ("junior", "mid", "senior"):
        interview = drawn(level, 45, 3)
        asked = [one.problem for one in interview.questions if one.problem]
        assert all(all(accepted(problem.answer)) for problem in asked)
        rows = [row for problem in asked for row in wrong_answers(problem)]
        assert len(rows) >= len(asked)
        assert all(said and meaning for said, _, meaning in rows)
        assert not [said for said, _, _ in rows if said.endswith("0.000 MB")]


def test_half_of_a_yes_with_the_right_number_and_what_has_no_box_are_said():
    interview = drawn("mid", 30, 7)
    asked = [one.problem.answer for one in interview.questions if one.problem]
    halves = "yes or no and its number are half of the mark each: one wrong, half is left"
    assert [halves in accepted(one) for one in asked] == [
        isinstance(one, YesNoAnswer) for one in asked
    ]
    said = Page(sheets_of(interview)["interviewer.html"]).said
    assert halves in said
    assert "a quarter from" in said
    assert "for a quarter, or for a share of pairs, has no box: write it beside" in said


@pytest.mark.parametrize(
    ("value", "said"),
    [(Fraction(12270), "12,270"), (Fraction(18405, 3), "6,135"), (Fraction(46014, 5), "9,203"),
     (Fraction(4999, 5), "999.8"), (Fraction(5, 2), "2.5")],
)  # fmt: skip
def test_thousands_are_set_apart_whether_a_number_is_whole_or_not(value, said):
    assert short(value, Number(value=value, unit="1", default_unit=None)) == said


def test_bytes_of_a_parameter_are_said_in_bytes():
    interview = drawn("mid", 30, 7)
    each = next(one for one in interview.questions if one.key == "bytes-per-parameter")
    (band,) = accepted(each.problem.answer)
    assert re.fullmatch(r"full from [\d.]+ bytes to [\d.]+ bytes", band)


def contents(folder):
    return {one.name: one.read_bytes() for one in Path(folder).iterdir()}


FILES = {PurePosixPath("a.md"): b"a", PurePosixPath("b.md"): b"b"}


def test_files_come_into_a_folder_that_is_made(tmp_path):
    folder = tmp_path / "deep" / "er"
    assert written("--out", str(folder), FILES) == (folder / "a.md", folder / "b.md")
    assert contents(folder) == {"a.md": b"a", "b.md": b"b"}


def test_the_same_files_may_be_written_again_and_others_stay(tmp_path):
    (tmp_path / "mine.txt").write_bytes(b"mine")
    written("--out", str(tmp_path), FILES)
    written("--out", str(tmp_path), FILES)
    assert contents(tmp_path) == {"a.md": b"a", "b.md": b"b", "mine.txt": b"mine"}


def test_a_file_that_says_something_else_is_not_written_over(tmp_path):
    (tmp_path / "b.md").write_bytes(b"marks of an interview")
    with pytest.raises(InputError, match=r"b\.md is there and says something else; name another"):
        written("--out", str(tmp_path), FILES)
    assert contents(tmp_path) == {"b.md": b"marks of an interview"}


@pytest.mark.parametrize(
    ("name", "says"), [("", "is empty"), ("file", "is no folder"), ("file/in", "is no folder")]
)
def test_what_is_no_folder_is_told(tmp_path, monkeypatch, name, says):
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(b"")
    with pytest.raises(InputError, match=says):
        written("--out", name, FILES)
    assert contents(tmp_path) == {"file": b""}


def test_a_failure_half_way_leaves_nothing(tmp_path):
    folder = tmp_path / "new"
    too_long = {**FILES, PurePosixPath(f"{'n' * 300}.md"): b"c"}
    with pytest.raises(InputError, match="new"):
        written("--out", str(folder), too_long)
    assert not folder.exists()
