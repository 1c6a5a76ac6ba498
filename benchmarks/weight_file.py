#!/usr/bin/env python3
"""The file that the weights of claims are kept in, written so that its changes can be read."""

import json
from collections.abc import Mapping

from quiz.claims.weights import PART, WEIGHTS, Weights


def write(found: Weights) -> None:
    """Write the file, one feature or statement a line, so that changes can be read."""
    parts = [
        f'"learnt_from": {json.dumps(found.learnt_from)}',
        f'"general": {_table(found.general)}',
        f'"claims": {_tables(found.own)}',
        f'"rarest": {found.rarest}',
        f'"rare": {_table(found.rare)}',
        f'"statements": {_tables(found.statements)}',
    ]
    WEIGHTS.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _tables(tables: Mapping[str, Mapping[str, object]]) -> str:
    rows = (f"{json.dumps(name)}: {_table(table)}" for name, table in tables.items())
    return "{\n" + ",\n".join(rows) + "\n}"


def _table(table: Mapping[str, object]) -> str:
    rows = (
        f"{json.dumps(name, ensure_ascii=False)}: {_value(value)}" for name, value in table.items()
    )
    return "{\n" + ",\n".join(rows) + "\n}"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        value = {name: round(PART * part) for name, part in value.items()}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
