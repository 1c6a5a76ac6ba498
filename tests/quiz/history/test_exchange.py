import json
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from old_files import old_file

from engine.errors import InputError
from quiz.history.database import FILE, Database
from quiz.history.exchange import MOST_FAULTS, exported, kept_rows, read_rows
from quiz.history.merging import merge
from quiz.history.schema import NAMES, columns
from quiz.history.store import Store

WHEN = "2026-11-30T18:05:00.000+00:00"
LATER = "2026-11-30T19:00:00.000+00:00"
HEADER = {"memquiz": "history", "format": 4, "sets": 1, "attempts": 1}
NONE = {"interviews": 0, "interview_lines": 0}
SET = {
    "table": "sets", "uid": "s1", "created": WHEN, "finished": None, "options": "{}",
    "problems": '["peak@3"]', "version": "0.1.0",
}  # fmt: skip
ANSWER = {
    "table": "attempts", "uid": "a1", "set": "s1", "position": 0, "problem": "peak@3",
    "topic": "D", "level": "mid", "tells": None, "typed": "37 GB", "parsed": "37000000000",
    "score": 0.5, "verdict": "partial", "mistake": None, "held": None, "own": None,
    "overruled": None, "feedback": "In part.", "hints": 1, "seconds": 2.5, "answered": WHEN,
    "undone": None, "version": "0.1.0",
}  # fmt: skip
INTERVIEW = {
    "table": "interviews", "uid": "i1", "created": WHEN, "finished": None, "mode": "alone",
    "options": "{}", "marks": None, "marked": None, "version": "0.1.0",
}  # fmt: skip
LINE = {
    "table": "interview_lines", "uid": "l1", "interview": "i1", "seconds": 3.5, "typed": "hm",
    "answered": WHEN, "version": "0.1.0",
}  # fmt: skip


def counted(*rows):
    counts = {name: sum(row.get("table") == name for row in rows) for name in NAMES}
    return [{"memquiz": "history", "format": 4, **counts}, *rows]


def as_lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def take(folder, content):
    rows = read_rows(BytesIO(content), "file")
    with closing(Database(folder)) as database:
        return merge(database, rows, "file")


def written(folder):
    with closing(Database(folder, only_read=True)) as database, database.reading() as connection:
        return "".join(exported(kept_rows(connection))).encode()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
MOMENTS = st.integers(0, 10**12).map(
    lambda n: datetime.fromtimestamp(n / 1000, UTC).isoformat(timespec="milliseconds")
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT, lambda part: st.lists(part, max_size=3)
)
VALUES = {
    "created": MOMENTS, "finished": MOMENTS, "answered": MOMENTS, "undone": MOMENTS,
    "overruled": MOMENTS, "marked": MOMENTS,
    "options": st.dictionaries(TEXT, JSON, max_size=2).map(json.dumps),
    "problems": st.lists(TEXT, max_size=3).map(json.dumps),
    "tells": st.lists(TEXT, max_size=3).map(json.dumps),
    "parsed": (JSON | st.fractions().map(lambda x: {"fraction": str(x)})).map(json.dumps),
    "marks": JSON.map(json.dumps),
    "topic": st.sampled_from("ABCDEFGH"),
    "level": st.sampled_from(["junior", "mid", "senior"]),
    "verdict": st.sampled_from(["correct", "partial", "wrong", "skipped", "shown"]),
    "own": st.sampled_from(["correct", "partial", "wrong"]),
    "score": st.floats(0, 1),
    "seconds": st.floats(0, 1e300),
    "held": st.sampled_from([0, 1]),
    "position": st.integers(0, 2**63 - 1),
    "hints": st.integers(0, 2**63 - 1),
}  # fmt: skip


@st.composite
def histories(draw):
    """Rows as the tables take them, by table; what a row belongs to is a place in its table."""
    found = {}
    for name in NAMES:
        parents = [len(found[column.of]) for column in columns()[name] if column.of]
        size = 0 if 0 in parents else draw(st.integers(0, 4))
        found[name] = [_row(draw, name, number, found) for number in range(size)]
    return found


def _row(draw, name, number, found):
    row = {}
    for column in columns()[name]:
        if column.of:
            row[column.name] = 1 + draw(st.integers(0, len(found[column.of]) - 1))
        elif column.name == "uid":
            row["uid"] = f"{name}-{draw(st.integers(0, 10**9))}-{number}"
        else:
            value = VALUES.get(column.name, TEXT)
            row[column.name] = draw(value if column.required else st.none() | value)
    return row


def kept(folder):
    """Return all rows in their order, by column, with uids in the place of keys."""
    with closing(Database(folder, only_read=True)) as database, database.reading() as connection:
        return [(row.table, dict(row.values)) for row in kept_rows(connection)]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(made=histories())
def test_whatever_a_history_holds_comes_back(tmp_path_factory, made):
    here, there = (tmp_path_factory.mktemp("history") for _ in range(2))
    with closing(Database(here)) as database, database.writing() as connection:
        for name, rows in made.items():
            for row in rows:
                named, places = ", ".join(row), ", ".join("?" for _ in row)
                words = ["INSERT INTO", name, f"({named})", f"VALUES ({places})"]
                connection.execute(" ".join(words), tuple(row.values()))
    lines = written(here)
    done = take(there, lines)
    assert (done.there, sum(done.added.values())) == (0, sum(map(len, made.values())))
    assert written(there) == lines
    assert kept(there) == kept(here)
    again = take(there, lines)
    assert (sum(again.added.values()), again.further) == (0, 0)
    assert written(there) == lines


def test_what_older_versions_kept_comes_back(data, tmp_path):
    old_file(data, 3)
    lines = written(data)
    done = take(tmp_path / "there", lines)
    assert done.added["attempts"] == 14
    assert written(tmp_path / "there") == lines
    with Store(data):  # brought to this format, it is the same
        pass
    assert written(data) == lines
    with Store.reading(data) as here, Store.reading(tmp_path / "there") as there:
        assert here.answered() == there.answered()


def test_every_column_of_the_tables_is_exported(data):
    take(data, as_lines(*counted(SET, ANSWER, INTERVIEW, LINE)))
    with closing(sqlite3.connect(data / FILE)) as connection:
        for name, row in zip(NAMES, (SET, ANSWER, INTERVIEW, LINE), strict=True):
            info = [x[1] for x in connection.execute(f"PRAGMA table_info({name})")]
            assert info[1:] == [
                {"set": "set_id", "interview": "interview_id"}.get(key, key)
                for key in row
                if key != "table"
            ]
    assert [json.loads(line) for line in written(data).splitlines()] == counted(
        SET, ANSWER, INTERVIEW, LINE
    )


@pytest.mark.parametrize(
    ("here", "there", "after"),
    [
        (ANSWER, ANSWER | {"undone": WHEN}, ANSWER | {"undone": WHEN}),
        (ANSWER | {"undone": WHEN}, ANSWER, ANSWER | {"undone": WHEN}),
        (ANSWER | {"undone": WHEN}, ANSWER | {"undone": LATER}, ANSWER | {"undone": LATER}),
        (ANSWER, ANSWER | {"own": "wrong"}, ANSWER | {"own": "wrong"}),
        (ANSWER | {"own": "wrong"}, ANSWER, ANSWER | {"own": "wrong"}),
        (
            ANSWER | {"own": "wrong", "overruled": WHEN},
            ANSWER | {"own": "correct", "overruled": LATER},
            ANSWER | {"own": "correct", "overruled": LATER},
        ),
        (
            ANSWER | {"own": "correct", "overruled": LATER},
            ANSWER | {"own": "wrong", "overruled": WHEN, "undone": LATER},
            ANSWER | {"own": "correct", "overruled": LATER, "undone": LATER},
        ),
        (SET, SET | {"finished": WHEN}, SET | {"finished": WHEN}),
        (SET | {"finished": WHEN}, SET, SET | {"finished": WHEN}),
        (SET, SET | {"problems": '["a@1", "b@1"]'}, SET | {"problems": '["a@1", "b@1"]'}),
        (SET | {"problems": '["a@1", "b@1"]'}, SET, SET | {"problems": '["a@1", "b@1"]'}),
        (INTERVIEW, INTERVIEW | {"marks": "{}"}, INTERVIEW | {"marks": "{}"}),
        (
            INTERVIEW | {"marks": "[1]"},
            INTERVIEW | {"marks": "[2]", "finished": WHEN},
            INTERVIEW | {"marks": "[2]", "finished": WHEN},
        ),
    ],
)
def test_of_two_states_of_a_row_the_later_one_stays(data, here, there, after):
    whole = {"sets": [SET, ANSWER], "attempts": [SET, ANSWER], "interviews": [INTERVIEW]}
    for state in (here, there):
        rows = [state if row["table"] == state["table"] else row for row in whole[state["table"]]]
        done = take(data, as_lines(*counted(*rows)))
    assert after in [json.loads(line) for line in written(data).splitlines()]
    assert done.further == (after != here)


def test_of_two_answers_to_a_question_of_a_set_the_later_one_stands_and_both_are_kept(data):
    here = ANSWER | {"uid": "a2", "typed": "38 GB", "answered": LATER}
    take(data, as_lines(*counted(SET, here)))
    take(data, as_lines(*counted(SET, ANSWER)))
    with Store(data) as store:
        assert [one.attempt.verdict.answer for one in store.answered()] == ["37 GB", "38 GB"]
        assert [one.verdict.answer for one in store.unfinished({}).attempts] == ["38 GB"]


def test_of_several_unfinished_sets_the_one_that_was_begun_last_goes_on(data):
    newer = SET | {"uid": "s2", "created": LATER, "problems": '["fits@2"]'}
    take(data, as_lines(*counted(newer)))
    take(data, as_lines(*counted(SET)))
    with Store(data) as store:
        assert store.unfinished({}).problems == ("fits@2",)


def test_a_row_that_says_something_else_of_what_never_changes_is_refused(data):
    take(data, as_lines(*counted(SET, ANSWER)))
    before = written(data)
    other = counted(SET, ANSWER | {"uid": "a2"}, ANSWER | {"typed": "38 GB", "score": 1.0})
    with pytest.raises(InputError) as caught:
        take(data, as_lines(*other))
    assert str(caught.value).startswith(
        "file, line 4: says something else of a1 than is kept, in typed, score; take the line out"
    )
    assert written(data) == before


def test_an_answer_may_belong_to_a_set_that_is_kept_here_and_to_no_other(data):
    take(data, as_lines(*counted(SET)))
    assert take(data, as_lines(*counted(ANSWER))).added["attempts"] == 1
    before = written(data)
    rows = counted(ANSWER | {"uid": "a2"}, ANSWER | {"uid": "a3", "set": "s9"})
    with pytest.raises(InputError, match="line 3: belongs to s9 of sets, which is neither"):
        take(data, as_lines(*rows))
    assert written(data) == before


def with_answer(**changes):
    return as_lines(*counted(SET, ANSWER | changes))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "line 1: is not there: the file is empty"),
        (b"dear diary\n", "line 1: is no JSON, where the header of a history stands"),
        (b"[1]\n", "line 1: is no object of JSON, where the header"),
        (as_lines({"memquiz": "key"}), "line 1: is no header of a history"),
        (as_lines(HEADER | NONE | {"format": 5}), "says format 5, of a newer memquiz; this one"),
        (as_lines(HEADER | NONE | {"format": 3}), "says format 3, which no memquiz exports"),
        (as_lines(HEADER), "line 1: does not count sets, attempts, interviews, interview_lines"),
        (as_lines(HEADER | NONE | {"sets": True}), "line 1: does not count"),
        (as_lines(HEADER | NONE, SET), "line 1: counts 1 attempts, and 0 are there"),
        (as_lines(HEADER | NONE, SET, ANSWER, LINE), "line 4: stands behind all rows that"),
        (as_lines(HEADER | NONE, SET, ANSWER)[:-9], "line 3: is no JSON"),
        (as_lines(HEADER | NONE, SET) + b"\n", "line 3: is no JSON"),
        (as_lines(HEADER | NONE, SET, SET), "line 3: has the uid of line 2"),
        (as_lines(HEADER | NONE, SET, {"table": "marks"}), "line 3: table is not one of sets,"),
        (as_lines(HEADER | NONE, SET, {}), "line 3: table is not one of sets,"),
        (as_lines(HEADER | NONE, SET, {"table": []}), "line 3: table is not one of sets,"),
        (with_answer(typed=None), "line 3: typed has no value"),
        (with_answer(typed=3), "line 3: typed is no text"),
        (with_answer(typed="\ud800"), "line 3: typed has half of a character"),
        (with_answer(held="no", hints=1.0), "held is no whole number; hints is no whole number"),
        (with_answer(held=True), "line 3: held is no whole number"),
        (with_answer(position=2**63), "line 3: position is too large"),
        (with_answer(position=-1), "line 3: position is not a count"),
        (with_answer(score=float("nan")), "line 3: has NaN, which is no number"),
        (with_answer(score=float("inf")), "line 3: has Infinity, which is no number"),
        (with_answer(score="1"), "line 3: score is no number"),
        (with_answer(score=1.5), "line 3: score is not from 0 to 1"),
        (with_answer(topic="Z"), "line 3: topic is not one of A, B"),
        (with_answer(verdict="good"), "line 3: verdict is not one of correct"),
        (with_answer(own="skipped"), "line 3: own is not one of correct, partial, wrong"),
        (with_answer(answered="2026"), "line 3: answered is not a moment from 1970 to 2999, as"),
        *(
            (with_answer(answered=f"{year}-01-01T00:00:00+00:00"), "answered is not a moment")
            for year in ("0001", "1969", "3000", "9999")
        ),
        (with_answer(undone="2026-11-30T18:05:00+02:00"), "line 3: undone is not a moment"),
        (with_answer(parsed="1.5"), "line 3: parsed is not JSON of what was understood"),
        (with_answer(parsed='{"fraction": "1e999999999"}'), "line 3: parsed is not JSON of"),
        (with_answer(parsed='{"fraction": "1/0"}'), "line 3: parsed is not JSON of"),
        (with_answer(parsed="[" * 100_000), "line 3: parsed is not JSON of"),
        (with_answer(tells="{}"), "line 3: tells is not a list of names in JSON"),
        (with_answer(uid="a 1"), "line 3: uid is not a uid"),
        (with_answer(set=1), "line 3: set is no uid"),
        (with_answer(extra=1), "line 3: 'extra' is no column of attempts"),
        (with_answer(typed="x" * 4_000_001), "line 3: is too long"),
        (with_answer().replace(b'"hints": 1, ', b""), "line 3: hints is missing"),
        (with_answer().replace(b"2.5", b"1e999"), "line 3: seconds is no number"),
        (with_answer().replace(b'"hints": 1', b'"hints": ' + b"9" * 5000), "line 3: is no JSON"),
        (
            with_answer().replace(b'"hints"', b'"hints": 1, "hints"'),
            "line 3: names a column twice",
        ),
        (with_answer().replace(b"37 GB", b"\xff"), "line 3: typed has half of a character"),
        (with_answer().replace(b'{"table": "att', b"[" * 99_999), "line 3: is no JSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_told_by_its_number(data, content, says):
    with pytest.raises(InputError) as caught:
        take(data, content)
    assert says in str(caught.value)
    assert str(caught.value).startswith("file, line ")
    assert not data.exists()


def test_every_bad_line_is_told_at_once_up_to_a_hundred():
    rows = counted(SET, *(ANSWER | {"uid": f"a{n}", "typed": 7} for n in range(7)), ANSWER)
    with pytest.raises(InputError) as caught:
        read_rows(BytesIO(as_lines(*rows)), "file")
    assert [fault.where for fault in caught.value.faults] == [
        f"file, line {n}" for n in range(3, 10)
    ]
    with pytest.raises(InputError) as caught:
        read_rows(BytesIO(as_lines(HEADER | NONE | {"sets": 10**9}) + b"\n" * 10**4), "file")
    assert len(caught.value.faults) == MOST_FAULTS


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_that_a_shell_has_written_in_its_own_encoding_is_read(data, encoding):
    lines = as_lines(*counted(SET, ANSWER)).decode().replace("\n", "\r\n")
    assert take(data, lines.encode(encoding)).added["attempts"] == 1
