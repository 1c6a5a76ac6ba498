import io
import sys

import pytest

from quiz.output.plain import degrade, plainly, plainly_asked, spelled, visible


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("4/10 · mid ■■□", "4/10 * mid ##."),
        ("7 \N{MULTIPLICATION SIGN} 3.75 ≈ 26 → é \U0001f600", "7 x 3.75 ~ 26 > e ?"),
        ("\udcff", "?"),
    ],
)
def test_what_an_encoding_lacks_is_replaced_one_for_one(monkeypatch, text, plain):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    degrade()
    stream.write(text)
    stream.flush()
    assert stream.buffer.getvalue().decode() == plain
    assert len(plain) == len(text)


def test_closed_streams_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    degrade()


def test_what_moves_a_cursor_is_made_visible():
    assert visible("a\x1b[2Jb\r\u202ec") == "a·[2Jb··c"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1/2 · model states · mid", "1/2, model states, mid"),
        ("34·s·b·h", "34*s*b*h"),
        ("2 \N{MULTIPLICATION SIGN} 3 ≈ 6 ≤ 7", "2 x 3 about 6 <= 7"),
        ("none → full", "none to full"),
        ("s² + 10⁻⁹ ± ½", "s^2 + 10^-9 +/- 1/2"),
        ("“Ψ” … café ■■□", '"Psi" ... cafe '),
        ("\U0001f600", "?"),
    ],
)
def test_signs_are_spelled_in_ascii(text, said):
    assert spelled(text) == said


def test_plain_text_is_asked_for_by_a_variable_or_an_option(monkeypatch):
    monkeypatch.setenv("MEMQUIZ_PLAIN", "0")
    assert not plainly_asked()
    with plainly():
        assert plainly_asked()
    assert not plainly_asked()
    monkeypatch.setenv("MEMQUIZ_PLAIN", "1")
    assert plainly_asked()
