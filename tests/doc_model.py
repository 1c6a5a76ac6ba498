"""docs/model.md: what each symbol stands for, and every line that the ledger can have."""

from collections import Counter
from functools import partial

from doc_runs import RUNS, SWITCHES, neighbours, shown, word
from sympy import Integer, Max

from engine.ledger import ALL_PHASES, SERVING_PHASES, Category
from engine.symbols import MEANINGS

# As many forms of a formula, as many runs that have it, and as long a formula as a reader wants.
MOST_FORMS, MOST_RUNS, LONGEST = 4, 3, 100
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
    names = dict.fromkeys(key for found in shown().values() for key in found)
    rows = {
        key: {run: found[key] for run, found in shown().items() if key in found}
        for key in names
        if key[0] is category
    }
    phases = {key: f"alive in {_phases(having.values())}" for key, having in rows.items()}
    known = {key: _known(having.values()) for key, having in rows.items()}
    usual = {_usual(phases.values()), _usual(known.values())} - {""}
    if usual:
        yield from (
            "Where nothing else is said:",
            "",
            *(f"- {said}" for said in sorted(usual)),
            "",
        )
    for key, having in rows.items():
        yield from (f"### {key[1]}", "", _sentence(next(iter(having.values())).why), "")
        said = (f"bytes: {_forms(having)}", phases[key], _switches(key), known[key])
        yield from (f"- {one}" for one in said if one not in usual)
        yield ""


def _usual(said):
    """Return what most lines of a category have, where that saves a reader something."""
    (most, times), *_ = Counter(said).most_common()
    return most if times > max(FEW, len(said) / 2) else ""


def _sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def _forms(having):
    """Return the formulas that a line has in different runs, each with runs that have it."""
    forms = {}
    for run, line in having.items():
        forms.setdefault(_size(line), []).append(run)
    if len(forms) == 1:
        return next(iter(forms))
    said = [
        f"{form} ({', '.join(of[:MOST_RUNS])}{', …' if len(of) > MOST_RUNS else ''})"
        for form, of in [*forms.items()][:MOST_FORMS]
    ]
    more = len(forms) - len(said)
    return "; ".join(said) + (f"; {more} more in other runs" if more else "")


def _size(line):
    low = "" if line.low is None else f"{_formula(line.low)} to "
    return f"{low}{_formula(line.size)}"


def _formula(size):
    if isinstance(size, Integer):
        return f"{int(size):,}"
    if len(text := str(size)) <= LONGEST:
        return f"`{text}`"
    over = ", ".join(sorted(f"`{symbol}`" for symbol in size.free_symbols))
    kind = "the largest of {} sums" if isinstance(size, Max) else "a sum of {} terms"
    return f"{kind.format(len(size.args))} over {over}"


def _phases(having):
    said = dict.fromkeys(
        "every phase" if line.phases == ALL_PHASES else ", ".join(line.phases) for line in having
    )
    return "; or in ".join(said)


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


def _known(having):
    sources = {}
    for line in having:
        sources.setdefault(str(line.evidence), {})[line.source] = None
    return "; ".join(f"{how}: {'; '.join(of)}" for how, of in sources.items())


TABLES = {"symbols": symbols, "model-runs": runs}
BLOCKS = {
    f"lines-{category.replace('_', '-')}": partial(entries, category) for category in Category
}
