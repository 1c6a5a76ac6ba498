"""The schema of IMS QTI 2.1 and TAO's engine, qtism, take what memquiz writes.

qtism is a package of PHP with the schema in it, which neither pip nor npm brings, so this runs by
itself where it is installed, with php and its extension for XML:
QTISM=/srv/qtism/vendor/autoload.php python3 bootstrap.py interop qtism_itself.py
"""

import json
import os
import subprocess
from html import unescape
from pathlib import Path
from zipfile import ZipFile

import pytest
from test_qti21 import packed, tries

from quiz.formats.sheets import questions_of

PLAYER = Path(__file__).with_name("qtism_plays.php")
AUTOLOAD = os.environ["QTISM"]


@pytest.fixture(scope="module")
def rows(marked_up, tmp_path_factory):
    """Every question with an answer, what it is to earn and be told, and what qtism says."""
    folder = tmp_path_factory.mktemp("qti")
    with ZipFile(packed(marked_up, folder)) as archive:
        archive.extractall(folder)
    [variant] = marked_up.variants
    due = [
        (question, part, *row)
        for question, problem in zip(
            questions_of(marked_up, variant), variant.problems, strict=True
        )
        for at, part in enumerate(question.parts, 1)
        for row in tries(part, at, problem)
    ]
    files = {path.stem.rpartition("_")[2]: str(path) for path in folder.glob("items/*.xml")}
    asked = [[files[str(question.number)], typed] for question, _, typed, *_ in due]
    found = subprocess.run(
        ["php", PLAYER, AUTOLOAD, folder / "test.xml"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return list(zip(due, json.loads(found.stdout), strict=True))


def test_the_schema_takes_every_item_and_the_test(rows):
    assert rows  # each was loaded with its schema, or the run had failed


def test_every_answer_earns_its_share_to_the_last_digit(rows):
    for (question, part, typed, due, _), found in rows:
        points = float(due * part.weight * question.points)
        assert found["score"] == pytest.approx(points, abs=1e-12), (question.id, typed)
    print(len(rows), "answers")


def test_every_answer_is_told_its_feedback(rows):
    for (question, _, typed, _, feedback), found in rows:
        # qtism reads the entities in a text once more
        told = unescape("\n".join(found["told"]))
        assert unescape(feedback) in told, (question.id, typed)
        assert len(found["told"]) == 1 + bool(feedback)
