"""A table with a fault in it is refused with its name, the row and what is wrong."""

import pytest

from engine.errors import InputError
from engine.optimizers import optimizers
from problems.answers.answer import Answer
from problems.claims import claims
from problems.mistakes import mistakes, mistakes_with
from quiz.marking.registry import marker_of


@pytest.fixture
def table(monkeypatch, tmp_path):
    """Return a function that puts a table in the place of the project's own."""

    def put(read, where, name, text):
        path = tmp_path / name
        path.write_text(text)
        monkeypatch.setattr(where, path if where.endswith("TABLE") else tmp_path)
        read.cache_clear()
        changed.append(read)

    changed = []
    yield put
    monkeypatch.undo()
    for read in changed:
        read.cache_clear()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('title = "X"\nstates = 1', "lazy: .*missing.*at_once"),
        ('title = "X"\nstatez = 1', "lazy: .*unexpected keyword argument 'statez'"),
    ],
)
def test_a_row_of_an_optimizer_is_named(table, row, said):
    table(optimizers, "engine.optimizers.TABLE", "optimizers.toml", f"[lazy]\n{row}\n")
    with pytest.raises(TypeError, match=rf"optimizers\.toml: {said}"):
        optimizers()


def test_a_row_of_a_mistake_is_named(table):
    table(mistakes_with, "problems.mistakes.TABLE", "mistakes.toml", '["half"]\nsays = "Half."\n')
    with pytest.raises(ValueError, match=r"mistakes\.toml: 'half' has no share"):
        mistakes()


def test_the_file_of_a_claim_that_is_no_toml_is_named(table):
    table(claims, "problems.claims.DATA", "batches.toml", "[a\n")
    with pytest.raises(InputError, match=r"batches\.toml: .*line 1.*correct the table"):
        claims()


def test_a_type_of_answer_that_nothing_marks_is_named():
    class OddAnswer(Answer):
        type = "odd"
        said = "odd"
        as_json = from_json = None

    with pytest.raises(KeyError, match=r"quiz\.marking\.known has a marker of OddAnswer"):
        marker_of(OddAnswer())
