"""Files as older formats had them, made anew."""

import sqlite3
from contextlib import closing
from pathlib import Path

from quiz.history.database import FILE

HERE = Path(__file__).parent
FORMATS = {1: "first_format.sql", 2: "second_format.sql", 3: "third_format.sql"}


def old_file(folder, number):
    """Make a file of format `number` in a new folder."""
    folder.mkdir(parents=True)
    script = (HERE / FORMATS[number]).read_text(encoding="utf-8")
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(f"BEGIN; {script}; COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")


def table(path, name):
    """Return the rows of a table as mappings."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        words = ["SELECT * FROM", name, "ORDER BY id"]
        return [dict(row) for row in connection.execute(" ".join(words))]
