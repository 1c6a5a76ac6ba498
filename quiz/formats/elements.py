"""XML, and the HTML in it, that shows plain text as it is."""

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element, indent, tostring

# What XML 1.0 has no way to write.
UNWRITABLE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
UNWRITTEN = "\ufffd"


def element(tag: str, /, *inside: Element | str, **attributes: str) -> Element:
    """Return an element: its text, then its children with what stands behind each."""
    made = Element(tag, {name: _writable(value) for name, value in attributes.items()})
    for one in inside:
        if isinstance(one, Element):
            made.append(one)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + _writable(one)
        else:
            made.text = (made.text or "") + _writable(one)
    return made


def document(root: Element) -> bytes:
    """Return a file of XML, indented where that changes no text."""
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def html(elements: Iterable[Element]) -> str:
    """Return elements as HTML."""
    return "".join(tostring(one, encoding="unicode", method="html") for one in elements)


def paragraph(text: str) -> Element:
    """Return lines as one paragraph."""
    return element("p", *_lines(text))


def listed(items: Iterable[str]) -> Element:
    """Return an entry of a list for each text."""
    return element("ul", *(element("li", *_lines(item)) for item in items))


def verbatim(text: str) -> Element:
    """Return text whose spaces and line breaks are kept."""
    return element("pre", text)


def _lines(text: str) -> Iterator[Element | str]:
    for at, line in enumerate(text.splitlines()):
        if at:
            yield element("br")
        yield line


def _writable(text: str) -> str:
    return UNWRITABLE.sub(UNWRITTEN, text)
