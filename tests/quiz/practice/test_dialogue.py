import itertools
from fractions import Fraction

import pytest

from engine.errors import Fault, InputError
from quiz.practice.dialogue import Dialogue
from quiz.practice.session import Session


class Script:
    """A learner who types given lines and remembers what was shown; the journal writes there."""

    def __init__(self, *lines, interactive=True):
        self.lines = list(lines)
        self.interactive = interactive
        self.log = []

    def read(self):
        line = self.lines.pop(0) if self.lines else None
        if isinstance(line, BaseException):
            raise line
        return line

    def ask(self, session, _problem):
        self.log.append(f"ask {session.position}")

    def tell(self, event, _problem):
        self.log.append(type(event).__name__)

    def pause(self, _session, _problem):
        self.log.append("pause")
        return self.read()

    def explain(self, _problem):
        self.log.append("explain")

    def record(self, position, given):
        self.log.append(f"record {position} {given.verdict.answer}")

    def undo(self, position):
        self.log.append(f"undo {position}")

    def overrule(self, position, mark):
        self.log.append(f"overrule {position} {mark}")

    def finish(self):
        self.log.append("finish")


@pytest.fixture
def sit(states_problem):
    def run(script, *, journal=None, problem=states_problem):
        seconds = itertools.count()
        dialogue = Dialogue(
            Session(problems=("made@7", "made@8")),
            learner=script,
            journal=journal or script,
            build=lambda _id: problem,
            clock=lambda: next(seconds),
        )
        return dialogue, dialogue.run()

    return run


def test_an_answer_is_kept_before_its_verdict_is_shown(sit):
    script = Script("37 GB", "", "25.27 GB", "")
    _, ending = sit(script)
    assert ending == "finished"
    assert script.log == [
        "ask 0", "record 0 37 GB", "Marked", "pause",
        "ask 1", "record 1 25.27 GB", "Marked", "pause",
        "finish",
    ]  # fmt: skip


@pytest.mark.parametrize("typed", ["o partial", "overrule PARTIAL", " o p "])
def test_the_mark_of_a_claim_can_be_overruled_and_is_kept_before_it_is_said(
    sit, claim_problem, typed
):
    script = Script("true", "o", typed, "", "false", "")
    dialogue, _ = sit(script, problem=claim_problem)
    assert script.log[:8] == [
        "ask 0", "record 0 true", "Marked", "pause", "WantsMark", "pause",
        "overrule 0 partial", "Overruled",
    ]  # fmt: skip
    first, second = dialogue.session.attempts
    assert (first.own, first.score, first.verdict.verdict) == ("partial", Fraction(1, 2), "wrong")
    assert (second.own, second.score) == (None, second.verdict.score)


def test_a_number_is_marked_by_rule(sit):
    script = Script("37 GB", "o correct", "")
    dialogue, _ = sit(script)
    assert script.log[3:6] == ["pause", "CannotOverrule", "pause"]
    assert dialogue.session.attempts[0].own is None


def test_behind_a_pipe_every_line_is_an_answer(sit):
    script = Script("37 GB", "25.27 GB", interactive=False)
    assert sit(script)[1] == "finished"
    assert "pause" not in script.log


def test_once_the_solution_was_read_between_two_questions_the_answer_stands(sit):
    script = Script("37 GB", "w", "u", "", "25.27 GB")
    dialogue, ending = sit(script)
    assert ending == "finished"
    assert script.log[:8] == [
        "ask 0", "record 0 37 GB", "Marked", "pause", "explain", "pause", "Stands", "pause",
    ]  # fmt: skip
    assert dialogue.session.attempts[0].verdict.answer == "37 GB"


def test_a_hint_is_of_an_open_question_and_shows_nothing_behind_a_verdict(sit):
    script = Script("37 GB", "h", "u", "25.27 GB")
    sit(script)
    assert script.log[3:8] == ["pause", "NoHint", "pause", "undo 0", "Undone"]


def test_between_two_questions_the_answer_can_be_taken_back(sit):
    script = Script("37 GB", "u", "25.27 GB")
    dialogue, _ = sit(script)
    assert script.log[3:6] == ["pause", "undo 0", "Undone"]
    assert dialogue.session.attempts[0].verdict.answer == "25.27 GB"


def test_the_last_answer_can_be_taken_back_before_the_set_ends(sit):
    script = Script("1 GB", "", "2 GB", "u", "25.27 GB", "")
    dialogue, ending = sit(script)
    assert ending == "finished"
    assert [g.verdict.answer for g in dialogue.session.attempts] == ["1 GB", "25.27 GB"]


@pytest.mark.parametrize(
    ("lines", "position"),
    [(("q",), 0), ((), 0), (("37 GB", "q"), 1), (("37 GB",), 1), (("37 GB", "", "quit"), 1)],
)
def test_stopping_leaves_the_set_where_it_is(sit, lines, position):
    dialogue, ending = sit(Script(*lines))
    assert (ending, dialogue.session.position) == ("stopped", position)


def test_an_interrupt_keeps_what_was_answered(sit):
    script = Script("37 GB", "", KeyboardInterrupt())
    dialogue, ending = sit(script)
    assert (ending, dialogue.session.position) == ("interrupted", 1)


def test_an_interrupt_behind_the_last_verdict_ends_the_set(sit):
    script = Script("37 GB", "", "25.27 GB", KeyboardInterrupt())
    assert sit(script)[1] == "finished"
    assert script.log[-1] == "finish"


@pytest.mark.parametrize(("typed", "told"), [("25 GB", "NotACommand"), ("?", "Help")])
def test_behind_a_verdict_nothing_is_dropped_without_a_word(sit, typed, told):
    script = Script("37 GB", typed, "")
    sit(script)
    assert script.log[3:6] == ["pause", told, "pause"]


def test_an_answer_that_cannot_be_kept_is_not_marked(sit):
    class Full(Script):
        def record(self, *_):
            raise InputError(Fault("disk", "is full"))

    script = Script("37 GB")
    with pytest.raises(InputError):
        sit(script, journal=Full())
    assert script.log == ["ask 0"]
