"""Templates of pages and files that need nothing else, not even a script."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from quiz.output.plain import visible


@cache
def environment() -> Environment:
    """Return what renders `quiz/templates`: whatever is put in is escaped in HTML."""
    made = Environment(
        loader=PackageLoader("quiz"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=select_autoescape(("html.jinja",)),
        auto_reload=False,
    )
    made.filters = made.filters | {"visible": visible}
    return made
