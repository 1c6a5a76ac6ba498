"""Which questions that are really asked the bank poses, as a table of docs/coverage.md."""

import tomllib
from collections import Counter
from pathlib import Path

from problems.registry import build, kinds

FILE = Path(__file__).parent / "problems" / "asked.toml"
# The types of answer that take what a question is answered with.
FORMS = {
    "number": ("a number", {"quantity", "count", "factor", "yes-no"}),
    "count": ("a number of things", {"count"}),
    "several": ("several numbers", {"ledger", "table"}),
    "terms": ("the terms of a sum", {"breakdown", "ledger"}),
    "verdict": ("a verdict with its number", {"yes-no"}),
    "pick": ("one of a few", {"choice"}),
    "reason": ("a verdict with its reason", {"choice", "claim"}),
    "steps": ("a worked answer put right", {"repair"}),
    "formula": ("a formula", {"symbolic"}),
    "order": ("an order", {"checklist", "ranking"}),
    "conditions": ("conditions, then a number", {"conditions"}),
}


def questions():
    """Return the questions by id."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def answered(row):
    """Return the kinds of a question whose answer takes its form."""
    types = FORMS[row["form"]][1]
    return [name for name in row["kinds"] if build(name, 0).answer.type in types]


def coverage():
    yield "asked", "level", "takes", "posed by", "beside it", "met at"
    for row in questions().values():
        posed = answered(row)
        beside = [name for name in row["kinds"] if name not in posed]
        yield (
            row["asks"],
            row["level"],
            FORMS[row["form"]][0],
            _named(posed) or row["why"],
            _named(beside),
            row["source"],
        )


def _named(names):
    return ", ".join(f"`{name}`" for name in names)


def forms():
    yield "answered with", "questions", "posed", "kinds of the bank that ask so"
    rows = questions().values()
    of_type = Counter(build(name, 0).answer.type for name in kinds())
    for form, (said, types) in FORMS.items():
        of_form = [row for row in rows if row["form"] == form]
        yield (
            said,
            str(len(of_form)),
            str(sum(bool(answered(row)) for row in of_form)),
            ", ".join(f"{name} {of_type[name]}" for name in sorted(types) if of_type[name]),
        )
