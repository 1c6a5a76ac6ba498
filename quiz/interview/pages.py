"""The scorecard as one HTML page that needs nothing else, and as Markdown."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from quiz.interview import writing
from quiz.interview.card_document import document
from quiz.interview.scorecard import Scorecard


def html(card: Scorecard) -> str:
    """Return the page. What was typed is escaped in it."""
    return writing.html(document(card))


def markdown(card: Scorecard) -> str:
    """Return the scorecard in Markdown: the same, with bars as text."""
    return writing.markdown(document(card))


def files(card: Scorecard) -> Mapping[PurePosixPath, bytes]:
    """Return both, by the names of their files, which tell when the interview began."""
    name = f"scorecard-{card.started:%Y-%m-%d-%H%M%S}"
    return {
        PurePosixPath(f"{name}.html"): html(card).encode(),
        PurePosixPath(f"{name}.md"): markdown(card).encode(),
    }
