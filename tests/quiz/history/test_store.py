import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import pytest

from engine.errors import InputError
from quiz.grading import grade
from quiz.history.database import FILE
from quiz.history.schema import APPLICATION, SCHEMA
from quiz.history.store import Store, data_folder
from quiz.marking.attempt import Attempt

OPTIONS = {"topic": "A", "level": None, "kind": None, "count": 2, "seed": 5}
PROBLEMS = ("made@7", "made@8")


def answered(problem, typed, *, hints=0):
    return Attempt(
        topic="A",
        level="mid",
        tells=("gradients left whole",),
        verdict=grade(problem, typed),
        hints=hints,
        seconds=2.5,
    )


def rows(folder, query):
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return connection.execute(query).fetchall()


def test_an_answer_comes_back_as_it_was_kept(data, states_problem):
    given = answered(states_problem, "23.53 GB", hints=2)
    with Store(data) as store:
        store.record(store.start(OPTIONS, PROBLEMS), 0, given)
    with Store(data) as store:
        kept = store.unfinished({})
    assert (kept.options, kept.problems) == (OPTIONS, PROBLEMS)
    (back,) = kept.attempts
    assert (back.hints, back.seconds, back.topic) == (2, 2.5, "A")
    assert back.verdict.as_json == given.verdict.as_json
    assert back.verdict.score == Fraction(1, 2)


def test_an_answer_is_on_the_disk_when_record_returns(data, states_problem):
    with Store(data) as store:
        store.record(store.start(OPTIONS, PROBLEMS), 0, answered(states_problem, "37 GB"))
        assert rows(data, "SELECT typed, mistake FROM attempts") == [
            ("37 GB", "gradients left whole")
        ]


def test_every_answer_that_stands_is_given_with_its_moment_whatever_its_set(data, states_problem):
    given = answered(states_problem, "37 GB")
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    with Store(data) as store:
        for _ in range(2):
            store.record(store.start(OPTIONS, PROBLEMS), 0, given)
        other = store.start(OPTIONS, PROBLEMS)
        store.record(other, 0, given)
        store.undo(other, 0)
        kept = store.answered()
    unread = replace(given, verdict=replace(given.verdict, reading=""))
    assert [one.attempt for one in kept] == [unread, unread]
    assert before < kept[0].at <= kept[1].at <= datetime.now(UTC)


def test_a_yes_without_a_number_comes_back(data, fits_problem):
    with Store(data) as store:
        store.record(store.start(OPTIONS, PROBLEMS), 0, answered(fits_problem, "no"))
        verdict = store.unfinished({}).attempts[0].verdict
    assert verdict.parsed == {"yes": False, "number": None}


def test_an_answer_taken_back_stays_in_the_file_and_out_of_the_set(data, states_problem):
    with Store(data) as store:
        key = store.start(OPTIONS, PROBLEMS)
        store.record(key, 0, answered(states_problem, "37 GB"))
        store.undo(key, 0)
        store.record(key, 0, answered(states_problem, "25.27 GB"))
        assert [g.verdict.answer for g in store.unfinished({}).attempts] == ["25.27 GB"]
    assert rows(data, "SELECT typed, undone IS NULL FROM attempts") == [
        ("37 GB", 0),
        ("25.27 GB", 1),
    ]


def test_a_finished_set_is_not_taken_up_again(data):
    with Store(data) as store:
        store.finish(store.start(OPTIONS, PROBLEMS))
        assert store.unfinished({}) is None


@pytest.mark.parametrize(
    ("asked", "found"),
    [({}, True), ({"topic": None}, True), ({"topic": "A"}, True), ({"topic": "B"}, False)],
)
def test_an_unfinished_set_is_found_by_the_options_given(data, asked, found):
    with Store(data) as store:
        store.start(OPTIONS, PROBLEMS)
        assert bool(store.unfinished(asked)) is found


def test_the_newest_unfinished_set_is_found_first(data):
    with Store(data) as store:
        store.start(OPTIONS, PROBLEMS)
        key = store.start(OPTIONS, PROBLEMS)
        assert store.unfinished({}).key == key


def test_an_answer_to_a_set_that_does_not_exist_is_refused(data, states_problem):
    with Store(data) as store, pytest.raises(InputError, match="FOREIGN KEY"):
        store.record(99, 0, answered(states_problem, "37 GB"))


def test_the_file_says_whose_and_of_which_format_it_is(data):
    with Store(data):
        pass
    assert rows(data, "PRAGMA application_id") == [(APPLICATION,)]
    assert rows(data, "PRAGMA user_version") == [(SCHEMA,)]
    assert rows(data, "PRAGMA journal_mode") == [("wal",)]


FIRST_FORMAT = Path(__file__).with_name("first_format.sql").read_text(encoding="utf-8")


def first_format(folder):
    folder.mkdir()
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.executescript(FIRST_FORMAT)


def test_a_file_of_the_first_format_is_brought_to_this_one_with_its_answers(data, states_problem):
    first_format(data)
    with Store(data) as store:
        given, *_ = store.unfinished({}).attempts
        assert (given.verdict.answer, given.verdict.held, store.ranges()) == (
            "37 GB",
            None,
            (0, 0),
        )
        store.record(1, 7, answered(states_problem, "20-30 GB"))
        assert store.ranges() == (1, 1)
    assert rows(data, "PRAGMA user_version") == [(SCHEMA,)]


@pytest.mark.parametrize(
    ("position", "parsed"),
    [
        (0, Fraction(37 * 10**9)),
        (1, Fraction(1, 3)),
        (2, {"yes": False, "number": Fraction(93 * 10**9)}),
        (3, {"yes": True, "number": Fraction(7, 2)}),
        (4, {"yes": True, "number": None}),
        (5, (("2", "3"), ("1",))),
        (6, None),
    ],
)
def test_what_older_formats_understood_comes_back(data, position, parsed):
    first_format(data)
    with Store(data) as store:
        assert store.unfinished({}).attempts[position].verdict.parsed == parsed


def test_ranges_are_counted_over_all_sets_but_for_what_was_taken_back(data, states_problem):
    with Store(data) as store:
        key, other = (store.start(OPTIONS, PROBLEMS) for _ in range(2))
        store.record(key, 0, answered(states_problem, "20-30 GB"))
        store.record(key, 1, answered(states_problem, "25 GB"))
        store.record(other, 0, answered(states_problem, "1-2 GB"))
        store.record(other, 1, answered(states_problem, "20-30 GB"))
        assert store.ranges() == (2, 3)
        store.undo(other, 1)
        assert store.ranges() == (1, 2)
        back = store.unfinished({}).attempts[0].verdict
        assert back.held is False


def test_the_learners_own_mark_is_kept_beside_the_programs(data, claim_problem):
    with Store(data) as store:
        key = store.start(OPTIONS, PROBLEMS)
        store.record(key, 0, answered(claim_problem, "true"))
        store.overrule(key, 0, "partial")
    with Store(data) as store:
        (back,) = store.unfinished({}).attempts
    assert (back.own, back.score, back.verdict.verdict) == ("partial", Fraction(1, 2), "wrong")


def newer(folder):
    with Store(folder):
        pass
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")


def anothers(folder):
    folder.mkdir()
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def no_database(folder):
    folder.mkdir()
    (folder / FILE).write_text("dear diary, " * 500)


def damaged(folder):
    with Store(folder) as store:
        for _ in range(200):
            store.start(OPTIONS, PROBLEMS)
    content = bytearray((folder / FILE).read_bytes())
    content[200:] = b"\xff" * (len(content) - 200)
    (folder / FILE).write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (newer, "newer memquiz"),
        (anothers, "another program"),
        (no_database, "no memquiz database"),
        (damaged, "damaged"),
    ],
)
def test_a_file_that_is_not_ours_to_write_is_refused_and_left_as_it_is(data, spoil, says):
    spoil(data)
    before = (data / FILE).read_bytes()
    with pytest.raises(InputError, match=says) as caught, Store(data) as store:
        store.unfinished({})
    assert "--no-save" in str(caught.value)
    assert (data / FILE).read_bytes() == before


def test_a_file_in_the_folders_place_is_said(tmp_path):
    place = tmp_path / "data"
    place.write_text("mine")
    with pytest.raises(InputError, match="a file stands where its folder should"):
        Store(place)
    assert place.read_text() == "mine"


def test_a_folder_in_the_files_place_is_said(data):
    (data / FILE).mkdir(parents=True)
    with pytest.raises(InputError, match="cannot be opened"):
        Store(data)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved there")
def test_a_folder_that_goes_while_it_is_open_is_said_instead_of_a_verdict(data, states_problem):
    with Store(data) as store:
        key = store.start(OPTIONS, PROBLEMS)
        data.rename(data.with_name("moved"))
        for again in (False, True):
            with pytest.raises(InputError, match="is no longer there: it or its folder was moved"):
                store.record(key, 0, answered(states_problem, "37 GB"))
            if not again:  # another file in its place is not the one that is open
                with Store(data):
                    pass
    assert rows(data.with_name("moved"), "SELECT count(*) FROM attempts") == [(0,)]


def test_a_history_that_is_read_can_be_written_by_another_process_and_is_of_one_moment(
    data, states_problem
):
    with Store(data) as writer, Store.reading(data) as reader:
        key = writer.start(OPTIONS, PROBLEMS)
        with reader._database.reading() as connection:
            count = "SELECT count(*) FROM attempts"
            assert connection.execute(count).fetchone() == (0,)
            writer.record(key, 0, answered(states_problem, "37 GB"))
            assert connection.execute(count).fetchone() == (0,)
        assert len(reader.answered()) == 1


def test_a_history_that_is_only_read_cannot_be_written(data):
    with Store(data) as writer, Store.reading(data) as reader:
        key = writer.start(OPTIONS, PROBLEMS)
        with pytest.raises(ValueError, match="opened to be read only"):
            reader.finish(key)


def test_each_answer_is_on_the_disk_also_if_the_power_fails(data):
    with Store(data) as store, store._database.reading() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_the_folder_is_the_one_that_the_environment_names(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMQUIZ_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("MEMQUIZ_DATA")
    assert data_folder().name == "memquiz"


def begin_sets(folder, number):
    for _ in range(number):
        with Store(folder) as store:
            store.start(OPTIONS, PROBLEMS)


def test_processes_that_make_and_write_the_file_at_once_lose_nothing(data):
    context = get_context("spawn")
    writers = [context.Process(target=begin_sets, args=(data, 10)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert rows(data, "SELECT count(*) FROM sets") == [(30,)]
