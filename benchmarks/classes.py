#!/usr/bin/env python3
"""How fast a class is graded: 10,000 answers, as a key and a CSV file, to its reports.

    python3 bootstrap.py python benchmarks/classes.py [STUDENTS]

500 students, 20 questions of every type of answer, three of them claims. Nine answers of ten are
typed, and hardly any two are alike, which is more than a class does. What counts is how many times
as long as reading one bare number an answer takes, in turns. The aim is that of 10,000 answers in
10 s where a bare number takes 0.2 ms.
"""

import csv
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from problems.answers.registry import types
from problems.draw import Draw
from problems.problem import Problem
from quiz.answers import parse_quantity
from quiz.classes.page import html, markdown
from quiz.classes.reading import read_answers
from quiz.classes.reporting import report_of
from quiz.classes.tables import answers_csv, students_csv
from quiz.sets.blueprint import blueprint_of
from quiz.sets.drawing import draw_set
from quiz.sets.key import key_text, read_key
from quiz.sets.problem_set import ProblemSet, Student

STUDENTS = 500
ROUNDS = 3
PARSES = 2_000
AIM = 5.0
PARTS = [*({"types": [name]} for name in types()), {"types": ["quantity"], "count": 4}]
PARTS += [{"types": ["claim"], "count": 2}]
WORDS = (
    *("weights", "gradients", "optimizer", "states", "are", "sharded", "activations", "memory"),
    *("grows", "with", "tokens", "so", "false", "because", "the", "master", "copy", "is", "kept"),
)
FIXED: dict[str, Callable[[Draw], str]] = {
    "claim": lambda draw: (
        f"{draw.choice(('true', 'false'))}, because "
        + " ".join(draw.choice(WORDS) for _ in range(draw.between(5, 30)))
    ),
    "yes-no": lambda draw: f"{draw.choice(('yes', 'no'))}, {_size(draw)}",
    "choice": lambda draw: draw.choice("abcd"),
    "ranking": lambda draw: " > ".join(draw.sample("abcd", 3)),
    "checklist": lambda draw: " > ".join(draw.sample("abcd", 3)),
    "repair": lambda draw: f"step {draw.between(1, 4)}, {_size(draw)}",
    "conditions": lambda draw: f"mixed precision, AdamW, b = {draw.between(1, 9)}: {_size(draw)}",
    "symbolic": lambda draw: f"{draw.between(1, 40)}*P + {draw.between(1, 9)}*s",
    "count": lambda draw: str(draw.between(1, 500)),
    "breakdown": lambda _: "2 weights + 2 gradients + 4 master copy + 8 moments",
}


def main(students: int) -> None:
    """Print medians and their ratio, for everyone's sheet and for one a student."""
    blueprint = blueprint_of({"part": PARTS}, "benchmark")
    alone = (Student(id=f"s{at:04}") for at in range(students // 10))
    with tempfile.TemporaryDirectory() as folder:
        _time("one sheet for everyone", draw_set(blueprint, 3), students, Path(folder))
        own = draw_set(blueprint, 3, tuple(alone))
        _time("a sheet for each student", own, students // 10, Path(folder))


def _time(what: str, problems: ProblemSet, students: int, folder: Path) -> None:
    key, answers = folder / "key.json", folder / "answers.csv"
    key.write_text(key_text(problems), encoding="utf-8")
    with answers.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_rows(problems, students))
    graded, parsed = [], []
    for _ in range(ROUNDS):
        graded.append(_grading(key, answers) / (students * len(problems.slots)))
        parsed.append(_parsing())
    each, bare = median(graded), median(parsed)
    sys.stdout.write(
        f"{what:<26}{1 / each:8,.0f} answers/s  {each * 1e3:.2f} ms each  "
        f"{each / bare:.1f} × a bare number ({bare * 1e3:.2f} ms), aim at most {AIM:g} ×\n"
    )


def _grading(key: Path, answers: Path) -> float:
    started = time.process_time()
    problems = read_key(key)
    report = report_of(problems, read_answers(answers, problems))
    for write in (html, markdown):
        write(report)
    for write_table in (answers_csv, students_csv):
        write_table(report.marked)
    return time.process_time() - started


def _parsing() -> float:
    started = time.process_time()
    for at in range(PARSES):
        parse_quantity(f"{at}.5 GB", default_unit="GB")
    return (time.process_time() - started) / PARSES


def _rows(problems: ProblemSet, students: int) -> list[list[str]]:
    draw = Draw("class", 1)
    rows = [["student", *(str(slot.number) for slot in problems.slots)]]
    for at in range(students):
        variant = problems.variants[at if problems.is_personal else 0]
        rows.append([f"s{at:04}", *(_typed(one, draw) for one in variant.problems)])
    return rows


def _typed(problem: Problem, draw: Draw) -> str:
    if draw.chance(10):
        return ""
    if problem.answer.parts:
        return ", ".join(_size(draw) for _ in problem.answer.parts)
    return FIXED.get(problem.answer.type, _size)(draw)


def _size(draw: Draw) -> str:
    return f"{draw.between(10, 9_999) / 10:g} GB"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDENTS)
