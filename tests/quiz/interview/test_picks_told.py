"""A pick and an order are read in the words of people, and two picks are none."""

import pytest

SENIOR = {"level": "senior", "minutes": 45}
MID = {"level": "mid"}
YES, NO = "yes, with room to spare", "no"
FITS = {
    NO: ("nope", "doesn't fit", "it won't fit", "no way", "nah", "not by a long way", "will OOM",
         "nope, 35 > 34", "c because 35 > 34", "no, 42 > 34", "no it doesnt fit, 42 vs 34",
         "definitely not", "i don't think so", "doesn\N{RIGHT SINGLE QUOTATION MARK}t fit"),
    YES: ("it does fit", "it does", "it will", "no problem", "no OOM", "it won't OOM", "no issue",
          "sure", "not tight at all, plenty of room", "no doubt it fits",
          "yes plenty of room", "yes, fits", "yes w/ room to spare", "comfortably",
          "plenty of headroom, 25 of 48", "should be fine"),
    "tight": ("borderline", "b, barely", "fits barely", "yes but tight",
              "fits, but not comfortably"),
}  # fmt: skip
LOSS = "the backward pass of the loss"
MOMENTS = {
    LOSS: ("bwd of the loss", "during the loss", "backward of the loss", "at the loss bwd",
           "in the backward pass of the loss i think", "a because logits", "CE backward",
           "the loss, not the optimizer step"),
    "the optimizer's step": ("at the step", "optimizer step"),
    "the end of the backward pass": ("end of bwd",),
}  # fmt: skip
FULL, FEWER = "full recompute", "smaller micro-batch"
LEVERS = {
    FULL: ("full recomp", "act checkpointing", "i'd pull full recompute", "recompute everything",
           "full recompute because attention is not enough", "b, not a",
           "zero2 is not enough so full recompute"),
    FEWER: ("halve the micro batch", "micro-batch of 1", "c: least work"),
}  # fmt: skip


def rows(table):
    return [(line, name) for name, lines in table.items() for line in lines]


@pytest.mark.parametrize(("line", "name"), rows(FITS))
def test_whether_it_fits_is_read_as_it_is_said(read_as, line, name):
    assert read_as(line, "fits") == name


@pytest.mark.parametrize(("line", "name"), rows(MOMENTS))
def test_a_moment_is_read_by_its_other_names(read_as, line, name):
    assert read_as(line, "moment", **SENIOR) == name


@pytest.mark.parametrize(("line", "name"), rows(LEVERS))
def test_a_lever_is_read_beside_its_reason(read_as, line, name):
    assert read_as(line, "first-lever", **MID) == name


@pytest.mark.parametrize(
    ("key", "line", "more"),
    [
        ("fits", "a or c", {}),
        ("fits", "not tight", {}),
        ("fits", "it might", {}),
        ("fits", "not sure", {}),
        ("fits", "no, tight", {}),
        ("fits", "what is the overhead?", {}),
        ("fits", "no offload is needed", {}),
        ("fits", "if we had 2 GPUs yes", {}),
        ("moment", "backward", SENIOR),
        ("first-lever", "a or b", MID),
        ("first-lever", "not full recompute", MID),
        ("first-lever", "z2, then recompute", MID),
        ("lever-order", "selective is free, offload is slow", MID),
    ],
)
def test_two_picks_a_denial_and_a_question_are_thoughts(read_as, key, line, more):
    assert read_as(line, key, **more) is None


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("chunked < selective < full < offload", "4321"),
        ("ce first, then selective, offload, full last", "4312"),
        ("4,3,2,1 because nvme is slow", "4321"),
    ],
)
def test_an_order_is_read_with_short_names_and_signs(read_as, line, order):
    assert read_as(line, "lever-order", **MID) == read_as(order, "lever-order", **MID)


@pytest.mark.parametrize(
    ("key", "line", "more"),
    [
        ("fits", "with full recompute it fits", {}),
        ("fits", "it would fit on 2 cards", {}),
        ("first-lever", "zero-2, a bit faster", MID),
        ("first-lever", "zero-2 is cheaper", MID),
    ],
)
def test_a_word_on_another_does_not_replace_the_pick_that_stands(read_as, key, line, more):
    assert read_as(line, key, "c", **more) is None


def test_another_pick_replaces_it(read_as):
    assert read_as("no wait, it fits", "fits", "c") == YES
    assert read_as("i'd pull full recompute", "first-lever", "c", **MID) == FULL
    assert read_as("sorry, full recompute, 33% slower", "first-lever", "c", **MID) == FULL
