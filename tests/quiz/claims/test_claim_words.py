"""The words of an answer: contractions, names with marks in them, breaks, quotations, stems."""

import pytest

from quiz.claims.stems import stem
from quiz.claims.text import tokens


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("It DOESN'T", "it does not"),
        ("they hadn't", "they had not"),
        ("it cant", "it can not"),
        ("thats", "that is"),
        ("it's", "it is"),
        ("adam's states", "adam states"),
        ("they're", "they are"),
        ("we'll", "we will"),
        ("i've", "i have"),
        ("i'd", "i would"),
        ("i'm", "i am"),
        ("o'reilly", "oreilly"),
        ("micro-batch", "micro batch"),
        ("ZeRO-3", "zero 3"),
        ("step() frees", "step frees"),
        ("f(x", "f x"),
        ("a\tb\rc", "a b c"),
        ("a\nb", "a  b"),
        ("1,000 x 2.5", "1000 x 2.5"),
        ("no -- really", "no -- really"),
        ("no - really", "no - really"),
        ("16-2", "16 - 2"),
        ("e.g. this, etc.", "eg this , etc"),
        ("approx. 3", "approx 3"),
        ("w/o it, b/c it", "without it , because it"),
        ("a ≈ b → c", "a ~ b -> c"),
        ("s²", "s ^ 2"),
        ("a ✕ b · c", "a * b * c"),
        ("one F-1", "one f 1"),
        ("with 1f1b", "with 1f1b"),
        ("with 1F-1B", "with 1f1b"),
        ("n\u0303o", "no"),
        # A stammer stands once, but who says no twice means it.
        ("it's, it's wrong", "it is wrong"),
        ("you have, you have two", "you have two"),
        ("you have... you have two", "you have two"),
        ("no, no", "no , no"),
        ("two; two", "two ; two"),
        ("it is two, it is three", "it is two , it is three"),
    ],
)
def test_an_answer_is_read_as_these_words(typed, words):
    assert [token.word for token in tokens(typed)] == words.split(" ")


@pytest.mark.parametrize(
    ("typed", "quoted"),
    [
        ('"as well" they say', "as well"),
        ("'it halves' is wrong", "it halves"),
        ("I say ('it halves'): no", "it halves"),
        ('"halves" is wrong', ""),
        ("'halves' is wrong", ""),
        ("the ranks' and the layers' share", ""),
        ('"it falls\nno"', ""),
    ],
)
def test_a_quotation_has_two_words_or_more(typed, quoted):
    assert (
        " ".join(token.word for token in tokens(typed) if token.quoted and token.kind == "word")
        == quoted
    )


def test_every_token_knows_where_it_was_typed():
    typed = "Well…  it DOESN'T — n\u0303o"
    assert [typed[token.start : token.end] for token in tokens(typed)] == [
        "Well", "…", "it", "DOESN'T", "DOESN'T", "—", "n\u0303o",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "forms",
    [
        "shard shards sharded sharding",
        "copy copies copied copying",
        "box boxes boxed boxing",
        "cache caches cached caching",
        "push pushes pushed pushing",
        "branch branches branched branching",
        "quiz quizes",
        "class classes",
        "need needs needed needing",
        "stop stops stopped stopping",
        "trim trims trimmed trimming",
        "fall falls falling fell fallen",
        "reduce reduces reduced reducing",
        "deploy deploys deployed deploying",
        "matrix matrices",
        "three 3",
        "sixteen 16",
        "hundred 100",
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss", "los"),
        ("status", "statu"),
        ("basis", "basi"),
        ("speed", "spe"),
        ("string", "str"),
        ("thing", "th"),
        ("seed", "se"),
        ("zero", "0"),
        ("bus", "bu"),
        ("fill", "fil"),
        ("is", "i"),
    ],
)
def test_an_ending_that_is_none_is_left(one, other):
    assert stem(one) != stem(other)
