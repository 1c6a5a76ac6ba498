"""docs/model.md leaves no line out, neither of those that runs have nor of those in the code."""

import ast
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from doc_model import BLOCKS
from doc_tables import places

from engine.example_runs import RUNS, SWITCHES, neighbours, shown, words_of
from engine.symbols import MEANINGS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "model.md").read_text("utf-8")
HEADINGS = set(re.findall(r"^### (.+)$", PAGE, re.MULTILINE))
FILES = sorted((ROOT / "engine" / "lines").glob("*.py"))
# What makes a line, and where its name stands among the arguments.
MAKERS = {"zero.py": 0, "working_set.py": 1}


def _names(path):
    """Return the names of lines that stand in a file as they are."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in {"Line", "Held"}:
                yield from (key.value for key in node.keywords if key.arg == "name")
            if node.func.id == "_line":
                yield node.args[MAKERS[path.name]]
        if isinstance(node, ast.Tuple) and len(node.elts) > 2:  # a row: name, size, phases, …
            name, *rest = (isinstance(one, ast.Constant) for one in node.elts)
            yield from node.elts[: name and not all(rest)]


def _literals(path):
    return {
        one.value
        for node in _names(path)
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


@pytest.mark.parametrize("run", RUNS)
def test_every_run_is_modelled_and_typed_in_words_that_are_known(run):
    assert shown()[run]
    typed = {key: word for key, word in words_of(run).items() if key != "shape"}
    assert all(word in SWITCHES[switch] for switch, word in typed.items())


# One test, since all runs with each of their switches changed take seconds in every process.
def test_the_page_has_the_lines_of_every_run_and_no_change_of_a_switch_brings_one_more():
    compared = [place for place in places(PAGE) if place[0] in BLOCKS]
    assert {name for name, _, _ in compared} == {*BLOCKS}
    for name, first, last in compared:
        assert PAGE.splitlines()[first:last] == list(BLOCKS[name]()), name
    met = {name: (run, *change) for run, *change, found in neighbours() for _, name in found}
    assert {name: how for name, how in met.items() if name not in HEADINGS} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_name_of_a_line_in_the_code_stands_on_the_page(path):
    assert _literals(path) <= HEADINGS


def test_the_names_of_lines_are_found_in_the_code():
    found = {name for path in FILES for name in _literals(path)}
    assert {"weights", "reduce bucket", "gathered layer", "log-softmax"} <= found
    assert {"backward of the head", "bias casts", "gradients of the head"} <= found


def test_every_symbol_of_a_size_has_a_meaning():
    sizes = [line.size for found in shown().values() for line in found.values()]
    assert {symbol for size in sizes for symbol in size.free_symbols} <= set(MEANINGS)
