"""docs/model.md: what each symbol stands for, and every line that the ledger can have."""

from collections import Counter
from functools import partial

from engine.every_line import every_line
from engine.example_runs import RUNS, SWITCHES, neighbours, shown, word
from engine.ledger import SERVING_PHASES, Category
from engine.symbols import MEANINGS

# As many forms of a formula, and as many runs that have it, as a reader wants.
MOST_FORMS, MOST_RUNS = 4, 3
FEW = 4


def symbols():
    """Yield what each symbol of a size stands for."""
    yield "symbol", "stands for"
    for symbol, meaning in MEANINGS.items():
        yield f"`{symbol}`", meaning


def runs():
    """Yield the runs whose lines are shown, and how each differs from the first."""
    yield "run", "differs from the first in"
    for run, typed in RUNS.items():
        yield run, ", ".join(f"`{one.replace('=', ' ')}`" for one in typed.split()) or "nothing"


def entries(category):
    """Yield what is known of each line of a category, below what most of them have in common."""
    rows = {key: line for key, line in every_line().items() if key[0] is category}
    phases = {key: f"alive in {line.phases}" for key, line in rows.items()}
    known = {key: _known(line) for key, line in rows.items()}
    usual = {_usual(phases.values()), _usual(known.values())} - {""}
    if usual:
        yield from (
            "Where nothing else is said:",
            "",
            *(f"- {said}" for said in sorted(usual)),
            "",
        )
    for key, line in rows.items():
        yield from (f"### {key[1]}", "", line.why, "")
        said = (f"bytes: {_forms(line)}", phases[key], _switches(key), known[key])
        yield from (f"- {one}" for one in said if one not in usual)
        yield ""


def _usual(said):
    """Return what most lines of a category have, where that saves a reader something."""
    (most, times), *_ = Counter(said).most_common()
    return most if times > max(FEW, len(said) / 2) else ""


def _forms(line):
    """Return the formulas that a line has in different runs, each with runs that have it."""
    if len(line.forms) == 1:
        return line.forms[0][0]
    said = [
        f"{form} ({', '.join(of[:MOST_RUNS])}{', …' if len(of) > MOST_RUNS else ''})"
        for form, of in line.forms[:MOST_FORMS]
    ]
    more = len(line.forms) - len(said)
    return "; ".join(said) + (f"; {more} more in other runs" if more else "")


def _switches(key):
    """Return the switches that bring a line or take it away, with the words it is met with."""
    met, decisive = {}, set()
    for run, switch, changed, found in neighbours():
        before = key in shown()[run]
        if before != (key in found):
            decisive.add(switch)
        if key in found:
            met.setdefault(switch, set()).add(changed)
        if before:
            met.setdefault(switch, set()).add(word(run, switch))
    said, beside = [], []
    for switch in (one for one in SWITCHES if one in decisive):
        words = [word for word in SWITCHES[switch] if word in met[switch]]
        others = [word for word in SWITCHES[switch] if word not in met[switch]]
        if not others:
            beside.append(f"`{switch}`")
        elif len(others) < len(words):
            said.append(f"`{switch}` not {' or '.join(others)}")
        else:
            said.append(f"`{switch}` {' or '.join(words)}")
    parts = [f"with {', '.join(said)}"] if said else []
    parts += [f"depending on {', '.join(beside)} too"] if beside else []
    return "; ".join(parts) or f"in every run{_of(key)}"


def _of(key):
    """Return whose runs have a line, where they are not all."""
    having = [set(found[key].phases) for found in shown().values() if key in found]
    return " of inference" if all(one <= set(SERVING_PHASES) for one in having) else ""


def _known(line):
    return "; ".join(f"{how}: {'; '.join(of)}" for how, of in line.known)


TABLES = {"symbols": symbols, "model-runs": runs}
BLOCKS = {
    f"lines-{category.replace('_', '-')}": partial(entries, category) for category in Category
}
