"""Plain text put into Markdown so that it shows as it is."""

import re

# What begins something in Markdown, and at the start of a line.
MARKS = re.compile(r"([\\`*_\[\]<>#|~$])")
STARTS = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]\s))", re.MULTILINE)


def escaped(text: str) -> str:
    """Return plain text as Markdown that shows it as it is, each line on a line."""
    marked = STARTS.sub(r"\1\\\2", _marked(text))
    return re.sub(r"^(\s*)\\(\d+)(?=[.)]\s)", r"\1\2\\", marked, flags=re.MULTILINE).replace(
        "\n", "  \n"
    )


def in_a_cell(text: str) -> str:
    """Return plain text as a cell of a table in Markdown: on one line."""
    return "<br>".join(_marked(line).strip() for line in text.splitlines())


def _marked(text: str) -> str:
    return MARKS.sub(r"\\\1", text).replace("&", "&amp;")
