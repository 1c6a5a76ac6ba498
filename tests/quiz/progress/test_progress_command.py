import json
import re
import sqlite3
from contextlib import closing

import click
import pytest
from click.testing import CliRunner

from quiz.cli import memquiz as cli
from quiz.history.database import FILE
from quiz.history.store import Store
from quiz.output.plain import NEAR

DAY = "2026-03-04"


@pytest.fixture
def kept(data, many):
    """A history of ten weeks, in the learner's folder."""
    with Store(data) as store:
        key = store.start({}, ("zero-states@1",))
        for position, one in enumerate(many):
            store.record(key, position, one.attempt)
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        moments = ((one.at.isoformat(), position) for position, one in enumerate(many))
        connection.executemany("UPDATE attempts SET answered = ? WHERE position = ?", moments)
    return data


@pytest.fixture
def progress(data):
    def run(*arguments):
        return CliRunner(env={"MEMQUIZ_DATA": str(data), "TZ": "UTC"}).invoke(
            cli, ["progress", *map(str, arguments)], prog_name="memquiz"
        )

    return run


@pytest.mark.usefixtures("kept")
def test_every_part_is_told_in_eighty_columns(memquiz):
    found = memquiz("progress", "--on", DAY)
    assert (found.returncode, found.stderr) == (0, "")
    assert max(map(len, found.stdout.splitlines())) <= 80
    for head in ("Skill by topic", "Due", "Days", "Ranges", "Mistakes", "Time and hints"):
        assert head in found.stdout.splitlines()
    assert "about 0" not in found.stdout


@pytest.mark.usefixtures("kept")
def test_without_unicode_the_same_is_told(memquiz):
    plain = memquiz(
        "progress", "--on", DAY, NO_COLOR="1", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    told = memquiz("progress", "--on", DAY).stdout
    assert plain.returncode == 0
    assert plain.stdout == "".join(NEAR.get(letter, letter) for letter in told)


@pytest.mark.usefixtures("kept")
def test_plain_tells_the_same_numbers_in_ascii_without_tables(progress):
    plain, told = (progress(*how, "--on", DAY).stdout for how in (("--plain",), ()))
    assert plain.isascii()
    assert not any(line.startswith(" ") for line in plain.splitlines())
    # The title of a column stands in each row of plain text.
    numbers = [re.findall(r"\d+", text.replace("last 20", "")) for text in (plain, told)]
    assert sorted(numbers[0]) == sorted(numbers[1])


@pytest.mark.usefixtures("kept")
def test_the_object_is_all_that_is_printed(progress, told, many):
    found = progress("--json", "--on", DAY)
    assert (found.exit_code, found.stderr) == (0, "")
    printed = json.loads(found.stdout)
    report = told(many)
    assert (printed["answers"], printed["passed"]) == (report.answers, report.passed)
    assert [one["name"] for one in printed["mistakes"]] == ["master copy forgotten"]


@pytest.mark.usefixtures("kept")
def test_the_page_is_written_beside_the_text_or_the_object(progress, tmp_path):
    found = progress("--html", tmp_path / "p.html", "--json", "--on", DAY)
    assert json.loads(found.stdout)["today"] == DAY
    assert (tmp_path / "p.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.usefixtures("kept")
def test_a_day_before_the_first_answer_has_none(progress):
    found = progress("--on", "2025-01-01")
    assert found.exit_code == 0
    assert found.stdout.startswith("No answers yet. memquiz practice asks")


@pytest.mark.usefixtures("kept")
def test_a_topic_is_named_by_its_letter_or_a_part_of_its_title(progress):
    by_letter = progress("--topic", "d", "--on", DAY).stdout
    assert by_letter == progress("--topic", "peak", "--on", DAY).stdout
    assert "model states" not in by_letter


def test_everything_wrong_with_the_options_is_told_at_once(progress, tmp_path):
    found = progress("--topic", "x", "--on", "soon", "--html", tmp_path)
    assert found.exit_code == 2
    assert "3 things to mend" in found.stderr
    for option in ("--topic", "--on", "--html"):
        assert f"  {option}: " in found.stderr


@pytest.mark.parametrize("day", ["1999-12-31", "3000-01-01", "2026-02-30", ""])
def test_a_day_that_no_calendar_here_has_is_refused(progress, day):
    found = progress("--on", day)
    assert found.exit_code == 2
    assert "--on: " in found.stderr


def test_it_reads_while_another_writes_and_changes_nothing(kept, progress):
    with closing(sqlite3.connect(kept / FILE)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM attempts")
        assert json.loads(progress("--json", "--on", DAY).stdout)["answers"] > 100
        writer.rollback()
    before = (kept / FILE).read_bytes()
    progress("--on", DAY)
    assert (kept / FILE).read_bytes() == before


def test_progress_is_a_command_with_help():
    context = click.Context(cli, info_name="progress")
    assert "2026-03-01" in cli.get_command(context, "progress").get_help(context)
