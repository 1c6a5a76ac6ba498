"""PrairieLearn's schema and its elements take what memquiz writes.

They are in no package, so this runs by itself where a checkout of PrairieLearn is, with a Python
(3.13 or newer) that has what its apps/prairielearn/python asks for, and chevron:
PRAIRIELEARN=/srv/PrairieLearn PRAIRIELEARN_PYTHON=/srv/venv/bin/python \
python3 bootstrap.py interop prairielearn_itself.py
"""

import json
import os
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from quiz.formats.parts import NumberPart, OrderPart, PickPart
from quiz.formats.sheets import questions_of
from tests.quiz.formats.conftest import MARKUP

HOME = Path(os.environ["PRAIRIELEARN"]) / "apps" / "prairielearn"
PYTHON = os.environ["PRAIRIELEARN_PYTHON"]
LIVES = Path(__file__).with_name("prairielearn_lives.py")
SCHEMAS = HOME / "src" / "schemas" / "schemas"


class Text(HTMLParser):
    """Collects the text of a page as it is shown."""

    def __init__(self, source):
        super().__init__()
        self.shown = ""
        self.feed(source)

    def handle_data(self, data):
        """Keep what stands between tags."""
        self.shown += data


def squeezed(text):
    return " ".join(text.split())


def shown(source):
    return squeezed(Text(source).shown)


def lived(rows):
    """Return what each row of a folder and its answers earns."""
    done = subprocess.run(
        [PYTHON, LIVES],
        input=json.dumps(rows),
        env=os.environ | {"PYTHONPATH": str(HOME / "python")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def right(part):
    match part:
        case NumberPart():
            return repr(float(part.right.value))
        case PickPart():
            return next(at for at, one in enumerate(part.options) if one.is_right)
        case OrderPart():
            return [key for group in part.order for key in group]
    return None


def rights(one):
    given = {f"part{at}": right(part) for at, part in enumerate(one.parts, 1)}
    return {name: answer for name, answer in given.items() if answer is not None}


@pytest.fixture
def questions(written):
    """Write a set; every question with its folder."""

    def questions(problems):
        root = written(problems, "prairielearn") / "prairielearn"
        (variant,) = problems.variants
        folders = sorted(path.parent for path in root.glob("questions/*/*/info.json"))
        return list(zip(map(str, folders), questions_of(problems, variant), strict=True))

    return questions


@pytest.mark.parametrize("kind", ["infoQuestion", "infoAssessment"])
def test_the_schema_takes_every_file(marked_up, personal, written, kind):
    schema = Draft7Validator(json.loads((SCHEMAS / f"{kind}.json").read_text()))
    name = "info.json" if kind == "infoQuestion" else "infoAssessment.json"
    for problems in (marked_up, personal):
        for path in written(problems, "prairielearn").rglob(name):
            schema.validate(json.loads(path.read_text()))


def test_what_is_right_earns_all_and_is_shown_with_its_solution(marked_up, questions):
    asked = [(folder, one, rights(one)) for folder, one in questions(marked_up)]
    asked = [row for row in asked if len(row[2]) == len(row[1].parts)]
    found = lived([(folder, answers) for folder, _, answers in asked])
    for (_, one, _), row in zip(asked, found, strict=True):
        assert not row["format_errors"]
        assert row["score"] == pytest.approx(1)
        assert MARKUP in shown(row["shown"]["question"])
        assert all(squeezed(hint) in shown(row["shown"]["question"]) for hint in one.hints)
        assert all(squeezed(step) in shown(row["shown"]["answer"]) for step in one.solution)


def test_bounds_and_mistakes_earn_their_share_and_are_told(marked_up, questions):
    rows = [
        (folder, rights(one) | {f"part{at}": repr(float(value))}, f"part{at}", part, span)
        for folder, one in questions(marked_up)
        for at, part in enumerate(one.parts, 1)
        if isinstance(part, NumberPart)
        for span in (part.right, *part.spans)
        for value in (span.low, (span.low + span.high) / 2, span.high)
    ]
    found = lived([(folder, answers) for folder, answers, *_ in rows])
    for (_, answers, name, part, _), row in zip(rows, found, strict=True):
        typed = float(answers[name])
        spans = (part.right, *part.spans)
        due = next(span for span in spans if float(span.low) <= typed <= float(span.high))
        told = row["partial_scores"][name]
        assert told["score"] == float(due.share)
        assert told.get("feedback", "") == due.feedback
        assert squeezed(due.feedback) in shown(row["shown"]["submission"])
    print(len(rows), "numbers")


def test_wrong_picks_are_told_their_feedback(marked_up, questions):
    rows = [
        (folder, rights(one) | {f"part{at}": index}, f"part{at}", option)
        for folder, one in questions(marked_up)
        for at, part in enumerate(one.parts, 1)
        if isinstance(part, PickPart) and len(rights(one)) == len(one.parts)
        for index, option in enumerate(part.options)
    ]
    found = lived([(folder, answers) for folder, answers, *_ in rows])
    for (*_, name, option), row in zip(rows, found, strict=True):
        assert row["partial_scores"][name]["score"] == option.is_right
        assert squeezed(option.feedback) in shown(row["shown"]["submission"])


def test_what_is_left_out_keeps_nothing_else_from_being_marked(every_type, questions):
    rows = [
        (folder, rights(one) | {f"part{len(one.parts)}": ""}, one.parts[-1].weight)
        for folder, one in questions(every_type)
        if len(rights(one)) == len(one.parts) > 1
    ]
    found = lived([(folder, answers) for folder, answers, _ in rows])
    for (*_, weight), row in zip(rows, found, strict=True):
        assert row["score"] == pytest.approx(float(1 - weight))


def test_what_is_no_number_is_not_marked(every_type, questions):
    folder, _ = questions(every_type)[0]
    (row,) = lived([(folder, {"part1": "22 GB"})])
    assert set(row["format_errors"]) == {"part1"}
