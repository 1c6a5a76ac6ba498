"""Rows of a test that most runs of the tests leave to `make long`."""

from collections.abc import Collection, Iterable

import pytest


def first(kept: Collection, rows: Iterable) -> list:
    """Mark all rows but `kept` as `long`: what they hold, a kept or a stored row holds too."""
    rows = list(rows)
    assert all(row in rows for row in kept), "a row that is kept is no row"
    return [row if row in kept else _marked(row) for row in rows]


def _marked(row):
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.long)
