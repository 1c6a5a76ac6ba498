"""A draw's values are fixed by kind and seed, and fair."""

from collections import Counter

import pytest

from problems.draw import Draw


def test_first_values_of_a_stream_stay_what_they_are():
    draw = Draw("kind", 7)
    assert [draw.below(1000) for _ in range(8)] == [41, 233, 966, 262, 467, 412, 450, 705]


def test_a_kind_has_a_stream_of_its_own():
    one, other = Draw("one", 1), Draw("other", 1)
    assert [one.below(10**9) for _ in range(4)] != [other.below(10**9) for _ in range(4)]


def test_a_seed_has_a_stream_of_its_own():
    one, other = Draw("kind", 1), Draw("kind", 2)
    assert [one.below(10**9) for _ in range(4)] != [other.below(10**9) for _ in range(4)]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 10, 17])
def test_each_number_below_n_comes_equally_often(n):
    draw, times = Draw("fair", n), 400 * n
    drawn = Counter(draw.below(n) for _ in range(times))
    assert set(drawn) == set(range(n))
    assert max(abs(count - 400) for count in drawn.values()) < 100


@pytest.mark.parametrize("n", [0, -1, 2**512 + 1])
def test_drawing_below_an_impossible_number_is_refused(n):
    with pytest.raises(ValueError, match="cannot draw"):
        Draw("kind", 0).below(n)


def test_the_largest_range_is_drawn_from():
    assert 0 <= Draw("kind", 0).below(2**512) < 2**512


def test_both_ends_of_a_range_are_drawn():
    draw = Draw("kind", 0)
    assert {draw.between(3, 5) for _ in range(100)} == {3, 4, 5}


def test_a_sample_holds_different_items():
    draw = Draw("kind", 0)
    for _ in range(50):
        assert len(set(draw.sample("abcdef", 4))) == 4


def test_a_sample_of_everything_holds_everything():
    assert sorted(Draw("kind", 0).sample("abcdef", 6)) == list("abcdef")


def test_a_sample_of_more_than_there_is_is_refused():
    with pytest.raises(ValueError, match="cannot draw"):
        Draw("kind", 0).sample("abc", 4)


def test_weights_decide_how_often_an_item_comes():
    draw = Draw("kind", 0)
    drawn = Counter(draw.weighted((("often", 3), ("never", 0), ("seldom", 1))) for _ in range(800))
    assert set(drawn) == {"often", "seldom"}
    assert 520 < drawn["often"] < 680


def test_a_chance_in_percent_comes_that_often():
    draw = Draw("kind", 0)
    assert 240 < sum(draw.chance(30) for _ in range(1000)) < 360


def test_of_200_seeds_in_a_row_no_two_get_the_same():
    def drawn(seed):
        draw = Draw("apart", seed)
        return draw.unlike(lambda: (draw.below(40), draw.below(60)))

    for first in (0, 977):
        assert len({drawn(seed) for seed in range(first, first + 200)}) == 200


def test_what_is_unlike_is_told_by_its_key():
    def drawn(seed):
        draw = Draw("key", seed)
        return draw.unlike(lambda: (draw.below(3000), draw.below(10)), lambda pair: pair[0])

    assert len({drawn(seed)[0] for seed in range(200)}) == 200


def test_where_there_is_too_little_to_be_unlike_something_is_drawn():
    draw = Draw("few", 1)
    assert draw.unlike(lambda: draw.below(2)) in {0, 1}
