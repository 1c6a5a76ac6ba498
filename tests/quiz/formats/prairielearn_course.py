"""A course of PrairieLearn: a set as it is written, read back from its folders."""

import html
import json
import runpy
from dataclasses import dataclass
from html.parser import HTMLParser

from quiz.formats.registry import formats
from quiz.formats.sheets import questions_of


class Elements(HTMLParser):
    """Collects elements of PrairieLearn in order, each with its attributes and its text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append((tag, dict(attrs), len(self.text)))

    def handle_endtag(self, tag):
        name, attributes, start = self.open.pop()
        assert name == tag
        self.found.append((tag, attributes, self.text[start:]))

    def handle_data(self, data):
        self.text += data

    def of(self, tag):
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


@dataclass(frozen=True, kw_only=True)
class Folder:
    path: str
    template: str
    info: dict
    spans: dict
    server: dict
    one: object
    problem: object

    @property
    def elements(self):
        return Elements(self.template)

    def graded(self, submitted, params=None):
        data = {"params": params or {}, "submitted_answers": submitted, "partial_scores": {}}
        self.server["grade"](data)
        return data

    def ordered(self, keys):
        """Mark an order as pl-order-blocks hands it over: by ids, of which params has the keys."""
        blocks = [
            {"uuid": f"u{item.key}", "tag": item.key, "inner_html": html.escape(item.name)}
            for item in self.problem.answer.items
        ]
        typed = [{"uuid": f"u{key}", "tag": None} for key in keys]
        return self.graded({"part1": typed}, {"part1": blocks})


def course(problems, root):
    """Write a set to a folder; return its questions, read back, and its assessment."""
    for path, data in formats()["prairielearn"].files(problems).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (file,) = root.glob("prairielearn/assessments/*/infoAssessment.json")
    assessment = json.loads(file.read_text())
    (zone,) = assessment["zones"]
    found = []
    for at, variant in enumerate(problems.variants):
        for slot, one, problem in zip(
            zone["questions"], questions_of(problems, variant), variant.problems, strict=True
        ):
            path = slot["alternatives"][at]["id"] if "alternatives" in slot else slot["id"]
            folder = root / "prairielearn" / "questions" / path
            found.append(
                Folder(
                    path=path,
                    template=(folder / "question.html").read_text(),
                    info=json.loads((folder / "info.json").read_text()),
                    spans=json.loads((folder / "spans.json").read_text()),
                    server=runpy.run_path(str(folder / "server.py")),
                    one=one,
                    problem=problem,
                )
            )
    return tuple(found), assessment
