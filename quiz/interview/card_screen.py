"""The scorecard on the screen: the rubric, the five marks, the numbers, what to say next time."""

from collections.abc import Iterator

from rich.console import Console

from quiz.interview.scorecard import Reply, Scorecard
from quiz.interview.scorecard_words import (
    BY_HAND,
    aspect_said,
    figures,
    mark_said,
    minutes,
    name_of,
    score_said,
)
from quiz.output.screen import columns, paragraph, whole_lines

BAR = 20
STEP = 2
# Of a name in a table.
WIDEST_NAME = 30


def show(console: Console, card: Scorecard) -> None:
    """Print the scorecard."""
    interview = card.interview
    state = "" if card.finished else " · not finished"
    _head(console, f"Scorecard · {interview.level} · {interview.id}{state}")
    _parts(console, card)
    _marks(console, card)
    _numbers(console, card)
    replies = [reply for part in card.parts for reply in part.replies]
    _list(console, "Mistakes", [f"{name} ({key}): {says}" for name, says, key in card.mistakes])
    _list(console, "Not said", [*_not_said(replies)])
    _list(console, "A stronger answer", [*_stronger(replies)])
    if card.next:
        _head(console, "Practise next")
        for command, why in card.next:
            whole_lines(console, f"  {command}")
            paragraph(console, why, indent=STEP * 3)


def _parts(console: Console, card: Scorecard) -> None:
    rows = [
        (
            f"{number} {part.part.title}",
            mark_said(part.score, part.replies),
            f"{minutes(part.seconds)} of {part.part.minutes} min",
        )
        for number, part in enumerate(card.parts, 1)
    ]
    columns(console, ("part", "score", "time"), rows)


def _marks(console: Console, card: Scorecard) -> None:
    _head(console, "Marks, each of 1")
    for aspect, score in card.aspects.items():
        full = 0 if score is None else round(float(score) * BAR)
        bar = "■" * full + "□" * (BAR - full)
        said = aspect_said(card, aspect) if score is None else f"{score_said(score)}  {bar}"
        whole_lines(console, f"  {aspect:<12}{said}")
    used, could = card.reuse
    if could:
        paragraph(console, f"earlier line used: {used} of {could} times", indent=STEP)


def _numbers(console: Console, card: Scorecard) -> None:
    rows = [
        (name_of(reply)[:WIDEST_NAME], *found, _note(card, reply))
        for part in card.parts
        for reply in part.replies
        if reply.score is not None and (found := figures(reply)) is not None
    ]
    if rows:
        _head(console, "Your numbers beside the ledger")
        columns(console, ("number", "yours", "reference", "ratio", ""), rows)


def _note(card: Scorecard, reply: Reply) -> str:
    if reply.carried:
        return "carried on"
    if reply.reads is not None:
        return BY_HAND
    if reply.verdict is None:
        return "no answer" if card.mode == "alone" else "not typed"
    return reply.verdict.mistake or ""


def _not_said(replies: list[Reply]) -> Iterator[str]:
    for reply in replies:
        for point in reply.missed:
            yield f"{name_of(reply)}: {point.says}"


def _stronger(replies: list[Reply]) -> Iterator[str]:
    for reply in replies:
        if reply.score is not None and reply.score < 1:
            yield f"{name_of(reply)}: {reply.question.stronger}"


def _list(console: Console, head: str, lines: list[str]) -> None:
    if lines:
        _head(console, head)
    for line in lines:
        paragraph(console, line, indent=STEP, hanging=STEP)


def _head(console: Console, text: str) -> None:
    console.print()
    paragraph(console, text, style="bold")
