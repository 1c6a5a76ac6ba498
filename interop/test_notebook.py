"""A notebook that nbgrader makes an assignment of and grades: solved, it has full marks."""

import json

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from quiz.formats.parts import WordsPart
from quiz.formats.registry import formats
from quiz.formats.sheets import questions_of

NAME = "everyone.ipynb"

pytestmark = pytest.mark.filterwarnings("ignore")  # those of nbgrader, told of its own code


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder with a set as its assignment; submit a notebook, and what it earned."""
    monkeypatch.chdir(tmp_path)
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.Exchange.root = str(tmp_path / "exchange")
    config.ExecutePreprocessor.timeout = 120
    config.Execute.timeout = 120
    api = NbGraderAPI(config=config)

    def released(problems):
        folder = tmp_path / "source" / "week"
        folder.mkdir(parents=True)
        (data,) = formats()["notebook"].files(problems).values()
        (folder / NAME).write_bytes(data)
        done = api.generate_assignment("week")
        assert done["success"], done
        return (tmp_path / "release" / "week" / NAME).read_text()

    def graded(text):
        folder = tmp_path / "submitted" / "ann" / "week"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / NAME).write_text(text)
        done = api.autograde("week", "ann", force=True)
        assert done["success"], done
        with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
            grades = book.find_submission_notebook(NAME[:-6], "week", "ann").grades
            return {
                grade.name: (grade.auto_score, grade.max_score)
                for grade in grades
                if grade.cell.cell_type == "code"
            }

    return released, graded


def test_a_solved_notebook_is_graded_to_full_marks(every_type, course):
    released, graded = course
    released(every_type)
    (data,) = formats()["notebook"].files(every_type).values()
    found = graded(data.decode())
    assert found
    assert {name: auto for name, (auto, _) in found.items()} == {
        name: most for name, (_, most) in found.items()
    }


def test_the_release_has_the_question_and_no_answer(marked_up, course):
    released, _ = course
    text = released(marked_up)
    nbformat.validate(nbformat.reads(text, as_version=4))
    cells = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in json.loads(text)["cells"]}
    assert "HIDDEN" not in text
    for one in questions_of(marked_up, marked_up.variants[0]):
        assert one.solution[-1] not in text
        for name in (name for name in cells if name.startswith(f"answer_{one.number}-")):
            assert "NotImplementedError" in "".join(cells[name]["source"]) or name.endswith("test")


def test_a_mistake_earns_its_share_and_is_told(every_type, course):
    released, graded = course
    text = released(every_type)
    one = questions_of(every_type, every_type.variants[0])[0]
    (part,) = one.parts
    wrong = next(span for span in part.spans if span.share)
    notebook = json.loads(text)
    cell = next(
        cell
        for cell in notebook["cells"]
        if cell["metadata"]["nbgrader"]["grade_id"] == "answer_1"
    )
    cell["source"] = f"answer_1 = {float(wrong.value)!r}"
    found = graded(json.dumps(notebook))
    assert found["answer_1-test"][0] == pytest.approx(float(wrong.share))


def test_points_add_up_to_those_of_the_set(every_type, course):
    released, _ = course
    cells = json.loads(released(every_type))["cells"]
    told = [cell["metadata"]["nbgrader"] for cell in cells]
    assert sum(one.get("points", 0) for one in told) == pytest.approx(float(every_type.points))
    by_hand = [one for one in told if one["grade"] and one["solution"]]
    parts = [
        part
        for one in questions_of(every_type, every_type.variants[0])
        for part in one.parts
        if isinstance(part, WordsPart)
    ]
    assert len(by_hand) == len(parts)
