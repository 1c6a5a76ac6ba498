"""Kinds and problems are found by name; bad names are refused with what to do next."""

from pathlib import Path

import pytest

from engine.errors import InputError
from problems import bank
from problems.problem import TOPICS
from problems.registry import build, from_id, kinds


def test_every_file_of_the_bank_has_a_kind():
    files = {path.stem for path in Path(bank.__file__).parent.rglob("*.py")} - {"__init__"}
    assert {kind.make.__module__.rpartition(".")[2] for kind in kinds().values()} == files


def test_a_topic_is_a_folder_of_the_bank():
    folders = {kind.make.__module__.split(".")[2]: kind.topic for kind in kinds().values()}
    assert len(set(folders.values())) == len(folders)


def test_kinds_come_topic_by_topic():
    topics = [kind.topic for kind in kinds().values()]
    assert topics == sorted(topics)


def test_every_topic_has_a_kind():
    assert {kind.topic for kind in kinds().values()} == set(TOPICS)


def test_every_level_has_a_kind():
    assert {level for kind in kinds().values() for level in kind.levels} == {
        "junior",
        "mid",
        "senior",
    }


def test_titles_differ():
    titles = [kind.title for kind in kinds().values()]
    assert len(set(titles)) == len(titles)


def test_a_problem_is_found_by_its_id():
    assert from_id("zero-states@7") == build("zero-states", 7)


def test_space_around_an_id_and_zeros_before_a_seed_do_not_matter():
    assert from_id(" zero-states@007\n").id == "zero-states@7"


def test_the_largest_seed_is_taken():
    assert from_id(f"model-states@{10**12}").seed == 10**12


@pytest.mark.parametrize(
    "text",
    [
        "",
        "zero-states",
        "zero-states@",
        "zero-states@x",
        "zero-states@-1",
        "zero-states@+1",
        "zero-states@1.5",
        "zero-states@1_000",
        "zero-states@1e3",
        "zero-states@٣",
        "zero-states@²",
        "zero-states@7@8",
        f"zero-states@{10**12 + 1}",
        f"zero-states@{'9' * 10_000}",
        "@7",
        "ZERO-STATES@7",
    ],
)
def test_a_malformed_id_is_refused(text):
    with pytest.raises(InputError):
        from_id(text)


def test_an_unknown_kind_is_answered_with_near_names():
    with pytest.raises(InputError, match="did you mean zero-states"):
        from_id("zero-state@7")


def test_both_faults_of_an_id_are_listed():
    with pytest.raises(InputError) as refused:
        from_id("zero-state@-1")
    assert len(refused.value.faults) == 2


def test_a_huge_seed_is_not_repeated_in_full():
    with pytest.raises(InputError) as refused:
        from_id(f"zero-states@{'9' * 10_000}")
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("seed", [-1, 10**12 + 1])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(InputError):
        build("zero-states", seed)


def test_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(InputError):
        build("no-such-kind", 1)
