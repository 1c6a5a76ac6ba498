"""A number is heard at the end of what was thought aloud, and nowhere else."""

import pytest

from problems.interview.drawing import interview
from quiz.interview.events import Answered
from quiz.interview.sitting import Sitting, respond


def asked(key):
    """A junior who is asked this question, with every one before passed over."""
    sitting = Sitting(interview=interview("junior", 20, 1))
    while sitting.question.key != key:
        sitting, _ = respond(sitting, "", 1.0)
    return sitting


@pytest.fixture(scope="module")
def at_states():
    """How much the states take."""
    return asked("states")


@pytest.fixture(scope="module")
def at_prediction():
    """By how much a lever would lower the peak."""
    return asked("prediction")


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("58 GB", "58 GB"),
        ("18 bytes each, so 3.2e9 * 18 = 58 GB", "58 GB"),
        ("linear in N, so that makes about 58 GB.", "58 GB"),
        ("18 bytes for each of 3.2 billion, that gives 58 GB", "58 GB"),
        ("2 + 4 + 4 + 8 is 18, times 3.2 billion => 58 GB", "58 GB"),
        ("weights and all the rest: the total is 58 GB", "58 GB"),
        ("my answer: 58 GB", "58 GB"),
        ("so 58", "58 GB"),
        ("actually it's 58", "58 GB"),
        ("no, 58 GB", "58 GB"),
        ("sorry, 58 GB", "58 GB"),
        ("wait, 58 GB.", "58 GB"),
        ("correction: 58 GB", "58 GB"),
        ("weights 6.4 + grads 12.9 + the rest 38.7 = 58 GB", "58 GB"),
        ("I'd say 55-60 GB", "55 to 60 GB"),
        ("nothing is sharded, so no rank has less, therefore 58 GB", "58 GB"),
    ],
)
def test_the_answer_is_what_the_line_comes_to(at_states, typed, number):
    sitting, event = respond(at_states, typed, 1.0)
    assert isinstance(event, Answered)
    assert number in event.verdict.reading
    assert sitting.exchange.said[-1].typed == typed


@pytest.mark.parametrize(
    "typed",
    [
        "the master copy has 4 bytes a parameter",
        "the total depends on the optimizer",
        "so what about the 2 moments of AdamW?",
        "with s = 4096 and b = 2",
        "16-bit weights, so the gradients may be fp32",
        "it makes a difference of 4 bytes a parameter whether they are fp32",
    ],
)
def test_a_thought_with_figures_in_it_is_a_thought(at_states, typed):
    assert not isinstance(respond(at_states, typed, 1.0)[1], Answered)


@pytest.mark.parametrize(
    "typed",
    [
        "by about 25 GB",
        "about 25 GB saved",
        "25 GB less",
        "roughly 25 GB lower.",
        "25 gb off the peak",
        "around 25 GB would be saved",
        "it drops by about 25 GB",
        "I expect it to go down by 25 GB",
        "I'd save 25 GB",
        "that cuts the peak by roughly 25 GB",
        "the peak falls 25 GB",
        "frees up 25 GB",
        "we get rid of 25 GB",
        "minus 25 GB",
        "only one layer is kept at a time, so 25 GB less",
        "the scores go away: 24 layers, saving 25 GB",
        "I predict 25 GB",
    ],
)
def test_a_saving_is_heard_as_it_is_said(at_prediction, typed):
    _, event = respond(at_prediction, typed, 1.0)
    assert isinstance(event, Answered)
    assert "25 GB" in event.verdict.reading


@pytest.mark.parametrize(
    "typed",
    [
        "it drops to 25 GB",
        "it lowers each rank to 25 GB",
        "I would cut the micro-batch to 2",
        "drop 12 of 24 layers",
        "divided by 8 GPUs",
        "the weights take 25 GB of that",
    ],
)
def test_what_is_left_behind_a_lever_is_no_saving(at_prediction, typed):
    assert not isinstance(respond(at_prediction, typed, 1.0)[1], Answered)


def test_a_saving_thought_of_at_another_question_is_a_thought(at_states):
    assert not isinstance(respond(at_states, "recompute frees up 25 GB", 1.0)[1], Answered)
