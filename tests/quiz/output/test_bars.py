import pytest
from sympy import Integer

from engine.ledger import ALL_PHASES, Category, Ledger, Line, Phase
from engine.stages import Stage
from engine.symbols import N
from quiz.output.bars import chart, used


def book(*rows):
    lines = tuple(
        Line(
            name=f"line {i}",
            category=category,
            size=Integer(size),
            phases=phases,
            why="",
            source="",
        )
        for i, (category, size, phases) in enumerate(rows)
    )
    sizes = tuple(size for _, size, _ in rows)
    return Ledger(lines=lines, sizes=sizes, lows=sizes, values={N: 2}, stage=Stage(end=1, dense=1))


STEP = (Phase.STEP,)
LEDGER = book(
    (Category.WEIGHTS, 30, ALL_PHASES),
    (Category.ACTIVATIONS, 70, (Phase.LOSS,)),
    (Category.OPTIMIZER_STATE, 15, STEP),
    (Category.GRADIENTS, 15, STEP),
    (Category.CUDA_CONTEXT, 900, ALL_PHASES),
)


def pieces(drawn, phase):
    return next(dict(bar.pieces) for bar in drawn.bars if bar.phase is phase)


def test_a_bar_stacks_what_is_allocated_by_category():
    drawn = chart(LEDGER, 100, 10)
    assert pieces(drawn, Phase.LOSS) == {Category.WEIGHTS: 3, Category.ACTIVATIONS: 7}


@pytest.mark.parametrize("width", [7, 10, 33, 50])
def test_the_columns_of_a_bar_add_up_to_its_size(width):
    drawn = chart(LEDGER, 100, width)
    for bar in drawn.bars:
        assert abs(sum(n for _, n in bar.pieces) - bar.size * width / drawn.scale) <= 0.5


def test_a_card_larger_than_the_peak_sets_the_scale():
    drawn = chart(LEDGER, 200, 10)
    assert (drawn.scale, drawn.limit) == (200, 10)


def test_a_card_smaller_than_the_peak_is_marked_inside():
    drawn = chart(LEDGER, 50, 10)
    assert (drawn.scale, drawn.limit) == (100, 5)


def test_a_card_that_would_leave_nothing_to_see_is_left_out():
    drawn = chart(LEDGER, 10_000, 10)
    assert (drawn.scale, drawn.limit) == (100, None)


def test_an_empty_ledger_has_empty_bars():
    assert all(bar.pieces == () for bar in chart(book(), 100, 10).bars)


def test_the_key_names_what_is_drawn():
    assert used(LEDGER) == (
        Category.WEIGHTS,
        Category.GRADIENTS,
        Category.OPTIMIZER_STATE,
        Category.ACTIVATIONS,
    )
