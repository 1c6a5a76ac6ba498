"""A table of the questions with their right answers, tabs between, for a spreadsheet."""

from pathlib import PurePosixPath

from quiz.formats.format import Files, Format
from quiz.formats.numbers import plain
from quiz.formats.sheets import questions_of
from quiz.sets.problem_set import ProblemSet


def _files(problems: ProblemSet) -> Files:
    rows = [("student", "question", "points", "answer")]
    for variant in problems.variants:
        rows += [
            (one.student, str(one.number), plain(one.points), one.said)
            for one in questions_of(problems, variant)
        ]
    text = "".join("\t".join(map(_cell, row)) + "\n" for row in rows)
    return {PurePosixPath("table.tsv"): text.encode()}


def _cell(text: str) -> str:
    return " ".join(text.split())


FORMAT = Format(
    name="table",
    says="the right answers, a line each",
    cannot=("what is asked", "hints and solutions", "marking"),
    files=_files,
)
