"""Numbers that follow from a candidate's own wrong lines, over interviews as they are drawn.

What follows is added up anew from the lines of the ledger at each moment of a step.
"""

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from engine.estimate import ledger
from engine.ledger import OUTSIDE, Category, Phase
from problems.exact import saved
from problems.interview.drawing import interview
from problems.interview.states import sized
from quiz.interview.marking import card
from quiz.interview.sitting import held

DRAWN = (("junior", 101), ("junior", 3), ("mid", 3), ("mid", 4), ("senior", 4242), ("senior", 7))
LINES = ("states", "activations", "logits", "gathered")
HALF = Fraction(1, 2)


def replies(drawn, lines):
    """The replies by key of the question, after a line to some of them."""
    typed = []
    for question in drawn.questions:
        typed += [(1.0, lines[question.key])] if question.key in lines else []
        typed.append((1.0, ""))
    sitting = held(drawn, typed, at_once=False)
    found = card(sitting, started=datetime(2026, 5, 4, tzinfo=UTC), phrases=lambda _: ())
    return {one.question.key: one for part in found.parts for one in part.replies}, found


def right(drawn, key):
    return next(one.problem.answer.number for one in drawn.questions if one.key == key).value


def of_line(line, x, base, gathered):
    """A line as it is asked for, in another run."""
    if line == "states":
        return sized(x)
    if line == "activations":
        return saved(ledger(x))
    if line == "logits":
        return 12 * x.tokens * x.architecture.vocab
    assert x.architecture == base.architecture
    return gathered


def peak(x, off):
    """The highest moment of a step where each line is off by so many bytes."""
    book = ledger(x)
    sums = []
    for phase in book.phases:
        rows = [
            (line, size)
            for line, size in zip(book.lines, book.sizes, strict=True)
            if phase in line.phases and line.category not in OUTSIDE
        ]
        alive = {"states"} | (
            {"gathered"} if phase in {Phase.LOSS, Phase.BACKWARD_FIRST} else set()
        )
        kept = sum(size for line, size in rows if line.category is Category.ACTIVATIONS)
        alive |= {"activations"} if kept >= saved(book) * 9 // 10 else set()
        alive |= {"logits"} if any(line.category is Category.LOGITS for line, _ in rows) else set()
        sums.append(sum(size for _, size in rows) + sum(off[key] for key in alive & off.keys()))
    return max(sums)


def said(question, own):
    """An own peak as it is typed, with the verdict that goes with it."""
    fits = own <= question.scenario.hardware.gpu.memory
    verdict = ("yes, " if fits else "no, ") if question.problem.answer.type == "yes-no" else ""
    return f"{verdict}{float(own):.0f} bytes"


def carried_on(drawn, wrong):
    """What a candidate types who has some lines wrong by a factor, and adds up rightly."""
    base, gathered = drawn.scenario, right(drawn, "gathered") if "gathered" in wrong else 0

    def own(x):
        return peak(
            x, {key: (by - 1) * of_line(key, x, base, gathered) for key, by in wrong.items()}
        )

    lines = {key: f"{float(by * right(drawn, key)):.0f} bytes" for key, by in wrong.items()}
    asked = {one.key: one for one in drawn.questions}
    for key, question in asked.items():
        if key == "peak" or key.startswith("peak-") or key == "after-the-lever":
            lines[key] = said(question, own(question.scenario))
    before, after = asked["prediction"].scenario, asked["after-the-lever"].scenario
    return lines | {"prediction": f"{float(own(before) - own(after)):.0f} bytes"}


@pytest.mark.parametrize(("level", "seed"), DRAWN)
@pytest.mark.parametrize("by", [HALF, Fraction(2)])
@pytest.mark.parametrize("line", LINES)
def test_what_follows_from_one_wrong_line_counts_in_full(level, seed, by, line):
    drawn = interview(level, 45, seed)
    if line not in {one.key for one in drawn.questions}:
        return
    lines = carried_on(drawn, {line: by})
    marked, found = replies(drawn, lines)
    for key in lines.keys() - {line}:
        assert marked[key].carried or marked[key].verdict.score == 1, key
    assert {key for _, _, key in found.mistakes} <= {line}


@pytest.mark.parametrize(("level", "seed"), DRAWN)
def test_what_follows_from_several_wrong_lines_counts_in_full(level, seed):
    drawn = interview(level, 45, seed)
    lines = carried_on(drawn, {"states": Fraction(3), "activations": HALF, "logits": Fraction(2)})
    marked, _ = replies(drawn, lines)
    for key in lines.keys() - set(LINES):
        assert marked[key].carried or marked[key].verdict.score == 1, key


@pytest.mark.parametrize(("level", "seed"), DRAWN)
def test_a_peak_that_does_not_follow_from_a_wrong_line_is_wrong(level, seed):
    drawn = interview(level, 45, seed)
    wrong = {"activations": f"{float(2 * right(drawn, 'activations')):.0f} bytes"}
    for question in drawn.questions:
        if question.key == "peak" or question.key.startswith("peak-"):
            quarter = said(question, right(drawn, question.key) / 4)
            reply = replies(drawn, wrong | {question.key: quarter})[0][question.key]
            assert not reply.carried
            assert reply.score < 1


def test_halves_of_own_numbers_are_carried_on_as_the_context_halves():
    # 137 GB in place of 322: by hand 0.2 + 68.7 + 19.8 + 1.2 = 89.9, and 137 - 17 = 120.
    drawn = interview("senior", 45, 4242)
    marked, found = replies(
        drawn,
        {
            "activations": "137.4 GB",
            "peak": "178.4 GB",
            "peak-at-1k": "yes, 0.2 + 68.7 + 19.8 + 1.2 = 89.9 GB",
            "prediction": "137 - 17 = 120 GB",
        },
    )
    assert all(marked[key].carried for key in ("peak", "peak-at-1k", "prediction"))
    assert marked["peak-at-1k"].reused
    assert marked["peak-at-1k"].verdict.feedback.startswith("Right but for your own activations;")
    assert {key for _, _, key in found.mistakes} <= {"activations"}
