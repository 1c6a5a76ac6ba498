"""Sets for the importers: every type of answer, plain and with markup, and one a student."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from quiz.formats.registry import formats
from tests.quiz.formats.conftest import every_type, marked_up, personal

__all__ = ["every_type", "marked_up", "personal", "written"]


@pytest.fixture
def written(tmp_path):
    """Write a set in a format, and return the folder."""

    def write(problems, name):
        for path, data in formats()[name].files(problems).items():
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return tmp_path

    return write
