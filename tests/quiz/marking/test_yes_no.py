"""A yes or no with a difference: what may be said behind the number."""

import pytest

from engine.units import GB
from problems.registry import build
from quiz.answers import Unreadable
from quiz.grading import grade


def _started(*, yes):
    built = (build("engine-starts", seed) for seed in range(20))
    return next(problem for problem in built if problem.answer.value is yes)


@pytest.mark.parametrize(
    ("yes", "behind"),
    [
        *(
            (True, behind)
            for behind in ("left", "left over", "to spare", "are free.", "remaining")
        ),
        *((False, behind) for behind in ("missing", "short", "too little", "is missing!")),
    ],
)
def test_what_is_left_or_missing_may_be_said_behind_the_number(yes, behind):
    problem = _started(yes=yes)
    size = f"{float(problem.answer.proof.value / GB):.3f} GB"
    verdict = grade(problem, f"{'yes' if yes else 'no'}, {size} {behind}")
    assert verdict.score == 1


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("yes, 5 GB missing", "with yes nothing is missing"),
        ("no, 5 GB left", "with no nothing is left"),
    ],
)
def test_a_word_against_the_yes_or_no_is_refused(typed, reason):
    refused = grade(_started(yes=True), typed)
    assert isinstance(refused, Unreadable)
    assert refused.reason.startswith(reason)
    assert typed[refused.offset :] in {"missing", "left"}
