"""HTML: a page a student that needs nothing else, and one with hints and solutions folded."""

from quiz.formats.format import Files, Format
from quiz.formats.numbers import plain
from quiz.formats.sheets import Questions, sheets, size_of
from quiz.output.pages import environment
from quiz.sets.problem_set import ProblemSet, Variant


def _write(problems: ProblemSet, variant: Variant, questions: Questions, *, solved: bool) -> bytes:
    template = environment().get_template("sheet.html.jinja")
    return template.render(
        title=problems.title,
        whose="" if variant.student is None else variant.student.said,
        questions=questions,
        size=size_of(problems),
        solved=solved,
        seed=problems.seed,
        version=problems.version,
        number=plain,
    ).encode()


def _files(problems: ProblemSet) -> Files:
    return sheets(problems, ".html", _write)


FORMAT = Format(
    name="html",
    says="a page a student, to read or print, and one with hints and solutions folded",
    cannot=("marking",),
    files=_files,
)
