"""What of an answer counts, and where it stands."""

import pytest

from problems.claims import claim
from quiz.claims.features import features, is_plain, telling
from quiz.claims.reading import read

ASKED = claim("zero3-activations")


def found(answer):
    return features(ASKED, read(ASKED, answer))


def words(answer, name):
    """Return the words that make up a feature."""
    reading = read(ASKED, answer)
    return [reading.typed[at].word for at in sorted(features(ASKED, reading)[name])]


@pytest.mark.parametrize(
    ("answer", "name", "made_of"),
    [
        ("false, weights are sharded", "shard", ["sharded"]),
        ("false, weights are not sharded", "not shard", ["sharded"]),
        ("false, weights are not sharded", "not <shard>", ["sharded"]),
        ("false, weights are sharded", "<shard> <weight>", ["weights", "sharded"]),
        ("false, weights and more weights", "<weight>", ["weights", "weights"]),
        ("no. people say weights are sharded", "told shard", ["sharded"]),
        ("no. weights are sharded. weights are kept", "weight", ["weights", "weights"]),
        # The last verdict is the one that counts.
        ("true? no, false", "=right", ["false"]),
        ("false? no, true", "=wrong", ["true"]),
        ("mostly true", "=wrong hedged", ["true"]),
        ("weights are sharded", "=none", []),
        ("false, weights are sharded", "always", []),
    ],
)
def test_a_feature_is_made_up_of_words(answer, name, made_of):
    assert words(answer, name) == made_of


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("false, weights are not sharded", "not weight"),
        ("false, weights are not not sharded", "not <shard>"),
        ("no. people say weights are sharded", "<shard>"),
        ("no. people say weights are sharded", "shard"),
        ('no, "as well" they say', '"'),
        ("no, weights, gradients", ","),
        ("no; yes", ";"),
    ],
)
def test_what_an_answer_does_not_say_is_no_feature_of_it(answer, name):
    assert name not in found(answer)


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        # Nothing but a verdict and little words tells nothing; then from 1, 2, 4, 7, 12 and 20 on.
        ("no, it does not", 0),
        ("no, weights", 1),
        ("no, weights weights", 1),
        ("no, weights gradients", 2),
        ("no, weights gradients moments", 2),
        ("no, weights gradients moments buffers", 3),
        ("no, 8 16", 2),
    ],
)
def test_the_size_of_an_answer_is_told_by_its_different_words(answer, size):
    assert {f"length {size}", f"length {size} =right"} <= found(answer).keys()


def test_the_words_that_tell_something_are_those_beside_verdict_and_little_words():
    assert telling(read(ASKED, "no, the weights are not 8 = sharded")) == {"weight", "8", "shard"}


@pytest.mark.parametrize("name", ["shard", "not shard", "<shard>", "not <shard>"])
def test_a_word_and_a_concept_of_the_writers_own_are_plain(name):
    assert is_plain(name)


@pytest.mark.parametrize("name", ["always", "=right", "length 2", "told shard", "<rank> <shard>"])
def test_what_is_of_all_words_of_others_or_of_two_concepts_is_not_plain(name):
    assert not is_plain(name)
