"""Problems are the same everywhere; `golden.py` says how the table is renewed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_problems_are_those_of_the_table_under_any_hash_seed(hash_seed):
    printed = subprocess.run(
        [sys.executable, HERE / "golden.py"],
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert printed == (HERE / "golden.txt").read_text(encoding="utf-8")
