"""The tables of the documents that are generated: each is rows of what the project itself says."""

import ast
import shlex
import sys
import tomllib
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "benchmarks"), str(Path(__file__).parent)]

from doc_architecture import folders, picture, way
from doc_coverage import coverage, forms
from doc_model import BLOCKS as LINES
from doc_model import TABLES as OF_MODEL
from doc_startup import startup
from step_time import b200, groups, time

from engine.errors import UnmodelledError
from engine.estimate import ledger, ledgers, model_states
from engine.families.registry import families
from engine.ledger import Evidence
from engine.lines.activations import CASTS
from engine.optimizers import optimizers
from engine.precisions import PRECISIONS
from engine.scenario import Scenario
from engine.scenario_file import from_mapping
from engine.stacks.tapes import layer
from engine.stages import differing
from engine.state_forms import form_of
from engine.structure import structure_of
from engine.symbols import RING, b, compiled, s
from engine.tape import total
from engine.units import GIB, MIB, decimal
from engine.values import values_of
from problems.problem import TOPICS
from problems.registry import kinds
from quiz.check.checking import all_rules
from quiz.marking.nearness import BANDS, DOUBLE, DOUBLE_CREDIT, RANGES
from quiz.options.scenario import ENTRIES, scenario_from

TESTS = Path(__file__).parent
BEGIN, END = "<!-- table: {} -->", "<!-- end of table -->"
WORDS = {4: "fp32", 2: "16 bits", 0: "none"}


def table(*rows):
    """Return rows, the first the heads, as the lines of a Markdown table."""
    head, *rest = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rest)]


def precisions():
    yield ("precision", "weights", "gradients", "master copy", "AdamW moments", "sum", "says")
    for name, row in PRECISIONS.items():
        held = model_states(1, precision=name)
        moments = held["optimizer states"]
        total_ = sum(held.values())
        yield f"`{name}`", row.weights, row.gradients, row.master, moments, total_, row.says


def optimizer_rows():
    yield ("optimizer", "states", "in the step", "`mixed`: states", "`mixed`: in the step", "says")
    for name, row in optimizers().items():
        inside = 4 * (row.temporaries + row.at_once)
        states = form_of(row).on_paper(row.states, each=4)
        yield f"`{name}`", row.states, row.temporaries, states, inside, row.says


def model_types():
    yield "on the `hf` stack", "`model_type`"
    for answer, modelled in (("yes", True), ("no", False)):
        found = [name for name, family in families().items() if bool(family.has) is modelled]
        yield answer, ", ".join(f"`{name}`" for name in found)


def saved(model, *, stack="fused", **recipe):
    """Yield what one layer of `model` saves for each token, tensor by tensor, in bytes."""
    scenario = _scenario(model, sequence=1024, stack=stack, **recipe)
    stage = differing(scenario)[0]
    structure, values = structure_of(scenario, stage), values_of(scenario, stage)
    yield "tensor", "how many", "bytes for each token", f"{scenario.model.title}", "why it is kept"
    groups = {}
    for value in layer(structure.block).saved:
        if value.name != CASTS:
            groups.setdefault(value.name, []).append(value)
    for name, tensors in groups.items():
        each = _per_token(tensors)
        bytes_ = f"{compiled(each)(values):,}"
        yield name, len(tensors), f"`{each}`", bytes_, tensors[0].why
    whole = _per_token([value for tensors in groups.values() for value in tensors])
    yield "sum", "", f"`{whole}`", f"{compiled(whole)(values):,}", ""


def _per_token(tensors):
    return total(tensors).exquo(RING(b) * RING(s)).as_expr()


def _scenario(model, *, sequence, stack="fused", zero=0, ranks=1, **recipe):
    return from_mapping(
        {
            "model": {"name": model, "implementation": stack},
            "workload": {"sequence": sequence},
            "recipe": recipe,
            "parallel": {"zero": zero},
            "hardware": {"gpu": "h100-80gb", "gpus": ranks},
        }
    )


def untraced():
    """Yield every line that is not known by counting or tracing, over all switches."""
    found = {}
    for precision in PRECISIONS:
        for zero, ranks in ((0, 1), (0, 8), (1, 8), (2, 8), (3, 8)):
            for optimizer in optimizers():
                wanted = {"zero": zero, "ranks": ranks, "optimizer": optimizer}
                try:
                    made = _scenario("gpt2", sequence=64, precision=precision, **wanted)
                except UnmodelledError:
                    continue
                book = ledger(made)
                found |= {
                    line.name: line
                    for line in book.lines
                    if line.evidence in {Evidence.MEASURED, Evidence.ASSUMED}
                }
    yield "line", "evidence", "source"
    for line in found.values():
        yield line.name, line.evidence, line.source


def traced():
    """Yield what the trace tests assert, and the largest difference that they allow."""
    yield "test in `tests/engine/test_trace.py`", "within"
    for node in ast.parse((TESTS / "engine" / "test_trace.py").read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            bounds = [f"{100 * bound:g}%" for bound in _bounds(node)]
            if bounds:
                name = node.name.removeprefix("test_").replace("_", " ")
                yield name, ", ".join(dict.fromkeys(bounds))


def _bounds(test):
    for node in ast.walk(test):
        named = isinstance(node, ast.keyword) and node.arg == "rel"
        values = node.comparators if isinstance(node, ast.Compare) else []
        for value in [node.value] if named else values:
            if isinstance(value, ast.Constant) and isinstance(value.value, float):
                yield value.value


HF = "--implementation hf"
ON_GPT2 = f"--model gpt2 {HF} --precision fp32 --micro-batch 8 --sequence 1024 --gpu a100-80gb"
ON_GPT2_XL = "--model gpt2-xl --precision autocast --sequence 1024 --gpu a100-80gb"
ON_LLAMA_2 = f"--model llama-2-7b {HF} --sequence 4096 --gpu h200"
SHARDED = f"{HF} --sequence 8192 --recompute full --zero 3 --gpu h100-80gb"
# GiB known from elsewhere; GiB traced here (PyTorch 2.13, Transformers 5.24, fake tensors); the
# phase that is meant; what `memquiz verify` is told.
REFERENCE = (
    ("13.92", "13.92", "loss", f"{ON_GPT2} --dropout 0"),
    ("28.00, see below", "24.19", "loss", f"{ON_GPT2} --attention eager"),
    ("29.01", "29.01", "step", ON_GPT2_XL),
    ("112.2", "112.22", "loss", ON_LLAMA_2),
    ("100.8", "100.82", "backward-last", f"{ON_LLAMA_2} --recompute full"),
    ("27.58", "27.58", "loss", f"--model llama-3-8b {SHARDED} --gpus 8"),
    ("40.07", "40.07", "loss", f"--model llama-3-70b {SHARDED} --gpus 64"),
    (
        "64, see below",
        "192.41",
        "backward-first",
        f"--model mixtral-8x7b {HF} --sequence 4096 --zero 3 --gpu h200 --gpus 64",
    ),
)


def reference():
    """Yield figures from elsewhere beside those of the trace and of the ledger, in GiB."""
    yield "elsewhere, GiB", "traced, GiB", "ledger, GiB", "phase", "`memquiz verify --device fake`"
    for elsewhere, found, phase, typed in REFERENCE:
        book = ledger(_typed(typed))
        bytes_ = book.phases[phase] - book.size("cuBLAS workspace")
        yield elsewhere, found, f"{bytes_ / GIB:.2f}", phase, f"`{typed}`"


def _typed(options):
    names = {entry.spelled: entry.name for entry in ENTRIES}
    words = shlex.split(options)
    given = {names[name]: value for name, value in zip(words[::2], words[1::2], strict=True)}
    return scenario_from(None, dict.fromkeys(names.values()) | given)


def outside():
    """Yield the published numbers that are out of scope."""
    cases = tomllib.loads((TESTS / "engine" / "published_cases.toml").read_text())
    yield "published", "why it is not met", "source"
    for case in cases["outside"]:
        yield case["value"], case["reason"], case["source"]


def asked():
    yield "kind", "topic", "level", "asks"
    for row in kinds().values():
        yield f"`{row.name}`", f"{row.topic} {TOPICS[row.topic]}", ", ".join(row.levels), row.title


def bands():
    yield "the number is", "share of the credit", "where it is"
    for band, steps in BANDS.items():
        for within, share in steps:
            yield f"a {band}".replace("a e", "an e"), f"{share}", f"within {float(within):.0%}"
    yield "an estimate", f"{DOUBLE_CREDIT}", f"within a factor of {DOUBLE}"


def ranges():
    yield "the number is", "share of the credit", "upper end over lower end", "around 100"
    for band, steps in RANGES.items():
        for times, share in steps:
            low, high = 200 / (1 + times), 200 * times / (1 + times)
            yield (
                f"a {band}".replace("a e", "an e"),
                f"{share}",
                f"up to {float(times):.3g}",
                f"{float(low):.0f} to {float(high):.0f}",
            )


def measured():
    """Yield the fullest rank of each stage, of measured runs that differ in more than passes."""
    yield ("run", "stage", "predicted", "measured", "")
    told = {}
    for row in b200():
        told.setdefault((row.group, row.settings.parallel, row.settings.workload.sequence), row)
    for row in told.values():
        books = ledgers(Scenario(**vars(row.settings)))
        each = len(row.allocated_mib) // row.settings.parallel.pipeline
        for at, book in enumerate(books):
            most = round(MIB * max(row.allocated_mib[at * each : (at + 1) * each]))
            where = "only" if len(books) == 1 else "first" if book.stage.first else "last"
            error = f"{book.peak / most - 1:+.2%}".replace("-0.00", "+0.00")
            yield _run(row), where, decimal(book.peak), decimal(most), error


def _run(row):
    split, sequence = row.settings.parallel, row.settings.workload.sequence
    axes = ("tensor", "pipeline", "context", "expert")
    parts = [f"{axis} {getattr(split, axis)}" for axis in axes if getattr(split, axis) > 1]
    model = row.group.removeprefix("8 x B200, ")
    layers = row.settings.architecture.layers
    return ", ".join((f"{model}, {layers} layers", *parts, f"{sequence:,} tokens"))


def step_times():
    """Yield how far the estimate of a step's time is from each group of measured steps."""
    yield ("steps", "number", "mean error", "median", "largest", "pairs in another order")
    for group in groups():
        wrong, pairs = group.orders(time)
        yield group.name, len(group.rows), *group.said, f"{len(wrong)} of {pairs}"


def check_rules():
    """Yield the rules of `memquiz check`, those of the whole bank last."""
    yield "rule", "what holds", "a kind may break it"
    for rule in sorted(all_rules(), key=lambda rule: rule.of_bank):
        yield f"`{rule.name}`", rule.says, "yes, and says why" if rule.may_be_broken else ""


TABLES = {
    "way": way,
    "rules": check_rules,
    "folders": folders,
    "precisions": precisions,
    "optimizers": optimizer_rows,
    "model-types": model_types,
    "gpt-layer": lambda: saved("gpt2", dropout=0.1),
    "gpt-layer-eager": lambda: saved("gpt2", dropout=0.1, attention="eager"),
    "llama-layer": lambda: saved("llama-3-8b"),
    "hf-llama-layer": lambda: saved("llama-3-8b", stack="hf"),
    "experts-layer": lambda: saved("mixtral-8x7b"),
    "untraced": untraced,
    "traced": traced,
    "reference": reference,
    "outside": outside,
    "measured": measured,
    "step-time": step_times,
    "kinds": asked,
    "bands": bands,
    "ranges": ranges,
    "startup": startup,
    "coverage": coverage,
    "coverage-forms": forms,
    **OF_MODEL,
}
# What is no table.
BLOCKS = {**LINES, "picture": lambda: ("```text", *picture(), "```")}
NAMES = {*TABLES, *BLOCKS}


def generated(name):
    """Return the lines of the table or list called `name` as they should stand in a document."""
    return list(BLOCKS[name]()) if name in BLOCKS else table(*TABLES[name]())


def places(text):
    """Return (name, first, last) of each generated table: its lines are [first, last)."""
    lines = text.splitlines()
    prefix, suffix = BEGIN.split("{}")
    return [
        (line.removeprefix(prefix).removesuffix(suffix), at + 1, lines.index(END, at))
        for at, line in enumerate(lines)
        if line.startswith(prefix)
    ]
