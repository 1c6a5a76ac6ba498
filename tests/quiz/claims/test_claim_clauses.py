"""Clauses of an answer: where each begins, what it denies, and which concepts are heard in it."""

import pytest

from quiz.claims.clauses import clauses
from quiz.claims.lexicon import lexicon
from quiz.claims.salad import is_salad
from quiz.claims.speech import speech
from quiz.claims.text import tokens


def said(answer):
    typed, words = tokens(answer), lexicon()
    return typed, clauses(typed, words.mentions(typed), words)


@pytest.mark.parametrize(
    "parted",
    [
        "activations stay | because each rank needs its own",
        "weights are sharded | and activations are kept",
        "weights are sharded | or activations are kept",
        "weights, gradients and states are sharded",
        "weights fall, gradients too",
        "it falls | as each rank has less",
        "it is as big as the weights",
        "it falls just as it does in training",
        "it takes so much memory that it fails",
        "the weights grow so far that it fails",
        "there are so many ranks that it fits",
        "they fall | so the peak falls",
        "it falls though",
        "it falls | though it stays high",
        # "And" joins two things where nothing but the last of them is said to do anything.
        "ZeRO splits it as weights and gradients are kept",
        "it falls | because weights shrink",
    ],
)
def test_a_clause_begins_where_something_else_is_said(parted):
    answer = parted.replace(" | ", " ")
    typed, found = said(answer)
    assert [answer[typed[one.first].start : typed[one.last].end] for one in found] == (
        parted.split(" | ")
    )


@pytest.mark.parametrize("word", ["true", "false", "right", "t", "f", "y", "n", "no"])
def test_a_verdict_is_no_member_of_the_list_behind_it(word):
    typed, (first, second) = said(f"{word}, weights, moments")
    assert [token.word for token in typed[second.first : second.last + 1]] == [
        "weights", ",", "moments",
    ]  # fmt: skip
    assert first.last < second.first


@pytest.mark.parametrize(
    ("answer", "denied"),
    [
        ("it does not shard activations", ["not shard activations"]),
        ("activations are not", ["activations are not"]),
        ("activations stay without", ["without"]),
        ("no gradients with lora", ["no gradients"]),
        ("no gradients and fewer weights", ["no gradients"]),
        ("no gradients they say", ["no gradients"]),
        ("there are no gradients in lora", ["no gradients in lora"]),
        # A "no" that answers the claim denies no thing.
        ("no", []),
        ("no activations are sharded", []),
        ("no because weights are kept", []),
        ("well no", []),
        ("no -> weights are kept", []),
        ("no = it falls", []),
        # But this says that there are none.
        ("no activations", ["no activations"]),
        ("no doubt weights are kept", []),
    ],
)
def test_a_word_that_denies_does_so_as_far_as_it_goes(answer, denied):
    typed, found = said(answer)
    assert [
        " ".join(token.word for token in typed[one.first : one.last + 1])
        for clause in found
        for one in clause.negations
    ] == denied


@pytest.mark.parametrize(
    ("typed", "concept"),
    [
        ("actvations", "activation"),
        ("gradeints", "gradient"),
        ("optimzer", "optimizer"),
        ("paramters", "weight"),
        ("checkpoimting", "checkpointing"),
        ("varience", "moment"),
        ("activation", "activation"),
    ],
)
def test_a_long_word_with_a_slip_is_heard(typed, concept):
    assert concept in {mention.concept for mention in lexicon().mentions(tokens(typed))}


def test_a_short_word_with_a_slip_is_another_word():
    assert lexicon().mentions(tokens("grab")) != lexicon().mentions(tokens("grad"))


def test_the_longest_phrase_is_heard_and_nothing_within_it():
    (heard,) = lexicon().mentions(tokens("fp32 master weight"))
    assert (heard.concept, heard.first, heard.last) == ("master", 0, 2)


@pytest.mark.parametrize(
    ("answer", "taken_up"),
    [
        # "They" are the things named before; what is left out is what they do.
        ("weights shrink. they are sharded", {"weight"}),
        ("weights are sharded. moments also", {"shard"}),
        ("weights are sharded. moments also. activations also", {"shard"}),
        ("weights are sharded. moments are kept", set()),
        ("weights are sharded. moments", set()),
    ],
)
def test_the_last_clause_takes_up_what_it_leaves_out(answer, taken_up):
    _, found = said(answer)
    heard = {mention.concept for mention in found[-1].spoken_of}
    assert heard & {"weight", "gradient", "shard"} == taken_up


@pytest.mark.parametrize(
    ("answer", "salad"),
    [
        ("shard rank micro-batch params", True),
        ("rank params 8", True),
        ("rank 8 params 16", False),
        ("zero cuts params", False),
        ("zero params sharded", True),
        ("rank holds params", False),
        ("rank / params", True),
        ("rank params 8%", True),
        ("rank = params", False),
        ("the params", False),
    ],
)
def test_a_row_of_keywords_joins_nothing(answer, salad):
    assert is_salad(tokens(answer), lexicon()) is salad


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        ("not only that", ("not", "only")),
        ("not even close to it", ("not", "even", "close")),
        ("no more than", ("no", "more", "than")),
        ("not at", None),
    ],
)
def test_the_longest_idiom_that_stands_here_is_heard(words, phrase):
    assert speech().longest_at("cancelled", words.split(), 0) == phrase
