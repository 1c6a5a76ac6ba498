import io

import pytest
from rich.console import Console

from quiz.output.screen import Screen, columns, labelled, paragraph, whole_lines

HEADS = ("name", "size", "asks")
ROWS = (
    ("zero-states", "16", "Model states per GPU under a ZeRO stage"),
    ("fits", "7", "Does the run fit, and what proves it?"),
)


def shown(width, write, *arguments, terminal=True, **changes):
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, color_system=None)
    write(console, *arguments, **changes)
    return file.getvalue().splitlines()


def test_what_a_line_goes_on_with_hangs_below_its_beginning():
    lines = shown(20, paragraph, "one two three four five six", indent=1, hanging=2)
    assert lines == [" one two three four", "   five six"]


@pytest.mark.parametrize("width", range(5, 40))
def test_a_paragraph_loses_no_word_and_breaks_none_that_has_room(width):
    words = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "rub"]
    lines = shown(width, paragraph, " ".join(words), hanging=1)
    assert " ".join(lines).split() == words
    assert max(map(len, lines)) <= width


def test_a_line_that_holds_a_command_is_not_wrapped():
    assert shown(20, whole_lines, "x" * 15 + " " + "y" * 15) == ["x" * 15 + " " + "y" * 15]


def test_behind_a_pipe_each_row_is_one_whole_line():
    lines = shown(20, columns, HEADS, ROWS, terminal=False)
    assert [line.split()[0] for line in lines] == ["name", "zero-states", "fits"]
    assert all(line.endswith(row[-1]) for line, row in zip(lines[1:], ROWS, strict=True))


def test_at_a_terminal_the_last_column_is_wrapped_below_itself():
    lines = shown(40, columns, HEADS, ROWS)
    place = lines[0].index("asks")
    assert max(map(len, lines)) <= 40
    assert all(line[:place].strip() == "" for line in (lines[2], lines[4]))
    assert " ".join(line[place:] for line in lines[1:3]) == ROWS[0][-1]


@pytest.mark.parametrize("width", [16, 20, 30, 50, 80])
def test_no_width_of_a_terminal_cuts_a_cell(width):
    said = " ".join(shown(width, columns, HEADS, ROWS)).split()
    assert sorted(said) == sorted(" ".join((*HEADS, *ROWS[0], *ROWS[1])).split())


@pytest.fixture
def plain(capsys):
    """Write to a plain screen; the lines on it."""

    def written(write, *arguments, **changes):
        write(Screen(plain=True), *arguments, **changes)
        return capsys.readouterr().out.splitlines()

    return written


def test_a_plain_screen_has_a_thing_a_line_without_margins_and_colour(plain):
    text = "  word " * 40
    assert plain(paragraph, text, style="bold", indent=3) == [", ".join(["word"] * 40)]
    assert plain(whole_lines, "   a → b") == ["a to b"]
    assert plain(labelled, [("fits", "yes: 3 · 4", "black on green")]) == ["fits: yes: 3, 4"]


def test_a_plain_table_says_each_row_as_a_sentence(plain):
    assert plain(columns, HEADS, ROWS)[0] == (
        "name: zero-states; size: 16; asks: Model states per GPU under a ZeRO stage"
    )


@pytest.mark.parametrize(("columns_", "width"), [("5", 16), ("60", 60), ("400", 100)])
def test_a_screen_is_as_wide_as_the_terminal_is_now(monkeypatch, columns_, width):
    monkeypatch.setenv("COLUMNS", "70")
    screen = Screen(plain=False)
    assert screen.width == 70
    screen.width = int(columns_)
    assert screen.width == width
