"""Every style reads on a light terminal and on a dark one, and says nothing by itself."""

import ast
from functools import cache
from pathlib import Path

import pytest

from quiz.output.bar_text import STYLES
from quiz.output.screen import HALF, RIGHT, WRONG

QUIZ = Path(__file__).parents[3] / "quiz"
NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
COLOURS = (*NAMES, *(f"bright_{name}" for name in NAMES))
# The sixteen colours as terminals have them by default.
PALETTES = {
    "xterm": (
        "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 "
        "7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
    ),
    "Linux console": (
        "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa "
        "555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff"
    ),
    "Windows Terminal": (
        "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc "
        "767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2"
    ),
    "GNOME": (
        "000000 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf "
        "555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec"
    ),
}
# WCAG's bound for large text and for the parts of a picture.
CONTRAST = 3


@cache
def styles():
    """Return every text in the code of the screens that is a style with a colour."""
    found = set()
    for path in QUIZ.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                words = set(node.value.split())
                if words & {*COLOURS} and words <= {*COLOURS, "on", "bold", "dim", "not"}:
                    found.add(node.value)
    return found


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_styles_are_found():
    assert styles() >= {RIGHT, HALF, WRONG, *STYLES.values()}


def test_no_colour_stands_on_a_background_that_is_not_its_own():
    assert all(style.split()[1::2] == ["on"] and len(style.split()) == 3 for style in styles())


@pytest.mark.parametrize("palette", PALETTES)
def test_every_colour_can_be_told_from_its_background(palette):
    shown = dict(zip(COLOURS, map(luminance, PALETTES[palette].split()), strict=True))
    for style in styles():
        front, _, ground = style.split()
        dark, light = sorted((shown[front], shown[ground]))
        assert (light + 0.05) / (dark + 0.05) >= CONTRAST, style
