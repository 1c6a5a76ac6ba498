"""Markdown: a sheet a student, and one with solutions."""

import re

from quiz.formats.format import Files, Format
from quiz.formats.questions import Question
from quiz.formats.sheets import Questions, sheets, size_of
from quiz.output.markdown import escaped
from quiz.sets.problem_set import ProblemSet, Variant


def _write(problems: ProblemSet, variant: Variant, questions: Questions, *, solved: bool) -> bytes:
    whose = "" if variant.student is None else f"\n{escaped(variant.student.said)}\n"
    head = f"# {escaped(problems.title)}{': solutions' * solved}\n{whose}\n{size_of(problems)}.\n"
    return "\n".join([head, *(_question(one, solved=solved) for one in questions)]).encode()


def _question(one: Question, *, solved: bool) -> str:
    points = f"{float(one.points):g} point{'s' * (one.points != 1)}"
    blocks = [f"## {one.number}. {escaped(one.about)} ({points})", escaped(one.prompt)]
    if one.exhibit:
        blocks.append(_verbatim(one.exhibit))
    if one.choices:
        blocks.append(_verbatim("\n".join(one.choices)))
    if one.wants:
        blocks.append(escaped(one.wants))
    if solved:
        steps = "\n".join(f"- {escaped(step)}" for step in one.solution)
        blocks += [f"**{escaped(one.said)}**", steps]
    return "\n\n".join(blocks) + "\n"


def _verbatim(text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _files(problems: ProblemSet) -> Files:
    return sheets(problems, ".md", _write)


FORMAT = Format(
    name="markdown",
    says="a sheet a student, and one with its solution",
    cannot=("marking", "hints", "the feedback on mistakes"),
    files=_files,
)
