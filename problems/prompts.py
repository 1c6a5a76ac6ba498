"""Prompts from their templates: plain text, one paragraph a line, nothing left undefined."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from problems.wording import card, number, sentence


def render(template: str, **values: Any) -> str:  # noqa: ANN401 - templates take what they name
    """Return the prompt that `templates/<template>.jinja` makes of `values`.

    Raises:
        jinja2.UndefinedError: the template names a value that is not given.
    """
    text = _environment().get_template(f"{template}.jinja").render(values)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


@cache
def _environment() -> Environment:
    # The text goes to a terminal or into a sheet that escapes for itself.
    environment = Environment(
        loader=PackageLoader("problems"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - plain text
        auto_reload=False,
    )
    environment.filters |= {"n": number, "card": card, "sentence": sentence}
    return environment
