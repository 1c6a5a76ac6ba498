"""The report of `memquiz verify` as one HTML page that needs nothing else, not even a script."""

import json
from functools import cache

from jinja2 import Environment

from engine.scenario_file import to_mapping
from engine.units import both, decimal
from quiz.output.bars import LETTERS
from quiz.output.colours import COLOURS
from quiz.output.pages import environment
from quiz.output.plain import visible
from quiz.output.scenario_words import described, headline
from quiz.release import VERSION
from quiz.verify import drawing
from quiz.verify import words as verify_words
from quiz.verify.report import Report
from quiz.verify.strips import stretches, strips

COLUMNS = 200


def page(report: Report) -> str:
    """Return the page. What users named, such as a model, is escaped in it."""
    timeline = report.of.timeline
    drawn = strips(timeline, stretches(timeline), COLUMNS)
    ended = report.of.no_room
    return (
        _environment()
        .get_template("verify.html.jinja")
        .render(
            report=report,
            found=report.of,
            title=visible(headline(report.scenario)),
            described=visible(described(report.scenario)),
            scenario=_tables(report),
            drawing=drawing.drawing(drawn, report.capacity),
            size=(drawing.WIDTH, drawing.HEIGHT),
            colours=COLOURS,
            ended=() if ended is None else verify_words.no_room(report, ended),
            version=VERSION,
        )
    )


def _tables(report: Report) -> str:
    """Return the scenario as the text of a scenario file."""
    return "\n\n".join(
        "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())])
        for name, keys in to_mapping(report.scenario).items()
    )


@cache
def _environment() -> Environment:
    own = environment().overlay()
    own.globals = own.globals | {"words": verify_words, "letters": LETTERS}
    own.filters = own.filters | {"both": both, "decimal": decimal}
    return own
