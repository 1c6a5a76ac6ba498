"""Kinds that ask for a formula: they are held to published numbers and to the engine."""

from fractions import Fraction
from functools import cache

import pytest

from engine.catalog import models
from engine.estimate import model_states
from engine.units import GB, GIB
from problems.bank.activations.activations_formula import PLANS as RUNS
from problems.bank.everything_else.logits_formula import Case as Logits
from problems.bank.inference.cache_formula import Case as Cache
from problems.bank.levers.plan_formula import Plan as Split
from problems.bank.states.frozen_formula import FOUR_BITS
from problems.bank.states.frozen_formula import Case as Frozen
from problems.bank.states.parameters_formula import Decoder
from problems.bank.states.parameters_formula import sizes as sizes_of
from problems.bank.states.states_formula import held
from problems.draw import Draw
from problems.formula import letter
from problems.layers import layer_terms, per_token
from problems.model_states import parts_of
from problems.registry import build, kinds
from problems.saved_table import Plan, Row, gated_rows, gpt_rows, saved
from problems.scenarios import one_gpu_step
from quiz.grading import grade

SEEDS = 100
KINDS = [name for name in kinds() if name.endswith("-formula")]
every_kind = pytest.mark.parametrize("kind", KINDS)
MIXED, WIDE = parts_of("mixed", "adamw"), parts_of("mixed-fp32-grad", "adamw")


@cache
def drawn(kind):
    return tuple(build(kind, seed) for seed in range(SEEDS))


@every_kind
def test_the_formula_as_it_is_said_is_right(kind):
    for problem in drawn(kind)[:60]:
        assert grade(problem, problem.answer.said).score == 1, problem.id


@every_kind
def test_every_mistake_typed_is_named(kind):
    for problem in drawn(kind)[:60:7]:
        for one in problem.answer.mistakes:
            assert grade(problem, one.formula.said).mistake == one.name, (problem.id, one)


@every_kind
def test_prompts_define_every_letter_and_hints_do_not_give_the_formula(kind):
    for problem in drawn(kind)[:60]:
        assert all(f"{one.name} = " in problem.prompt for one in problem.answer.letters)
        assert problem.answer.said not in "\n".join(problem.hints), problem.id


@every_kind
def test_the_solution_ends_with_the_formula(kind):
    for problem in drawn(kind)[:60]:
        assert problem.solution[-1].text.endswith(f": {problem.answer.said}")


@every_kind
def test_there_are_many_formulas_and_no_question_is_put_twice(kind):
    problems = drawn(kind)
    assert len({problem.prompt + problem.exhibit for problem in problems}) == SEEDS
    assert len({problem.answer.said for problem in problems}) >= 15
    assert all(len(problem.answer.mistakes) >= 2 for problem in problems)
    assert all(len(one.feedback) <= 200 for problem in problems for one in problem.answer.mistakes)


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("precision", ["fp32", "mixed", "mixed-fp32-grad", "pure-bf16"])
def test_states_are_those_of_the_ledger(precision, stage):
    parameters, ranks = 7 * 64, 64
    fsdp = stage == 3
    if fsdp and precision == "mixed-fp32-grad":
        pytest.skip("FSDP2 shards fp32 weights or shards all in one dtype")
    book = model_states(parameters, precision=precision, zero=stage, ranks=ranks)
    formula = held(parts_of(precision, "adamw", fsdp=fsdp), stage)
    assert formula.at({"P": parameters, "N": ranks}) == sum(book.values())


@pytest.mark.parametrize(
    ("parts", "stage", "parameters", "ranks", "gb"),
    [
        # NVIDIA/Megatron-LM#654: 6 + 12/8 bytes a parameter, 7B.
        (WIDE, 1, 7, 8, 52.5),
        # fusheng-ji.github.io/InfraLens: 12 bytes over 8 ranks; the master copy is left out.
        (tuple(part for part in MIXED if part.name != "master copy"), 3, 7, 8, 10.5),
        # deepspeedai/DeepSpeed#3734: 12.7B under ZeRO-2 and ZeRO-3.
        (MIXED, 2, 12.7, 8, 47.6),
        (MIXED, 3, 12.7, 8, 25.4),
        # harvard-edge/cs249r_book: 175B on 64 GPUs under ZeRO-1 and ZeRO-3.
        (MIXED, 1, 175, 64, 732.8),
        (MIXED, 3, 175, 64, 43.75),
    ],
)
def test_states_are_those_that_were_published(parts, stage, parameters, ranks, gb):
    size = held(parts, stage).at({"P": Fraction(parameters), "N": ranks})
    assert float(size) == pytest.approx(gb, rel=0.005)


def test_parameters_are_those_of_every_catalogued_model():
    for model in models().values():
        a = model.architecture
        if a.latent is None and not (a.experts and a.experts.shared_ffn):
            decoder = Decoder(shape=a, square=False, small=True)
            assert decoder.formula.at(sizes_of(a)) == a.parameters, model.name


def test_parameters_are_those_of_a_course_and_of_a_book():
    x = {"V": 50257, "L": 48, "h": 1600, "f": 6400}
    v, n, h, f = map(letter, "VLhf")
    # stanford-cs336/assignment1-basics: 2Vd + L(4d² + 3·d·d_ff + 2d) + d, GPT-2 XL's sizes.
    course = 2 * v * h + n * (4 * h * h + 3 * h * f + 2 * h) + h
    assert float(course.at(x)) == pytest.approx(2.127e9, rel=0.001)
    llama = models()["llama-2-7b"].architecture
    right = Decoder(shape=llama, square=True, small=True).formula
    assert right == course
    # jax-ml/scaling-book, applied-training.md: MLPs 56.4e9, attention 12.1e9, vocabulary 2.1e9.
    a = models()["llama-3-70b"].architecture
    d, at = Decoder(shape=a, square=False, small=False), sizes_of(a)
    rows = ((n * d.mlp, 56.4e9), (n * d.attention, 12.1e9), (d.vocabulary, 2.1e9))
    assert all(float(part.at(at)) == pytest.approx(size, rel=0.01) for part, size in rows)


def test_the_table_of_a_gated_block_is_that_of_the_whiteboard():
    found = 0
    for seed in range(60):
        scenario = one_gpu_step(Draw("table", seed), recomputes=("none",))
        a, recipe = scenario.architecture, scenario.recipe
        plain = a.gated and a.qk_norm == "none" and recipe.attention == "flash"
        if not plain or recipe.precision != "mixed":
            continue
        each = saved(gated_rows(), Plan()).at({**_sizes(a), "s": 1, "b": 1})
        assert each == per_token(layer_terms(scenario))
        found += 1
    assert found > 5


def _sizes(a):
    return {"h": a.hidden, "a": a.heads, "k": a.kv_heads, "d": a.head_dim, "f": a.ffn}


def test_a_gpt_block_saves_34_sbh_and_5_as2b():
    # arXiv 2205.05198 equation 1.
    whole = saved(gpt_rows(dropout=True, eager=True), Plan())
    s, b, h, a = map(letter, "sbha")
    assert whole == 34 * s * b * h + 5 * a * s * s * b


PAPER = gpt_rows(dropout=True, eager=False)
TEN = {"s": 4096, "b": 1, "h": 8192, "t": 8}
COPIES = (
    Row(
        name="28 copies of the hidden state",
        size=56 * letter("s") * letter("b") * letter("h"),
        part="MLP",
    ),
)


@pytest.mark.parametrize(
    ("rows", "plan", "values", "size"),
    [
        # cli99/llm-analysis#19: tensor parallelism over 8, without and with sequence parallelism.
        (PAPER, Plan(tensor=True), TEN, 436e6),
        (PAPER, Plan(tensor=True, sequence=True), TEN, 143e6),
        # stas00/ml-engineering: 28 copies, 32 layers, without and with full recomputation.
        (COPIES, Plan(layers="all"), {"s": 32768, "b": 1, "h": 4096, "L": 32}, 224 * GIB),
        (
            COPIES,
            Plan(layers="all", recompute="full", live=True),
            {"s": 32768, "b": 1, "h": 4096, "L": 32},
            15 * GIB,
        ),
        # huggingface/trl#7003: one layer's input at 98,304 tokens.
        (PAPER, Plan(recompute="full"), {"s": 98304, "b": 1, "h": 2560}, 0.47 * GIB),
        # notes.tczhong.com: 34·s·b·h against layer inputs alone, 32 layers.
        (PAPER, Plan(layers="all"), {"s": 2048, "b": 4, "h": 4096, "L": 32}, 36.5 * GB),
        (
            PAPER,
            Plan(layers="all", recompute="full"),
            {"s": 2048, "b": 4, "h": 4096, "L": 32},
            2.1 * GB,
        ),
    ],
)
def test_activations_are_those_that_were_published(rows, plan, values, size):
    assert float(saved(rows, plan).at(values)) == pytest.approx(size, rel=0.03)


def test_the_first_stage_keeps_as_much_as_one_micro_batch_in_all_layers():
    # deepspeedai/DeepSpeed#4477: p micro-batches of L/p layers.
    for plan in (plan for plans in RUNS.values() for plan in plans if plan.layers == "stage"):
        assert "p" not in saved(PAPER, plan).letters


@pytest.mark.parametrize(
    ("form", "each", "values", "size"),
    [
        # fahimfaisal.info, LLM inference grill: Llama-2 7B, a token and 4,096 of them.
        ("token", 2, {"L": 32, "k": 32, "d": 128}, 512 * 1024),
        ("sequence", 2, {"L": 32, "k": 32, "d": 128, "s": 4096}, 2 * GIB),
        ("token", 2, {"L": 32, "k": 8, "d": 128}, 128 * 1024),
        # engineersofai.com: 70B, one sequence of 128k tokens, and without grouped heads.
        ("sequence", 2, {"L": 80, "k": 8, "d": 128, "s": 131072}, 40 * GIB),
        ("sequence", 2, {"L": 80, "k": 64, "d": 128, "s": 131072}, 320 * GIB),
        ("batch", 2, {"L": 80, "k": 8, "d": 128, "s": 8192, "b": 32}, 85.9 * GB),
        ("batch", 1, {"L": 80, "k": 8, "d": 128, "s": 8192, "b": 32}, 42.9 * GB),
        # huggingface/blog#2345: with 16 GPUs as much as with 8, a head each.
        ("more ranks", 2, {"L": 80, "d": 128, "s": 8192, "b": 32}, 85.9 * GB / 8),
        ("split", 2, {"L": 80, "k": 8, "d": 128, "s": 8192, "b": 32, "t": 8}, 85.9 * GB / 8),
        # alvarobartt/hf-mem#60: half of 36 layers with a window of 128, 8 heads of 64.
        ("windows", 2, {"L": 36, "k": 8, "d": 64, "s": 1, "b": 1, "w": 0}, 36 * 1024),
        # harvard-edge/cs249r_book: 50 requests that share 2,000 tokens, and nothing else.
        ("prefix", 2, {"L": 80, "k": 8, "d": 128, "s": 2000, "b": 50, "u": 2000}, 0.655 * GB),
        # A hidden size of 3,584 and 28 query heads: keys and values are 4 × 128 wide.
        ("width", 2, {"L": 28, "h": 3584, "a": 28, "k": 4, "s": 1, "b": 1}, 56 * 1024),
    ],
)
def test_caches_are_those_that_were_published(form, each, values, size):
    formula = Cache(each=each, form=form, letters="").formula
    assert float(formula.at(values)) == pytest.approx(size, rel=0.002)


THREE = (("16-bit logits", 2), ("their fp32 copy", 4), ("its fp32 gradient", 4))
FP32 = (("fp32 logits", 4),)


@pytest.mark.parametrize(
    ("form", "tensors", "values", "size"),
    [
        # stas00/ml-engineering: 32,768 tokens of an 8B model with 128,256 entries.
        ("whole", THREE, {"s": 32768, "b": 1, "V": 128256}, 39 * GIB),
        ("whole", FP32, {"s": 32768, "b": 1, "V": 128256}, 15.7 * GIB),
        # huggingface/transformers#12878 and #10722: what an evaluation keeps.
        ("kept", FP32, {"s": 512, "b": 1, "V": 30522, "m": 1000}, 58 * GIB),
        ("kept", FP32, {"s": 77, "b": 1, "V": 50000, "m": 200_000}, 2.8 * 1024 * GIB),
        # One 16k micro-batch with 248,320 entries, in 16 bits and in fp32.
        ("whole", (("16-bit logits", 2),), {"s": 16384, "b": 1, "V": 248320}, 8.1 * GB),
        ("whole", FP32, {"s": 16384, "b": 1, "V": 248320}, 16.3 * GB),
        # 3B and 7B models of the Qwen2.5 vocabulary, one sequence.
        ("whole", THREE, {"s": 4096, "b": 1, "V": 151936}, 6.2 * GB),
        ("whole", THREE, {"s": 32768, "b": 1, "V": 152064}, 49.8 * GB),
    ],
)
def test_logits_are_those_that_were_published(form, tensors, values, size):
    formula = Logits(tensors=tensors, form=form).formula
    assert float(formula.at(values)) == pytest.approx(size, rel=0.02)


@pytest.mark.parametrize(
    ("plan", "parts", "values", "size"),
    [
        # engineersofai.com, distributed training: 70B on 256 GPUs, tensor 8 × pipeline 4 × 8.
        (
            Split(stage=1, tensor=True, pipeline=True),
            MIXED,
            {"P": 70 * GB, "t": 8, "p": 4, "N": 8},
            12.1 * GB,
        ),
        (
            Split(stage=1, tensor=True, pipeline=True, total=True),
            MIXED,
            {"P": 70 * GB, "t": 8, "p": 4, "G": 256},
            12.1 * GB,
        ),
        (
            Split(stage=1, tensor=True, pipeline=True),
            WIDE,
            {"P": 70 * GB, "t": 8, "p": 4, "N": 8},
            16.4 * GB,
        ),
        # NVIDIA/cosmos-framework#161: 70B sharded inside a node of 8, replicated over nodes.
        (Split(stage=3, hybrid=True), MIXED, {"P": 70 * GB, "n": 8}, 140 * GB),
    ],
)
def test_plans_hold_what_was_published(plan, parts, values, size):
    assert float(plan.held(parts).at(values)) == pytest.approx(size, rel=0.01)


@pytest.mark.parametrize(
    ("trained", "frozen", "width", "values", "gb"),
    [
        # huggingface/trl#1245: DPO of 7B beside a frozen reference.
        (1, 1, 2, {"P": 7}, 112 + 14),
        # PPO of 7B: two models with 112 GB of states, two with their weights.
        (2, 2, 2, {"P": 7}, 2 * 112 + 2 * 14),
        # 70B: the base of LoRA takes 141 GB in 16 bits, and in 4 bits half a byte a parameter.
        (0, 1, 2, {"P": Fraction(705, 10), "A": 0}, 141),
        (0, 1, FOUR_BITS, {"P": 70, "A": 0}, 35),
        (0, 1, FOUR_BITS, {"P": 70, "A": 1}, 35 + 16),
    ],
)
def test_what_is_frozen_has_weights_alone(trained, frozen, width, values, gb):
    case = Frozen(says="", parts=MIXED, trained=trained, frozen=frozen, width=Fraction(width))
    assert case.formula.at(values) == gb
