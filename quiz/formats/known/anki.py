"""Anki: a deck with a card a problem, what is asked in front and the solution behind.

A note has the id of its problem and student, so that a deck that is imported again adds nothing.
Anki takes a note over where it is newer than the one it has. A problem as it was drawn bears a
time that its version fixes; one that was changed in its key bears the time of writing, or the one
in SOURCE_DATE_EPOCH.
"""

import hashlib
import os
import re
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Protocol

from markupsafe import escape

from engine.errors import Fault, InputError
from engine.fields import show
from engine.units import KB
from problems.problem import Problem
from problems.registry import build
from quiz.formats.archive import zipped
from quiz.formats.format import Files, Format
from quiz.formats.fragments import question_html, solution_html
from quiz.formats.questions import Question
from quiz.formats.sheets import questions_of
from quiz.sets.problem_set import ProblemSet, Variant

EXTRA = "anki"
FILE = PurePosixPath("deck.apkg")
CLOCK = "SOURCE_DATE_EPOCH"
# Drawn once: Anki tells note types apart by such a number.
NOTE_TYPE = 1_634_790_213
FIELDS = ("Number", "Question", "Solution", "Problem")
# What typesets formulas leaves alone what has these classes, of MathJax 2 and of later ones.
FRONT = '<div class="tex2jax_ignore mathjax_ignore">{{Question}}</div>'
BACK = (
    "{{FrontSide}}<hr id=answer>"
    '<div class="tex2jax_ignore mathjax_ignore">{{Solution}}'
    "<p><small>{{Problem}}</small></p></div>"
)
# The start of 2025, and the seconds by which sets are apart: Anki has one id for each.
FIRST, APART = 1_735_689_600, 10**7
# The member of the archive that has the notes.
NOTES = "collection.anki2"
STYLE = """\
.card { font-family: sans-serif; font-size: 18px; text-align: left; }
pre { font-size: 14px; white-space: pre-wrap; overflow-wrap: anywhere; }
dt { font-weight: bold; }
"""


def _files(problems: ProblemSet) -> Files:
    try:
        genanki = import_module("genanki")
    except ModuleNotFoundError:
        needs = f'install it: pip install "memquiz[{EXTRA}]"'
        raise InputError(Fault("--format anki", "genanki is not there", needs)) from None
    return {FILE: _package(genanki, problems)}


def _package(genanki: ModuleType, problems: ProblemSet) -> bytes:
    template = {"name": "Card", "qfmt": FRONT, "afmt": BACK}
    fields = [{"name": name} for name in FIELDS]
    note_type = genanki.Model(NOTE_TYPE, "memquiz", fields, [template], css=STYLE)
    decks, changed = [], []
    for variant in problems.variants:
        deck = genanki.Deck(*_deck(problems, variant))
        for one, problem in zip(questions_of(problems, variant), variant.problems, strict=True):
            guid = _guid(variant, one)
            deck.add_note(genanki.Note(note_type, _fields(one), tags=_tags(one), guid=guid))
            changed += [] if _is_as_drawn(problem) else [guid]
        decks.append(deck)
    return _written(genanki.Package(decks), _drawn_at(problems), changed)


class _Package(Protocol):
    def write_to_file(self, file: str, timestamp: float) -> None: ...


def _written(package: _Package, drawn_at: int, changed: Sequence[str]) -> bytes:
    """Return the archive of a package; `changed` names the notes that bear the clock's time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE.name
        package.write_to_file(str(path), timestamp=drawn_at)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        if changed:
            path.write_bytes(members[NOTES])
            with closing(sqlite3.connect(path)) as database:
                rows = [(_now(), guid) for guid in changed]
                database.executemany("UPDATE notes SET mod = ? WHERE guid = ?", rows)
                database.commit()
            members[NOTES] = path.read_bytes()
        return zipped(members)


def _is_as_drawn(problem: Problem) -> bool:
    """Return whether nothing of a problem was changed since it was drawn, by this version."""
    try:
        return build(problem.kind, problem.seed) == problem
    except InputError:  # there is no such kind, or no longer
        return False


def _drawn_at(problems: ProblemSet) -> int:
    """Return the time that a version fixes, in seconds since 1970; sets differ by their seeds."""
    version = 0
    for part in problems.version.split("."):
        version = version * KB + int("".join(filter(str.isdigit, part)) or 0)
    return FIRST + version + problems.seed % APART


def _now() -> int:
    """Return the time of writing, in seconds since 1970.

    Raises:
        InputError: the variable that fixes it is no number.
    """
    said = os.environ.get(CLOCK)
    if said is None:
        return int(time.time())
    if not said.isascii() or not said.isdecimal():
        raise InputError(Fault(CLOCK, f"{show(said)} is no time", "give seconds since 1970"))
    return int(said)


def _deck(problems: ProblemSet, variant: Variant) -> tuple[int, str]:
    """Return the number and the name of a deck: "::" would part a name from a deck inside."""
    names = [problems.title, *([variant.said] if variant.student else [])]
    name = "::".join(re.sub(r":{2,}", ":", one) for one in names)
    digest = hashlib.blake2b(f"{problems.seed} {name}".encode(), digest_size=5).digest()
    return int.from_bytes(digest, "big"), name


def _guid(variant: Variant, one: Question) -> str:
    whose = "" if variant.student is None else variant.student.id
    return hashlib.blake2b(f"{one.id} {whose}".encode(), digest_size=8).hexdigest()


def _tags(one: Question) -> list[str]:
    return ["memquiz", one.topic, one.level, one.kind]


def _fields(one: Question) -> list[str]:
    """Return what a note holds: pieces of HTML, with no mark of a template or of a sound."""
    number = escape(f"{one.number:03} {one.about}")
    pieces = (number, question_html(one), solution_html(one), escape(one.id))
    return [str(piece).replace("{", "&#123;").replace("[", "&#91;") for piece in pieces]


FORMAT = Format(
    name="anki",
    says="an Anki deck, what is asked in front and the solution behind",
    cannot=("typed answers", "marking"),
    files=_files,
    extra=EXTRA,
)
