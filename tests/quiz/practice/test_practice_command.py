import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from problems.answers.quantity import QuantityAnswer
from problems.registry import from_id, kinds
from quiz.history.database import FILE
from quiz.practice.questions import chosen


def kept(data, query="SELECT typed FROM attempts WHERE undone IS NULL ORDER BY id"):
    with closing(sqlite3.connect(data / FILE)) as connection:
        return [row[0] for row in connection.execute(query)]


def right_answer(problem_id):
    answer = from_id(problem_id).answer
    assert isinstance(answer, QuantityAnswer)
    return f"{int(answer.value)} bytes" if answer.unit == "bytes" else str(int(answer.value))


STATES_PRACTICE = ("practice", "--kind", "model-states", "--seed", "5")


def test_answers_from_a_pipe_are_marked_one_a_line(memquiz, data):
    problems = chosen(topic=None, level=None, kind="model-states", count=2, seed=5)
    run = memquiz(*STATES_PRACTICE, "--count", 2, typed=f"{right_answer(problems[0])}\n1 GB\n")
    assert (run.returncode, run.stderr) == (0, "")
    assert f"1/2 · model states · {from_id(problems[0]).level}" in run.stdout
    assert " Right: " in run.stdout
    assert " read as 1 GB = 1" in run.stdout
    assert " Not quite: " in run.stdout
    assert "Score 1 of 2" in run.stdout
    assert "Next: memquiz practice" in run.stdout
    assert "\x1b" not in run.stdout
    assert "> " not in run.stdout
    assert kept(data)[1] == "1 GB"


def test_the_same_seed_asks_the_same(memquiz):
    first, second = (
        memquiz(
            "practice", "--seed", 5, "--count", 3, "--no-save", typed="skip\nskip\nskip\n"
        ).stdout
        for _ in range(2)
    )
    assert first == second


def test_the_end_of_input_says_where_it_stopped_and_practice_goes_on_there(memquiz, data):
    run = memquiz(*STATES_PRACTICE, "--count", 3, typed="1 GB\n")
    assert run.returncode == 0
    assert "Stopped at question 2 of 3." in run.stdout
    assert "Go on with it: memquiz practice" in run.stdout
    again = memquiz("practice", typed="2 GB\n3 GB\n")
    assert "Going on: 1 of 3 answered." in again.stdout
    assert "2/3 · " in again.stdout
    assert "Score " in again.stdout
    assert kept(data) == ["1 GB", "2 GB", "3 GB"]


def test_a_new_set_leaves_the_unfinished_one(memquiz, data):
    memquiz(*STATES_PRACTICE, "--count", 3, typed="1 GB\n")
    assert "1/10" in memquiz("practice", "--new").stdout
    assert "1/3" in memquiz("practice", "--new", "--count", 3).stdout
    assert "2/3" in memquiz(*STATES_PRACTICE, "--count", 3).stdout
    assert kept(data) == ["1 GB"]


def test_other_options_begin_another_set(memquiz):
    memquiz(*STATES_PRACTICE, "--count", 3, typed="1 GB\n")
    assert "1/10" in memquiz("practice", "--topic", "activations").stdout


def test_a_mark_of_the_order_of_bytes_before_the_first_line_is_no_part_of_it(memquiz):
    run = memquiz(*STATES_PRACTICE, typed="\ufeff1 GB\n")
    assert "read as 1 GB" in run.stdout


def test_a_plain_screen_counts_the_characters_of_all_that_was_typed(memquiz):
    run = memquiz(*STATES_PRACTICE, "--plain", typed=f"{'1+' * 60}quarks\n")
    assert "from character 121: quarks\n" in run.stdout


def test_hint_skip_undo_and_why_work_as_typed(memquiz, data):
    typed = "hint\n1 GB\nundo\n2 GB\nskip\nwhy\n"
    run = memquiz(*STATES_PRACTICE, "--count", 3, typed=typed)
    assert "hint 1/3: " in run.stdout
    assert "Taken back." in run.stdout
    assert kept(data) == ["2 GB", "", ""]
    verdicts = "SELECT verdict FROM attempts WHERE undone IS NULL ORDER BY id"
    assert kept(data, verdicts) == ["wrong", "skipped", "shown"]
    assert kept(data, "SELECT hints FROM attempts ORDER BY id") == [1, 1, 0, 0]


def test_unreadable_text_is_pointed_at_and_never_shown_raw(memquiz, data):
    typed = "16 \x1b[2Jbananas\n" + "9" * 100_000 + "\n[bold]1[/bold]\n{{7*7}} GB\n1 GB\n"
    run = memquiz(*STATES_PRACTICE, "--count", 1, typed=typed)
    assert run.returncode == 0
    assert run.stdout.count("Not counted: ") == 4
    assert re.search(r"^ +\^$", run.stdout, re.MULTILINE)
    assert "\x1b" not in run.stdout
    assert "49" not in run.stdout.partition("{{7*7}}")[2].partition("Not counted")[0]
    assert kept(data) == ["1 GB"]


@pytest.mark.parametrize("kind", ["model-states", "rank-levers", "claim"])
def test_bytes_that_are_no_text_are_unreadable(environment, tmp_path, kind):
    run = subprocess.run(
        [sys.executable, "-m", "quiz", "practice", "--no-save", "--count", "1", "--kind", kind],
        input=b"\xff\xfe GB\n\x00\nskip\n",
        capture_output=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.count(b"Not counted: ") == 2


def test_without_saving_nothing_is_written(memquiz, data):
    run = memquiz(*STATES_PRACTICE, "--no-save", typed="1 GB\n")
    assert "memquiz practice --no-save --kind model-states --seed 5\n" in run.stdout
    assert not data.exists()


def printed_command(page):
    return page.splitlines()[-1].partition("memquiz ")[2].split()


def questions_of(page):
    return re.findall(r"^ \d+/\d+ · .* · (\S+@\d+)", page, re.MULTILINE)


SETS = [
    (),
    ("--seed", "4"),
    ("--topic", "model states", "--count", "3"),
    ("--kind", "zero-states", "--seed", "4", "--count", "2"),
    ("--level", "senior", "--topic", "D"),
    ("--problem", "zero-states@7", "--problem", "peak@3"),
]


@pytest.mark.parametrize("options", [*SETS[1::2], SETS[4]], ids=" ".join)
def test_the_command_printed_for_an_unkept_set_asks_the_same(memquiz, options):
    first = memquiz("practice", "--no-save", *options, typed="skip\n")
    again = memquiz(*printed_command(first.stdout), typed="skip\n")
    assert again.returncode == 0
    assert questions_of(again.stdout) == questions_of(first.stdout) != []
    assert again.stdout == first.stdout


@pytest.mark.parametrize("options", [*SETS[::2], SETS[5]], ids=" ".join)
def test_the_command_printed_for_a_kept_set_goes_on_with_it(memquiz, options):
    memquiz("practice", *options, typed="skip\n")
    memquiz("practice", "--new", "--kind", "fits", "--seed", "99", "--count", "2", typed="skip\n")
    second = memquiz("practice", *options, typed="")
    third = memquiz(*printed_command(second.stdout), typed="")
    assert "Going on: 1 of " in third.stdout
    assert questions_of(third.stdout) == questions_of(second.stdout) != []


def test_a_problem_is_asked_by_its_id_and_shown_with_it(memquiz):
    ids = ("zero-states@7", "peak@3", "zero-states@8")
    options = [word for name in ids for word in ("--problem", name)]
    run = memquiz("practice", "--no-save", *options, typed="skip\n" * 3)
    assert questions_of(run.stdout) == list(ids)
    assert "Score 0 of 3" in run.stdout


def test_an_unfinished_set_of_problems_goes_on(memquiz):
    options = ("--problem", "zero-states@7", "--problem", "zero-states@8")
    memquiz("practice", *options, typed="skip\n")
    assert questions_of(memquiz("practice", *options).stdout) == ["zero-states@8"]
    assert questions_of(memquiz("practice", "--problem", "zero-states@8").stdout) == [
        "zero-states@8"
    ]


def test_an_answer_of_an_earlier_sitting_stands(memquiz, data):
    memquiz(*STATES_PRACTICE, "--count", 2, typed="why\n")
    run = memquiz("practice", typed="undo\n1 GB\n")
    assert "That answer stands" in run.stdout
    assert kept(data, "SELECT verdict FROM attempts") == ["shown", "wrong"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--topic", "cooking"), "--topic: 'cooking' is no topic"),
        (("--level", "boss"), "known: junior, mid, senior"),
        (("--kind", "model-state"), "did you mean model-states"),
        (("--count", "0"), "--count: 0 is not in 1 to"),
        (("--count", "many"), "--count: 'many' is not a whole number; write digits"),
        (("--seed", "1e3"), "--seed: '1e3' is not a whole number; write digits"),
        (("--problem", "nope"), "--problem: 'nope' is not a kind and a seed; write it like"),
        (("--problem", "zero-state@7"), "--problem: 'zero-state' is not known; did you mean zero"),
        (("--problem", "fits@7", "--seed", "3"), "--problem: names the questions, and --seed"),
    ],
)
def test_bad_options_exit_with_2_and_keep_nothing(memquiz, arguments, says):
    run = memquiz("practice", *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("memquiz: 1 thing to mend\n")
    assert says in run.stderr


def test_every_bad_option_is_told_at_once(memquiz):
    run = memquiz("practice", "--kind", "nope", "--seed", "x", "--count", "y")
    assert run.stderr.startswith("memquiz: 3 things to mend\n")


def test_a_name_like_none_is_answered_with_a_dozen_and_not_with_a_far_one(memquiz):
    said = memquiz("practice", "--kind", "nope").stderr
    assert "did you mean" not in said
    assert all(name in said for name in tuple(kinds())[:12])


def test_a_data_path_that_is_a_file_is_said_and_left(memquiz, data):
    data.write_text("mine")
    run = memquiz("practice", typed="1 GB\n")
    assert run.returncode == 2
    assert run.stderr.startswith("memquiz: 1 thing to mend\n")
    assert "practise with --no-save" in run.stderr
    assert data.read_text() == "mine"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_a_folder_that_cannot_be_written_is_said(memquiz):
    run = memquiz("practice", MEMQUIZ_DATA="/proc/memquiz")
    assert (run.returncode, run.stdout) == (2, "")
    assert "cannot be used" in run.stderr


def test_a_full_disk_is_said_and_loses_no_earlier_answer(
    environment, data, memquiz, with_limit, tmp_path
):
    memquiz(*STATES_PRACTICE, "--count", 100, typed="1 GB\n")
    limit = (data / FILE).stat().st_size + 8192
    run = subprocess.run(
        [*with_limit(limit), "practice"],
        input="2 GB\n" * 80,
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert run.returncode == 2
    assert "cannot be written: the disk is full" in run.stderr
    assert "Traceback" not in run.stderr
    assert kept(data) == ["1 GB"] + ["2 GB"] * run.stdout.count("read as 2 GB")


@pytest.fixture
def start(environment, interruptible):
    """Start memquiz with arguments, as a process that can be typed to."""

    def run(*arguments):
        return subprocess.Popen(
            [*interruptible, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    return run


def read_until(process, text):
    lines = []
    while line := process.stdout.readline():
        lines.append(line)
        if text in line:
            return "".join(lines)
    raise AssertionError(f"{text!r} did not come: {''.join(lines)} {process.stderr.read()}")


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM], ids=["kill -9", "kill"])
def test_an_answer_that_was_marked_survives(start, data, memquiz, way):
    with start(*STATES_PRACTICE, "--count", "3") as process:
        process.stdin.write("1 GB\n")
        process.stdin.flush()
        read_until(process, "read as 1 GB")
        process.send_signal(way)
        process.wait(30)
    assert kept(data) == ["1 GB"]
    assert "Going on: 1 of 3 answered." in memquiz("practice").stdout


def test_an_interrupt_leaves_cleanly(start, data):
    with start(*STATES_PRACTICE, "--count", "3") as process:
        process.stdin.write("1 GB\n")
        process.stdin.flush()
        read_until(process, "2/3")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "")
    assert "Stopped at question 2 of 3." in output
    assert kept(data) == ["1 GB"]


def test_two_processes_practise_at_once(start, data):
    runs = [start(*STATES_PRACTICE, "--new", "--count", "5") for _ in range(2)]
    for run in runs:
        run.stdin.write("1 GB\n" * 5)
        run.stdin.flush()
    outputs = [run.communicate(timeout=60) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outputs
    assert kept(data) == ["1 GB"] * 10


@pytest.mark.skipif(os.name == "nt", reason="it is read line by line as a pipe gives it")
def test_a_set_that_is_open_in_another_process_is_left_to_it(start, data, memquiz):
    with start(*STATES_PRACTICE, "--count", "3") as first:
        first.stdin.write("1 GB\n")
        first.stdin.flush()
        read_until(first, "read as 1 GB")
        for second in (memquiz("practice"), memquiz(*STATES_PRACTICE, typed="2 GB\n")):
            assert (second.returncode, second.stdout) == (2, "")
            assert "is open in another memquiz; go on there, or begin a new set" in second.stderr
        assert "1/10" in memquiz("practice", "--new", "--seed", 9, typed="").stdout
        output, _ = first.communicate("3 GB\n4 GB\n", timeout=60)
    assert "Score 0 of 3" in output
    assert kept(data) == ["1 GB", "3 GB", "4 GB"]
    assert "1/10" in memquiz("practice").stdout
