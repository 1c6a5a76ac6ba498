"""What every wrong idea makes of a run."""

from collections.abc import Mapping

from problems.peaks import Run
from problems.wrong_ideas.idea import Asked
from problems.wrong_ideas.registry import ideas
from problems.wrong_ideas.wrong import Wrong


def wrongs(run: Run, asked: Asked) -> Mapping[str, Wrong]:
    """Return what every idea makes of a run, by its name, where such a question is asked."""
    found = {idea.name: idea.of(run) for idea in ideas() if asked in idea.asked}
    return {name: wrong for name, wrong in found.items() if wrong is not None}
