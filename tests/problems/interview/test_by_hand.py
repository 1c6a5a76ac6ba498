"""Numbers of interviews by another route: formulas of papers, sums of the ledger's own lines."""

from fractions import Fraction

import pytest

from engine.estimate import fits, ledger
from engine.ledger import OUTSIDE, Phase
from problems.interview.drawing import LONGEST, interview
from problems.saved_table import Plan, gated_rows, saved

DRAWN = [(level, seed) for level in ("junior", "mid", "senior") for seed in range(8)]
# Bytes a parameter of weights, gradients, master copy, and of one number of the optimizer.
WIDTHS = {
    "fp32": (4, 4, 0, 4),
    "mixed": (2, 2, 4, 4),
    "mixed-fp32-grad": (2, 4, 4, 4),
    "pure-bf16": (2, 2, 0, 2),
}
NUMBERS = {"adamw": 2, "adamw-fused": 2, "sgd-momentum": 1}
COUNT = Fraction(2, 100)


def near(one, other, within=COUNT):
    return abs(Fraction(one) - Fraction(other)) <= within * Fraction(other)


def numbers(drawn):
    """Yield each question that asks for a number, with the number."""
    for question in drawn.questions:
        asked = None if question.problem is None else question.problem.answer.number
        if asked is not None:
            yield question, asked.value


def each(x):
    """Return whole and sharded bytes a parameter, by arXiv 1910.02054 section 5."""
    weights, gradients, master, wide = WIDTHS[x.recipe.precision]
    own = master + wide * NUMBERS[x.recipe.optimizer]
    whole = {0: weights + gradients + own, 1: weights + gradients, 2: weights, 3: 0}
    return whole[x.parallel.zero], weights + gradients + own - whole[x.parallel.zero]


def states(x):
    whole, split = each(x)
    return x.architecture.parameters * (whole + Fraction(split, x.parallel.data))


def logits(x):
    return 12 * x.tokens * x.architecture.vocab


def moments(x):
    wide = WIDTHS[x.recipe.precision][-1] * NUMBERS[x.recipe.optimizer]
    return Fraction(wide * x.architecture.parameters, x.parallel.data if x.parallel.zero else 1)


def gathered(x):
    a = x.architecture
    tables = (1 if a.tied else 2) * a.vocab * a.hidden
    width = 4 if x.recipe.precision == "fp32" else 2
    return width * (tables + 2 * (a.parameters - tables) // a.layers)


def peak(x):
    """Return the largest sum of lines that are alive together."""
    book = ledger(x)
    rows = list(zip(book.lines, book.sizes, strict=True))
    return max(
        sum(size for line, size in rows if phase in line.phases and line.category not in OUTSIDE)
        for phase in book.phases
    )


def unsharded(x):
    """Return the lines of what is gathered when the backward pass begins."""
    book = ledger(x)
    return sum(
        size
        for line, size in zip(book.lines, book.sizes, strict=True)
        if line.name.startswith("gathered") and Phase.BACKWARD_FIRST in line.phases
    )


OF_KEYS = {
    "bytes-per-parameter": lambda x: sum(each(x)),
    "states": states,
    "states-on": states,
    "states-with": states,
    "states-with-sgd": states,
    "logits": logits,
    "logits-at": logits,
    "logits-twice": logits,
    "second-step": moments,
    "gathered": gathered,
    "peak": peak,
    "peak-at": peak,
    "peak-twice": peak,
    "peak-on": peak,
    "after-the-lever": peak,
}


@pytest.mark.parametrize(("level", "seed"), DRAWN)
def test_the_terms_have_the_widths_of_the_recipe(level, seed):
    drawn = interview(level, LONGEST, seed)
    terms = next(one for one in drawn.questions if one.key == "state-terms")
    widths = {point.name: point.width for point in terms.points if point.width is not None}
    assert sum(width.size for width in widths.values()) == sum(each(drawn.scenario))
    recipe = drawn.scenario.recipe
    weights, gradients, master, wide = WIDTHS[recipe.precision]
    held = widths.get("moments", widths.get("momentum"))
    tensors = NUMBERS[recipe.optimizer]
    assert (held.tensors, held.size) == (tensors, wide * tensors)
    assert held.also == ((held.size + master,) if "master-copy" in widths else ())
    # The shards of FSDP2 and what it reduces are fp32.
    first = widths.get("weights", widths.get("fp32-shard"))
    own = (weights, gradients) if "weights" in widths else (4, 4)
    assert (first.size, widths["gradients"].size) == own


@pytest.mark.parametrize(("level", "seed"), DRAWN)
def test_numbers_are_those_of_formulas_and_of_lines(level, seed):
    checked = 0
    for question, value in numbers(interview(level, LONGEST, seed)):
        key = question.key.rsplit("-", 1)[0] if question.changes else question.key
        of = OF_KEYS.get(question.key) or OF_KEYS.get(key)
        if of is not None:
            assert near(value, of(question.scenario)), question.key
            checked += 1
    assert checked >= 8


def of_table(x):
    """Return what all layers save by the table of a block, None where it is another block."""
    a, work, recipe = x.architecture, x.workload, x.recipe
    if recipe.attention != "flash" or recipe.precision == "fp32":
        return None
    if a.qk_norm != "none" or not a.gated:
        return None
    letters = {"a": a.heads, "d": a.head_dim, "f": a.ffn, "h": a.hidden, "k": a.kv_heads}
    sizes = {"b": work.micro_batch, "s": work.sequence, "L": a.layers}
    recompute = "full" if recipe.recompute == "full" else "none"
    plan = Plan(recompute=recompute, layers="all")
    return saved(gated_rows(), plan).at(letters | sizes)


def test_saved_activations_are_those_of_the_table_of_a_block():
    compared = 0
    for level, seed in DRAWN:
        for question, value in numbers(interview(level, LONGEST, seed)):
            if question.key.startswith("activations"):
                other = of_table(question.scenario)
                assert other is None or near(value, other), question.key
                compared += other is not None
    assert compared >= 20


@pytest.mark.parametrize(("level", "seed"), [("mid", 2), ("mid", 7), ("senior", 7)])
def test_under_zero_2_the_line_of_the_states_given_as_the_peak_is_named(level, seed):
    asked = {question.key: question for question in interview(level, LONGEST, seed).questions}
    assert asked["peak"].scenario.parallel.zero == 2
    named = {one.name: one.value for one in asked["peak"].problem.mistakes}
    assert near(named["model states alone"], states(asked["peak"].scenario))
    assert near(named["model states alone"], asked["states"].problem.answer.number.value)


@pytest.mark.parametrize(("level", "seed"), DRAWN)
def test_the_saving_is_the_difference_of_the_run_and_the_run_with_the_lever(level, seed):
    asked = {question.key: question for question in interview(level, LONGEST, seed).questions}
    before, after = asked["prediction"], asked["after-the-lever"]
    assert before.aspect == "prediction"
    saving = before.problem.answer.number.value
    assert saving == peak(before.scenario) - peak(after.scenario)
    assert fits(before.scenario) == "no"


def test_what_is_gathered_is_that_of_the_ledger():
    asked = [
        (question, value)
        for level, seed in DRAWN
        for question, value in numbers(interview(level, LONGEST, seed))
        if question.key == "gathered"
    ]
    assert len(asked) >= 5
    for question, value in asked:
        assert near(value, unsharded(question.scenario))


@pytest.mark.parametrize(("level", "seed"), DRAWN)
def test_the_verdict_is_that_of_the_card(level, seed):
    drawn = interview(level, LONGEST, seed)
    (question,) = (one for one in drawn.questions if one.key == "fits")
    x, book = drawn.scenario, ledger(drawn.scenario)
    memory = x.hardware.gpu.memory_mib * 2**20
    outside = sum(
        size for line, size in zip(book.lines, book.sizes, strict=True) if line.category in OUTSIDE
    )
    said = "tight"
    if peak(x) > memory:
        said = "no"
    elif peak(x) + outside <= memory:
        said = "yes, with room to spare"
    assert question.problem.answer.said == said


@pytest.mark.parametrize("seed", range(8))
def test_seconds_on_the_network_are_bytes_over_its_rate(seed):
    (question,) = (
        one for one in interview("senior", LONGEST, seed).questions if one.key == "network"
    )
    x, value = question.scenario, question.problem.answer.number.value
    assert x.hardware.network_gb_s * 8 == 100
    parameters, ranks = x.architecture.parameters, x.parallel.data
    # Eight cards of 12.5 GB/s carry a node's ring, at 80%.
    rate = 8 * Fraction(25, 2) * Fraction(8, 10) * 10**9
    if question.problem.answer.type == "yes-no":
        sent = Fraction(2 * parameters * (ranks - 1), ranks)
        assert near(value, sent / rate)
    else:
        assert value > 0


def test_tokens_from_which_computing_takes_as_long_as_sending():
    (question,) = (
        one for one in interview("senior", LONGEST, 7).questions if one.key == "network"
    )
    assert "Weights are sent in 16 bits, gradients in fp32." in question.says
    # 2 + 2 + 4 bytes, 127 of 128 shares, over 80 GB/s; 6 FLOPs at 742 TFLOP/s.
    tokens = 8 * Fraction(127, 128) / 80 * 742 * 1000 / 6
    asked = question.problem.answer.number
    assert near(asked.value, tokens, Fraction(1, 1000))
    assert asked.band == "estimate"


# Worked out on paper, in GB (and seconds), from the run as the interview tells it.
ROWS = (
    # Gemma 7B, 8.538e9 parameters, ZeRO-3 over 8, b = 32 × s = 512: 16 × 8.538 / 8.
    ("junior", 0, "states", 17.08),
    # 8 × 3072 + 4 × 16 × 256 + 4 × 16 × 256 + 8 × 24576 = 253,952 bytes × 28 × 16,384.
    ("junior", 0, "activations", 116.5),
    ("junior", 0, "activations-at-1k", 233.0),
    ("junior", 0, "logits", 50.33),  # 12 × 16,384 × 256,000
    # Mistral 7B, ZeRO-3 over 4, b = 16 × s = 1,024: 16 × 7.248 / 4.
    ("junior", 3, "states", 28.99),
    # 8 × 4096 + 4 × 4096 + 4 × 1024 + 8 × 14336 = 167,936 bytes × 32 × 16,384.
    ("junior", 3, "activations", 88.05),
    # The same under ZeRO-2 over 128, b = 8 × s = 4,096: 2 × 7.248 + 14 × 7.248 / 128.
    ("mid", 0, "states", 15.29),
    ("mid", 0, "logits", 12.88),  # 12 × 32,768 × 32,768
    # Qwen3 14B, ZeRO-3 over 128, b = 4 × s = 1,024: 16 × 14.768 / 128.
    ("mid", 5, "states", 1.846),
    ("mid", 5, "logits", 7.468),  # 12 × 4,096 × 151,936
    # GPT-3, ZeRO-3 over 32: 16 × 174.6 / 32, and 8 × 174.6 / 32.
    ("senior", 0, "states", 87.30),
    ("senior", 0, "second-step", 43.65),
    # Tied table of 50,257 and 2,048 positions, 12 × 12,288² a layer: 2 × (0.643 + 2 × 1.812).
    ("senior", 0, "gathered", 8.53),
    ("senior", 0, "network", 4.229),  # 2 × 174.6 × 31/32 / 80 GB/s
    # Llama 3 70B, ZeRO-3 over 32, b = 16 × s = 1,024: 16 × 70.55 / 32.
    ("senior", 3, "states", 35.28),
    # 8 × 8192 + 4 × 8192 + 4 × 1024 + 8 × 28672 = 331,776 bytes × 80 × 16,384.
    ("senior", 3, "activations", 434.9),
    ("senior", 3, "logits", 25.22),  # 12 × 16,384 × 128,256
    ("senior", 3, "network", 1.709),  # 2 × 70.55 × 31/32 / 80 GB/s
)


@pytest.mark.parametrize(("level", "seed", "key", "value"), ROWS)
def test_numbers_worked_out_by_hand(level, seed, key, value):
    questions = interview(level, LONGEST, seed).questions
    (asked,) = (one.problem.answer.number for one in questions if one.key == key)
    unit = 1 if asked.unit == "s" else 10**9
    assert near(asked.value / unit, Fraction(str(value)), Fraction(1, 200))
