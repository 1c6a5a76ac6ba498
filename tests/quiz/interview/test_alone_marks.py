from collections import Counter
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from problems.answers.yes_no import YesNoAnswer
from problems.interview.drawing import interview as drawn_interview
from problems.interview.points import table
from problems.registry import kinds
from quiz.interview.events import Stands
from quiz.interview.marking import card
from quiz.interview.sitting import held, respond

STARTED = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
DRAWN = drawn_interview("mid", 30, 11)


@pytest.fixture
def marked(interview, phrases):
    """The replies by key, and the scorecard, after lines by key of the question."""

    def after(lines, *, of=interview, until=None):
        typed = []
        for question in of.questions:
            typed += [(10.0, line) for line in lines.get(question.key, ())]
            if question.key == until:
                break
            typed.append((10.0, ""))
        sitting = held(of, typed, at_once=False)
        found = card(sitting, started=STARTED, phrases=phrases.__getitem__)
        return {one.question.key: one for part in found.parts for one in part.replies}, found

    return after


def test_the_last_line_that_can_be_read_is_the_answer(marked):
    replies, _ = marked({"states": ("16 bytes a parameter?", "13.5 GB", "107.8 GB", "sure")})
    assert (replies["states"].answer, replies["states"].score) == ("107.8 GB", 1)
    assert replies["states"].typed[-1] == "sure"


def test_a_wrong_number_has_its_mistake_on_the_card(marked):
    replies, found = marked({"states": ("13.5 GB",)})
    assert replies["states"].score < 1
    assert [(name, key) for name, _, key in found.mistakes] == [("weights only", "states")]


def test_a_number_that_follows_from_an_earlier_wrong_one_counts_and_is_no_mistake(marked):
    # The activations are 17.2 GB; of 30 GB, four times as much is 120 GB.
    replies, found = marked({"activations": ("30 GB",), "activations-at-16k": ("120 GB",)})
    assert replies["activations"].score < 1
    assert (replies["activations-at-16k"].carried, replies["activations-at-16k"].score) == (
        True,
        1,
    )
    assert replies["activations-at-16k"].reused
    assert "activations-at-16k" not in {key for _, _, key in found.mistakes}


def test_a_right_number_by_itself_carries_nothing(marked):
    replies, _ = marked({"activations": ("30 GB",), "activations-at-16k": ("68.8 GB",)})
    assert (replies["activations-at-16k"].carried, replies["activations-at-16k"].score) == (
        False,
        1,
    )


def test_points_earn_their_share_of_what_the_level_expects(marked):
    replies, _ = marked({"conditions": ("which micro-batch, and what sequence length?",)})
    assert [one.point.name for one in replies["conditions"].heard] == ["micro-batch", "sequence"]
    # Three are expected at mid; recomputation is a senior's.
    assert replies["conditions"].score == Fraction(2, 3)
    assert [one.name for one in replies["conditions"].missed] == ["precision"]


def test_a_senior_is_expected_to_say_more(marked, senior_interview):
    lines = {"conditions": ("which micro-batch, and what sequence length?",)}
    replies, _ = marked(lines, of=senior_interview)
    assert replies["conditions"].score == Fraction(2, 4)


def test_a_point_above_the_level_makes_up_for_a_missing_one(marked):
    line = "micro-batch, sequence length, and is there any recomputation?"
    replies, _ = marked({"conditions": (line,)})
    assert replies["conditions"].score == 1


def test_a_point_that_was_made_before_it_was_asked_for_counts(marked):
    replies, _ = marked({"conditions": ("the logits are not sharded",), "whole": ("weights",)})
    heard = {one.point.name: one.unasked for one in replies["whole"].heard}
    assert heard == {"weights": False, "logits": True}


def test_a_point_that_is_denied_where_it_is_asked_for_does_not_count_from_before(marked):
    lines = {
        "conditions": ("the logits are not sharded",),
        "whole": ("weights", "the logits are left whole", "no wait, the logits are sharded"),
    }
    replies, _ = marked(lines)
    assert [one.point.name for one in replies["whole"].heard] == ["weights"]


def test_conditions_count_before_the_first_number_alone(marked):
    replies, _ = marked({"states": ("107.8 GB",), "activations": ("micro-batch is 1",)})
    assert replies["conditions"].heard == ()


def test_the_five_aspects_are_the_means_of_their_questions(marked):
    _, found = marked({"states": ("107.8 GB",), "activations": ("17.2 GB",)})
    assert found.aspects["number"] == Fraction(2, 5)
    assert found.aspects["exclusions"] == 0


def test_what_was_not_reached_has_no_mark(marked):
    replies, found = marked({"states": ("107.8 GB",)}, until="states")
    assert not found.finished
    assert found.aspects["number"] == 1
    assert found.aspects["prediction"] is None
    assert replies["activations"].score is None


def test_a_saving_is_predicted_by_its_number_and_its_points_by_halves(marked):
    replies, _ = marked({"saving": ("82.5 GB", "the moments fall, the gradients too")})
    assert replies["saving"].score == 1
    replies, _ = marked({"saving": ("82.5 GB",)})
    assert replies["saving"].score == Fraction(1, 2)


def test_time_is_spent_where_it_was_spent(marked):
    replies, found = marked({"states": ("107.8 GB",)})
    assert replies["states"].seconds == 20
    assert replies["terms"].seconds == 10
    assert found.parts[0].seconds == 40


def test_a_pause_takes_no_time(interview):
    lines = [(5.0, "p"), (900.0, ""), (7.0, "micro-batch")]
    assert held(interview, lines, at_once=False).exchange.seconds == 12


def test_a_line_that_is_taken_back_is_not_heard(marked):
    replies, _ = marked({"conditions": ("micro-batch", "u")})
    assert replies["conditions"].heard == ()


def at(drawn, key):
    """An interview of which every question before one was passed over."""
    before = [one.key for one in drawn.questions].index(key)
    return held(drawn, [(1.0, "")] * before, at_once=False)


def test_no_way_leads_back_from_words_that_tell_an_earlier_answer():
    assert at(DRAWN, "fits").can_undo
    sitting = at(DRAWN, "prediction")
    assert not sitting.can_undo
    stays, event = respond(sitting, "u", 1.0)
    assert (stays.position, event) == (sitting.position, Stands())


def test_no_way_leads_back_from_a_hint_that_tells_earlier_lines():
    sitting = at(DRAWN, "peak")
    assert sitting.can_undo
    hinted, _ = respond(sitting, "hint", 1.0)
    assert not hinted.can_undo
    assert respond(hinted, "50 GB", 1.0)[0].can_undo


def test_what_lost_most_is_practised_next(marked):
    everything = {"states": ("13.5 GB",), "activations": ("17.2 GB",)}
    _, found = marked(everything)
    commands = [command for command, _ in found.next]
    assert "memquiz practice --kind model-states" in commands
    assert all(why for _, why in found.next)


def card_of_mid(lines):
    """The scorecard of a drawn interview, whose points are heard by the table."""
    typed = []
    for question in DRAWN.questions:
        typed += [(10.0, line) for line in lines.get(question.key, ())] + [(10.0, "")]
    sitting = held(DRAWN, typed, at_once=False)
    return card(sitting, started=STARTED, phrases=lambda name: table()[name].phrases)


@pytest.fixture
def of_mid():
    """Its replies by key, after lines by key of the question."""

    def after(lines):
        parts = card_of_mid(lines).parts
        return {one.question.key: one for part in parts for one in part.replies}

    return after


def test_every_aspect_that_lost_has_something_to_practise():
    found = card_of_mid({})
    assert set(found.aspects.values()) == {0}
    told = {aspect for aspect in found.aspects for _, why in found.next if f"({aspect})" in why}
    assert told == set(found.aspects)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", ["junior", "mid"])
def test_kinds_are_for_the_level_and_a_question_has_two_lines_at_most(level, seed):
    upto = {"junior": {"junior"}, "mid": {"junior", "mid"}}[level]
    drawn = drawn_interview(level, 30, seed)
    practises = {one.key.replace("-", " "): one.practises for one in drawn.questions}
    sitting = held(drawn, [(1.0, "")] * len(drawn.questions), at_once=False)
    found = card(sitting, started=STARTED, phrases=lambda _: ())
    rows = [(command.split()[-1], why.split(" (")[0]) for command, why in found.next]
    assert len(rows) == 5
    for kind, key in rows:
        own = {name for name in practises[key] if upto & set(kinds()[name].levels)}
        assert kind in (own or practises[key])
    assert max(Counter(key for _, key in rows).values()) <= 2


def test_a_mistake_that_was_named_is_practised_though_everything_was_lost():
    found = card_of_mid({"states": ["4.27 GB"]})
    (name,) = {name for name, _, key in found.mistakes if key == "states"}
    assert any(why.endswith(name) for _, why in found.next)


def test_what_would_overturn_an_answer_is_heard_behind_the_numbers(of_mid):
    said = "eager attention, recomputation, a longer sequence, fp32 moments"
    reply = of_mid({"states": ["17 GB"], "overturns": [said]})["overturns"]
    assert len(reply.heard) >= 3
    assert reply.score >= Fraction(3, 4)
    assert of_mid({"conditions": [said], "states": ["17 GB"]})["overturns"].score == 0


def test_a_peak_that_follows_from_wrong_states_counts(of_mid):
    right = of_mid({})["peak"].question.problem.answer.number.value
    states = of_mid({})["states"].question.problem.answer.number.value
    own = 2 * states
    typed = {
        "states": [f"{float(own):.0f} bytes"],
        "peak": [f"{float(right + states):.0f} bytes"],
    }
    reply = of_mid(typed)["peak"]
    assert reply.carried
    assert reply.score == 1


# The run of `of_mid`: a peak of 52.5 GB on a card with 150.8 GB.
@pytest.mark.parametrize(
    ("peak", "verdict", "counts"),
    [("500 GB", "no", True), ("500 GB", "tight", False), ("148 GB", "tight", True)],
)
def test_a_verdict_that_follows_from_a_wrong_peak_counts(of_mid, peak, verdict, counts):
    reply = of_mid({"peak": [peak], "fits": [verdict]})["fits"]
    assert (reply.carried, reply.score) == (counts, int(counts))
    assert of_mid({"peak": [], "fits": [verdict]})["fits"].score == 0


def test_a_carried_number_needs_the_yes_or_no_that_goes_with_it(of_mid):
    key, reuse = next(
        (key, reply.question.reuses[0])
        for key, reply in of_mid({}).items()
        if key.startswith("peak-") and isinstance(reply.question.problem.answer, YesNoAnswer)
    )
    follows = float(500 * 10**9 + reuse.plus)
    for yes, carried in (("no", True), ("yes", False)):
        typed = {"peak": ["500 GB"], key: [f"{yes}, {follows:.0f} bytes"]}
        assert of_mid(typed)[key].carried is carried
