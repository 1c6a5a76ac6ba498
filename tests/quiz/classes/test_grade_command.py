"""`memquiz grade`: what it writes, prints and exits with."""

import csv
import json
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import click
import pytest
from click.testing import CliRunner

from problems.registry import kinds
from quiz.classes.tables import MARK
from quiz.cli import memquiz as cli
from quiz.grading import grade
from quiz.sets.key import key_text
from quiz.sets.problem_set import Student, Variant

FILES = {"answers.csv", "students.csv", "report.md", "report.html", "results.json"}
MARKUP = '<b>&amp; "it\'s"</b> | `z` *w* [u](t) ${x} 李'


def said(problem):
    return problem.answer.said.split(" = ")[0]


@pytest.fixture
def graded(tmp_path, monkeypatch):
    """Grade rows by a set: exit code, output and the folder that was written."""
    monkeypatch.chdir(tmp_path)

    def run(problems, rows, *options, **others):
        (tmp_path / "key.json").write_text(key_text(problems), encoding="utf-8")
        for name, earlier in others.items():
            (tmp_path / f"{name}.json").write_text(key_text(earlier), encoding="utf-8")
        with (tmp_path / "in.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        found = CliRunner().invoke(cli, ["grade", "key.json", "in.csv", *options])
        assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
        return found

    run.folder = tmp_path / "in-graded"
    return run


def results(graded):
    return json.loads((graded.folder / "results.json").read_text(encoding="utf-8"))


def table(graded, name):
    with (graded.folder / name).open(encoding="utf-8-sig", newline="") as file:
        return [*csv.DictReader(file)]


def rows_of(problems):
    """Return a file in which one student has all right, one nothing, one what cannot be read."""
    numbers = [slot.number for slot in problems.slots]
    right = [said(problem) for problem in problems.variants[0].problems]
    right[2] = "false, activations are not sharded, each rank keeps those of its micro-batch"
    return [
        ["student", *numbers],
        ["best", *right],
        ["none", "", "", ""],
        ["odd", "what?", "-5", "true"],
    ]


def test_five_files_are_written_beside_the_answers(graded, for_all):
    found = graded(for_all, rows_of(for_all))
    assert found.exit_code == 0
    assert {path.name for path in graded.folder.iterdir()} == FILES


def test_a_second_run_gives_the_same_bytes(graded, for_all):
    graded(for_all, rows_of(for_all))
    before = {path.name: path.read_bytes() for path in graded.folder.iterdir()}
    graded(for_all, rows_of(for_all), "--out", "again")
    again = graded.folder.with_name("again")
    assert before == {path.name: path.read_bytes() for path in again.iterdir()}


def test_the_order_of_the_rows_decides_nothing_but_lines(graded, for_all):
    rows = rows_of(for_all)
    graded(for_all, rows)
    before = (graded.folder / "answers.csv").read_bytes()
    graded(for_all, [rows[0], *reversed(rows[1:])])
    assert (graded.folder / "answers.csv").read_bytes() == before


def test_an_answer_has_a_row_with_what_marking_gave(graded, for_all):
    graded(for_all, rows_of(for_all))
    rows = {(row["student"], row["question"]): row for row in table(graded, "answers.csv")}
    assert len(rows) == 9
    problem = for_all.variants[0].problems[1]
    found, row = grade(problem, said(problem)), rows["best", "2"]
    assert (row["problem"], row["answer"]) == (problem.id, said(problem))
    assert (row["read as"], row["feedback"]) == (found.reading, found.feedback)
    assert (row["score"], row["points"], row["verdict"]) == ("1", "2", "correct")
    assert rows["none", "1"]["verdict"] == "not answered"
    assert rows["odd", "1"]["verdict"] == "unreadable"
    assert rows["odd", "1"]["feedback"].startswith("at character ")


def test_the_answers_that_are_written_are_marked_the_same_when_read_again(graded, for_all):
    graded(for_all, rows_of(for_all))
    first = table(graded, "answers.csv")
    again = [[*first[0]], *([*row.values()] for row in first)]
    graded(for_all, again)
    assert table(graded, "answers.csv") == first


def test_a_cell_that_would_be_a_formula_is_guarded_and_the_json_has_it_as_typed(graded, for_all):
    graded(for_all, [["student", "1"], ["=cmd()", "-5"], ["@x", "=16*7e9"]])
    rows = table(graded, "answers.csv")
    assert [(row["student"], row["answer"]) for row in rows if row["answer"]] == [
        ("'=cmd()", "'-5"),
        ("'@x", "'=16*7e9"),
    ]
    text = (graded.folder / "students.csv").read_text(encoding="utf-8")
    assert text.startswith(MARK)
    assert not re.search(r"(?m)^[=+@-]|,[=+@-]", text.removeprefix(MARK))
    assert results(graded)["students"][0]["answers"][0]["answer"] == "-5"


def test_a_student_has_a_row_with_points_for_each_question(graded, for_each):
    one = said(for_each.variants[0].problems[1])
    graded(for_each, [["student", "1", "2"], ["ada", "", one], ["bob", "", ""]])
    assert table(graded, "students.csv") == [
        {"student": "ada", "name": "Ada", "points": "2", "of": "4", "percent": "50",
         "1": "0", "2": "2", "3": "0"},
        {"student": "bob", "name": "", "points": "0", "of": "4", "percent": "0",
         "1": "0", "2": "0", "3": "0"},
        {"student": "čapek", "name": "Karel Čapek", "points": "", "of": "4", "percent": "",
         "1": "", "2": "", "3": ""},
    ]  # fmt: skip


def test_json_prints_one_object_and_writes_nothing(graded, for_all):
    found = graded(for_all, rows_of(for_all), "--json")
    printed = json.loads(found.stdout)
    assert printed["cells"] == {
        "cells": 9, "marked": 4, "empty": 3, "unreadable": 2, "unused": 0,
    }  # fmt: skip
    assert not graded.folder.exists()


def test_the_terminal_has_a_short_summary_with_the_sum(graded, for_all):
    lines = graded(for_all, rows_of(for_all)).stdout.splitlines()
    assert lines[0] == "Week 3"
    assert lines[1].startswith("  3 students, 3 questions, 4 points; mean ")
    assert lines[2] == "  9 cells = 4 marked + 3 empty + 2 unreadable + 0 not used"
    assert lines[-1] == "Next: look at in-graded/report.html"
    assert len(lines) < 10


@pytest.mark.parametrize(
    ("passing", "code"), [("0", 0), ("50", 1), ("50%", 1), ("33.3", 1), (None, 0)]
)
def test_the_exit_code_says_whether_a_student_is_below_the_pass_mark(
    graded, for_all, passing, code
):
    options = [] if passing is None else ["--pass", passing]
    assert graded(for_all, rows_of(for_all), *options).exit_code == code


def test_a_student_at_the_pass_mark_passes(graded, for_all):
    rows = [["student", "2"], ["x", said(for_all.variants[0].problems[1])]]
    assert graded(for_all, rows, "--pass", "50").exit_code == 0
    assert graded(for_all, rows, "--pass", "50.01").exit_code == 1


def test_a_student_without_a_row_does_not_fail(graded, for_each):
    rows = [["student", "2"], ["ada", said(for_each.variants[0].problems[1])]]
    found = graded(for_each, rows, "--pass", "50")
    assert found.exit_code == 0
    assert "2 students of the key without a row: bob, Karel Čapek (čapek)" in found.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--pass", "many"], "--pass: 'many' is not a number"),
        (["--pass", "101"], "--pass: '101' is not in 0 to 100"),
        (["--pass", "nan"], "--pass: 'nan' is not in 0 to 100"),
        (["--out", "in.csv"], "--out: in.csv is no folder"),
        (["--before", "nowhere.json"], "nowhere.json: cannot be read"),
        (["--before", "in.csv"], "in.csv: is not JSON"),
    ],
)
def test_bad_input_is_told_and_exits_with_2(graded, for_all, options, says):
    found = graded(for_all, rows_of(for_all), *options)
    assert found.exit_code == 2
    assert says in found.stderr


def test_the_answers_are_not_written_over(graded, for_all, tmp_path):
    graded(for_all, rows_of(for_all))
    (tmp_path / "answers.csv").write_bytes((tmp_path / "in.csv").read_bytes())
    found = CliRunner().invoke(cli, ["grade", "key.json", "answers.csv", "--out", "."])
    assert found.exit_code == 2
    assert "--out: answers.csv would be written over" in found.stderr


def changed(problems, at, **changes):
    """Return a set whose problem at a place is changed for everyone."""
    return replace(
        problems,
        variants=tuple(
            replace(
                variant,
                problems=tuple(
                    replace(one, **changes) if place == at else one
                    for place, one in enumerate(variant.problems)
                ),
            )
            for variant in problems.variants
        ),
    )


def test_a_changed_key_says_who_moved_by_how_much_in_which_question(graded, for_all):
    problem = for_all.variants[0].problems[1]
    answer = replace(problem.answer, value=3 * problem.answer.value)
    earlier = changed(for_all, 1, answer=answer, mistakes=())
    found = graded(for_all, rows_of(for_all), "--before", "old.json", old=earlier)
    assert "1 student moved since the key before" in found.stdout
    (moved,) = results(graded)["regraded"]["moved"]
    assert (moved["id"], moved["now"] - moved["before"]) == ("best", 2)
    (move,) = moved["questions"]
    assert (move["question"], move["before"], move["now"], move["by"]) == (2, 0, 2, 2)
    assert (move["verdict_before"], move["verdict_now"]) == ("wrong", "correct")
    text = (graded.folder / "report.md").read_text(encoding="utf-8")
    assert "| 0, wrong | 2, correct | +2 |" in text


def test_a_slot_that_is_voided_moves_points_and_what_they_are_of(graded, for_all):
    slots = (*for_all.slots[:2], replace(for_all.slots[2], points=Fraction(0)))
    graded(replace(for_all, slots=slots), rows_of(for_all), "--before", "old.json", old=for_all)
    regraded = results(graded)["regraded"]
    assert {one["id"]: (one["before_of"], one["now_of"]) for one in regraded["moved"]} == {
        "best": (4, 3), "none": (4, 3), "odd": (4, 3),
    }  # fmt: skip
    text = (graded.folder / "report.md").read_text(encoding="utf-8")
    assert "Not counted, since it has 0 points: question 3." in text


def test_a_question_that_was_taken_out_moves_what_it_was_worth(graded, for_all):
    (variant,) = for_all.variants
    fewer = replace(
        for_all,
        slots=(for_all.slots[0], for_all.slots[2]),
        variants=(replace(variant, problems=(variant.problems[0], variant.problems[2])),),
    )
    graded(fewer, rows_of(for_all), "--before", "old.json", old=for_all)
    moves = {one["id"]: one["questions"] for one in results(graded)["regraded"]["moved"]}
    (move,) = moves["best"]
    assert (move["question"], move["before"], move["now"]) == (2, 2, None)
    assert (move["by"], move["verdict_now"]) == (-2, "not asked")


def test_the_same_key_before_moves_nobody(graded, for_all):
    found = graded(for_all, rows_of(for_all), "--before", "old.json", old=for_all)
    assert "0 students moved" in found.stdout
    assert results(graded)["regraded"] == {"moved": [], "unknown": []}


def test_a_student_of_whom_the_key_before_knows_nothing_is_named(graded, for_each):
    fewer = replace(for_each, variants=for_each.variants[:2])
    rows = [["student", "1"], ["ada", "5"], ["čapek", "6"]]
    graded(for_each, rows, "--before", "old.json", old=fewer)
    assert [one["id"] for one in results(graded)["regraded"]["unknown"]] == ["čapek"]


def test_a_key_for_everyone_is_no_key_before_of_a_personal_one(graded, for_each, for_all):
    found = graded(for_each, [["student", "1"], ["ada", "5"]], "--before", "old.json", old=for_all)
    assert found.exit_code == 2
    assert "one key is for everyone" in found.stderr


def test_a_key_of_this_version_is_not_made_anew_unless_asked(graded, for_all):
    graded(for_all, rows_of(for_all))
    assert results(graded)["today"] is None
    graded(for_all, rows_of(for_all), "--today")
    assert results(graded)["today"]["differs"] == []
    assert "3 problems made anew: nothing differs." in (graded.folder / "report.md").read_text(
        encoding="utf-8"
    )


def test_a_key_of_another_version_is_graded_by_itself_and_says_what_differs(graded, for_each):
    problem = for_each.variants[0].problems[0]
    answer = replace(problem.answer, value=Fraction(5 * 10**9))
    older = replace(changed(for_each, 0, answer=answer), version="0.0.9")
    found = graded(older, [["student", "1"], ["ada", "5 GB"]])
    assert "1 question would be others today" in found.stdout
    printed = results(graded)
    assert printed["students"][0]["answers"][0]["score"] == 1
    assert printed["today"]["made_by"] == "0.0.9"
    assert printed["today"]["differs"] == [
        {"question": 1, "what": "answer", "whose": ["Ada (ada)", "bob", "Karel Čapek (čapek)"]}
    ]


def test_what_differs_is_said_of_those_whose_problem_it_is(graded, for_each):
    variants = (
        replace(
            for_each.variants[0],
            problems=(
                replace(for_each.variants[0].problems[0], prompt="?", mistakes=()),
                *for_each.variants[0].problems[1:],
            ),
        ),
        *for_each.variants[1:],
    )
    graded(replace(for_each, variants=variants), [["student", "1"], ["ada", "5"]], "--today")
    assert results(graded)["today"]["differs"] == [
        {"question": 1, "what": "prompt, mistakes", "whose": ["Ada (ada)"]}
    ]


def test_a_kind_that_is_gone_is_said_so(graded, for_all):
    name = "a-kind-that-went-away"
    slots = (for_all.slots[0], replace(for_all.slots[1], kind=name), *for_all.slots[2:])
    gone = replace(changed(for_all, 1, kind=name), version="0.0.9", slots=slots)
    graded(gone, rows_of(for_all))
    assert "a-kind-that-went-away" not in kinds()
    (one,) = results(graded)["today"]["differs"]
    assert (one["question"], one["what"]) == (2, "there is no such kind today")


def test_a_row_in_whose_place_a_later_one_counts_is_reported_with_its_points(graded, for_all):
    right = said(for_all.variants[0].problems[1])
    graded(for_all, [["student", "2"], ["x", right], ["x", "1 GB"]])
    printed = results(graded)
    assert printed["again"] == [{"line": 2, "student": "x", "points": 2}]
    assert printed["students"][0]["points"] == 0


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.texts, self.tables = [], [], [], 0

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in {"meta", "rect", "path", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def page(graded, for_all):
    problems = replace(for_all, title=MARKUP)
    graded(problems, [["student", "1"], [MARKUP, MARKUP], ["y", "5 GB"]])
    found = Page()
    found.feed((graded.folder / "report.html").read_text(encoding="utf-8"))
    assert not found.open
    return found


def test_the_page_needs_nothing_else(page):
    for _, attributes in page.seen:
        assert not {"src", "href", "onclick", "style"} & set(attributes)
    assert "script" not in {tag for tag, _ in page.seen}


def test_what_was_typed_is_shown_on_the_page_as_it_was_typed(page):
    assert sum(MARKUP in text for text in page.texts) >= 3
    assert "b" not in {tag for tag, _ in page.seen}


def test_every_table_of_the_page_has_a_caption_and_titles(page):
    tags = [tag for tag, _ in page.seen]
    assert tags.count("caption") == tags.count("table") == tags.count("thead") > 3
    assert all(x["scope"] in {"row", "col"} for tag, x in page.seen if tag == "th")


def test_the_picture_is_said_in_words(page):
    svg = next(x for tag, x in page.seen if tag == "svg")
    assert (svg["role"], svg["aria-labelledby"]) == ("img", "spread spread-more")
    assert any(re.match(r"0 to below 10%: \d students?; 10 to", text) for text in page.texts)


def test_what_was_typed_is_shown_in_markdown_as_it_was_typed(graded, for_all):
    graded(for_all, [["student", "1"], ["x|y", "a\n# b <i> | `c` *d*"]])
    text = (graded.folder / "report.md").read_text(encoding="utf-8")
    assert r"| x\|y | 1 | 2 | a<br>\# b \<i\> \| \`c\` \*d\* |" in text


def test_kinds_of_answer_in_words_are_labelled_with_how_certain_the_label_is(graded, draw):
    problems = draw([{"kinds": ["claim"]}])
    words = ("false, weights and gradients and states only", "true, it shards everything", "false")
    rows = [[f"s{at}", text] for at, text in enumerate(words)]
    graded(problems, [["student", "1"], *rows])
    marked = [grade(problems.variants[0].problems[0], text) for text in words]
    close = sum(any(x.startswith("a close call") for x in one.remarks) for one in marked)
    text = (graded.folder / "report.md").read_text(encoding="utf-8")
    assert text.count("a close call") == close


def test_a_set_for_one_without_any_answer_is_reported(graded, for_each):
    found = graded(for_each, [["student", "1"], ["zoe", "5 GB"]])
    assert found.exit_code == 0
    assert "0 students, 3 questions" in found.stdout
    assert results(graded)["mean_percent"] is None


def test_grade_is_a_command_with_help():
    assert "ANSWERS" in cli.get_command(click.Context(cli), "grade").get_help(
        click.Context(cli, info_name="grade")
    )


def test_names_of_students_come_from_the_key(graded, for_each):
    named = replace(
        for_each,
        variants=(
            Variant(student=Student(id="z", name=MARKUP), problems=for_each.variants[0].problems),
        ),
    )
    graded(named, [["student", "1"], ["z", "5 GB"]])
    assert results(graded)["students"][0]["name"] == MARKUP


def test_a_mistake_of_the_key_that_is_right_within_its_tolerance_is_told(graded, for_all):
    problem = for_all.variants[0].problems[0]
    slip = replace(problem.mistakes[0], value=problem.answer.value)
    key = changed(for_all, 0, mistakes=(slip,))
    found = graded(key, rows_of(for_all))
    says = f"question 1, {problem.id}: {slip.name!r} gives what is right within its tolerance"
    assert found.exit_code == 0
    assert f"In the key, {says}" in " ".join(found.output.split())
    assert results(graded)["key_notes"] == [says]
    assert "Notes on the key" in (graded.folder / "report.md").read_text(encoding="utf-8")


def voided(problems, at):
    slots = tuple(
        replace(slot, points=Fraction(0)) if place == at else slot
        for place, slot in enumerate(problems.slots)
    )
    return replace(problems, slots=slots)


def test_who_moved_furthest_is_first_and_another_total_alone_is_a_line(graded, for_all):
    right = [said(problem) for problem in for_all.variants[0].problems[:2]]
    rows = [["student", "1", "2"], ["none", "", ""], ["one", right[0], ""], ["both", *right]]
    found = graded(voided(for_all, 1), rows, "--before", "old.json", old=for_all)
    page = (graded.folder / "report.md").read_text(encoding="utf-8")
    assert "1 student moved since the key before" in found.stdout
    assert "2 students have the same points, of another total." in page
    assert "| both | 3 of 4 | 1 of 2 | -2 | -25 |" in page
    found = graded(voided(voided(for_all, 1), 0), rows, "--before", "old.json", old=for_all)
    page = (graded.folder / "report.md").read_text(encoding="utf-8")
    assert page.index("| both | 3 of 4 |") < page.index("| one | 1 of 4 |")


def test_a_long_answer_is_short_in_the_report_and_whole_in_the_table(graded, for_all):
    typed = f"{'9' * 400} riddles"
    graded(for_all, [["student", "1"], ["x", typed]])
    for name in ("report.md", "report.html"):
        page = (graded.folder / name).read_text(encoding="utf-8")
        assert f"{typed[:79]}…" in page
        assert typed[:81] not in page
    assert table(graded, "answers.csv")[0]["answer"] == typed
