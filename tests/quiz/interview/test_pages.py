import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from page_elements import Elements

from problems.interview.script import ASPECTS
from quiz.grading import grade
from quiz.interview.pages import html, markdown
from quiz.interview.scorecard import Heard, PartCard, Reply, Scorecard

NASTY = "the <script>alert(1)</script> | `rm` & *bold* [x](y) \x1b[2J# micro-batch"
TYPED = {
    "conditions": (NASTY, "- 1 sequence, ---"),
    "states": ("16 bytes a parameter", "107.8 GB"),
    "activations": ("34 GB",),
    "activations-at-16k": ("4 times that", "136 GB"),
    "sharded": ("37 GB",),
    "died": ("b",),
}
SCORES = {
    "conditions": Fraction(1, 2),
    "terms": Fraction(4, 5),
    "states": Fraction(1),
    "activations": Fraction(1, 4),
    "activations-at-16k": Fraction(1),
    "whole": Fraction(0),
    "saving": Fraction(0),
    "sharded": Fraction(1, 4),
    "died": None,
}
HEARD = {"conditions": "micro-batch", "terms": "weights"}


def reply_to(question):
    typed = TYPED.get(question.key, ())
    answer = typed[-1] if typed and question.problem else ""
    made = [one for one in question.points if one.name == HEARD.get(question.key)]
    score = SCORES[question.key]
    return Reply(
        question=question,
        typed=typed,
        answer=answer,
        verdict=grade(question.problem, answer) if answer and question.problem else None,
        score=score,
        heard=tuple(
            Heard(point=one, words=NASTY, unasked=question.key == "terms") for one in made
        ),
        missed=tuple(one for one in question.points if one not in made and one.level != "senior"),
        reused={"activations-at-16k": True, "sharded": False}.get(question.key),
        carried=question.key == "activations-at-16k",
        hints=2 if question.key == "activations" else 0,
        seconds=0.0 if score is None else 95.0,
    )


@pytest.fixture(scope="module")
def card(interview):
    parts = []
    for part in interview.parts:
        replies = tuple(reply_to(question) for question in part.questions)
        scores = [one.score for one in replies if one.score is not None]
        parts.append(
            PartCard(
                part=part,
                replies=replies,
                score=sum(scores) / len(scores) if scores else None,
                seconds=sum(one.seconds for one in replies),
            )
        )
    marks = (Fraction(1, 2), Fraction(4, 5), None, Fraction(1, 4), Fraction(7, 8))
    return Scorecard(
        interview=interview,
        mode="alone",
        started=datetime(2026, 5, 4, 9, 30, tzinfo=UTC),
        finished=False,
        parts=tuple(parts),
        aspects=dict(zip(ASPECTS, marks, strict=True)),
        reuse=(1, 2),
        mistakes=(("gradients left whole", "This is <b>gradients</b> left | whole.", "sharded"),),
        next=(("memquiz practice --kind zero-states", "sharded (number): 0.25 of 1"),),
    )


@pytest.fixture(scope="module")
def page(card):
    return html(card)


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page)


@pytest.fixture(scope="module")
def said(elements):
    return " ".join(" ".join(elements.texts).split())


@pytest.fixture(scope="module")
def text(card):
    return markdown(card)


@pytest.fixture(scope="module")
def drawings(page):
    found = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    return [ET.fromstring(one) for one in found]  # noqa: S314 - our own page


def test_every_element_is_closed_where_it_should_be(elements):
    assert elements.open == []


def test_the_page_needs_no_other_file_no_network_and_no_script(page, elements):
    assert not re.search(r"https?:|//|url\(|@import|<script|javascript:", page)
    assert elements.all("script") == []
    for name, attributes in elements.found:
        assert not {"src", "xlink:href", "action", "data", "srcset"} & set(attributes)
        assert "href" not in attributes or (name, attributes["href"]) == ("link", "data:,")
        assert not [one for one in attributes if one.startswith("on")]


def test_the_page_has_a_language_one_title_headings_in_order_and_rules_for_print(page, elements):
    assert elements.all("html") == [{"lang": "en"}]
    assert len(elements.all("h1")) == 1
    levels = [int(name[1]) for name, _ in elements.found if re.fullmatch(r"h[1-6]", name)]
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert "@media print" in page
    assert "size: A4" in page
    assert "prefers-color-scheme: dark" in page


def test_every_table_has_a_caption_and_heads_with_a_scope(page, elements):
    tables = re.findall(r"<table>.*?</table>", page, re.DOTALL)
    assert len(tables) >= 5
    for table in tables:
        assert re.match(r"<table>\s*<caption>[^<]+</caption>\s*<thead>", table)
    assert all(head.get("scope") in {"col", "row"} for head in elements.all("th"))


def test_no_two_elements_share_an_id_and_every_label_is_there(elements):
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in elements.found:
        assert set(attributes.get("aria-labelledby", "").split()) <= set(ids)


def test_every_drawing_says_what_it_shows_to_those_who_do_not_see_it(drawings):
    assert len(drawings) == 3
    for svg in drawings:
        title, more = svg.find("title"), svg.find("desc")
        assert svg.get("role") == "img"
        assert svg.get("aria-labelledby").split() == [title.get("id"), more.get("id")]
        assert title.text
        assert more.text


def test_the_bars_are_as_long_as_what_they_show(drawings):
    marks, time, phases = drawings
    full = next(float(one.get("width")) for one in marks if one.get("fill") == "none")
    widths = [float(one.get("width")) for one in marks.iter("rect") if one.get("fill") != "none"]
    assert widths == pytest.approx([full * share for share in (0.5, 0.8, 0.25, 0.875)])
    # 285 s of 10 min, 190 s of 8, 285 s of 9, nothing of 3; the longest is the 10 minutes.
    widths = [float(one.get("width")) for one in time.iter("rect")]
    assert widths == pytest.approx(
        [full * part / 600 for part in (285, 600, 190, 480, 285, 540, 0, 180)], abs=0.1
    )
    rows = {}
    for one in phases.iter("rect"):
        rows.setdefault(one.get("y"), []).append(float(one.get("width")))
    longest = max(sum(widths) for widths in rows.values())
    # The card has 81,920 MiB less what its driver keeps: it is drawn, and the peak is within it.
    assert longest <= full
    assert len([*phases.iter("path")]) == 1
    assert "card 85.90 GB" in [one.text for one in phases.iter("text")]


def test_the_page_and_the_text_have_all_that_the_card_has(said, text, card):
    plain = re.sub(r"\\(.)", r"\1", text)
    for part in (
        "Scorecard: mock interview, mid, 30 minutes", "interview-mid-30@7", "2026-05-04 09:30",
        "memquiz interview --level mid --minutes 30 --seed 7", "stopped before its end",
        "Carried: terms 0.80, number 0.88.", "Lost: prediction 0.25.",
        "In between: conditions 0.50.", "Not reached: exclusions.",
        "Rubric by part", "per-parameter accounting", "4:45 of 10:00",
        "Your numbers beside the reference", "107.81 GB", "1.98", "gradients left whole",
        "carried on", "Of 2 answers that could use an earlier line, 1 did.",
        "linear in the sequence: 4 × the line for 4,096", "3.75 of 16 bytes a parameter",
        "The micro-batch is 1.", "before it was asked", "Not said, and expected at this level",
        "8 bytes of moments.", "A stronger answer on died.", "16 bytes a parameter",
        "Hints: 2.", "memquiz practice --kind zero-states", "0.25 of 1",
        "Llama 2 7B", "Now 16k context. The activations?", "Not reached.",
    ):  # fmt: skip
        assert part in said, part
        assert part in plain, part
    for reply in (reply for part in card.parts for reply in part.replies):
        assert reply.question.stronger in said
        assert reply.question.stronger in plain


def test_typed_markup_is_shown_and_not_run(page, said):
    assert "<script" not in page
    assert "the <script>alert(1)</script> | `rm` & *bold* [x](y) ·[2J# micro-batch" in said
    assert "\x1b" not in page


def test_typed_marks_of_markdown_are_shown_as_they_are(text):
    shown = (
        r"the \<script\>alert(1)\</script\> \| \`rm\` &amp; \*bold\* \[x\](y) ·\[2J\# micro-batch"
    )
    assert f"> {shown}  " in text
    assert r"> \- 1 sequence, ---  " in text
    assert not re.search(r"(?<!\\)<", text)
    assert "\x1b" not in text
    cells = [line for line in text.splitlines() if line.startswith("|")]
    bars = [len(re.findall(r"(?<!\\)\|", line)) for line in cells if "alert" in line]
    assert bars
    assert set(bars) == {3}  # two columns


def test_the_text_has_the_charts_as_bars(text):
    assert re.search(r"^conditions  +■{20}□{20} +0\.50$", text, re.MULTILINE)
    assert re.search(r"^step(?: \(peak\))? +W+M+G+O+T+ ", text, re.MULTILINE)
    assert "used" in text
    assert "^ card" in text


def test_a_card_of_nothing_is_a_page_too(card):
    bare = replace(
        card,
        parts=(),
        aspects=dict.fromkeys(ASPECTS),
        reuse=(0, 0),
        mistakes=(),
        next=(),
    )
    assert Elements(html(bare)).open == []
    assert "Nothing was marked." in markdown(bare)
