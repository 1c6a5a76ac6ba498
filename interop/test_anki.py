"""A deck that Anki itself imports: again it adds nothing, after an edit it updates one note."""

import html
from dataclasses import replace

import pytest
from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest

from quiz.formats.registry import formats

NOON, LATER = "1767225600", "1767229200"


@pytest.fixture
def collection(tmp_path):
    found = Collection(str(tmp_path / "collection.anki2"))
    yield found
    found.close()


@pytest.fixture
def imported(collection, tmp_path, monkeypatch):
    """Import a set as it is written at a time; how many notes were new, updated and as before."""

    def imported(problems, time):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", time)
        (tmp_path / "deck.apkg").write_bytes(*formats()["anki"].files(problems).values())
        request = ImportAnkiPackageRequest(
            package_path=str(tmp_path / "deck.apkg"), options=ImportAnkiPackageOptions()
        )
        log = collection.import_anki_package(request).log
        return len(log.new), len(log.updated), len(log.duplicate)

    return imported


def test_a_deck_has_a_card_a_problem_with_front_and_back(marked_up, imported, collection):
    number = len(marked_up.slots)
    assert imported(marked_up, NOON) == (number, 0, 0)
    cards = {
        card.note()["Problem"]: card
        for card in (collection.get_card(one) for one in collection.find_cards(""))
    }
    for problem in marked_up.variants[0].problems:
        card = cards[problem.id.replace("{", "&#123;")]
        front, back = html.unescape(card.question()), html.unescape(card.answer())
        assert all(line in front for line in problem.prompt.splitlines())
        assert problem.exhibit in front
        assert problem.solution[-1].text not in front
        assert problem.answer.said in back
        assert all(one.feedback in back for one in problem.mistakes)


def test_the_same_deck_again_adds_and_updates_nothing(every_type, imported, collection):
    number = len(every_type.slots)
    assert imported(every_type, NOON) == (number, 0, 0)
    assert imported(every_type, NOON) == (0, 0, number)
    assert collection.note_count() == number


def test_the_same_set_written_later_adds_and_updates_nothing(every_type, imported):
    imported(every_type, NOON)
    assert imported(every_type, LATER) == (0, 0, len(every_type.slots))


def test_after_an_edit_one_note_is_updated_and_none_added(every_type, imported, collection):
    imported(every_type, NOON)
    before = texts(collection)
    variant = every_type.variants[0]
    edited = replace(variant.problems[0], prompt="An edited prompt.")
    problems = (edited, *variant.problems[1:])
    other = replace(every_type, variants=(replace(variant, problems=problems),))
    assert imported(other, LATER) == (0, 1, len(problems) - 1)
    after = texts(collection)
    assert {name for name in after if after[name] != before[name]} == {edited.id}
    assert "An edited prompt." in after[edited.id]


def test_two_sets_stand_beside_each_other(every_type, personal, imported, collection):
    imported(every_type, NOON)
    assert imported(personal, NOON) == (6, 0, 0)
    assert collection.note_count() == len(every_type.slots) + 6


def test_students_have_decks_of_their_own(personal, imported, collection):
    imported(personal, NOON)
    inside = [deck.name for deck in collection.decks.all_names_and_ids() if "::" in deck.name]
    assert len(inside) == 3


def texts(collection):
    notes = (collection.get_note(one) for one in collection.find_notes(""))
    return {note["Problem"]: note["Question"] for note in notes}
