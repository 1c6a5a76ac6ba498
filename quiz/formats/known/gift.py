"""GIFT: a question bank as text, a category for each slot of the set.

What is read of it: question/format/gift/format.php of Moodle, and the grammar of gift-pegjs.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import PurePosixPath

from quiz.formats.banks import Bank, Entry, banks
from quiz.formats.cloze import percent
from quiz.formats.format import Files, Format
from quiz.formats.items import Item, instruction, is_truth, items, places
from quiz.formats.markup import html, name, solution, stem
from quiz.formats.numbers import around
from quiz.formats.parts import NumberPart, Option, OrderPart, PickPart, WordsPart
from quiz.sets.problem_set import ProblemSet

PATH = PurePosixPath("gift.txt")
# What has a meaning in a question: it takes a backslash in a name, and is an entity in HTML.
MARKS = re.compile(r"[~=#{}:\\]")
MEANT = re.compile(r"[~={}:\\]")
TRUTHS = {"true": "T", "false": "F"}


def _files(problems: ProblemSet) -> Files:
    blocks = [block for bank in banks(problems) for block in _bank(problems, bank)]
    return {PATH: "\n".join(blocks).encode()}


def _bank(problems: ProblemSet, bank: Bank) -> Iterator[str]:
    yield f"$CATEGORY: $course$/top/{name(problems.title)}/{name(bank.title)}\n"
    for entry in bank.entries:
        for item in items(entry.question, together=False):
            yield _question(entry, item)


def _question(entry: Entry, item: Item) -> str:
    """Return an item: a line for its id and tags, one for what is asked, one an answer."""
    question, part = item.question, item.parts[0]
    tags = (f"[tag:{tag}]" for tag in (question.topic_title, question.level, question.kind))
    title = MARKS.sub(r"\\\g<0>", name(entry.title + f" ({item.letter})" * bool(item.letter)))
    asked = _line(stem(item, instruction(part)))
    return "\n".join(
        [
            " ".join([f"// [id:{item.id}]", *tags]),
            f"::{title}::[html]{asked}{{{'#' * isinstance(part, NumberPart)}",
            *_answers(part),
            f"####{_line(solution(item))}",
            "}\n",
        ]
    )


def _answers(part: NumberPart | PickPart | OrderPart | WordsPart) -> Iterator[str]:
    match part:
        case NumberPart():
            yield from _numbers(part)
        case PickPart(options=options) if is_truth(options):
            yield next(TRUTHS[one.text] for one in options if one.is_right)
        case PickPart(options=options):
            yield from (_option(one) for one in options)
        case OrderPart():
            yield from (f"={_line(html(text))} -> {place}" for text, place in places(part))
        case WordsPart():
            yield from ()


def _numbers(part: NumberPart) -> Iterator[str]:
    for span in (part.right, *part.spans):
        value, tolerance = around(span.low, span.high)
        yield f"={_share(span.share)}{value}:{tolerance}{_feedback(span.feedback)}"


def _share(share: Fraction) -> str:
    return "" if share == 1 else f"%{percent(share)}%"


def _option(one: Option) -> str:
    return f"{'=' if one.is_right else '~'}{_line(html(one.text))}{_feedback(one.feedback)}"


def _feedback(text: str) -> str:
    return f"#{_line(html(text))}" if text else ""


def _line(text: str) -> str:
    """Return HTML as it stands in a question, in one line."""
    told = MEANT.sub(lambda found: f"&#{ord(found[0])};", text)
    return told.replace("#", r"\#").replace("\n", "")


FORMAT = Format(
    name="gift",
    says="GIFT, a question bank as text",
    cannot=(
        "ranges and arithmetic as answers",
        "points",
        "hints",
        "units (a number is in the one that is asked for)",
        "an order but as places to match",
        "several numbers in one question, so each is a question",
        "marks for words",
    ),
    files=_files,
)
