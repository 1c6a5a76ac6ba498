"""A number is heard at the end of what was thought aloud, and nowhere else."""

import pytest

from problems.interview.drawing import interview
from quiz.interview.events import Answered
from quiz.interview.sitting import Sitting, respond


@pytest.fixture(scope="module")
def at_states():
    """A junior who is asked how much the states take, with every question before passed over."""
    sitting = Sitting(interview=interview("junior", 20, 1))
    while sitting.question.key != "states":
        sitting, _ = respond(sitting, "", 1.0)
    return sitting


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
