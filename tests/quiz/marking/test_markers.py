"""Every type of answer has a marker, found by its file."""

import json
from fractions import Fraction
from pkgutil import iter_modules

import pytest

from problems import answers
from problems.answers.registry import types
from quiz.grading import grade
from quiz.marking import known
from quiz.marking.parsed import plain, restored, written
from quiz.marking.registry import markers

SHARED = {"answer", "numbers", "registry", "terms"}


@pytest.mark.parametrize("type_", types().values())
def test_every_type_of_answer_is_marked(type_):
    assert markers()[type_].of is type_


def test_a_type_of_answer_and_its_marker_are_files_of_one_name():
    files = {module.name for module in iter_modules(answers.__path__)} - SHARED
    assert {module.name for module in iter_modules(known.__path__)} == files


def test_two_files_that_mark_one_type_are_refused(monkeypatch, tmp_path):
    (tmp_path / "number_of.py").write_text("from quiz.marking.known.count import MARKER")
    monkeypatch.setattr(known, "__path__", [*known.__path__, str(tmp_path)])
    markers.cache_clear()
    with pytest.raises(ValueError, match="mark CountAnswer"):
        markers()


@pytest.mark.parametrize(
    ("parsed", "shown"),
    [
        (Fraction(12), 12),
        (Fraction(1, 8), 0.125),
        ((("2", "3"), ("1",)), [["2", "3"], ["1"]]),
        ({"yes": False, "number": Fraction(7, 2)}, {"yes": False, "number": 3.5}),
        ({"yes": True, "number": None}, {"yes": True, "number": None}),
        (None, None),
    ],
)
def test_what_was_understood_is_kept_exactly_and_shown_as_plain_json(parsed, shown):
    assert restored(written(parsed)) == parsed
    assert (written(parsed) is None) is (parsed is None)
    # As text, for 7 / 2 is equal to 3.5.
    assert json.dumps(plain(parsed)) == json.dumps(shown)


@pytest.mark.parametrize(
    ("parsed", "text"),
    [(Fraction(12), "12"), (Fraction(1, 8), '{"fraction": "1/8"}'), ((("b",),), '[["b"]]')],
)
def test_what_was_understood_is_kept_as_plainly_as_it_can_be(parsed, text):
    assert written(parsed) == text


def test_an_answer_as_long_as_it_may_be_is_read_and_a_longer_one_is_not(states_problem):
    longest = markers()[type(states_problem.answer)].longest
    assert not hasattr(grade(states_problem, "37 GB".ljust(longest)), "reason")
    assert "at most" in grade(states_problem, "37 GB".ljust(longest + 1)).reason
