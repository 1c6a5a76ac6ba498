"""The distance between a typed order and the right one."""

from fractions import Fraction
from itertools import chain, combinations, permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quiz.marking.kendall import distance, pairs

# Groups as words: "ab c" is a and b tied, then c.
ROWS = [
    # typed, right, lost pairs, pairs
    ("a b c d", "a b c d", 0, 6),
    ("d c b a", "a b c d", 6, 6),
    ("b a c d", "a b c d", 1, 6),
    ("a b d c", "a b c d", 1, 6),
    ("b c d a", "a b c d", 3, 6),
    ("d a b c", "a b c d", 3, 6),
    ("c d a b", "a b c d", 4, 6),
    ("abcd", "a b c d", 3, 6),
    ("ab c d", "a b c d", "1/2", 6),
    ("ab cd", "a b c d", 1, 6),
    ("cd ab", "a b c d", 5, 6),
    ("a b c", "a b c d", 3, 6),
    ("d a", "a b c d", 6, 6),
    ("a d", "a b c d", 5, 6),
    ("a b c d", "ab c d", 0, 5),
    ("b a c d", "ab c d", 0, 5),
    ("ab c d", "ab c d", 0, 5),
    ("c a b d", "ab c d", 2, 5),
    ("ac b d", "ab c d", "3/2", 5),
    ("d c b a", "ab c d", 5, 5),
    ("b a", "a b", 1, 1),
    ("ab", "a b", "1/2", 1),
    ("c b a", "ab c", 2, 2),
    ("a c b", "abd c", "2", 3),
]

LETTERS = "abcdefgh"


def groups(words):
    return tuple(tuple(word) for word in words.split())


@pytest.mark.parametrize(("typed", "right", "lost", "whole"), ROWS)
def test_a_distance_is_the_share_of_pairs_lost(typed, right, lost, whole):
    assert distance(groups(typed), groups(right)) == Fraction(lost) / whole
    assert len(pairs(groups(typed), groups(right))) == whole


@st.composite
def orders(draw, *, letters=None, ties=True):
    """An order of some letters, cut into groups."""
    letters = letters or LETTERS[: draw(st.integers(2, len(LETTERS)))]
    shuffled = draw(st.permutations(letters))
    made = [[shuffled[0]]]
    for letter in shuffled[1:]:
        if ties and draw(st.booleans()):
            made[-1].append(letter)
        else:
            made.append([letter])
    return tuple(map(tuple, made))


@st.composite
def two_orders(draw, *, ties=True):
    right = draw(orders(ties=ties).filter(lambda order: len(order) > 1))
    return draw(orders(letters=sorted(chain(*right)), ties=ties)), right


@given(orders())
def test_the_right_order_is_at_no_distance(order):
    assume(len(order) > 1)
    assert distance(order, order) == 0


@given(orders())
def test_the_order_upside_down_is_as_far_as_can_be(order):
    assume(len(order) > 1)
    assert distance(order[::-1], order) == 1


@given(two_orders())
def test_a_distance_is_a_share(both):
    assert 0 <= distance(*both) <= 1


@given(two_orders(ties=False))
def test_without_ties_the_two_orders_may_change_places(both):
    typed, right = both
    assert distance(typed, right) == distance(right, typed)


@given(two_orders())
def test_an_order_and_its_reverse_share_the_pairs(both):
    typed, right = both
    assert distance(typed, right) + distance(typed[::-1], right) == 1


@given(st.data())
def test_without_ties_no_detour_is_shorter(data):
    letters = "abcde"
    a, b, c = (data.draw(orders(letters=letters, ties=False)) for _ in range(3))
    assert distance(a, c) <= distance(a, b) + distance(b, c)


@given(two_orders(), st.permutations(LETTERS))
def test_names_do_not_matter(both, other):
    new = dict(zip(LETTERS, other, strict=True))
    renamed = [tuple(tuple(new[key] for key in group) for group in order) for order in both]
    assert distance(*renamed) == distance(*both)


@given(two_orders())
def test_where_the_right_order_ties_any_order_is_as_good(both):
    typed, right = both
    mixed = tuple(group[::-1] for group in right)
    assert distance(typed, mixed) == distance(typed, right)


@given(orders())
def test_a_tie_of_the_right_order_may_be_broken_for_nothing(order):
    assume(len(order) > 1)
    assert distance(tuple((key,) for group in order for key in group), order) == 0


@given(orders(), st.data())
def test_a_tie_where_the_right_order_has_none_costs_half_of_its_pairs(order, data):
    assume(len(order) > 1)
    place = data.draw(st.integers(0, len(order) - 2))
    tied = (*order[:place], order[place] + order[place + 1], *order[place + 2 :])
    lost = Fraction(len(order[place]) * len(order[place + 1]), 2)
    assert distance(tied, order) == lost / len(pairs(tied, order))


@given(two_orders(), st.data())
def test_leaving_an_item_out_never_pays(both, data):
    typed, right = both
    gone = data.draw(st.sampled_from(sorted(chain(*typed))))
    left = tuple(filter(None, (tuple(k for k in group if k != gone) for group in typed)))
    assert distance(left, right) >= distance(typed, right)


def test_without_ties_it_is_kendalls_own():
    right = groups("a b c d")
    for typed in permutations("abcd"):
        inversions = sum(one > other for one, other in combinations(typed, 2))
        assert distance(tuple((key,) for key in typed), right) == Fraction(inversions, 6)
