from io import StringIO

import pytest
from desk_keys import press, text

from quiz.interview.keys import Lines
from quiz.interview.pressing import CLOSING, END, Text, pressed
from quiz.interview.second_screen import begun, held


def test_a_note_is_typed_seen_corrected_and_kept_when_enter_comes(interview):
    typing = ["t", *"qn f", "\x7f", "h", "."]
    assert "note> qn h._" in text(press(interview, typing)[0])
    assert press(interview, typing)[1] == ()
    screen, lines = press(interview, [*typing, "\n"])
    assert [line for _, line in lines] == ["t qn h."]
    assert screen.desk.notes == (("conditions", "qn h."),)
    assert "noted: qn h." in text(screen, height=40)


def test_a_control_character_does_not_come_into_a_note(interview):
    screen, _ = press(interview, ["t", "a", "\x07", "\x9b", "b", "\n"])
    assert screen.desk.notes == (("conditions", "ab"),)


@pytest.mark.parametrize(
    ("keys", "undone", "says"),
    [("f", "", "the mark full"), ("fz", "f", "the mark zero; it is full again"),
     ("ff", "f", "that there is no mark; it is full again"),
     ("12", "1", "that point 2 was heard"), ("11", "1", "that point 1 was not heard"),
     ("nnnnr", "nnnn", "that an earlier line was used"),
     ("nnnnrr", "nnnnr", "that an earlier line was not used"),
     (["n", "b", "t", "x", "\n", "t", "y", "\n"], ["n", "b", "t", "x", "\n"], "the note y"),
     ([*"nna", *"8", "\n", "a", "9", "\n"], [*"nna", "8", "\n"], "the answer 9"),
     (["1", "n", "f", "b"], "nfb", "that point 1 was heard")],
)  # fmt: skip
def test_u_takes_the_last_thing_back_that_its_question_was_given(interview, keys, undone, says):
    screen, lines = press(interview, [*keys, "u"])
    assert screen.says == f"Taken back: {says}."
    as_if = press(interview, undone)[0].desk
    for part in ("position", "marks", "heard", "reused", "notes", "answers"):
        assert getattr(screen.desk, part) == getattr(as_if, part)
    assert lines[-1][1] == "u"
    assert held(interview, lines) == screen.desk


def test_u_goes_back_as_far_as_anything_was_given_and_the_clock_does_not(interview):
    screen, lines = press(interview, [*"f1", "t", "x", "\n", *"uuuu"], seconds=2)
    assert screen.desk.given == begun(interview).given
    assert screen.desk.total == 18 - 2
    assert [line for _, line in lines] == ["f", "1", "t x", "u", "u", "u"]
    assert screen.says == "There is no mark, point, note or answer here to take back."


def test_the_end_of_input_keeps_what_is_typed_and_ends_no_interview(interview):
    turn = pressed(press(interview, ["t", *"so far"])[0], END, 3.0)
    assert (turn.lines, turn.stops) == (("t so far", "q"), True)
    end = press(interview, "n" * len(interview.questions))[0]
    for key in (END, CLOSING):
        turn = pressed(end, key, 3.0)
        assert (turn.lines, turn.stops, turn.screen.desk.closed) == ((), True, False)


def test_ctrl_d_ends_a_text_and_is_no_letter_of_it(interview):
    screen, lines = press(interview, ["t", *"qn", CLOSING, "t", CLOSING])
    assert [line for _, line in lines] == ["t qn"]
    assert screen.typing is None


def test_a_paste_goes_into_what_is_typed_with_a_space_for_each_line_and_no_further(interview):
    paste = Text(words="f\r\n q\tz\x1b[2J\n")
    screen, lines = press(interview, [paste])
    assert (screen.desk, lines) == (begun(interview), ())
    assert screen.says == "Pasted text is no key: t or a first."
    assert press(interview, ["t", "a", paste])[0].typing == ("t", "af q z[2J ")
    long = press(interview, ["t", Text(words="m" * 5000)])[0]
    assert len(long.typing[1]) == 1000
    assert "1000 characters, no more: note> " in text(long)


@pytest.mark.parametrize(
    ("typed", "keys"),
    [("f\nn\n", ["f", "n"]), ("t said it\n", ["t", Text(words="said it", ends=True)]),
     ("\n", ["\n"]), (" \n", [" "]), ("  f  \n", ["f"]), ("n", ["n"]),
     ("T x\nf\n", ["t", Text(words="x", ends=True), "f"]),
     ("t\nq\nf\n", ["t", Text(words="q", ends=True), "f"]),
     ("a\n\nf\n", ["a", Text(words="", ends=True), "f"]),
     ("t\n", ["t", ""]), ("a", ["a", ""])],
)  # fmt: skip
def test_lines_of_a_pipe_are_keys_and_a_line_behind_t_or_a_is_its_text(typed, keys):
    lines, typing = Lines(StringIO(typed)), False
    for key in keys:
        assert lines.read(0, typing=typing) == key
        typing = key in {"t", "a"}
    assert lines.read(0, typing=False) == ""


def test_what_stands_behind_a_key_that_does_nothing_is_no_key():
    lines = Lines(StringIO("a 16 bytes\nf\n"))
    assert [lines.read(0, typing=False) for _ in "123"] == ["a", "f", ""]
