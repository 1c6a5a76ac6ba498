"""Heaps of names make no statement; lists and short answers are none."""

import pytest

from problems.interview.points import table
from quiz.interview.heaps import is_heap
from quiz.interview.listening import Listened, stand


@pytest.mark.parametrize(
    ("typed", "heap"),
    [
        ("weights gradients moments parameters convention 12 16 18 20", True),
        ("moments, fragmentation, longer batch, graph, cache, pieces, lazily, forward", True),
        ("prefetch hsdp node micro batch tokens third forward overlap", True),
        ("moments", False),
        ("adam states, fragmentation, longer batch, leak", False),
        ("max_memory_allocated, reset peak, snapshot, nvidia-smi, step 2", False),
        ("optimizer states created lazily first step forward had none", False),
        ("adam moments allocated lazily first optimizer step, fragmentation", False),
        ("weights 2 + gradients 2 + master copy 4 + moments 8", False),
        ("after forward, backward, step, loss, a save, a resume, a log", False),
        ("", False),
        ("... ,,,", False),
    ],
)
def test_a_heap_is_many_names_of_which_nothing_is_said(typed, heap):
    assert is_heap(typed) is heap


@pytest.mark.parametrize(("stated", "made"), [(True, ""), (False, "pieces")])
def test_a_heap_makes_no_point_that_asks_for_a_statement(stated, made):
    point = Listened(phrases=table()["cache-in-pieces"].phrases, how="listed", stated=stated)
    heap = "graph; snapshot; batch; lazily; forward; backward; pieces"
    assert stand([heap], point).words == made
    assert stand([heap, "the cache is in pieces"], point).words == (
        made or "the cache is in pieces"
    )
