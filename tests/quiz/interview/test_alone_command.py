import json
import re
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from problems.interview.drawing import interview as drawn
from quiz.cli import memquiz as cli
from quiz.history.database import FILE

OPTIONS = ("--level", "mid", "--minutes", "30", "--seed", "7")
SAME = ("interview", *OPTIONS)
INTERVIEW = drawn("mid", 30, 7)
RIGHT = {
    one.key: one.problem.answer.said.partition(" = ")[0]
    for one in INTERVIEW.questions
    if one.problem is not None and one.problem.answer.type == "quantity"
}


@pytest.fixture
def memquiz(data, tmp_path, monkeypatch):
    """Run memquiz in this process with arguments and the lines that are typed."""
    monkeypatch.chdir(tmp_path)
    environment = {"MEMQUIZ_DATA": str(data), "COLUMNS": "80"}

    def run(*arguments, lines=()):
        typed = "".join(f"{line}\n" for line in lines)
        return CliRunner().invoke(cli, arguments, input=typed, env=environment)

    return run


def whole(answers):
    """Lines that go through the whole interview, with answers by key of the question."""
    for question in INTERVIEW.questions:
        if question.key in answers:
            yield answers[question.key]
        yield ""


def rows(data, columns, table):
    with closing(sqlite3.connect(data / FILE)) as connection:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY id").fetchall()  # noqa: S608 - names of ours


def test_one_that_is_gone_through_ends_in_its_scorecard_and_its_pages(memquiz, data, tmp_path):
    result = memquiz(*SAME, "--scorecard", "card", lines=whole(RIGHT))
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Scorecard · mid" in result.stdout
    page, text = sorted((tmp_path / "card").iterdir())
    assert "<h1>" in page.read_text(encoding="utf-8")
    said = text.read_text(encoding="utf-8")
    numbers = re.findall(
        r"^\| [\w -]+ (?:\([^)]*\) )?\| ([\d.]+ \w+) \| \1 \| 1 \|", said, re.MULTILINE
    )
    assert len(numbers) >= len(RIGHT) - 2
    ((mode, finished, marks),) = rows(data, "mode, finished, marks", "interviews")
    assert (mode, finished is not None) == ("alone", True)
    assert json.loads(marks)["aspects"]["number"] > 0.5


def test_no_verdict_is_given_before_the_end_unless_it_was_asked_for(memquiz):
    number = next(one for one in INTERVIEW.questions if one.key in RIGHT)
    lines = ["" for _ in range(INTERVIEW.questions.index(number))] + ["1 GB", "", "q"]
    quiet = memquiz(*SAME, "--no-save", lines=lines).stdout
    told = memquiz(*SAME, "--no-save", "--at-once", lines=lines).stdout
    assert RIGHT[number.key] not in quiet
    assert RIGHT[number.key] in told


def test_one_that_was_left_goes_on_where_it_stopped(memquiz, data):
    first = memquiz(*SAME, lines=["micro-batch and precision", "", "weights", "q"])
    assert "Go on with it:" in first.stdout
    again = memquiz("interview", lines=["gradients", "", "q"])
    assert "Going on in part 2." in again.stdout
    assert "> weights" in again.stdout
    typed = [line for (line,) in rows(data, "typed", "interview_lines")]
    assert typed == ["micro-batch and precision", "", "weights", "q", "gradients", "", "q"]


def test_what_goes_on_with_one_names_the_folder_of_its_pages(memquiz):
    told = memquiz(*SAME, "--scorecard", "my card", lines=["micro-batch", "q"]).stdout
    command = "memquiz interview --scorecard 'my card'"
    assert f"Go on with it:\n  {command}\n" in told
    unkept = memquiz(*SAME, "--no-save", "--scorecard", "card", lines=["q"]).stdout
    again = "memquiz interview --no-save --level mid --minutes 30 --seed 7 --scorecard card"
    assert again in unkept


def test_what_was_held_is_told_again_with_the_same_scorecard(memquiz):
    held = memquiz(*SAME, lines=whole(RIGHT)).stdout
    told = memquiz("interview", "--replay").stdout
    card = held[held.index("Scorecard · ") : held.index("The same again")]
    assert card.strip() in told
    assert INTERVIEW.questions[0].says in " ".join(told.split())


def test_nothing_is_kept_where_that_was_asked_for(memquiz, data):
    result = memquiz(*SAME, "--no-save", lines=["q"])
    assert "It was not kept" in result.stdout
    assert not data.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--level", "mide"), "did you mean mid?"), (("--minutes", "60"), "60 is not in 20 to 45"),
     (("--seed", "x"), "--seed"), (("--replay", "--new"), "--new would begin one"),
     (("--replay", "nope"), "there is no interview 'nope'"),
     (("--interviewer", "--at-once"), "leave it out beside --interviewer")],
)  # fmt: skip
def test_options_that_cannot_be_used_are_told(memquiz, options, says):
    result = memquiz("interview", *options)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(("leaves", "code"), [("q\r", 0), ("\x03", 130), ("\x04", 0)])
def test_at_a_terminal_the_clock_stands_before_each_line(
    environment, interruptible, data, leaves, code
):
    pexpect = pytest.importorskip("pexpect", reason="pseudo-terminals are POSIX's")
    program, *arguments = interruptible
    child = pexpect.spawn(
        program,
        [*arguments, *SAME],
        env=environment | {"TERM": "xterm"},
        dimensions=(40, 80),
        encoding="utf-8",
        timeout=30,
    )
    clock = r"\d:\d\d of \d+:00 > "
    child.expect(clock)
    child.send("which micro-batch?\r")
    child.expect("noted")
    child.expect(clock)
    for _ in range(6):  # a key may come when the line editor is not ready for it
        child.send(leaves)
        if not child.expect(["Go on with it:", pexpect.TIMEOUT], timeout=10):
            break
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code
    assert rows(data, "typed", "interview_lines")[0] == ("which micro-batch?",)


@pytest.mark.parametrize("key", ["lever-order", "first-lever", "fits"])
def test_what_a_question_says_itself_is_not_listed_below_it(memquiz, key):
    of = drawn("senior", 45, 3)
    (question,) = [one for one in of.questions if one.key == key]
    place = of.questions.index(question)
    options = ("--level", "senior", "--minutes", "45", "--seed", "3", "--no-save")
    page = memquiz("interview", *options, lines=[""] * place).output
    asked = page.rpartition(f"question {place + 1}/")[2]
    assert question.says.split()[0] in asked
    (first, *_) = question.problem.answer.alone.items()
    assert f"   {first[0]}  {first[1]}" not in asked
