"""What the house is measured by: lengths, comments, public names, raised errors."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

pytest.importorskip("vulture")

from house import Comment, Source, length, untold_errors

CODE = '''"""A module."""

# The first line
# and the second.
ONE = 1  # behind code


def told():
    """Say so.

    Raises:
        InputError: always.
    """
    raise InputError(ONE)


def untold():
    """Say nothing."""
    raise InputError(ONE)


@click.command()
def command():
    """What click prints."""
    raise InputError(ONE)


class _Hidden:
    def method(self):
        return 1


class Shown:
    def method(self):
        return 1
'''


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(CODE, encoding="utf-8")
    return Source(path=path, root=tmp_path)


@pytest.mark.parametrize(
    ("text", "below", "repeats"),
    [
        ("Return the sizes of the layers.", "return sizes(layers)", True),
        ("the peak index", "peak_index = -1", True),
        ("Clears the cache", "CachingAllocator.clear_cache()", True),
        ("arXiv 1910.02054 section 5", "share = ceil_div(P, N)", False),
        ("A tied head's gradient waits for the embedding's.", "keeps = block.tied", False),
        ("reason", "reason = 1", False),
    ],
)
def test_a_comment_of_names_of_the_next_line_repeats_it(text, below, repeats):
    assert Comment(line=1, text=text, below=below).repeats is repeats


def test_comments_on_lines_of_their_own_are_one_comment(source):
    (comment,) = source.comments
    assert (comment.line, comment.text) == (3, "The first line and the second.")
    assert comment.below.startswith("ONE = 1")


def test_a_docstring_does_not_make_a_function_longer():
    (function,) = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1').body
    assert length(function) == 2


def test_names_inside_a_hidden_class_are_not_public(source):
    assert [name.partition(" ")[2] for name in source.public] == [
        *("", "told", "untold", "command", "Shown", "method")
    ]


def test_an_error_that_a_docstring_leaves_out_is_listed_but_for_commands(source):
    assert untold_errors([source]) == ["code.py:17 untold"]
