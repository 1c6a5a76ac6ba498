import json
import re
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from page_elements import Elements

from quiz.cli import memquiz as cli

pytest.importorskip("torch")

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 50_000,
}
MARKUP = "<script>alert('1')</script>&\"x\".json"
# "/" ends a file's name, so the name has all but that.
NAMED = MARKUP.replace("/", "")
RUN = ("--sequence", "65536", "--gpu", "t4", "--gradient-accumulation", "2")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a run that ends, of a model whose name is markup."""
    folder = tmp_path_factory.mktemp("run")
    (folder / NAMED).write_text(json.dumps(CONFIG))
    path = folder / "page.html"
    arguments = ("verify", "--config", str(folder / NAMED), *RUN, "--html", str(path))
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 1, result.output
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page)


@pytest.fixture(scope="module")
def svg(page):
    return ET.fromstring(re.search(r"<svg.*?</svg>", page, re.DOTALL).group())  # noqa: S314 - our own page


def test_every_element_is_closed_where_it_should_be(elements):
    assert elements.open == []


def test_a_model_named_in_markup_is_shown_and_not_run(page, elements):
    assert elements.all("script") == []
    assert "<script" not in page
    name = NAMED.removesuffix(".json")
    assert sum(name in text for text in elements.texts) >= 2


def test_the_page_needs_no_other_file_and_no_network(page, elements):
    assert not re.search(r"https?:|//|url\(|@import|<script|javascript:", page)
    for _, attributes in elements.found:
        assert not {"src", "href", "xlink:href", "action", "data", "srcset"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]


def test_every_table_has_a_caption_and_heads_with_a_scope(page, elements):
    tables = re.findall(r"<table>.*?</table>", page, re.DOTALL)
    assert len(tables) == 5
    for table in tables:
        assert re.match(r"<table>\s*<caption>[^<]+</caption>\s*<thead>", table)
    assert all(head.get("scope") in {"col", "row"} for head in elements.all("th"))


def test_the_drawing_says_what_it_shows_to_those_who_do_not_see_it(svg):
    title, more = svg.find("title"), svg.find("desc")
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby").split() == [title.get("id"), more.get("id")]
    assert "by category" in title.text
    assert re.search(r"The peak is [\d.]+ GB, in loss; the card has 16\.11 GB\.", more.text)


def test_the_drawing_is_readable_without_its_colours(page, svg):
    letters = {text.text for text in svg.iter("text") if text.get("class") == "letter"}
    assert letters >= {"L"}
    shown = re.findall(r'<li><span style="background: #\w+">(\w)</span> ([a-z ]+)</li>', page)
    assert letters <= {letter for letter, _ in shown}
    assert ("L", "logits") in shown


def test_the_drawing_marks_the_peak_and_names_the_phases(svg):
    texts = [text.text for text in svg.iter("text")]
    assert sum(bool(text) and text.startswith("peak ") for text in texts) == 1
    assert {"forward", "loss", "backward", "step"} <= set(texts)


def test_everything_that_the_terminal_tells_is_on_the_page(elements):
    said = " ".join(" ".join(elements.texts).split())
    for part in (
        "no: the run ends for want of memory", "Where it ends", "Tried to allocate",
        "makes it fit", "allocated", "reserved", "nvidia-smi", "card", "A steady step",
        "The first step", "Left out here: cuBLAS workspace", "Alive at the peak",
        "The ten largest tensors", "What the gap is made of", 'gpu = "t4"',
    ):  # fmt: skip
        assert part in said


def test_the_page_has_a_language_a_title_and_rules_for_print(page, elements):
    assert elements.all("html") == [{"lang": "en"}]
    assert "memquiz verify: " in "".join(elements.texts)
    assert "@media print" in page


def test_a_page_with_formulas_has_them_by_phase(tmp_path):
    path = tmp_path / "page.html"
    sizes = ("--layers", "2", "--hidden", "64", "--heads", "4", "--ffn", "128", "--vocab", "1000")
    run = ("--sequence", "128", "--gpu", "t4", "--symbolic", "--html", str(path))
    CliRunner().invoke(cli, ["verify", *sizes, *run])
    page = path.read_text(encoding="utf-8")
    assert Elements(page).open == []
    assert len(re.findall(r"<h3>[a-z-]+</h3>\s*<dl>\s*<dt>traced</dt><dd><code>\d", page)) == 5
