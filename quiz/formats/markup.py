"""Plain text as HTML that a learning platform shows as it is: no filter of it finds anything."""

import re
from html import escape

from quiz.formats.items import Item
from quiz.formats.parts import OrderPart, WordsPart

# What begins a formula, a link to a file, a gap or a language in Moodle's filters and questions,
# and spaces: its reader of XML drops some (characterdata of lib/xmlize.php), a page all but one.
MARKS = re.compile(r"[{}\[\]$\\@]|(?m:^)[ \t]|(?<=[ \t])[ \t]|\t")
# What XML 1.0 has no way to write (https://www.w3.org/TR/xml/#charsets).
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def html(text: str) -> str:
    """Return plain text as HTML, each line on a line."""
    lines = NO_XML.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
    told = escape(lines, quote=True).replace("&#x27;", "&#39;")
    return MARKS.sub(entity, told).replace("\n", "<br>")


def entity(found: re.Match[str]) -> str:
    """Return a character by its number."""
    return f"&#{ord(found[0])};"


def name(text: str) -> str:
    """Return plain text as the name of a question or category.

    Moodle takes tags out of names and shows entities; `/` parts a category from the next.
    """
    line = " ".join(NO_XML.sub("\ufffd", text).split())
    return escape(line, quote=False).replace("/", "&#47;")


def stem(item: Item, *lines: str) -> str:
    """Return what is asked, as HTML, with lines of plain text below it."""
    question = item.question
    blocks = [f"<p>{html(question.prompt)}</p>"]
    if question.exhibit:
        blocks.append(_verbatim(question.exhibit))
    if question.choices and any(isinstance(part, WordsPart) for part in item.parts):
        blocks.append(_verbatim("\n".join(question.choices)))
    if item.letter:
        blocks += [f"<p><b>{html(part.label)}</b></p>" for part in item.parts if part.label]
    return "\n".join([*blocks, *(f"<p>{html(line)}</p>" for line in lines if line)])


def solution(item: Item) -> str:
    """Return the right answer and the way to it, as HTML, and what no answer of its own can tell.

    That is what is said of a thing that was put in a wrong place, or of a wrong formula.
    """
    question = item.question
    blocks = [f"<p><b>{html(question.said)}</b></p>", _listed(question.solution)]
    if question.feedback and any(isinstance(part, OrderPart | WordsPart) for part in item.parts):
        blocks.append(_listed(tuple(f"{one.answer}: {one.says}" for one in question.feedback)))
    return "\n".join(blocks)


def _listed(lines: tuple[str, ...]) -> str:
    return f"<ul>{''.join(f'<li>{html(line)}</li>' for line in lines)}</ul>"


def _verbatim(text: str) -> str:
    return f"<pre>{html(text)}</pre>"
