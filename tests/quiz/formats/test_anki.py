"""An Anki deck, read back as the database that it is."""

import html
import json
import sqlite3
import zipfile
from dataclasses import replace
from io import BytesIO

import pytest

from engine.errors import InputError
from quiz.formats.registry import formats

TIME = "1767225600"


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", TIME)

    def notes(problems):
        (data,) = formats()["anki"].files(problems).values()
        with zipfile.ZipFile(BytesIO(data)) as archive:
            (tmp_path / "collection.anki2").write_bytes(archive.read("collection.anki2"))
        with sqlite3.connect(tmp_path / "collection.anki2") as database:
            return database.execute("SELECT guid, flds, mod FROM notes ORDER BY sfld").fetchall()

    return notes


def test_a_note_a_problem_with_what_is_asked_and_what_is_right(marked_up, notes):
    problems = marked_up.variants[0].problems
    found = notes(marked_up)
    assert len(found) == len(problems)
    for problem, (_, fields, _) in zip(problems, found, strict=True):
        _, asked, solved, name = map(html.unescape, fields.split("\x1f"))
        assert all(line in asked for line in problem.prompt.splitlines())
        assert problem.exhibit in asked
        assert problem.answer.said in solved
        assert all(one.feedback in solved for one in problem.mistakes)
        assert name == problem.id


def test_text_is_escaped_and_no_template_s_mark_is_left(marked_up, notes):
    for _, fields, _ in notes(marked_up):
        assert "<b>&amp;" not in fields
        assert "{" not in fields
        assert "[" not in fields  # as of [sound:file] and [latex]


def test_formulas_are_left_alone_in_front_and_behind(every_type, tmp_path, notes):
    notes(every_type)
    with sqlite3.connect(tmp_path / "collection.anki2") as database:
        ((models,),) = database.execute("SELECT models FROM col").fetchall()
    (model,) = json.loads(models).values()
    (card,) = model["tmpls"]
    begins = '<div class="tex2jax_ignore mathjax_ignore">'
    assert f"{begins}{{{{Question}}}}</div>" in card["qfmt"]
    assert f"{begins}{{{{Solution}}}}" in card["afmt"]


def changed(problems):
    """Return the set with another prompt in its first problem."""
    variant = problems.variants[0]
    first = replace(variant.problems[0], prompt="Another prompt.")
    return replace(problems, variants=(replace(variant, problems=(first, *variant.problems[1:])),))


def test_a_note_keeps_its_id_when_its_text_is_changed(every_type, notes):
    assert [row[0] for row in notes(changed(every_type))] == [row[0] for row in notes(every_type)]


def test_every_student_has_notes_of_their_own(personal, notes):
    ids = [guid for guid, _, _ in notes(personal)]
    assert len(set(ids)) == len(ids) == 6


def test_a_problem_that_was_changed_bears_the_time_of_writing_and_no_other(every_type, notes):
    times = [time for _, _, time in notes(changed(every_type))]
    assert times[0] == int(TIME)
    assert times[1:] == [time for _, _, time in notes(every_type)][1:]


def test_a_kind_that_is_not_known_is_taken_for_changed(every_type, notes):
    variant = every_type.variants[0]
    gone = replace(variant.problems[0], kind="gone")
    other = replace(variant, problems=(gone, *variant.problems[1:]))
    assert notes(replace(every_type, variants=(other,)))[0][2] == int(TIME)


def test_the_same_set_gives_the_same_bytes(every_type):
    assert formats()["anki"].files(every_type) == formats()["anki"].files(every_type)


def test_a_time_that_is_none_is_told(every_type, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "noon")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH: 'noon' is no time"):
        formats()["anki"].files(changed(every_type))
