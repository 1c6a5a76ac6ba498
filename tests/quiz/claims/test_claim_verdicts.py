"""Verdicts in answers to claims: true, false, denied, doubly denied, quoted, corrected, hedged."""

import pytest

from quiz.claims.clauses import clauses
from quiz.claims.lexicon import lexicon
from quiz.claims.text import tokens
from quiz.claims.verdicts import stated


def last(answer, *, negative=False):
    typed, words = tokens(answer), lexicon()
    said = clauses(typed, words.mentions(typed), words)
    found = stated(typed, said, negative=negative) if said else ()
    return found[-1] if found else None


ROWS = """
T true
F false
T yes
F no
F nope, nah
T yep
T correct
F incorrect
F that's wrong
T that's right
F not true
T not false
F not correct
T not incorrect
T it isn't wrong
T I can't disagree
F can't agree
F I disagree
T agreed
F I don't think that's true
F i dont believe this is right
F wouldn't say it's correct
T wouldn't say it's wrong
F it's not true that it halves
F it is false that activations are sharded
T it's true that it falls
F not quite
F not really, no
F hardly
F far from true
F this is a myth
F common misconception
F couldn't be more wrong
T couldn't be more true
F true? no
F true... no wait, false
F yes, wait, no
T no, sorry, yes
T false.. no hang on, true
F "true" is what i'd have said last year. false
F they say it's true. it's not
F people say true but it's false
F my first thought was true, but no
F i was going to say true but it's false
F i'd love to say true, but no
F I thought yes at first. No.
T at first i thought false, but it's true
T i used to think it was false; it's true
F lol no
F absolutely not
F definitely false
T absolutely
T definitely true
F nah man
F Nope!
T Yup, that's right
F wrong wrong wrong
F F
T T
F f, because x
F n
T y
F this is plain wrong
F that is simply incorrect
F the statement is false
F the claim doesn't hold
F claim is not right
T the claim holds
T statement is accurate
F that statement is inaccurate
F bs
F nonsense
F no way
F i doubt it
T no doubt about it
T true enough, yes
T I see nothing wrong with it
T nothing wrong with that
T can't fault it
T there's nothing false here
F there is nothing true about this
F never true
F it does not
F no it doesnt
F they dont
T it does
F not the case
F that isn't so
F no, that's not how it works
F not how it works
F it's a common myth
F a misconception
F that's a lie
T hard to argue with that
T I'd say true
F I'd say false
F probably false
T probably true
F I guess it's false
F mistaken
F the opposite is true
F quite the opposite
F on the contrary
F negative
T affirmative
F X - wrong
F -> false
F so it's false
F thus false
F therefore: no
F which makes it false
F hence incorrect
T so yes
T hence true
F so no
F the right answer is false
T the right answer is true
F answer: false
T answer = true
F verdict: no
F i call bs
F it would be true if the batch was one, but it isn't, so false
F that would be true only for inference
F true for sgd? no. false
F not exactly
F not at all
F By no means
F in no way
F no chance
F if only
F i wish
F wishful thinking
F nah thats not right
F thats just not true
F thats not a true statement
F I can't say that's true
T I can't say that's false
F can't say that's not false
F it isn't not wrong
T it's not not true
F untrue
T not untrue
F that's false, not true
T that's true, not false
F wrong, it's true only for weights
F True would be wrong here
F true is wrong
F I'd mark it false
F fales
F flase
T ture
T treu
F wrogn
F icorrect
T corect
F no.
F No, no, no
F hmm... no
F Hmm, false I think
F well no
F ehm no
F eh, false
F Sounds true, is false
F looks true but isn't
F seems true but is false
F tempting to say true, but false
F easy to believe, but wrong
F i keep hearing this but no
F as stated, false
F strictly speaking false
F false as written
F No (and it never did)
F neither true nor useful: false
F it's just false
F unfortunately not
F sadly no
F afraid not
T surely
T sure
T certainly
T obviously true
F obviously false
F obviously not
F of course not
T of course
T exactly
T indeed
T yea
F nay
F disagree
F strongly disagree
T i agree with this
F i do not agree
F don't agree
F would not agree
F cannot be right
F can't be true
F this can't be
F It must be false
T this is correct
T it's correct
F that's incorrect
T that is accurate
F 100% false
T 100% true
F falsch
F therefore no
F activations not really
F this is not quite what happens
T indeed the weights stay
T absolutely the weights stay
F probably no
F verdict = false
T claim = true
F not true, not at all
T not untrue
T not incorrect, i'd say
""".strip().splitlines()


@pytest.mark.parametrize("row", ROWS)
def test_the_last_verdict_counts_with_its_denials(row):
    value, _, answer = row.partition(" ")
    verdict = last(answer)
    assert verdict is not None
    assert verdict.value == (value == "T")


@pytest.mark.parametrize(
    "answer",
    [
        "the moments are allocated in the first step",
        "weights no",
        "activations yes",
        "no extra compute is needed",
        "people say it is true",
        '"this is true" they tell you',
        "right before the step the gradients are there",
        "the right number is 16",
        "exactly one copy is kept",
        "exactly one copy",
        "certainly the weights stay",
        "the ranks do not really keep weights there",
        "it is true that activations get smaller with it",
        "f(x) is run again",
        "dropout=False",
        "in the answer dropout = False",
        "the weights shrink, true, but the rest stays",
        "the weights shrink, true, yet the rest stays",
        "the weights shrink, that is true, however the rest stays",
        "the weights shrink, right",
        "",
    ],
)
def test_what_states_no_verdict_has_none(answer):
    assert last(answer) is None


@pytest.mark.parametrize(
    "answer",
    ["true-ish", "kinda true", "sort of yes", "mostly true", "true i guess", "technically true"],
)
def test_a_hedge_is_heard(answer):
    assert last(answer).hedged


@pytest.mark.parametrize("answer", ["true", "definitely true", "yes, it is"])
def test_a_firm_verdict_is_no_hedge(answer):
    assert not last(answer).hedged


@pytest.mark.parametrize(
    "answer",
    [
        # What is granted is what stands before, in the same sentence, and something must follow.
        "true, but the rest stays",
        "the weights shrink. true, but the rest stays",
        "the weights shrink, true",
        "the weights shrink, true, and the rest stays",
    ],
)
def test_who_grants_nothing_states_a_verdict(answer):
    assert last(answer).value


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("it is a common misconception", "common misconception"),
        ("it is not true", "true"),
        ("hmm no", "no"),
    ],
)
def test_a_verdict_knows_its_words(answer, words):
    verdict, typed = last(answer), tokens(answer)
    assert " ".join(token.word for token in typed[verdict.first : verdict.last + 1]) == words


def test_it_does_contradicts_a_claim_that_denies_something():
    assert last("it does", negative=True).value is False
    assert last("it doesn't", negative=True).value is True
