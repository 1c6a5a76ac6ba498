"""Published numbers, each with its source, against the ledger."""

import tomllib
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from engine import allocator, units
from engine.architecture import Architecture
from engine.catalog import model
from engine.estimate import ledger, model_states
from engine.inference.cache import KVCache
from engine.inference.stored import BF16, FORMATS
from engine.inference.weights import weights
from engine.ledger import Category, Phase
from engine.symbols import L, a, b, d, f, h, k, s

CASES = tomllib.loads((Path(__file__).parent / "published_cases.toml").read_text())
UNITS = {
    "1": 1, "B": 1, "MB": units.MB, "GB": units.GB, "TB": units.TB, "KiB": units.KIB,
    "MiB": units.MIB, "GiB": units.GIB,
}  # fmt: skip

# arXiv 1910.02054 (ZeRO), Table 1: 7.5B parameters, K = 12, GB per GPU as printed.
ZERO_TABLE_1 = (
    (1, "120", "120", "120"),
    (4, "52.5", "41.3", "30"),
    (16, "35.6", "21.6", "7.5"),
    (64, "31.4", "16.6", "1.88"),
    (256, "30.4", "15.4", "0.47"),
    (1024, "30.1", "15.1", "0.12"),
)


@pytest.mark.parametrize(
    ("ranks", "stage", "printed"),
    [(row[0], stage, row[stage]) for row in ZERO_TABLE_1 for stage in (1, 2, 3)],
)
def test_zero_table_1_is_met_to_its_printed_digits(ranks, stage, printed):
    held = model_states(7_500_000_000, precision="mixed", zero=stage, ranks=ranks)
    exact = Decimal(sum(held.values())) / units.GB
    shown = exact.quantize(Decimal(printed), rounding=ROUND_HALF_UP)
    assert shown == Decimal(printed)


def test_a_gpt_layer_saves_34_sbh_plus_5_abs2(scenario, gpt):
    """arXiv 2205.05198 (Korthikanti et al.), equation 2: s b h (34 + 5 a s / h), f = 4 h."""
    shape = gpt | {"layers": 1, "hidden": 1024, "heads": 16, "ffn": 4096}
    book = ledger(scenario(shape=shape, dropout=0.1, attention="eager"))
    kept = [
        line.size
        for line in book.lines
        if line.category is Category.ACTIVATIONS
        and Phase.BACKWARD_FIRST in line.phases
        and line.name not in {"norm statistics", "kept by the embedding"}
    ]
    total = sum(kept).subs({L: 1, f: 4 * h, k: a}).subs({d: h / a})
    assert (total - s * b * h * (34 + 5 * a * s / h)).expand() == 0


@pytest.mark.parametrize("case", CASES["met"], ids=lambda case: case["id"])
def test_a_published_number_is_met(scenario, gpt, case):
    predicted = _read(case, scenario, gpt) * Fraction(case.get("times", 1))
    if case.get("segment"):
        predicted = allocator.segment(predicted)
    published = Fraction(str(case["value"])) * UNITS[case["unit"]]
    assert abs(predicted / published - 1) <= Fraction(str(case["within"]))


@pytest.mark.parametrize("case", CASES["wrong"], ids=lambda case: case["id"])
def test_a_published_number_that_is_wrong_says_the_right_one(case):
    assert set(case) == {"id", "value", "right", "reason", "source"}
    assert all(case.values())


def test_each_published_number_stands_once():
    names = [case["id"] for rows in CASES.values() for case in rows]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES["outside"], ids=lambda case: case["id"])
def test_a_number_out_of_scope_says_why(case):
    assert set(case) == {"id", "value", "reason", "source"}
    assert all(case.values())


def _read(case, scenario, gpt):
    if case["reads"].startswith("states"):
        return _read_states(case)
    shape = case.get("shape", {}) | (gpt if case.get("gpt") else {})
    if "model" in case:
        architecture = replace(model(case["model"]).architecture, **shape)
    else:
        architecture = Architecture(**shape)
    assert architecture.parameters == case.get("parameters", architecture.parameters)
    if case["reads"] in SERVING:
        return SERVING[case["reads"]](case, architecture)
    kind, _, name = case["reads"].partition(": ")
    if kind.startswith("tensor"):
        names = name.split(" + ")
        return case["bytes_each"] * sum(
            next(t.size for t in architecture.tensors if t.name == one) for one in names
        )
    book = ledger(scenario(architecture, **case["scenario"]))
    return book.size(name) if kind == "line" else _as_in_the_paper(book, name)


def _read_states(case):
    """Model states of a number of parameters, and what an estimator adds or they save."""
    run = case["scenario"]
    states = model_states(case["parameters"], **run)
    held = sum(states[name] for name in case.get("only", states))
    if "instead_of" in case:
        other = run | case["instead_of"]
        return sum(model_states(case["parameters"], **other).values()) - held
    return held + 4 * case.get("largest_layer", 0)


def _cache(case, architecture):
    """The cache of sequences of one length, and the weights where `weights` says how stored."""
    cache = KVCache(architecture=architecture, stored=FORMATS[case["stored"]])
    held = weights(architecture, FORMATS[case["weights"]]) if "weights" in case else 0
    return held + cache.of_batch(case.get("sequences", 1), case["tokens"])


def _blocks(case, architecture):
    return KVCache(architecture=architecture, block=16).blocks(case["tokens"])


def _double_quantisation(_, architecture):
    """What the layers' matrices save in NF4 by scales that are quantised too."""
    one, two = (FORMATS[name] for name in ("nf4", "nf4-double"))
    return weights(architecture, one, rest=BF16) - weights(architecture, two, rest=BF16)


SERVING = {
    "cache": _cache,
    "blocks": _blocks,
    "double quantisation": _double_quantisation,
    "parameters": lambda _, architecture: architecture.parameters,
}


def _as_in_the_paper(book, name):
    """What the papers count: every saved tensor but statistics."""
    small = {"norm statistics", "log-sum-exp", "kept by the embedding"}
    layers = sum(
        size
        for line, size in zip(book.lines, book.sizes, strict=True)
        if line.category is Category.ACTIVATIONS
        and Phase.BACKWARD_FIRST in line.phases
        and line.name not in small
    )
    if "embedding mask" not in name:
        return layers
    return layers + book.size("kept by the embedding")


def test_pytorchs_request_sizes_follow_its_three_pools():
    mib = units.MIB
    assert allocator.segment(1) == 2 * mib
    assert allocator.segment(mib) == 2 * mib
    assert allocator.segment(mib + 1) == 20 * mib
    assert allocator.segment(10 * mib - 512) == 20 * mib
    assert allocator.segment(10 * mib) == 10 * mib
    assert allocator.segment(10 * mib + 1) == 12 * mib
    assert allocator.block(513) == 1024


# arXiv 1910.02054 (ZeRO), Table 2: the largest model, in billions of parameters as printed, whose
# states fill 32 GB, by model-parallel degree and ZeRO stage; 64 data-parallel ranks each.
LARGEST = {
    1: ("2", "7.6", "14.4", "128"),
    2: ("4", "15.2", "28.8", "256"),
    4: ("8", "30.4", "57.6", "512"),
    8: ("16", "60.8", "115.2", "1000"),
    16: ("32", "121.6", "230.4", "2000"),
}


@pytest.mark.parametrize("degree", LARGEST)
@pytest.mark.parametrize("stage", range(4))
def test_the_largest_model_whose_states_fit_is_the_one_of_the_zero_paper(degree, stage):
    parameters = 10**9
    states = model_states(parameters // degree, precision="mixed", zero=stage, ranks=64)
    largest = 32 * units.GB * parameters / sum(states.values()) / 1e9
    # The paper multiplies its first row, which is rounded; "1T" and "2T" are rounder still.
    assert largest == pytest.approx(float(LARGEST[degree][stage]), rel=0.03)
