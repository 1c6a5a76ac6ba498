"""The documents say what the program does: their commands are run, their tables compared."""

import importlib.util
import json
import math
import re
import sys
import tomllib
from dataclasses import MISSING, fields
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from doc_console import RECIPES, ROOT, Step, blocks, documents, files, prepare, run, shortened
from doc_model import BLOCKS as LINES
from doc_tables import NAMES, generated, places, traced

from engine.accelerator import Accelerator
from engine.architecture import Architecture, Experts, LatentAttention
from engine.scenario import Adapters, Hardware, Offload, Parallel, Recipe, Serving, Workload
from engine.scenario_file import MODEL_KEYS, from_mapping
from quiz.__main__ import CRASHED
from quiz.cli import COMMANDS, memquiz
from quiz.exits import Exit
from quiz.practice.commands import WORDS
from quiz.solve.report import as_json, solve

TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in documents()}
CONSOLES = [
    pytest.param(block, id=f"{name}:{block.first}")
    for name, text in TEXTS.items()
    for block in blocks(text)
]
FILES = [pytest.param(file, id=file.path) for text in TEXTS.values() for file in files(text)]
PLACES = [
    pytest.param(name, text.splitlines()[first:last], id=f"{document}:{name}")
    for document, text in TEXTS.items()
    for name, first, last in places(text)
]
PARTS = {
    "workload": Workload,
    "recipe": Recipe,
    "adapters": Adapters,
    "parallel": Parallel,
    "offload": Offload,
    "serving": Serving,
    "hardware": Hardware,
}
TYPES = {
    int: "whole number",
    float: "number",
    bool: "true or false",
    str: "text",
    Accelerator: "text",
    Experts | None: "table",
    LatentAttention | None: "table",
}
# Its last column changes with every new file, so that the others are compared.
COUNTS_FILES = "startup"
# Compared by tests/test_doc_model.py: all in one process, since what they share takes seconds.
ELSEWHERE = {COUNTS_FILES, *LINES}
HOSTS = {"keepachangelog.com"}
TRACES = re.compile(r"memquiz verify (?!--help)")


@pytest.mark.parametrize("block", CONSOLES)
def test_a_console_block_shows_what_its_commands_print(block, tmp_path):
    if any(TRACES.search(step.command) for step in block.steps) and not find_spec("torch"):
        pytest.skip("PyTorch is not installed")
    prepare(tmp_path, block.files)
    for step in block.steps:
        assert list(step.printed) == list(shortened(step, run(step, tmp_path)))


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_a_recipe_is_the_one_that_is_linted_and_tested(file):
    assert file.text == file.source.read_text(encoding="utf-8")


def test_every_file_of_a_recipe_stands_in_a_document():
    shown = {file.values[0].source for file in FILES}
    assert shown == {path for path in RECIPES.rglob("*.*") if "__pycache__" not in path.parts}


@pytest.mark.parametrize(("name", "stands"), [x for x in PLACES if x.values[0] not in ELSEWHERE])
def test_a_table_is_the_one_that_the_project_gives(name, stands):
    assert stands == generated(name)


@pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed")
def test_a_command_imports_what_the_table_says():
    (stands,) = (place.values[1] for place in PLACES if place.values[0] == COUNTS_FILES)
    assert [line.split(" | ")[:-1] for line in stands] == [
        line.split(" | ")[:-1] for line in generated(COUNTS_FILES)
    ]


def test_every_table_stands_in_a_document():
    assert {place.values[0] for place in PLACES} == NAMES


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown_with_its_help(name):
    assert any(f"$ memquiz {name} --help\n" in text for text in TEXTS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described_in_a_document_and_in_its_help(name):
    for parameter in memquiz.get_command(click.Context(memquiz), name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert any(parameter.opts[0] in text for text in TEXTS.values()), parameter.opts[0]


def test_the_verbs_of_bootstrap_that_are_named_are_there():
    known = {*_bootstrap().VERBS, *COMMANDS, "…"}
    named = {
        verb
        for text in (*TEXTS.values(), (ROOT / ".ci" / "run").read_text())
        for verb in re.findall(r"python3 bootstrap\.py (\S+?)`?\s", text)
    }
    assert {"practice", "test"} <= named <= known


def test_the_verbs_of_make_that_are_named_are_there_and_start_what_is_there():
    makefile = (ROOT / "Makefile").read_text()
    verbs = set(re.findall(r"^(\w+):$", makefile, re.MULTILINE))
    named = {verb for text in TEXTS.values() for verb in re.findall(r"`make (\w+)`", text)}
    assert named <= verbs
    assert verbs == set(re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[1].split())
    assert all((ROOT / file).exists() for file in re.findall(r"python (\S+\.py)", makefile))


def test_the_extras_of_bootstrap_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = _bootstrap().EXTRAS
    assert set(extras) <= set(COMMANDS)
    assert set(extras.values()) <= set(project["optional-dependencies"])


def _bootstrap():
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("document", TEXTS)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[document]):
        file, _, heading = target.partition("#")
        if file.startswith("https://"):
            continue
        path = (ROOT / document).parent / file if file else ROOT / document
        assert path.exists(), target
        assert not heading or heading in _headings(path.read_text(encoding="utf-8")), target


def _headings(text):
    lines = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line).lower().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("document", TEXTS)
def test_files_that_are_named_are_there(document):
    for name in re.findall(r"`((?:\w+/)+\w+\.\w+)`", TEXTS[document]):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("document", TEXTS)
def test_no_document_names_a_folder_of_some_machine_or_an_unknown_host(document):
    text = TEXTS[document]
    assert set(re.findall(r"https?://([^/\s)]+)", text)) <= HOSTS
    assert not re.findall(r"(?<![\w/.:<~])/\w+/\w+", text)


def test_a_line_that_stands_for_skipped_ones_hides_at_least_one():
    for block in (param.values[0] for param in CONSOLES):
        for step in block.steps:
            assert step.printed != ("…",), step.command


def _rows(document, heading):
    """Return the cells of all table rows below `heading`, up to the next heading of that depth."""
    depth = heading.split(" ")[0]
    section = TEXTS[document].partition(f"\n{heading}\n")[2]
    section = re.split(rf"^#{{1,{len(depth)}}} ", section, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def _keys(document, heading):
    return {row[0].strip("`"): row for row in _rows(document, heading) if row[0].startswith("`")}


@pytest.mark.parametrize("table", PARTS)
def test_every_key_of_a_scenario_file_has_its_type_and_default(table):
    _compare(_keys("docs/scenario-file.md", f"## `[{table}]`"), fields(PARTS[table]))


def test_every_key_of_a_model_has_its_type_and_default():
    rows = _keys("docs/scenario-file.md", "## `[model]`")
    assert all(rows.pop(key)[1] == "text" for key in MODEL_KEYS)
    _compare(rows, fields(Architecture))


def _compare(rows, known):
    assert set(rows) == {field.name for field in known}
    for field in known:
        _, kind, default, meaning = rows[field.name]
        assert kind == TYPES.get(field.type, "text")
        assert default == _shown(field.default)
        assert meaning


def _shown(default):
    if default is MISSING or default is None:
        return "none"
    return f"`{json.dumps(default)}`"


@pytest.mark.parametrize("part", [Experts, LatentAttention])
def test_the_keys_of_a_models_parts_are_named(part):
    text = TEXTS["docs/scenario-file.md"]
    assert all(f"`{field.name}`" in text for field in fields(part))


def test_the_keys_of_the_json_object_are_those_of_the_document():
    tables = {
        "model": {"name": "gpt2"},
        "workload": {"sequence": 64},
        "hardware": {"gpu": "t4"},
    }
    printed = as_json(solve(from_mapping(tables)))
    rows = _keys("docs/scenario-file.md", "## The JSON object")
    assert list(rows) == list(printed)
    assert re.findall(r"`(\w+)`", rows["ledger"][1]) == list(printed["ledger"][0])


@pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed")
def test_the_keys_of_the_object_of_verify_are_those_of_the_document(tmp_path):
    prepare(tmp_path)
    sizes = "--layers 2 --hidden 16 --heads 1 --ffn 16 --vocab 16 --sequence 16 --gpu t4"
    step = Step(typed=(f"$ memquiz verify --device fake --json {sizes}",), printed=())
    printed = json.loads("\n".join(run(step, tmp_path)))
    rows = _keys("docs/verify.md", "## The JSON object")
    assert list(rows) == [*printed, "symbolic"]


def test_the_keys_of_practice_are_those_of_the_document():
    rows = _keys("docs/practice.md", "## Keys")
    named = [word for row in rows.values() for word in re.findall(r"`([^`]+)`", " ".join(row[:2]))]
    assert sorted(named) == sorted(WORDS)


def test_the_exit_codes_are_those_of_the_document():
    text = TEXTS["docs/practice.md"].partition("## Through a pipe")[2]
    named = {int(number) for number in re.findall(r"(?:^\| |has |and )(\d+) ", text, re.MULTILINE)}
    assert named == {*map(int, Exit), CRASHED}


def test_the_worked_example_adds_up_to_the_peak_that_is_printed():
    rows = [row for row in _rows("docs/ledger.md", "## A worked example") if "×" in row[1]]
    for _, factors, product in rows:
        assert math.prod(map(_number, factors.split(" × "))) == _number(product)
    printed = re.search(r'"bytes": (\d+)', TEXTS["docs/ledger.md"])[1]
    assert sum(_number(row[2]) for row in rows) == int(printed)


def _number(text):
    return int(text.replace(",", ""))


def test_the_readme_states_the_bounds_that_the_trace_tests_assert():
    section = TEXTS["README.md"].partition("## How a number is known")[2].partition("\n## ")[0]
    asserted = {bound for _, bounds in list(traced())[1:] for bound in bounds.split(", ")}
    assert set(re.findall(r"[\d.]+%", section)) <= asserted


@pytest.mark.parametrize("name", ["startup", "throughput", "verifying"])
def test_make_bench_runs_the_benchmarks_of_the_commands(name):
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nbench:\n")[2]
    assert f"\t$(RUN) python benchmarks/{name}.py\n" in recipe.partition("accuracy:")[0]
