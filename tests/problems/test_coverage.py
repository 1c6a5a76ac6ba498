"""The bank poses what is really asked, and takes the answer that such a question takes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from doc_coverage import FORMS, answered, questions

from problems.registry import kinds

ASKED = questions()


@pytest.mark.parametrize("name", ASKED)
def test_a_question_names_kinds_that_are_there_or_says_why_none_does(name):
    row = ASKED[name]
    assert set(row["kinds"]) <= set(kinds())
    assert row["kinds"] or row["why"]


@pytest.mark.parametrize("name", ASKED)
def test_a_question_has_a_source_a_level_and_a_form(name):
    row = ASKED[name]
    assert row["source"]
    assert row["level"] in {"junior", "mid", "senior"}
    assert row["form"] in FORMS


def test_95_of_100_questions_are_posed_with_the_answer_that_they_take():
    posed = [name for name, row in ASKED.items() if answered(row)]
    assert len(posed) >= 0.95 * len(ASKED), sorted(set(ASKED) - set(posed))


def test_every_form_has_a_kind_that_takes_it():
    assert {row["form"] for row in ASKED.values() if answered(row)} == set(FORMS)
