"""memquiz in this process, over a folder of its own."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from opened import EMPTY

from quiz.cli import memquiz as cli


@pytest.fixture
def here(monkeypatch, data):
    """Run memquiz in this process; its exit code and all that it printed."""
    monkeypatch.setenv("MEMQUIZ_DATA", str(data))
    # A busy file is waited for.
    monkeypatch.setattr("quiz.history.opening.BUSY_SECONDS", 0.05)

    def run(*arguments, typed="1 GB\n"):
        typed = EMPTY if arguments[-1] == "-" else typed
        result = CliRunner().invoke(cli, [str(one) for one in arguments], input=typed)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.output

    return run
