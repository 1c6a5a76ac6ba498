"""Any plain text is shown by a learning platform as it is."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quiz.formats import cloze, markup

PRINTED = st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"))
TEXTS = st.text(alphabet=PRINTED | st.just("\n"))


@given(TEXTS)
def test_text_comes_back_from_html(text):
    assert html.unescape(markup.html(text).replace("<br>", "\n")) == text


@given(TEXTS)
def test_no_filter_finds_a_formula_a_file_or_a_gap(text):
    assert not re.search(r"[{}$\\@\[\]]|<(?!br>)", markup.html(text))


@given(TEXTS)
def test_text_comes_back_from_a_gap(text):
    inside = cloze._inside(text)
    assert not re.search(r"[{}~=%]|(?<!\\)#", inside)
    once = html.unescape(inside).replace(r"\#", "#")
    assert html.unescape(once.replace("<br>", "\n")) == text


@given(TEXTS)
def test_a_name_is_one_line_without_tags_or_slashes(text):
    name = markup.name(text)
    assert not re.search(r"[<>/\n]", name)
    assert html.unescape(name) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a\ufffdb"),
        ("a\r\nb\rc", "a<br>b<br>c"),
        ("    x", "&#32;&#32;&#32;&#32;x"),
        ("a  b", "a &#32;b"),
        ("a b", "a b"),
        ("\tx", "&#9;x"),
    ],
)
def test_spaces_and_lines_are_kept_and_what_xml_has_not_is_marked(text, shown):
    assert markup.html(text) == shown
