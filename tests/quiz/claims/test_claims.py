"""Answers to claims: their labels, the points credited, the false statements, and the words."""

import sys
from collections import Counter
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from problems.claims import claims
from quiz.answers import Unreadable
from quiz.claims.grade import ClaimVerdict, grade_claim
from quiz.claims.text import LONGEST_REASON
from quiz.claims.weights import weights

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "benchmarks")]
from agreement import line, marks
from claim_answers import WRITTEN, answers, digest, unseen

CLAIMS = list(claims().values())
LEARNT, UNSEEN = list(answers()), list(unseen())
MARKED = (HERE / "agreement.txt").read_text(encoding="utf-8").splitlines()[1:]
HOSTILE = [
    "false " * 333,
    "not " * 499,
    "(" * LONGEST_REASON,
    '"' * LONGEST_REASON,
    "activations and " * 120,
    "aaaaaaab " * 220,
    "activation shard rank own microbatch not " * 48,
]


def marked(name, answer):
    verdict = grade_claim(name, answer)
    assert isinstance(verdict, ClaimVerdict), verdict
    return verdict


def words(verdict, kind):
    """Return what of the answer each span of a kind holds, by the name of the span."""
    return {
        span.name: verdict.answer[span.start : span.end]
        for span in verdict.spans
        if span.kind == kind
    }


@pytest.mark.parametrize("asked", CLAIMS, ids=lambda asked: asked.id)
def test_the_core_of_a_claim_is_a_correct_answer(asked):
    assert marked(asked.id, asked.core).label == "correct"


@pytest.mark.parametrize("asked", CLAIMS, ids=lambda asked: asked.id)
def test_the_right_verdict_alone_is_partial_and_the_other_one_is_wrong(asked):
    right, wrong = ("True", "False") if asked.truth else ("False", "True")
    assert marked(asked.id, f"{right}.").label == "partial"
    assert marked(asked.id, f"{wrong}.").label == "wrong"


@pytest.mark.parametrize("asked", CLAIMS, ids=lambda asked: asked.id)
def test_the_other_verdict_with_the_core_reason_is_wrong(asked):
    wrong = "false" if asked.truth else "true"
    reason = asked.core.removeprefix("True: ")
    assert marked(asked.id, f"It is {wrong}: {reason}").label == "wrong"


@pytest.mark.parametrize("asked", CLAIMS, ids=lambda asked: asked.id)
def test_a_claim_repeated_gives_a_verdict_and_no_reason(asked):
    verdict = marked(asked.id, asked.claim)
    assert verdict.label == ("partial" if asked.truth else "wrong")
    assert verdict.credited == ()


@pytest.mark.parametrize(
    ("name", "point"), [(asked.id, point) for asked in CLAIMS for point in asked.points]
)
def test_the_sentence_of_a_point_is_credited(name, point):
    verdict = marked(name, f"{'True' if claims()[name].truth else 'False'}. {point.says}")
    assert point.id in verdict.credited
    assert verdict.label == "correct" or not point.core


@pytest.mark.parametrize(
    ("name", "error"), [(asked.id, error) for asked in CLAIMS for error in asked.errors]
)
def test_the_sentence_of_a_false_statement_is_heard_and_is_no_reason(name, error):
    verdict = marked(name, f"{'True' if claims()[name].truth else 'False'}. {error.says}")
    assert (verdict.error, verdict.label) == (error.id, "wrong")


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        ("zero3-activations", "", "wrong"),
        ("zero3-activations", "   \n ", "wrong"),
        ("zero3-activations", "no idea", "wrong"),
        ("zero3-activations", "nope, activations are per rank", "correct"),
        ("zero3-activations", "false, not activations", "partial"),
        ("zero3-activations", "shard rank activation micro-batch params", "wrong"),
        ("zero3-activations", "the network is the bottleneck with small models", "wrong"),
        ("accumulation", "yes: a chunk's activations are freed before the next chunk", "correct"),
        ("accumulation", "true, but each micro-batch has its own gradient copy", "wrong"),
        ("accumulation", "True: one micro-batch at a time, gradients wait in k copies", "partial"),
        ("checkpointing-doubles", "kind of true: there is an extra forward pass", "partial"),
        ("checkpointing-doubles", "true: there is an extra forward pass", "wrong"),
        ("checkpointing-doubles", "fwd 1, bwd 2, again fwd 1: 4 instead of 3", "correct"),
        ("flash-constant", "it does", "partial"),
        ("lazy-optimizer", "it does", "partial"),
        ("mixed-precision-halves", "2+2+4+8=16, as before", "correct"),
        ("moe-active", "false, all experts' weights, gradients and moments are kept", "correct"),
        ("flash-constant", "true, although a term linear in s is left", "partial"),
        ("first-step-fits", "no, fragmentation", "correct"),
    ],
)
def test_an_answer_has_the_label_of_a_fair_interviewer(name, answer, label):
    assert marked(name, answer).label == label


def test_what_is_said_of_another_claim_earns_nothing():
    verdict = marked("zero1-scales", "activations stay on each rank, for its own micro-batch")
    assert verdict.label != "correct"
    assert "partitioned" not in verdict.credited


def test_a_false_statement_about_the_field_is_heard_beside_a_core_reason():
    answer = "No, the micro-batch decides. Plain DDP shards the optimizer states, by the way."
    verdict = marked("global-batch", answer)
    assert (verdict.label, verdict.error) == ("partial", "plain-ddp-shards")


def test_what_others_say_is_not_what_the_writer_says():
    answer = "People say FSDP shards activations. Every rank keeps those of its own micro-batch."
    assert marked("zero3-activations", answer).label == "correct"


def test_what_the_writer_takes_back_does_not_count():
    answer = "true, activations are sharded.. no wait, false, each rank keeps its own activations"
    verdict = marked("zero3-activations", answer)
    assert (verdict.label, verdict.error) == ("correct", None)


def test_spans_are_the_words_that_earned_and_lost():
    answer = "Nah: each rank keeps its own activations. The weights are replicated though."
    verdict = marked("zero3-activations", answer)
    assert words(verdict, "verdict") == {"false": "Nah"}
    assert "own activations" in words(verdict, "point")["own-activations"]
    assert words(verdict, "error") == {
        "weights-replicated-stage3": "The weights are replicated though"
    }


def test_the_last_verdict_is_a_span_with_its_name():
    assert words(marked("accumulation", "no, wait, true"), "verdict") == {"true": "true"}


@pytest.mark.parametrize(
    "typed", ["not " * 12, "false " * 20, "yes not no not", "he says that " * 9]
)
def test_words_that_say_nothing_earn_nothing_however_often(typed):
    for asked in CLAIMS:
        verdict = marked(asked.id, typed)
        assert verdict.label != "correct"
        assert verdict.credited == ()


def test_who_affirms_a_false_claim_without_a_verdict_is_read_as_calling_it_true():
    verdict = marked("zero3-activations", "Activations are sharded too")
    assert (verdict.label, verdict.said) == ("wrong", True)
    assert verdict.error == "activations-sharded"


def test_who_hedges_the_wrong_way_without_a_verdict_leans_to_that_side():
    answer = (
        "My guess is that it does rise somewhat, even though one micro-batch is held at a time."
    )
    verdict = marked("accumulation", answer)
    assert (verdict.label, verdict.said, verdict.error) == (
        "partial", False, "verdict-hedged-false",
    )  # fmt: skip


def test_what_is_missing_is_told_with_core_points_first():
    verdict = marked("pipeline-divides", "False, the weights are divided.")
    assert verdict.credited == ("weights-divided",)
    assert verdict.missing == ("p-in-flight", "cancels")


def test_a_wrong_answer_is_credited_nothing():
    assert marked("lora-tiny", "True. The frozen weights stay in memory.").credited == ()


@pytest.mark.parametrize(
    ("answer", "offset"),
    [
        ("false \u202e", 6),
        ("no\x1b[31m", 2),
        ("\ud800", 0),
        ("x" * (LONGEST_REASON + 1), LONGEST_REASON),
    ],
)
def test_text_that_cannot_be_shown_is_refused_with_its_place(answer, offset):
    refused = grade_claim("zero3-activations", answer)
    assert isinstance(refused, Unreadable)
    assert refused.offset == offset


@pytest.mark.parametrize(
    "answer", ["false 😀", "\ufb01ne, \uff4eo", "no\u2026 it\u2019s per\u2013rank", "n\u0303o"]
)
def test_text_that_can_be_shown_is_read(answer):
    assert isinstance(grade_claim("zero3-activations", answer), ClaimVerdict)


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_takes_no_time(answer):
    grade_claim("zero3-activations", "false")
    start = process_time()
    grade_claim("zero3-activations", answer[:LONGEST_REASON])
    assert process_time() - start < 0.05  # 15 ms at most on a core of its own


def test_an_unknown_claim_is_an_error():
    with pytest.raises(InputError, match="not known"):
        grade_claim("no-such-claim", "false")


@given(name=st.sampled_from(sorted(claims())), answer=st.text(max_size=300))
def test_no_text_is_an_exception(name, answer):
    assert isinstance(grade_claim(name, answer), ClaimVerdict | Unreadable)


@given(
    name=st.sampled_from(sorted(claims())),
    said=st.lists(st.sampled_from([row.text for row in UNSEEN]), max_size=3),
)
def test_spans_lie_within_the_answer_and_are_in_order(name, said):
    answer = " ".join(said)[:LONGEST_REASON]
    verdict = grade_claim(name, answer)
    if isinstance(verdict, ClaimVerdict):
        places = [(span.start, span.end) for span in verdict.spans]
        assert places == sorted(places)
        assert all(0 <= start < end <= len(answer) for start, end in places)


@pytest.mark.parametrize("known", MARKED, ids=lambda known: known.partition(":")[0])
def test_the_unseen_answers_to_a_claim_are_marked_as_before(known):
    assert line(known.partition(":")[0]) == known, "a wanted change renews agreement.txt"


def test_the_marks_of_every_claim_are_known():
    assert [known.partition(":")[0] for known in MARKED] == [asked.id for asked in CLAIMS]


def shares(rows):
    """Return the share of labels that agree, and that of correct and wrong confused."""
    found = Counter((row.label, verdict.label) for row, verdict in rows)
    agreed = sum(times for (wanted, label), times in found.items() if wanted == label)
    confused = found["correct", "wrong"] + found["wrong", "correct"]
    return agreed / len(rows), confused / len(rows)


@pytest.mark.parametrize("written", [True, False], ids=["all", "reference"])
def test_answers_that_nothing_was_learnt_from_are_labelled_as_people_label_them(written):
    rows = [row for asked in CLAIMS for row in marks(asked.id)]
    agreed, confused = shares([row for row in rows if written or row[0].source != WRITTEN])
    assert agreed >= 0.9
    assert confused <= 0.02


def test_no_unseen_answer_is_learnt_from():
    learnt = {(row.claim, row.text.casefold()) for row in LEARNT}
    assert [row for row in UNSEEN if (row.claim, row.text.casefold()) in learnt] == []


@pytest.mark.parametrize("asked", CLAIMS, ids=lambda asked: asked.id)
def test_every_claim_has_answers_to_learn_from_and_answers_kept_unseen(asked):
    for rows in (LEARNT, UNSEEN):
        labels = {row.label for row in rows if row.claim == asked.id}
        assert labels == {"correct", "partial", "wrong"}
    assert sum(row.claim == asked.id for row in LEARNT) >= 100


def test_the_weights_were_learnt_from_the_answers_as_they_are():
    assert weights().learnt_from == digest(), "run make weights"
