"""The JSON Schema of a key, which the package has as a file."""

from importlib.resources import files

SCHEMA = "data/key.schema.json"


def schema_text() -> str:
    """Return the schema as it is written to a file."""
    return files("quiz").joinpath(SCHEMA).read_text(encoding="utf-8")
