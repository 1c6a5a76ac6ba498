"""A class's answers are marked as one by one, and no cell of a file is lost."""

import csv
import io
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from quiz.answers import Unreadable
from quiz.classes.guard import guarded, unguarded
from quiz.classes.marking import Marker, mark
from quiz.classes.reading import read_answers
from quiz.grading import grade
from quiz.sets.problem_set import ProblemSet

# Of every type of answer some are right in part, and all are wrong or unreadable for others.
TYPED = (
    "25 GB", "25 GiB", "-5", "=16*7e9", "20 to 30 GB", "8 GPUs", "4x", "yes, 40 GB", "no", "a",
    "a > b > c", "step 2, 5 GB", "2 + 2 + 4 + 8", "16*P", "weights 14 GB, gradients 14 GB",
    "1 GB; 2 GB; 3 GB", "mixed precision, AdamW, b = 1: 118 GB", "true", "what?", "",
    "false, since activations are whole on each rank", "5\nGB",
)  # fmt: skip
WIDE = "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH HYPHEN-MINUS}"


def written(rows):
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def test_every_type_of_answer_is_marked_as_one_by_one(every_type, read):
    numbers = range(1, len(every_type.slots) + 1)
    rows = [[f"s{at:02}", *(guarded(text) for _ in numbers)] for at, text in enumerate(TYPED)]
    answers = read(every_type, written([["student", *numbers], *rows]))
    marked = mark(every_type, answers)
    for result, text in zip(marked.results, TYPED, strict=True):
        for mark_, problem in zip(result.marks, every_type.variants[0].problems, strict=True):
            assert mark_.found == (grade(problem, text) if text else None)
    assert {one.state for one in marked.all()} == {"marked", "unreadable", "empty"}


def test_each_student_of_a_personal_set_is_marked_by_their_own_problem(for_each, read):
    said = [variant.problems[0].answer.said.split(" = ")[0] for variant in for_each.variants]
    rows = [[one.student.id, text] for one, text in zip(for_each.variants, said, strict=True)]
    marked = mark(for_each, read(for_each, written([["student", "1"], *rows])))
    assert [result.marks[0].score for result in marked.results] == [1, 1, 1]
    swapped = [[row[0], said[at - 1]] for at, row in enumerate(rows)]
    marked = mark(for_each, read(for_each, written([["student", "1"], *swapped])))
    assert not any(result.marks[0].score == 1 for result in marked.results)


def test_points_are_those_of_the_slots(for_all, class_of):
    said = for_all.variants[0].problems[1].answer.said.split(" = ")[0]
    (result,) = class_of(for_all, {"x": ["", said, ""]}).results
    assert (result.points, result.of, result.share) == (2, 4, Fraction(1, 2))


def test_a_slot_with_no_points_does_not_count(for_all, class_of):
    voided = replace(
        for_all, slots=(for_all.slots[0], replace(for_all.slots[1], points=Fraction(0)))
    )
    voided = replace(
        voided, variants=(replace(for_all.variants[0], problems=for_all.variants[0].problems[:2]),)
    )
    said = [problem.answer.said.split(" = ")[0] for problem in voided.variants[0].problems]
    (result,) = class_of(voided, {"x": ["", said[1]]}).results
    assert (result.points, result.of, result.marks[1].score) == (0, 1, 1)


def test_where_no_slot_counts_no_share_is_said(for_all, class_of):
    voided = replace(
        for_all, slots=tuple(replace(one, points=Fraction(0)) for one in for_all.slots)
    )
    (result,) = class_of(voided, {"x": ["5 GB"]}).results
    assert (result.of, result.share) == (0, None)


def test_students_of_the_key_without_a_row_are_absent(for_each, read):
    marked = mark(for_each, read(for_each, "student,1", "bob,5 GB"))
    assert [one.id for one in marked.absent] == ["ada", "čapek"]


def test_an_unreadable_answer_says_where_and_why(for_all, class_of):
    (result,) = class_of(for_all, {"x": ["5 GB and what", "", "true"]}).results
    first = result.marks[0]
    assert isinstance(first.found, Unreadable)
    assert first.said == f"at character {first.found.offset + 1}: {first.found.reason}"


def test_a_text_is_marked_once_for_each_problem(for_all):
    marker, (one, other, _) = Marker(), for_all.variants[0].problems
    assert marker.marked(one, "5 GB") is marker.marked(one, "5 GB")
    assert marker.marked(other, "5 GB") is not marker.marked(one, "5 GB")


def test_a_claim_that_is_a_close_call_is_to_be_looked_at(for_all, class_of):
    texts = [
        "false, because weights and gradients and states only, not tokens",
        "false, since of the batch",
        "false, they depend on memory of data",
        "true, shards everything",
        "false, activations are not sharded, every rank computes its own micro-batch",
    ]
    marked = class_of(for_all, {f"s{at}": ["", "", text] for at, text in enumerate(texts)})
    for one in marked.all():
        close = [x for x in getattr(one.found, "remarks", ()) if x.startswith("a close call")]
        assert one.doubt == (close[0] if close else "")


@pytest.fixture(scope="module")
def sets(for_all, for_each):
    """The two sets, behind a function, since hypothesis would print them."""
    return lambda personal: for_each if personal else for_all


cells = st.one_of(
    st.sampled_from(("", " ", *TYPED, "Total", "ada", "BOB", "zoe", "1", "q2", "student", "9")),
    st.text(max_size=6),
)
titles = st.sampled_from(
    ("student", "1", "q2", "claim", "Section", "question", "answer", "name", "", "9", "x")
)
heads = st.sampled_from(
    ([], ["student", "1"], ["student", "q2", "claim"], ["student", "question", "answer"])
)


@given(
    head=heads,
    more=st.lists(titles, min_size=0, max_size=3),
    rows=st.lists(st.lists(cells, max_size=7), max_size=9),
    personal=st.booleans(),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_every_cell_of_any_file_is_marked_empty_unreadable_or_listed(
    sets, head, more, rows, personal
):
    problems: ProblemSet = sets(personal)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(written([[*head, *more], *rows]))
        with suppress(InputError):
            answers = read_answers(path, problems)
            _adds_up(mark(problems, answers), len(rows))


def _adds_up(marked, rows):
    kept = [one for one in marked.all() if one.cell is not None]
    listed = sum(one.cells for one in marked.answers.unused)
    assert marked.sum.adds_up
    assert marked.answers.cells == len(kept) + listed
    assert marked.answers.rows <= rows


typed_rows = st.lists(
    st.tuples(
        st.sampled_from(("ada", "bob", "Bob", "eve", "Total", "")),
        st.lists(st.text("ab15 GB,;'=-\n\"", max_size=5), max_size=5),
    ),
    max_size=6,
)


@given(typed_rows)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_every_text_that_was_typed_is_an_answer_or_stands_in_the_list(sets, typed):
    rows = [[one, *texts] for one, texts in typed]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(written([["student", "1", "2", "3"], ["ada", "1", "2", "3"], *rows]))
        answers = read_answers(path, sets("personal"))
    told = [cell.text for sheet in answers.sheets for cell in sheet.cells.values()]
    listed = " | ".join(one.text for one in answers.unused)
    for row in rows:
        for cell in row[1:]:
            text = unguarded(cell.strip()).strip()
            assert text in told or text in listed or cell.strip() in listed


@given(st.text(f"'=+-@ \t\r\nab5{WIDE}", max_size=6))
def test_a_guarded_cell_is_read_back_and_is_no_formula(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).lstrip(" ").startswith(tuple(f"=+-@\t\r\n{WIDE}"))
