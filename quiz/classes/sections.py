"""What the report on a class says: sections of sentences and tables, for any page to show."""

from collections.abc import Iterator
from statistics import median

from quiz.classes import on_answers, on_keys, on_questions
from quiz.classes.histogram import drawn
from quiz.classes.report import Report, percent
from quiz.output.sections import Grid, Section, counted, named, shown


def sections(report: Report) -> tuple[Section, ...]:
    """Return the parts of the report that have something to say, in order."""
    return tuple(
        section
        for write in (
            _summary,
            on_keys.notes,
            on_keys.regraded,
            on_keys.today,
            _points,
            on_questions.questions,
            on_questions.look_at,
            on_questions.mistakes,
            on_answers.yourself,
            on_answers.unreadable,
            on_answers.again,
            on_answers.unused,
        )
        for section in write(report)
    )


def summary(report: Report) -> tuple[str, ...]:
    """Return the class in a few sentences."""
    marked = report.marked
    students, questions = len(marked.results), len(marked.problems.slots)
    head = f"{counted(students, 'student')}, {counted(questions, 'question')}, "
    lines = [f"{head}{shown(marked.problems.points)} points"]
    if report.mean is not None:
        middle = median(report.shares)
        lines[0] += (
            f"; mean {shown(percent(report.mean) or 0)}%, median {shown(percent(middle) or 0)}%"
        )
    lines.append(marked.sum.said)
    if marked.absent:
        said = named([one.said for one in marked.absent])
        lines.append(f"{counted(len(marked.absent), 'student')} of the key without a row: {said}")
    if report.passing is not None:
        said = f": {named([one.student.said for one in report.below])}" if report.below else ""
        mark = shown(percent(report.passing) or 0)
        lines.append(f"{counted(len(report.below), 'student')} below {mark}%{said}")
    return tuple(lines)


def _summary(report: Report) -> Iterator[Section]:
    answers = report.marked.answers
    voided = [slot.number for slot in report.marked.problems.slots if not slot.points]
    says = [*summary(report), f"Read as {answers.how}; {'; '.join(answers.notes)}."]
    if voided:
        said = ", ".join(map(str, voided))
        says.append(f"Not counted, since it has 0 points: question {said}.")
    yield Section(title="The class", says=tuple(says))


def _points(report: Report) -> Iterator[Section]:
    numbers = [str(slot.number) for slot in report.marked.problems.slots]
    rows = [
        (
            one.student.said,
            shown(one.points),
            shown(one.of),
            "" if one.share is None else shown(percent(one.share) or 0),
            *(shown(mark.points) for mark in one.marks),
        )
        for one in report.marked.results
    ]
    rows += [
        (one.said, "no row", shown(report.marked.problems.points), "", *("" for _ in numbers))
        for one in report.marked.absent
    ]
    spread = Grid(
        caption="How the points are spread",
        head=("share of the points", "students"),
        rows=tuple((bar.said, str(bar.students)) for bar in report.bars),
        numbers=frozenset({1}),
    )
    students = Grid(
        caption="Points of each student, in all and for each question",
        head=("student", "points", "of", "percent", *numbers),
        rows=tuple(rows),
        numbers=frozenset(range(1, 4 + len(numbers))),
    )
    spoken = "; ".join(f"{bar.said}: {counted(bar.students, 'student')}" for bar in report.bars)
    figures = (drawn(report.bars, spoken),)
    yield Section(title="Points", grids=(spread, students), figures=figures)
