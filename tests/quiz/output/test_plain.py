import io
import sys

import pytest

from quiz.output.plain import degrade, visible


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
