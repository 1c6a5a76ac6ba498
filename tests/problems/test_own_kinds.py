"""Kinds of one's own: found in a folder or a package, and told by file and line where broken."""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from engine.errors import InputError
from problems.mistakes import mistakes
from problems.own_folders import using
from problems.own_kinds import installed
from problems.registry import build, kinds, kinds_with
from quiz.grading import grade

EXAMPLE = Path(__file__).parents[1] / "recipes" / "own-kinds" / "my-kinds"
NAME = "checkpoint-time"
CODE = (EXAMPLE / "checkpoint_time.py").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """A folder with the files of the example."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "kinds"))


def refused(*folders):
    with using(*folders), pytest.raises(InputError) as error:
        kinds()
    return str(error.value)


def test_a_file_of_a_folder_is_a_kind_while_the_folder_is_in_use(folder):
    assert NAME not in kinds()
    with using(folder):
        assert kinds()[NAME].title.startswith("Seconds")
    assert NAME not in kinds()


def test_its_problems_are_the_same_wherever_the_folder_lies(folder):
    with using(folder):
        here = build(NAME, 7)
    with using(EXAMPLE):
        assert build(NAME, 7) == here


def test_it_changes_no_problem_of_the_bank(folder):
    before = build("peak", 3)
    with using(folder):
        assert build("peak", 3) == before


def test_its_template_and_its_mistakes_lie_beside_it(folder):
    with using(folder):
        problem = build(NAME, 7)
        assert "How long does a checkpoint take" in problem.prompt
        mistake = problem.mistakes[0]
        assert mistakes()[mistake.name].share
        assert grade(problem, f"{float(mistake.value):.4g} s").mistake == mistake.name


def test_kinds_come_topic_by_topic_with_ones_own(folder):
    with using(folder):
        topics = [kind.topic for kind in kinds().values()]
    assert topics == sorted(topics)


def test_files_of_a_folder_may_share_one_whose_name_begins_with_an_underscore(folder):
    (folder / "_speeds.py").write_text("FASTEST = 250\n")
    code = CODE.replace("\nKEPT", "\nfrom ._speeds import FASTEST\n\nKEPT")
    (folder / "checkpoint_time.py").write_text(code.replace("(2, 250)", "(2, FASTEST)"))
    with using(folder):
        assert NAME in kinds()


BROKEN = {
    "no-python": (CODE.replace("def _mistakes(", "def _mistakes)("), "is no Python"),
    "raises": (CODE.replace("KEPT = (", "KEPT = (1 / 0, "), "line 18: ZeroDivisionError"),
    "no-module": (CODE.replace("from engine.units", "from engine.unitz"), "engine.unitz"),
    "no-title": (CODE.replace("    title=", "    name_of="), "TypeError"),
    "no-kind": ("ONE = 1\n", "has no kind; put @kind above a function"),
    "no-topic": (CODE.replace('topic="A"', 'topic="Z"'), "'Z' is no topic; topics: A model"),
    "no-level": (CODE.replace('"junior"', '"expert"'), "'expert' is no level; levels: junior"),
    "no-name": (CODE.replace('"checkpoint-time",\n    topic', '"a@b",\n    topic'), "is no name"),
    "taken": (CODE.replace('name="checkpoint-time"', 'name="peak"'), "the name peak is taken, by"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_file_is_told_with_what_is_wrong(folder, fault):
    code, said = BROKEN[fault]
    (folder / "checkpoint_time.py").write_text(code)
    told = refused(folder)
    assert said in told
    assert "checkpoint_time.py" in told


def test_all_broken_files_are_told_at_once(folder):
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text("def\n")
    told = refused(folder)
    assert "one.py line 1: is no Python" in told
    assert "two.py line 1: is no Python" in told


def test_a_file_that_is_no_text_is_told_by_its_name(folder):
    (folder / "binary.py").write_bytes(b"ONE = 1\0\n")
    assert "binary.py: is no Python: source code" in refused(folder)


def test_a_module_of_another_folder_that_is_no_python_is_told_with_the_file_that_imports_it(
    folder,
):
    (folder / "_other.py").write_text("def\n")
    (folder / "checkpoint_time.py").write_text("from ._other import ONE\n")
    told = refused(folder)
    assert "checkpoint_time.py: SyntaxError" in told
    assert "_other.py" in told


@pytest.mark.parametrize("returned", ["None", "7"])
def test_a_kind_that_makes_no_question_is_told_where_it_stands(folder, returned):
    code = CODE.replace("    model, ranks =", f"    return {returned}\n    model, ranks =", 1)
    (folder / "checkpoint_time.py").write_text(code)
    with using(folder), pytest.raises(InputError) as error:
        build(NAME, 1)
    line = 1 + code.splitlines().index("@kind(")
    assert f"checkpoint_time.py line {line}: " in str(error.value)


PICK = "build('first-lever', 1).answer"


def test_a_mistake_that_is_none_is_told_where_its_kind_stands(folder):
    code = CODE.replace("tuple(_mistakes(seconds))", "(7,)")
    code = code.replace('QuantityAnswer(value=seconds, unit="s", default_unit="s")', PICK)
    code = code.replace("\nKEPT", "\nfrom problems.registry import build\n\nKEPT")
    (folder / "checkpoint_time.py").write_text(code)
    with using(folder), pytest.raises(InputError, match=r"py line \d+: AttributeError: 'int'"):
        build(NAME, 1)


def test_two_folders_with_kinds_of_one_name_are_refused(folder):
    assert f"the name {NAME} is taken" in refused(folder, EXAMPLE)


@pytest.mark.parametrize(("name", "said"), [("nowhere", "is no folder"), (".", "has no .py file")])
def test_a_folder_without_kinds_is_refused(tmp_path, name, said):
    assert said in refused(tmp_path / name)


def test_what_a_kind_raises_is_told_with_its_line(folder):
    code = CODE.replace("seconds = Fraction(size, speed * GB)", "seconds = Fraction(size, 0)")
    (folder / "checkpoint_time.py").write_text(code)
    line = 1 + code.splitlines().index("    seconds = Fraction(size, 0)")
    with using(folder), pytest.raises(InputError) as error:
        build(NAME, 1)
    assert f"checkpoint_time.py line {line}: ZeroDivisionError" in str(error.value)
    assert "mend it, then memquiz check checkpoint-time" in str(error.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[half\n", "mistakes.toml: "),
        ('[half]\nsays = "Half."\n', "has no share"),
        ('["master copy forgotten"]\nshare = "1/4"\nsays = "x."\n', "is there already"),
        ("half = 1\n", "a row is [name], share and says"),
    ],
)
def test_a_broken_table_of_mistakes_is_refused(folder, table, said):
    (folder / "mistakes.toml").write_text(table)
    with using(folder), pytest.raises(InputError, match=r"mistakes\.toml") as error:
        mistakes()
    assert said in str(error.value)


ROW = '["moments not saved"]\nshare = "1/{}"\nsays = "Left out."\n'


@pytest.fixture
def two_tables(tmp_path):
    """Return a function that puts a table of mistakes into each of two folders."""

    def put(first, second):
        for name, text in (("one", first), ("two", second)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "mistakes.toml").write_text(text)
        return tmp_path / "one", tmp_path / "two"

    return put


def test_the_same_row_in_two_tables_is_taken(two_tables):
    with using(*two_tables(ROW.format(4), ROW.format(4))):
        assert mistakes()["moments not saved"].share == Fraction(1, 4)


def test_another_row_of_the_same_name_is_told_with_the_table_that_has_it(two_tables):
    one, two = two_tables(ROW.format(4), ROW.format(2))
    with using(one, two), pytest.raises(InputError) as error:
        mistakes()
    told = str(error.value)
    assert f"{two / 'mistakes.toml'}: " in told
    assert f"in {one / 'mistakes.toml'}" in told


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that installs a package with an entry point of the group."""

    def put(value):
        info = tmp_path / "course-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: course\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[memquiz.kinds]\nmine = {value}\n")
        (tmp_path / "course_of_kinds.py").write_text(CODE.replace(NAME, "packaged"))
        monkeypatch.syspath_prepend(tmp_path)
        clear()

    def clear():
        installed.cache_clear()
        kinds_with.cache_clear()

    yield put
    monkeypatch.undo()
    clear()


@pytest.mark.parametrize("value", ["course_of_kinds", "course_of_kinds:checkpoint_time"])
def test_a_package_that_is_installed_brings_kinds(package, monkeypatch, value):
    monkeypatch.delitem(__import__("sys").modules, "course_of_kinds", raising=False)
    package(value)
    assert kinds()["packaged"].topic == "A"


def test_a_package_that_cannot_be_loaded_is_named(package):
    package("no_such_course")
    assert "memquiz.kinds, mine = no_such_course: cannot be loaded" in refused()
