from dataclasses import replace
from fractions import Fraction

import pytest
from desk_keys import STARTED, press, text

from problems.interview.drawing import interview as drawn
from quiz.interview.pages import markdown
from quiz.interview.pressing import Screen, pressed
from quiz.interview.second_card import card
from quiz.interview.second_screen import begun, held
from quiz.interview.second_screen_lines import KEYS, rows, time_said
from quiz.interview.second_screen_terminal import SecondScreen


@pytest.mark.parametrize(
    ("keys", "mark"),
    [("f", Fraction(1)), ("h", Fraction(1, 2)), ("z", Fraction(0)), ("fz", Fraction(0)),
     ("ff", None), ("F", Fraction(1))],
)  # fmt: skip
def test_a_key_gives_a_mark_and_the_same_key_takes_it_back(interview, keys, mark):
    assert press(interview, keys)[0].desk.marks.get("conditions") == mark


def test_digits_tick_points_and_untick_them(interview):
    desk = press(interview, "124")[0].desk
    assert {name for _, name in desk.heard} == {"micro-batch", "sequence", "recompute"}
    assert {name for _, name in press(interview, "121")[0].desk.heard} == {"sequence"}


def test_n_and_b_go_through_the_questions_to_the_end_and_back(interview):
    count = len(interview.questions)
    screen = press(interview, "n" * count)[0]
    assert screen.desk.question is None
    assert "That was the last question." in text(screen)
    assert press(interview, "n" * count + "b")[0].desk.position == count - 1
    assert press(interview, "nnb")[0].desk.position == 1


def test_a_follow_up_is_shown_before_it_is_asked_and_can_be_passed_over(interview):
    at = press(interview, "nnn")[0]
    assert at.desk.question.key == "activations"
    assert "next follow-up: Now 16k context. The activations?" in text(at)
    over = press(interview, "nnnx")[0]
    assert over.desk.passed == {"activations-at-16k"}
    assert "next: Under ZeRO-2, what does no rank get less of?" in text(over)
    assert press(interview, "nnnxn")[0].desk.question.key == "whole"
    back = press(interview, "nnnxnb")[0].desk
    assert back.question.key == "activations-at-16k"
    assert back.passed == set()


@pytest.mark.parametrize(
    ("keys", "says"),
    [("x", "The next question is no follow-up; n goes on to it."), ("9", "There are 4 points"),
     ("r", "No earlier line"), ("b", "This is the first question."), ("k", "? shows the keys"),
     ("nn1", "No points are heard here."), ("full", None)],
)  # fmt: skip
def test_a_key_that_does_nothing_says_why_and_nothing_is_kept(interview, keys, says):
    screen, lines = press(interview, [keys] if says is None else keys)
    assert (says or "No key does that here") in text(screen)
    assert [line for _, line in lines] == [key for key in keys if key == "n" and says]


def test_looking_is_not_kept(interview):
    screen, lines = press(interview, ["w", " ", "?", "\n", "t", "\x1b"])
    assert lines == ()
    assert screen.desk == begun(interview)


def test_w_shows_the_worked_solution_the_wrong_answers_and_the_hints(interview):
    said = text(press(interview, "nnw")[0])
    for part in ("on paper: together 107.81 GB", "if 13.48 GB: weights only",
                 "hint: Which tensors stay?", "A stronger answer on states."):  # fmt: skip
        assert part in said
    assert "on paper" not in text(press(interview, "nnww")[0])


def test_an_answer_is_typed_and_told_with_the_mistake_that_gives_it(interview):
    keys = [*"nn", "a", *"13.5 GB", "\n"]
    assert "answer> 13._" in text(press(interview, keys[:6])[0])
    screen, lines = press(interview, keys)
    assert lines[-1][1] == "a 13.5 GB"
    said = text(screen)
    assert "said: 13.5 GB" in said
    assert "This is weights only." in said
    scorecard = card(screen.desk, started=STARTED)
    assert [(name, key) for name, _, key in scorecard.mistakes] == [("weights only", "states")]
    assert "weights only" in markdown(scorecard)
    # The interviewer's mark stands above what the number earns.
    assert scorecard.aspects["number"] == scorecard.parts[0].replies[2].verdict.score
    marked = card(press(interview, [*keys, "h"])[0].desk, started=STARTED)
    assert marked.aspects["number"] == Fraction(1, 2)


def test_an_answer_that_cannot_be_read_says_so(interview):
    screen, _ = press(interview, [*"nn", "a", *"a lot", "\n"])
    assert "it cannot be read: " in text(screen)
    reply = card(screen.desk, started=STARTED).parts[0].replies[2]
    assert (reply.answer, reply.verdict, reply.score) == ("a lot", None, None)


def test_no_answer_is_read_where_points_are_heard(interview):
    screen, lines = press(interview, "a")
    assert "No answer is read here" in text(screen)
    assert lines == ()


def test_the_clock_counts_by_question_and_part_and_not_while_it_stands(interview):
    desk = press(interview, "fnfn", seconds=10)[0].desk
    assert desk.seconds == {"conditions": 20, "terms": 20}
    assert desk.spent(interview.parts[0]) == 40
    desk = press(interview, "pfpf", seconds=10)[0].desk
    assert desk.seconds == {"conditions": 20}
    assert "paused" in text(press(interview, "p")[0])


@pytest.mark.parametrize(
    ("seconds", "minutes", "said"),
    [(0, 5, "0:00 of 5:00"), (300, 5, "5:00 of 5:00"), (301, 5, "5:01 of 5:00 over"),
     (3661, 45, "61:01 of 45:00 over")],
)  # fmt: skip
def test_a_time_that_is_over_says_so(seconds, minutes, said):
    assert time_said(seconds, minutes) == said


def test_the_screen_has_the_clock_the_question_the_points_and_the_keys(interview):
    said = text(press(interview, "n1h", seconds=200)[0])
    assert said.splitlines()[0] == "part 1 of 4 10:00 of 10:00 · total 10:00 of 30:00"
    assert "part 1 of 4 13:20 of 10:00 over" in text(press(interview, "n1hp", seconds=200)[0])
    for part in ("2/9 per-parameter accounting · terms", "ask: Which tensors does a parameter",
                 "[x] 1 2 bytes of weights.", "[ ] 2 2 bytes of gradients.",
                 "[ ] 5 Buckets on top of them. (from senior on: a plus)",
                 "mark: half · heard 1 of 5", *KEYS):  # fmt: skip
        assert part in said


def test_an_answer_stands_with_its_band_and_its_earlier_line(interview):
    said = text(press(interview, "nnnnr")[0])
    assert "answer: 68.80 GB = 64.07 GiB" in said
    assert "full from 58.48 GB to 79.12 GB" in said
    assert "[x] r from activations: linear in the sequence: 4 × the line for 4,096" in said


@pytest.mark.parametrize(
    ("width", "height", "pages"), [(80, 24, 6), (40, 12, 30), (20, 8, 3), (120, 50, 3)]
)
def test_every_screen_fits_and_its_pages_hold_all_of_it(width, height, pages):
    interview = drawn("senior", 45, 3)
    for position in range(0, len(interview.questions), 3):
        desk = replace(begun(interview), position=position)
        for shown in ("question", "solution"):
            said, at = "", Screen(desk=desk, shown=shown)
            for _ in range(pages):
                lines = rows(at, width, height)
                assert all(len(row.text) <= width for row in lines)
                assert len(lines) == height or width < 40
                said += "\n".join(row.text for row in lines)
                at = pressed(at, " ", 0).screen
            question = desk.question
            wanted = question.stronger if shown == "solution" else question.says
            assert width < 40 or set(wanted.split()) <= set(said.split())


def test_the_same_lines_lead_to_the_same_desk(interview):
    keys = [*"12hnxf3nfpnp", "t", *"said 16", "\n", *"nnrzbnnn"]
    screen, lines = press(interview, keys, seconds=7.5)
    assert held(interview, lines) == screen.desk


def test_lines_of_another_version_or_hand_do_no_harm(interview):
    odd = [(1.0, line) for line in ("", " ", "k", "t", "0", "²", "full", "\x1b[A", "n" * 50)]
    assert held(interview, odd).position == 1  # the first letter of a line is its key


class Script:
    """Keys that come at certain seconds of a clock."""

    def __init__(self, *events):
        self.now, self._events = 0.0, list(events)

    def clock(self):
        return self.now

    def read(self, seconds, *, typing):
        del typing
        at, key = self._events[0]
        if at > self.now + seconds:
            self.now += seconds
            return None
        self.now = at
        self._events.pop(0)
        if key is KeyboardInterrupt:
            raise KeyboardInterrupt
        return key


class Surface:
    """What is drawn, with what was kept by then."""

    def __init__(self, kept):
        self.kept, self.drawn = kept, []

    def draw(self, screen, *, again):
        self.drawn.append((text(screen), again, tuple(self.kept)))


def sitting(interview, *events):
    script, kept = Script(*events), []
    surface = Surface(kept)
    screen = SecondScreen(
        begun(interview),
        keys=script,
        surface=surface,
        journal=lambda seconds, line: kept.append((seconds, line)),
        clock=script.clock,
    )
    return screen, surface, kept


def test_the_clock_is_drawn_each_second(interview):
    screen, surface, _ = sitting(interview, (3.5, "q"))
    assert screen.run() == "stopped"
    times = [said.splitlines()[0].partition(" · ")[0] for said, _, _ in surface.drawn]
    assert times == [f"part 1 of 4 0:0{second} of 10:00" for second in range(4)]
    assert [again for _, again, _ in surface.drawn] == [False, True, True, True]


def test_what_changes_is_kept_before_it_is_shown(interview):
    screen, surface, kept = sitting(interview, (0.5, "f"), (0.75, "w"), (2.0, "n"), (4.0, "q"))
    screen.run()
    assert kept == [(0.5, "f"), (1.5, "n"), (2.0, "q")]
    shown = next(kept for said, _, kept in surface.drawn if "mark: full" in said)
    assert shown == ((0.5, "f"),)
    assert held(interview, kept) == screen.desk


def test_the_end_of_input_stops_and_ctrl_c_interrupts(interview):
    screen, _, kept = sitting(interview, (1.0, ""))
    assert screen.run() == "stopped"
    assert kept == [(1.0, "q")]
    screen, _, kept = sitting(interview, (1.0, KeyboardInterrupt))
    assert screen.run() == "interrupted"
    assert kept == [(1.0, "q")]


@pytest.mark.parametrize("lost", [OSError, SystemExit])
def test_a_screen_that_can_be_drawn_no_more_has_what_was_typed_kept(interview, lost):
    screen, surface, kept = sitting(interview, (0.5, "t"), (0.75, "x"), (9.0, "q"))
    draw = surface.draw

    def failing(at, *, again):
        if again and at.typing is not None:
            raise lost
        draw(at, again=again)

    surface.draw = failing
    with pytest.raises(lost):
        screen.run()
    assert [line for _, line in kept] == ["t x", "q"]
    assert held(interview, kept) == screen.desk


def test_q_at_the_end_finishes_and_before_it_does_not(interview):
    ends = [(1.0, "n")] * len(interview.questions)
    screen, _, _ = sitting(interview, *ends, (2.0, "q"))
    assert screen.run() == "finished"
    assert screen.desk.closed


@pytest.mark.parametrize(
    ("width", "height", "foot"),
    [(80, 24, "n next  b back"), (36, 24, "? keys  q stop"), (36, 12, "? keys  n next")],
)
def test_the_keys_leave_half_of_a_small_screen_to_the_answer(interview, width, height, foot):
    lines = text(Screen(desk=begun(interview)), width, height).splitlines()
    assert foot in lines[-1]
    assert sum(map(bool, lines)) > height // 2
    assert lines[0].endswith("0:00/30:00" if width < 40 else "0:00 of 30:00")
