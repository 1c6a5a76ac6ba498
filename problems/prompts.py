"""Prompts from their templates: plain text, one paragraph a line, nothing left undefined."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from problems.own_folders import own_folders
from problems.wording import card, number, sentence


def render(template: str, **values: Any) -> str:  # noqa: ANN401 - templates take what they name
    """Return the prompt that `templates/<template>.jinja` makes of `values`.

    A template of one's own lies beside its kind.

    Raises:
        jinja2.UndefinedError: the template names a value that is not given.
    """
    text = _environment(own_folders()).get_template(f"{template}.jinja").render(values)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


@cache
def _environment(folders: tuple[Path, ...]) -> Environment:
    # The text goes to a terminal or into a sheet that escapes for itself.
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("problems"), FileSystemLoader(folders)]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - plain text
        auto_reload=False,
    )
    environment.filters |= {"n": number, "card": card, "sentence": sentence}
    return environment
