from itertools import accumulate

import pytest

from engine.ledger import Category, Phase
from engine.verify.timeline import Allocation, Mark, Timeline
from quiz.verify.drawing import HEIGHT, WIDTH, drawing
from quiz.verify.strips import stretches, strips

CATEGORIES = (Category.WEIGHTS, Category.ACTIVATIONS, Category.LOGITS)
KIB = 1 << 10


def step(*phases, before=((0, 100),)):
    """A timeline of one step; each phase has the (category's number, KiB) that it allocates.

    A negative number of KiB frees the newest allocation of that size.
    """
    allocations, events, marks, alive = [], [], [], []

    def happen(category, size):
        if size > 0:
            alive.append((len(allocations), size))
            events.append((len(allocations), size * KIB))
            allocations.append(_allocation(CATEGORIES[category], size * KIB))
        else:
            number = next(n for n, kept in reversed(alive) if kept == -size)
            alive.remove((number, -size))
            events.append((number, size * KIB))

    for category, size in before:
        happen(category, size)
    for phase, changes in phases:
        marks.append(Mark(at=len(events), step=0, phase=phase))
        for category, size in changes:
            happen(category, size)
    return Timeline(allocations=tuple(allocations), events=tuple(events), marks=tuple(marks))


def _allocation(category, size):
    return Allocation(
        size=size,
        requested=size,
        shape=(size,),
        dtype="uint8",
        operator="",
        module="",
        backward=False,
        category=category,
    )


UP = [(1, 10)] * 6
DOWN = [(1, -10)] * 4
MICRO_BATCH = (
    (Phase.FORWARD, UP),
    (Phase.LOSS, [(2, 50), (2, -50)]),
    (Phase.BACKWARD_FIRST, [(1, -10)]),
    (None, DOWN),
    (Phase.BACKWARD_LAST, [(1, -10)]),
    (None, []),
)
STEP = ((Phase.STEP, [(0, 30), (0, -30)]), (None, []))


def test_a_step_is_its_phases_with_the_backward_pass_in_three():
    labels = [part.label for part in stretches(step(*MICRO_BATCH, *STEP))]
    assert labels == ["forward", "loss", "backward-first", "backward", "backward-last", "step"]


def test_only_the_last_step_is_cut():
    timeline = step(*MICRO_BATCH, *STEP)
    later = [Mark(at=len(timeline.events), step=1, phase=Phase.FORWARD)]
    both = Timeline(
        allocations=timeline.allocations,
        events=timeline.events,
        marks=(*timeline.marks, *later),
    )
    assert [part.label for part in stretches(both)] == ["forward"]


@pytest.mark.parametrize("number", [6, 9, 20, 100])
def test_each_strip_shows_its_highest_moment(number):
    timeline = step(*MICRO_BATCH, *STEP)
    sizes = [0, *accumulate(change for _, change in timeline.events)]
    for strip in strips(timeline, stretches(timeline), number):
        assert strip.sample.moment.size == max(sizes[n] for n in strip.stretch.events)


@pytest.mark.parametrize("number", [6, 20, 100])
def test_the_categories_of_a_strip_are_those_of_its_moment(number):
    timeline = step(*MICRO_BATCH, *STEP)
    for strip in strips(timeline, stretches(timeline), number):
        moment = strip.sample.moment
        assert strip.sample.categories == timeline.by_category(moment.events)
        assert sum(strip.sample.categories.values()) == moment.size


def test_strips_leave_no_moment_of_the_step_out():
    timeline = step(*MICRO_BATCH, *STEP)
    cut = strips(timeline, stretches(timeline), 20)
    assert {n for strip in cut for n in strip.stretch.events} == set(timeline.span(0))


@pytest.mark.parametrize("number", [1, 6])
def test_every_phase_has_a_strip_however_few_there_are(number):
    timeline = step(*MICRO_BATCH, *STEP)
    labels = [s.stretch.label for s in strips(timeline, stretches(timeline), number)]
    assert labels == [part.label for part in stretches(timeline)]


def test_a_phase_in_which_more_happens_has_more_strips():
    timeline = step(*MICRO_BATCH, *STEP)
    labels = [s.stretch.label for s in strips(timeline, stretches(timeline), 12)]
    assert labels.count("forward") > labels.count("step")


def test_both_micro_batches_are_drawn_whole():
    parts = stretches(step(*MICRO_BATCH * 2, *STEP))
    assert [part.micro_batch for part in parts] == [1] * 5 + [2] * 5 + [0]


def test_what_ends_a_micro_batch_is_of_it_and_the_step_is_of_none():
    reduced = (*MICRO_BATCH, (Phase.REDUCE, [(2, 5), (2, -5)]), (None, []))
    parts = stretches(step(*reduced * 2, *STEP))
    assert [p.micro_batch for p in parts if p.label == Phase.REDUCE] == [1, 2]
    assert [p.micro_batch for p in parts if p.label == Phase.STEP] == [0]


def drawn(timeline, capacity=10_000 * KIB, number=60):
    return drawing(strips(timeline, stretches(timeline), number), capacity)


def points(path):
    return [
        tuple(map(float, p.split())) for p in path.removeprefix("M").removesuffix("Z").split("L")
    ]


def test_the_areas_lie_within_the_drawing():
    for area in drawn(step(*MICRO_BATCH, *STEP)).areas:
        for x, y in points(area.path):
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT


def test_the_highest_area_reaches_the_top_at_the_peak():
    picture = drawn(step(*MICRO_BATCH, *STEP))
    (top,) = [area for area in picture.areas if area.category is Category.LOGITS]
    highest = [x for x, y in points(top.path) if y == 0]
    assert min(highest) < picture.peak.at < max(highest)


def test_only_categories_that_have_bytes_are_drawn():
    found = [area.category for area in drawn(step(*MICRO_BATCH, *STEP)).areas]
    assert found == [Category.WEIGHTS, Category.ACTIVATIONS, Category.LOGITS]


def test_every_phase_is_wide_enough_for_its_name():
    names = [label.text for label in drawn(step(*MICRO_BATCH, *STEP)).phases]
    assert names == ["forward", "loss", "backward", "step"]


def test_with_many_micro_batches_the_names_that_have_no_room_are_left_out():
    picture = drawn(step(*MICRO_BATCH * 20, *STEP), number=400)
    assert len(picture.borders) == 20 * 3 + 1
    assert len(picture.phases) < len(picture.borders)


@pytest.mark.parametrize(
    ("capacity", "seen"), [(300 * KIB, True), (630 * KIB, True), (631 * KIB, False)]
)
def test_a_card_of_up_to_three_times_the_peak_is_drawn(capacity, seen):
    picture = drawn(step(*MICRO_BATCH, *STEP), capacity)
    assert (picture.card is not None) is seen


@pytest.mark.parametrize("size", [1, 7, 99, 1_234, 50_000, 10**6, 3 * 10**9])
def test_the_sizes_beside_the_drawing_are_few_and_round(size):
    picture = drawn(step((Phase.FORWARD, [(0, size)]), before=()))
    labels = [tick.text for tick in picture.ticks]
    assert 2 <= len(labels) <= 6
    assert len(set(labels)) == len(labels)
    assert labels[0] == "0 B"
