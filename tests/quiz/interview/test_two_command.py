import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from problems.interview.drawing import interview as drawn
from quiz.cli import memquiz as cli
from quiz.history.database import FILE

pexpect = pytest.importorskip("pexpect", reason="pseudo-terminals are POSIX's")

SAME = ("--level", "mid", "--minutes", "30", "--seed", "7")
QUESTIONS = len(drawn("mid", 30, 7).questions)
HELD = ("interview", "--interviewer", *SAME)


@pytest.fixture
def memquiz(data, tmp_path, monkeypatch):
    """Run memquiz in this process with arguments and what is typed."""
    monkeypatch.chdir(tmp_path)
    environment = {"MEMQUIZ_DATA": str(data), "COLUMNS": "80"}

    def run(*arguments, typed=""):
        return CliRunner().invoke(cli, arguments, input=typed, env=environment)

    return run


def kept(data):
    with closing(sqlite3.connect(data / FILE)) as connection:
        return [row[0] for row in connection.execute("SELECT typed FROM interview_lines")]


def test_out_writes_both_sheets_and_says_what_they_are(memquiz, tmp_path):
    result = memquiz("interview", *SAME, "--out", "sheets")
    assert (result.exit_code, result.stderr) == (0, "")
    names = ("candidate.html", "candidate.md", "interviewer.html", "interviewer.md")
    assert tuple(sorted(one.name for one in (tmp_path / "sheets").iterdir())) == names
    for name in names:
        assert f"sheets/{name}" in result.stdout.replace("\\", "/")
    assert "memquiz interview --interviewer --level mid --minutes 30 --seed 7" in result.stdout
    again = memquiz("interview", *SAME, "--out", "sheets")
    assert again.exit_code == 0


def test_out_leaves_what_is_not_its_own(memquiz, tmp_path):
    (tmp_path / "interviewer.md").write_text("my marks")
    result = memquiz("interview", *SAME, "--out", ".")
    assert result.exit_code == 2
    assert "interviewer.md is there and says something else" in result.stderr
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["interviewer.md"]


@pytest.mark.parametrize("other", ["--interviewer", "--replay", "--new", "--at-once"])
def test_sheets_are_written_alone(memquiz, tmp_path, other):
    result = memquiz("interview", "--out", "sheets", other)
    assert result.exit_code == 2
    assert f"so {other} has no use" in result.stderr
    assert not (tmp_path / "sheets").exists()


@pytest.mark.parametrize(
    ("arguments", "says", "begins"),
    [(("--interviewer", "--replay"), "no interview of two was", "--interviewer "),
     (("--interviewer", "--replay", "17"),
      "there is no interview of two '17', and no interview of two was", "--interviewer "),
     (("--replay",), "no interview was", "")],
)  # fmt: skip
def test_where_none_was_finished_none_can_be_told_again(memquiz, arguments, says, begins):
    result = memquiz("interview", *arguments)
    assert result.exit_code == 2
    begin = f"memquiz interview {begins}begins one"
    assert f"--replay: {says} finished yet; {begin}\n" in result.stderr


def test_a_number_names_no_interview_whose_uid_begins_so(memquiz, data):
    memquiz("interview", *SAME, typed="")
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        connection.execute("UPDATE interviews SET uid = '17171717' || substr(uid, 9)")
    assert "there is no interview '17'" in memquiz("interview", "--replay", "17").stderr
    assert memquiz("interview", "--replay", "17171717").exit_code == 0


def test_one_that_is_not_there_is_told_with_those_that_are(memquiz):
    end = "".join(["n\n"] * QUESTIONS + ["q\n"])
    memquiz(*HELD, typed=end)
    memquiz(*HELD, "--new", typed=end)
    memquiz("interview", *SAME, typed="")
    result = memquiz("interview", "--interviewer", "--replay", "17")
    assert result.exit_code == 2
    said, last, first = result.stderr.splitlines()[1:]
    assert said == "  --replay: there is no interview of two '17'; the last that were finished:"
    assert re.fullmatch(r"    2  \d{4}-\d\d-\d\d \d\d:\d\d UTC  mid, 30 minutes, seed 7", last)
    assert first.startswith("    1  ")
    other = memquiz("interview", "--replay", "2").stderr
    assert "'2' is an interview of two; memquiz interview --interviewer --replay 2\n" in other
    other = memquiz("interview", "--interviewer", "--replay", "3").stderr
    assert "'3' is an interview alone; memquiz interview --replay 3\n" in other
    last = "the last interview of two: memquiz interview --interviewer --replay\n"
    assert f"no interview was finished yet; {last}" in memquiz("interview", "--replay").stderr


def test_keys_come_as_lines_where_nobody_sits_at_a_terminal(memquiz, data):
    result = memquiz(*HELD, typed="h\n1\nt a note\nn\nk\nq\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "mark: half · heard 1 of 9" in result.stdout
    assert "\x1b" not in result.stdout
    assert "memquiz interview --interviewer" in result.stdout
    assert kept(data) == ["h", "1", "t a note", "n", "q"]
    # The end of input stops it as q does, and it goes on where it was.
    again = memquiz("interview", "--interviewer", typed="b\n")
    assert "Going on at question 2." in again.stdout
    assert "[x] 1 The micro-batch" in again.stdout
    assert "noted: a note" in again.stdout


def test_an_interview_is_ended_shown_written_and_told_again(memquiz, data, tmp_path):
    typed = "".join(["f\n", "t oops\n", "u\n", "n\n", *["n\n"] * (QUESTIONS - 1), "q\n"])
    result = memquiz(*HELD, "--scorecard", "card", typed=typed)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Scorecard" in result.stdout
    page, text = sorted((tmp_path / "card").iterdir())
    assert (page.suffix, text.suffix) == (".html", ".md")
    assert "with an interviewer" in page.read_text(encoding="utf-8")
    assert "conditions 1.00" in text.read_text(encoding="utf-8")
    with closing(sqlite3.connect(data / FILE)) as connection:
        rows = connection.execute("SELECT mode, finished, marks FROM interviews").fetchall()
    ((mode, finished, marks),) = rows
    assert (mode, bool(finished)) == ("two", True)
    assert '"conditions": 1.0' in marks
    told = memquiz("interview", "--interviewer", "--replay")
    assert re.search(r"\d:\d\d +mark: full", told.stdout)
    assert "taken back: the note oops" in told.stdout
    assert told.stdout.count("next question") == QUESTIONS
    assert "Scorecard" in told.stdout
    before = page.read_bytes()
    told = memquiz("interview", "--interviewer", "--replay", "1", "--scorecard", "card")
    assert told.exit_code == 0
    assert page.read_bytes() == before


def test_a_folder_that_cannot_be_one_is_told_before_the_interview(memquiz, tmp_path):
    (tmp_path / "file").write_text("")
    result = memquiz(*HELD, "--scorecard", "file", typed="q\n")
    assert result.exit_code == 2
    assert "is no folder" in result.stderr
    assert result.stdout == ""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="it is Linux's")
def test_a_folder_that_takes_nothing_is_told_before_the_interview(memquiz):
    result = memquiz(*HELD, "--scorecard", "/proc/card", typed="q\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--scorecard: /proc cannot be written to" in result.stderr


def test_a_typed_answer_is_told_of_line_by_line_too(memquiz):
    result = memquiz(*HELD, "--no-save", typed="n\nn\nn\na 1 GB\nq\n")
    assert "said: 1 GB" in result.stdout
    assert re.search(r"\d\.\d\d of 1\. ", result.stdout)


def test_one_alone_does_not_take_up_one_of_two(memquiz):
    memquiz(*HELD, typed="f\nq\n")
    assert "Going on" not in memquiz("interview", *SAME, typed="q\n").stdout


@pytest.fixture
def terminal(environment, interruptible):
    """The second screen at a terminal of 80 columns and 24 lines."""
    program, *start = interruptible

    def opened(*arguments, **changes):
        return pexpect.spawn(
            program,
            [*start, *arguments],
            env=environment | {"TERM": "xterm"} | changes,
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=30,
        )

    return opened


def test_at_a_terminal_a_key_is_enough_and_the_screen_comes_back(terminal, data):
    child = terminal(*HELD)
    child.expect(f"1/{QUESTIONS} Conditions")
    child.expect("q stop")
    child.send("2")
    child.expect(r"\[x\] 2 The precision")
    child.send("t")
    child.expect("note> _")
    child.send("clear voice\r")
    child.expect("noted: clear voice")
    child.send("h")
    child.expect("mark: half")
    child.send("q")
    child.expect(r"\x1b\[\?1049l")
    child.expect("Go on with it:")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert kept(data) == ["2", "t clear voice", "h", "q"]
    assert "\x1b[2J" not in (child.before or "")

    again = terminal("interview", "--interviewer")
    again.expect(r"\[x\] 2 The precision")
    again.expect("mark: half")
    again.sendintr()
    again.expect(pexpect.EOF)
    again.close()
    assert again.exitstatus == 130


def test_a_dumb_terminal_gets_lines(terminal):
    child = terminal(*HELD, "--no-save", TERM="dumb")
    child.expect("mark: none")
    child.send("z")
    child.expect("mark: zero")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_for_a_voice_everything_is_lines_of_ascii(memquiz):
    result = memquiz(*HELD, "--no-save", "--plain", typed="n\nf\nq\n")
    assert result.exit_code == 0
    assert result.stdout.isascii()
    assert "mark: full, heard 0 of" in result.stdout


def test_without_colour_nothing_is_bold(terminal):
    child = terminal(*HELD, "--no-save", NO_COLOR="1")
    child.expect("q stop")
    assert not re.search(r"\x1b\[[\d;]*m", re.sub(r"\x1b\[0?m", "", child.before))
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
