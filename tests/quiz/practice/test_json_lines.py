import json
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from problems.registry import from_id
from quiz.grading import grade

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "protocol.md"
ROW = re.compile(r"^\| `([\w-]+)` \| (?:`(\w+)`)? ?\| (none|[`\w, ]+) \|", re.MULTILINE)
TYPED = re.compile(r"^\| ([\w ,]+) \| (`[^|]+) \|$", re.MULTILINE)
TYPES = {
    "whole number": int,
    "number": (int, float),
    "true or false": bool,
    "true, false or null": bool | None,
    "text or null": str | None,
    "list of texts": list,
    "list of objects": list,
    "object": dict,
    "any": object,
}
SET = ("practice", "--json", "--no-save", "--problem", "zero-states@7", "--problem")
SCRIPT = """\
?

h
h
h
h
r 37 gb
r
12 bananas
u
37 gb
u
12 gb
s
w
u
"""


def documented():
    """Return by event what it awaits, and its keys."""
    rows = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
    return {
        name: (awaits or None, set(re.findall(r"\w+", keys)) - {"none"})
        for name, awaits, keys in rows
    }


def events_of(page):
    return [json.loads(line) for line in page.splitlines()]


@pytest.fixture(scope="module")
def events():
    """Run a set of three questions in which every command is typed; its events."""
    command = [
        sys.executable,
        "-m",
        "quiz",
        *SET,
        "cache-formula@11",
        "--problem",
        "zero-states@8",
    ]
    run = subprocess.run(
        command, input=SCRIPT, capture_output=True, encoding="utf-8", cwd=ROOT, check=True
    )
    assert run.stderr == ""
    assert run.stdout.isascii()
    return events_of(run.stdout)


def test_every_event_has_the_keys_that_the_document_names(events, memquiz):
    failed = events_of(memquiz("practice", "--json", "--count", "x").stdout)
    met = {}
    for event in (*events, *failed):
        keys = event.keys() - {"event", "awaits"}
        met[event["event"]] = (event["awaits"], keys)
    assert met == documented()


def test_every_key_holds_what_the_document_says(events, memquiz):
    stated = {
        key: TYPES[kind]
        for kind, keys in TYPED.findall(DOCUMENT.read_text(encoding="utf-8"))
        for key in re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", keys))
    }
    failed = events_of(memquiz("practice", "--json", "--count", "x").stdout)
    for event in (*events, *failed):
        for key, value in event.items():
            assert isinstance(value, stated.get(key, str)), (key, value)


def test_the_events_tell_of_each_line_in_turn(events):
    assert [event["event"] for event in events] == [
        "set", "question", "help", "blank", "hint", "hint", "hint", "no-hint", "reading", "forms",
        "unread", "nothing-to-undo", "verdict", "question", "undone", "question", "verdict",
        "question", "clash", "verdict", "question", "stands", "summary",
    ]  # fmt: skip
    assert events[0]["protocol"] == 1
    assert [event["number"] for event in events if event["event"] == "question"] == [1, 2, 1, 2, 3]


def test_a_question_and_its_verdict_are_those_of_the_problem(events):
    problem = from_id("zero-states@7")
    question, verdict = events[1], events[12]
    assert (question["prompt"], question["level"], question["of"]) == (
        problem.prompt, problem.level, 3,
    )  # fmt: skip
    expected = json.loads(json.dumps(grade(problem, "37 gb").as_json))
    assert expected.items() <= verdict.items()
    assert [step["text"] for step in verdict["solution"]] == [s.text for s in problem.solution]


def test_a_reading_is_not_counted(events):
    assert events[8]["reading"] == "37 GB = 37.0e9 bytes = 34.5 GiB"
    assert events[-1]["ending"] == "stopped"
    assert events[-1]["answered"] == 2


def test_what_cannot_be_used_is_an_event_and_exits_with_2(memquiz, data):
    data.write_text("mine")
    run = memquiz("practice", "--json")
    (error,) = events_of(run.stdout)
    assert (run.returncode, run.stderr, error["event"]) == (2, "", "error")
    assert str(data) in error["faults"][0]["where"]


def interrupted(program):
    """Interrupt a program, again where it was just about to wait for a line; its exit code."""
    for _ in range(10):
        program.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return program.wait(5)
    program.kill()
    return program.wait()


def test_an_event_that_awaits_a_line_is_written_before_it_is_read(environment, interruptible):
    command = [*interruptible, *SET[:2], *SET[3:], "zero-states@8"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        names = []
        for line in program.stdout:
            event = json.loads(line)
            names.append(event["event"])
            if event["event"] == "question" and event["number"] == 2:
                break
            if event["awaits"]:
                program.stdin.write("37 GB\n")
                program.stdin.flush()
        assert interrupted(program) == 130
        for line in program.stdout:
            event = json.loads(line)
            names.append(event["event"])
    assert names == ["set", "question", "verdict", "question", "summary"]
    assert (event["ending"], event["answered"]) == ("interrupted", 1)
