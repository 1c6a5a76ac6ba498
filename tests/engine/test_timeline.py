"""What is read from a timeline: what an allocator is asked for, and the highest moments."""

import pytest

from engine.caching.replay import replay
from engine.ledger import Category, Phase
from engine.verify.timeline import Allocation, Mark, Timeline

MADE = {
    "shape": (),
    "dtype": "uint8",
    "operator": "",
    "module": "",
    "backward": False,
}


def timeline(*events, begin, categories=None):
    """A timeline of (allocation, change) events whose step begins behind `begin` of them."""
    sizes = {}
    for number, change in events:
        sizes[number] = max(change, sizes.get(number, 0))
    return Timeline(
        allocations=tuple(
            Allocation(
                size=size,
                requested=size,
                category=(categories or {}).get(number, Category.WEIGHTS),
                **MADE,
            )
            for number, size in sorted(sizes.items())
        ),
        events=events,
        marks=(Mark(at=begin, step=0, phase=Phase.FORWARD),),
    )


@pytest.mark.parametrize(
    ("events", "begin", "requests"),
    [
        ([(0, 512), (1, 512), (1, -512)], 1, [(0, 512), (1, 512), (1, 0)]),
        ([(0, 512), (0, -512), (1, 1024)], 2, [(1, 1024)]),
        ([(0, 512), (1, 1024), (0, -512)], 2, [(0, 512), (1, 1024), (0, 0)]),
        ([(0, 512), (0, -512), (0, 1024), (0, -1024)], 3, [(0, 1024), (0, 0)]),
        ([(1, 512), (0, 512)], 2, [(1, 512), (0, 512)]),
        ([], 0, []),
    ],
    ids=[
        "all of a step",
        "nothing that is gone before it",
        "what is freed in it",
        "the last filling",
        "in their order",
        "nothing",
    ],
)
def test_an_allocator_is_asked_for_what_lives_in_a_step(events, begin, requests):
    assert list(timeline(*events, begin=begin).requests) == requests


def test_each_request_is_known_by_its_event():
    made = timeline((0, 512), (0, -512), (1, 1024), (2, 512), begin=3)
    assert made.asked == (2, 3)
    assert [made.events[number][0] for number in made.asked] == [1, 2]


def test_a_whole_model_that_is_sharded_before_the_step_reserves_nothing():
    whole, shard = 1 << 30, 1 << 27
    built = ((0, whole), (1, shard), (0, -whole), (2, shard))
    assert replay(timeline(*built, begin=3).requests).peak_reserved == 2 * shard


KINDS = {0: Category.WEIGHTS, 1: Category.ACTIVATIONS, 2: Category.LOGITS}
EVENTS = ((0, 100), (1, 50), (2, 70), (2, -70), (1, -50), (1, 60), (1, -60))


@pytest.mark.parametrize(
    ("stretches", "found"),
    [
        ([range(8)], [(3, {"weights": 100, "activations": 50, "logits": 70})]),
        ([range(3), range(3, 4), range(4, 8)], [
            (2, {"weights": 100, "activations": 50}),
            (3, {"weights": 100, "activations": 50, "logits": 70}),
            (6, {"weights": 100, "activations": 60}),
        ]),
        ([range(4), range(3, 8)], [
            (3, {"weights": 100, "activations": 50, "logits": 70}),
            (3, {"weights": 100, "activations": 50, "logits": 70}),
        ]),
        ([range(5, 6), range(7, 8)], [(5, {"weights": 100}), (7, {"weights": 100})]),
        ([], []),
    ],
)  # fmt: skip
def test_a_sample_is_the_highest_moment_of_its_stretch_by_category(stretches, found):
    samples = timeline(*EVENTS, begin=0, categories=KINDS).samples(stretches)
    assert [(one.moment.events, dict(one.categories)) for one in samples] == found
