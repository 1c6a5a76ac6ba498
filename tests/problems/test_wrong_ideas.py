"""Wrong ideas of a step: a file is all that one more takes."""

from pathlib import Path

import pytest

from problems.mistakes import mistakes, mistakes_with, share_of
from problems.registry import build
from problems.wrong_ideas import known
from problems.wrong_ideas.registry import ideas
from quiz.catalog import TABLES
from quiz.marking.diagnosis import diagnose

EXAMPLES = Path(__file__).parents[1] / "recipes" / "mistake" / "problems" / "wrong_ideas" / "known"
EXAMPLE = "one sequence of the micro-batch"


@pytest.fixture
def with_files(monkeypatch):
    """Return a function that puts the files of a folder beside the ideas that are there."""

    def put(folder):
        monkeypatch.setattr(known, "__path__", [*known.__path__, str(folder)])
        ideas.cache_clear()
        mistakes_with.cache_clear()

    yield put
    monkeypatch.undo()
    ideas.cache_clear()
    mistakes_with.cache_clear()


def names_in(kind, seeds):
    return {mistake.name for seed in seeds for mistake in build(kind, seed).mistakes}


def test_a_further_file_is_all_that_a_further_mistake_of_the_catalogue_takes(with_files):
    with_files(EXAMPLES)
    assert TABLES["mistakes"]().rows[-1][0] == EXAMPLE


@pytest.mark.parametrize("kind", ["peak", "fits", "which-fits"])
def test_a_further_file_is_all_that_a_further_mistake_of_a_peak_takes(with_files, kind):
    with_files(EXAMPLES)
    problem, mistake = next(
        (problem, mistake)
        for problem in (build(kind, seed) for seed in range(100))
        for mistake in problem.mistakes
        if mistake.name == EXAMPLE and not mistake.also
    )
    found = diagnose(problem, mistake.value)
    assert (found.name, found.share) == (EXAMPLE, share_of(mistake))
    assert f"the micro-batch has {problem.scenario.workload.micro_batch}" in found.says


def test_an_idea_is_no_mistake_of_a_question_that_it_says_nothing_about(with_files):
    with_files(EXAMPLES)
    assert EXAMPLE not in names_in("largest-micro-batch", range(15))


NO_TUPLE = "IDEAS = 1"
NO_IDEA = "IDEAS = (1,)"
KNOWN_TWICE = "from problems.wrong_ideas.known.scores import IDEAS"
IN_THE_TABLE = """
import dataclasses
from problems.wrong_ideas.known import scores
IDEAS = (dataclasses.replace(scores.IDEAS[0], name="GiB typed as GB"),)
"""


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("no_tuple", NO_TUPLE, TypeError),
        ("no_idea", NO_IDEA, TypeError),
        ("known_twice", KNOWN_TWICE, ValueError),
        ("in_the_table", IN_THE_TABLE, ValueError),
    ],
)
def test_a_file_that_has_no_ideas_of_its_own_is_refused(with_files, tmp_path, file, text, error):
    (tmp_path / f"{file}.py").write_text(text)
    with_files(tmp_path)
    with pytest.raises(error):
        mistakes()
