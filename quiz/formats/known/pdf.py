"""PDF: a sheet a student and one with solutions, set by Typst."""

import json
from importlib import import_module
from importlib.resources import files

from engine.errors import Fault, InputError
from quiz.formats.format import Files, Format
from quiz.formats.numbers import plain
from quiz.formats.questions import Question
from quiz.formats.sheets import Questions, sheets, size_of
from quiz.sets.problem_set import ProblemSet, Variant

EXTRA = "pdf"


def _write(problems: ProblemSet, variant: Variant, questions: Questions, *, solved: bool) -> bytes:
    sheet = {
        "title": problems.title + (": solutions" if solved else ""),
        "whose": "" if variant.student is None else variant.student.said,
        "about": size_of(problems),
        "footer": f"memquiz {problems.version}, seed {problems.seed}",
        "solved": solved,
        "questions": [_question(one) for one in questions],
    }
    source = files("quiz").joinpath("templates/sheet.typ").read_bytes()
    try:
        typst = import_module("typst")
    except ModuleNotFoundError:
        needs = f'install it: pip install "memquiz[{EXTRA}]"'
        raise InputError(Fault("--format pdf", "Typst is not there", needs)) from None
    made: bytes = typst.compile(source, sys_inputs={"sheet": json.dumps(sheet)})
    return made


def _question(one: Question) -> dict[str, object]:
    points = f"{plain(one.points)} point{'s' * (one.points != 1)}"
    return {
        "title": f"{one.number}. {one.about} ({points})",
        "prompt": one.prompt.splitlines(),
        "exhibit": one.exhibit,
        "choices": one.choices,
        "wants": one.wants,
        "said": one.said,
        "solution": one.solution,
    }


def _files(problems: ProblemSet) -> Files:
    return sheets(problems, ".pdf", _write)


FORMAT = Format(
    name="pdf",
    says="a sheet a student to print, and one with its solution",
    cannot=("marking", "hints", "the feedback on mistakes", "scripts of no installed font"),
    files=_files,
    extra=EXTRA,
)
