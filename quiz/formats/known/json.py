"""JSON: the key, which holds all of a set."""

from pathlib import PurePosixPath

from quiz.formats.format import Files, Format
from quiz.sets.key import key_text
from quiz.sets.problem_set import ProblemSet

KEY = PurePosixPath("key.json")


def _files(problems: ProblemSet) -> Files:
    return {KEY: key_text(problems).encode()}


FORMAT = Format(name="json", says="the key, with all of a set", files=_files)
