"""What is told of one thing, whatever it is."""

import re
from dataclasses import dataclass
from typing import Any

from engine.every_line import KnownLine
from engine.symbols import MEANINGS


@dataclass(frozen=True, kw_only=True)
class OnPaper:
    """The whiteboard steps of a problem: how such a number is come by on rounded figures."""

    problem: str
    steps: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What is told of one thing.

    Args:
        sort: what it is: "topic", "category", "line", "optimizer" and so on.
        says: what is to be said of it, a sentence a line.
        sources: where that stands.
        lines: of the ledger, those that belong to it.
        changed: (line, formula before, formula after) of those that a lever changes; "" for none.
        on_paper: how such numbers are come by on a whiteboard.
        kinds: of question that ask about it.
    """

    sort: str
    name: str
    says: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    lines: tuple[KnownLine, ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    on_paper: tuple[OnPaper, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def symbols(self) -> dict[str, str]:
        """What each symbol of the formulas stands for."""
        forms = [form for line in self.lines for form, _ in line.forms]
        forms += [form for _, *both in self.changed for form in both]
        words = set(re.findall(r"\w+", " ".join(forms)))
        return {str(one): said for one, said in MEANINGS.items() if str(one) in words}

    @property
    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sort": self.sort,
            "name": self.name,
            "says": list(self.says),
            "sources": list(self.sources),
            "lines": [_line(line) for line in self.lines],
            "changed": [
                {"line": name, "before": before, "after": after}
                for name, before, after in self.changed
            ],
            "symbols": self.symbols,
            "on_paper": [
                {"problem": one.problem, "steps": list(one.steps)} for one in self.on_paper
            ],
            "kinds": list(self.kinds),
        }


def _line(line: KnownLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "category": str(line.category),
        "why": line.why,
        "formulas": [{"bytes": form.strip("`"), "runs": list(runs)} for form, runs in line.forms],
        "phases": line.phases,
        "known": [{"evidence": how, "sources": list(sources)} for how, sources in line.known],
    }
