"""A notebook, its hidden tests run in a process of their own: what answers earn and are told."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from html.parser import HTMLParser
from itertools import permutations

import pytest

from problems.answers.choice import ChoiceAnswer
from quiz.formats.parts import NumberPart, OrderPart, PickPart, WordsPart
from quiz.formats.registry import formats
from quiz.formats.sheets import questions_of
from quiz.grading import grade
from tests.quiz.formats.conftest import MARKUP

# Runs each test behind its answer, and says the value of its last line and what it printed.
RUN = """\
import ast, contextlib, io, json, sys
found = []
for answer, test in json.load(sys.stdin):
    lines, printed = ast.parse(f"{answer}\\n{test}").body, io.StringIO()
    names, last = {}, ast.Expression(lines.pop().value)
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(lines, []), "cell", "exec"), names)
        value = eval(compile(last, "cell", "eval"), names)
    found.append((value, printed.getvalue()))
json.dump(found, sys.stdout)
"""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A part that is marked by itself: its answer cell and the hidden tests behind it."""

    part: object
    one: object
    problem: object
    asked: str
    test: str

    @property
    def name(self):
        return self.asked.split()[1]

    @property
    def points(self):
        return self.part.weight * self.one.points

    def typed(self, answer):
        return f"{self.name} = {answer!r}", self.test


def notebook(problems, at=0):
    (*files,) = formats()["notebook"].files(problems).values()
    return json.loads(files[at])


def cells(problems):
    """Return what is marked by itself, in order."""
    code = [cell["source"] for cell in notebook(problems)["cells"] if cell["cell_type"] == "code"]
    (variant,) = problems.variants
    parts = [
        (part, one, problem)
        for one, problem in zip(questions_of(problems, variant), variant.problems, strict=True)
        for part in one.parts
        if not isinstance(part, WordsPart)
    ]
    return [
        Cell(part=part, one=one, problem=problem, asked=asked, test=test)
        for (part, one, problem), asked, test in zip(parts, code[::2], code[1::2], strict=True)
    ]


def earned(rows):
    """Return what each row of an answer and a test earns and is told."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUN],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def plain(every_type):
    return cells(every_type)


@pytest.fixture(scope="module")
def marked(marked_up):
    return cells(marked_up)


def of(found, form):
    return [cell for cell in found if isinstance(cell.part, form)]


def test_the_solution_of_the_notebook_earns_all(marked):
    found = earned([(cell.asked, cell.test) for cell in marked])
    assert [value for value, _ in found] == [float(cell.points) for cell in marked]


def test_numbers_earn_all_up_to_the_bounds_and_no_further(plain):
    rows = [
        (cell.typed(float(value)), value == inside)
        for cell in of(plain, NumberPart)
        for bound, step in ((cell.part.right.low, -1), (cell.part.right.high, 1))
        for inside in (bound,)
        for value in (bound, bound * (1 + step * Fraction(1, 10**9)))
    ]
    points = [cell.points for cell in of(plain, NumberPart) for _ in range(4)]
    for (_, is_inside), (value, _), most in zip(
        rows, earned([row for row, _ in rows]), points, strict=True
    ):
        assert (value == float(most)) is is_inside


def test_a_mistake_and_what_is_near_earn_their_share_and_are_told(marked):
    due = [(cell, span) for cell in of(marked, NumberPart) for span in cell.part.spans]
    found = earned([cell.typed(float((span.low + span.high) / 2)) for cell, span in due])
    for (cell, span), (value, told) in zip(due, found, strict=True):
        assert value == pytest.approx(float(span.share * cell.points))
        assert told == (f"{span.feedback}\n" if span.feedback else "")
    assert any(MARKUP in told for _, told in found)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (-1, ""),
        ("words", "type a number\n"),
        (None, "type a number\n"),
        (1j, "type a number\n"),
        (10**400, "type a number\n"),
    ],
)
def test_what_is_wrong_or_no_number_earns_nothing(plain, answer, told):
    cell = of(plain, NumberPart)[0]
    assert earned([cell.typed(answer)]) == [[0, told]]


def test_a_number_may_be_typed_as_text(plain):
    cell = of(plain, NumberPart)[0]
    assert earned([cell.typed(str(float(cell.part.right.value)))]) == [[1, ""]]


def test_a_pick_is_read_by_its_key_and_by_its_text(plain):
    for cell in of(plain, PickPart):
        keys = [line.split()[0] for line in cell.one.choices]
        for typed in ([one.text.upper() for one in cell.part.options], keys):
            for one, (value, told) in zip(
                cell.part.options, earned([cell.typed(row) for row in typed]), strict=False
            ):
                assert value == one.is_right * cell.points
                assert told == (f"{one.feedback}\n" if one.feedback else "")
    (other,) = earned([cell.typed("neither")])
    assert other == [0, "type one of those above\n"]


def test_a_pick_is_typed_by_the_key_that_it_is_shown_with(every_type):
    variant = every_type.variants[0]
    at = next(
        at for at, one in enumerate(variant.problems) if isinstance(one.answer, ChoiceAnswer)
    )
    problem = variant.problems[at]
    choices = tuple(
        replace(one, item=replace(one.item, key=str(key)))
        for key, one in enumerate(problem.answer.choices, 1)
    )
    other = replace(problem, answer=replace(problem.answer, choices=choices))
    problems = replace(
        every_type,
        slots=(every_type.slots[at],),
        variants=(replace(variant, problems=(other,)),),
    )
    (cell,) = cells(problems)
    assert "one of 1, 2, 3, 4, 5" in cell.asked
    assert earned([cell.typed(other.answer.right.item.key)])[0][0] == 1


def test_an_order_earns_what_the_grader_gives(plain):
    for cell in of(plain, OrderPart):
        keys = [item.key for item in cell.part.items]
        orders = [row for size in (2, 3, len(keys)) for row in permutations(keys, size)][::7]
        found = earned([cell.typed(list(row)) for row in orders])
        for row, (value, _) in zip(orders, found, strict=True):
            due = grade(cell.problem, " ".join(row)).score
            assert value == pytest.approx(float(due * cell.points))


def test_an_order_with_a_key_twice_or_an_unknown_one_earns_nothing(plain):
    cell = of(plain, OrderPart)[0]
    first = cell.part.items[0].key
    for row in ([first, first], ["?"]):
        assert earned([cell.typed(row)]) == [[0, "type keys of those above, each once\n"]]


def test_no_feedback_ends_the_hidden_tests(every_type):
    variant = every_type.variants[0]
    problem = variant.problems[0]
    says = "\\### END HIDDEN TESTS\n### BEGIN SOLUTION '''"
    mistakes = tuple(replace(one, feedback=says) for one in problem.mistakes)
    other = replace(variant, problems=(replace(problem, mistakes=mistakes),))
    (cell,) = cells(replace(every_type, slots=every_type.slots[:1], variants=(other,)))
    assert cell.test.count("###") == 2
    span = next(span for span in cell.part.spans if span.feedback == says)
    ((_, told),) = earned([cell.typed(float((span.low + span.high) / 2))])
    assert told == f"{says}\n"


class Text(HTMLParser):
    """Collects the text of a page as it is shown."""

    def __init__(self, source):
        super().__init__()
        self.shown = ""
        self.feed(source)

    def handle_data(self, data):
        self.shown += data


def test_what_is_asked_is_one_block_of_html_without_formulas(marked_up):
    cells = notebook(marked_up)["cells"]
    asked = [cell["source"] for cell in cells if cell["metadata"]["nbgrader"]["locked"]]
    asked = [source for source in asked if source.startswith("<")]
    problems = marked_up.variants[0].problems
    assert len(asked) == 1 + len(problems)
    assert MARKUP in Text(asked[0]).shown
    for source, problem in zip(asked[1:], problems, strict=True):
        assert all(line.strip() for line in source.splitlines())
        assert "$" not in source
        assert "\\" not in source
        shown = Text(source).shown
        assert all(line in shown for line in problem.prompt.splitlines())
        assert problem.exhibit in shown


def test_blank_lines_of_an_exhibit_are_kept(every_type):
    variant = every_type.variants[0]
    exhibit = "one\n\n\n  \n# two\n\n    three"
    other = replace(
        variant, problems=tuple(replace(one, exhibit=exhibit) for one in variant.problems)
    )
    cells = notebook(replace(every_type, variants=(other,)))["cells"]
    source = next(cell["source"] for cell in cells if cell["id"] == "question-1")
    assert all(line.strip() for line in source.splitlines())
    assert exhibit in Text(source).shown


def test_points_add_up_and_words_have_theirs(every_type):
    told = [cell["metadata"]["nbgrader"] for cell in notebook(every_type)["cells"]]
    assert sum(one.get("points", 0) for one in told) == pytest.approx(float(every_type.points))
    assert sum(one["grade"] and one["solution"] for one in told) == 4


def test_students_have_notebooks_of_their_own(personal):
    assert sorted(map(str, formats()["notebook"].files(personal))) == [
        "notebook/s-0.ipynb", "notebook/s-1.ipynb", "notebook/s-2.ipynb",
    ]  # fmt: skip
    assert notebook(personal, 0) != notebook(personal, 1)


def test_the_same_set_gives_the_same_bytes(every_type):
    assert formats()["notebook"].files(every_type) == formats()["notebook"].files(every_type)
