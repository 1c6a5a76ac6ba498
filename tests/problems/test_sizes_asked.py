"""Kinds that ask for one size: the formulas give the answers of questions really asked."""

from fractions import Fraction

import pytest

from engine.architecture import Architecture
from engine.catalog import models
from engine.estimate import ledger
from engine.ledger import Category
from engine.units import GB, GIB, MIB
from problems.bank.activations.checkpoints import kept, layer_input
from problems.bank.activations.scores import scores
from problems.bank.everything_else.buckets import held
from problems.bank.everything_else.operands import operands
from problems.bank.everything_else.quantised_copies import elements_of
from problems.bank.levers.accumulator import accumulator
from problems.bank.levers.to_the_host import one_way
from problems.bank.states.adapters import QUARTER
from problems.bank.states.optimizers_changed import ADAM, INSTEAD
from problems.bank.states.vocabulary import of_vocabulary
from problems.registry import build

SEEDS = range(40)


def drawn(kind):
    return [build(kind, seed) for seed in SEEDS]


def test_the_vocabulary_of_an_8b_model_is_13_percent_and_16_8_gb_of_adam_states():
    # stas00/ml-engineering: 2 x 128,256 x 4,096 = 1.05e9 parameters, x 16 bytes.
    a = models()["llama-3-8b"].architecture
    parameters = of_vocabulary(a)
    assert parameters == 2 * 128_256 * 4096
    assert round(100 * parameters / a.parameters) == 13
    assert round(16 * parameters / GB, 1) == 16.8


def test_a_tied_head_is_one_matrix():
    a = models()["gpt2-xl"].architecture
    assert a.tied
    assert of_vocabulary(a) == 50257 * 1600


def test_what_a_note_has_and_what_it_leaves_out_are_all_states():
    for problem in drawn("left-out"):
        named = {mistake.name: mistake.value for mistake in problem.mistakes}
        if {"all states counted", "what the note has"} <= set(named):
            assert (
                named["all states counted"] - named["what the note has"] == problem.answer.value
            ), problem.id


def test_8_bit_adam_saves_42_gb_of_a_7b_model():
    # bitsandbytes-foundation/bitsandbytes#407: 8 -> 2 bytes a parameter.
    each = {name: each for name, _, each in INSTEAD}
    assert (ADAM - each["adamw-8bit"]) * 7 * GB == 42 * GB


def test_what_is_saved_is_bytes_a_parameter_of_a_share():
    for problem in drawn("optimizer-change"):
        each = {"8-bit AdamW": 6, "Lion": 4, "SGD with momentum": 4}
        words = problem.prompt.replace(",", "")
        name = words.partition("exchanged for ")[2].partition(" which")[0]
        parameters = int(words.partition("P = ")[2].split()[0])
        ranks = int(words.partition(" precision on ")[2].split()[0]) if "ZeRO-1" in words else 1
        on_paper = each.get(name, 8) * parameters / ranks
        assert float(problem.answer.value) == pytest.approx(on_paper, rel=0.02), problem.id


@pytest.mark.parametrize(
    ("batch", "heads", "sequence", "each", "size"),
    [
        # stanford-cs336/assignment2-systems: one head, batch 8, 16,384 tokens, fp32.
        (8, 1, 16384, 4, 8 * GIB),
        # The same: 16 heads at batch 4 and length 2,048, each fp32 tensor.
        (4, 16, 2048, 4, 1024 * MIB),
    ],
)
def test_scores_have_an_entry_for_each_pair_of_tokens(batch, heads, sequence, each, size):
    assert scores(batch, heads, sequence, each) == size


def test_heads_and_the_second_length_are_what_the_mistakes_leave_out():
    for problem in drawn("score-matrix"):
        named = {mistake.name: mistake.value for mistake in problem.mistakes}
        heads = int(problem.prompt.partition(" a = ")[2].split()[0])
        sequence = int(problem.prompt.partition(" s = ")[2].split()[0].replace(",", ""))
        degree = (
            int(problem.prompt.partition("Tensor parallelism over ")[2].split()[0])
            if "Tensor parallelism" in problem.prompt
            else 1
        )
        if "heads forgotten" in named:
            assert named["heads forgotten"] * heads == problem.answer.value * degree, problem.id
        if "square of the sequence forgotten" in named:
            assert named["square of the sequence forgotten"] * sequence == problem.answer.value, (
                problem.id
            )


def test_checkpoints_of_an_8b_model_at_32k_are_8_gib_and_15_with_the_live_layer():
    # stas00/ml-engineering: hidden state 0.25 GiB, 32 of them, and a live layer of 28.
    one = layer_input(32768, 4096)
    assert one == GIB // 4
    assert kept(one, 32) == 8 * GIB
    assert kept(one, 32, 28) == 15 * GIB


def test_a_layer_keeps_0_47_gib_at_98304_tokens_of_width_2560():
    # huggingface/trl#7003
    assert round(layer_input(98304, 2560) / GIB, 2) == 0.47


def test_checkpoints_are_a_layers_input_for_each_layer():
    for problem in drawn("checkpointed"):
        words = problem.prompt
        layers = int(words.partition("L = ")[2].split()[0])
        hidden = int(words.partition("h = ")[2].split(".")[0].replace(",", ""))
        batch = int(words.partition(" b = ")[2].split()[0])
        sequence = int(words.partition(" s = ")[2].split()[0].replace(",", ""))
        live = int(words.partition("save about ")[2].split()[0]) if problem.level == "mid" else 0
        assert problem.answer.value == (layers + live) * batch * sequence * hidden * 2, problem.id


def test_logits_are_tokens_times_vocabulary():
    for problem in drawn("logits-size"):
        words = problem.prompt.replace(",", "")
        batch, sequence = (
            int(words.partition(f" {x} = ")[2].split()[0].rstrip(".")) for x in "bs"
        )
        vocab = int(words.partition(" V = ")[2].split()[0].rstrip("."))
        each = 4 if "the fp32 logits" in words else 2
        assert problem.answer.value == batch * sequence * vocab * each, problem.id


def test_two_buckets_of_500_million_take_9_gb_with_overlap_and_200_million_3_6_gb():
    # Hugging Face DeepSpeed guide: 4.5 times two buckets in 16 bits.
    assert held(2 * 500_000_000, 2) == 9 * GB
    assert held(2 * 200_000_000, 2) == 36 * GB // 10


def test_overlap_is_what_a_mistake_leaves_out_or_adds():
    for problem in drawn("communication-buckets"):
        named = {mistake.name: mistake.value for mistake in problem.mistakes}
        if "overlap forgotten" in named:
            assert named["overlap forgotten"] * Fraction(9, 2) == problem.answer.value, problem.id
        else:
            assert named["overlap counted"] == problem.answer.value * Fraction(9, 2), problem.id


def test_the_operands_of_one_product_take_1_07_gb():
    # prachub.com: A of 8,192 x 8,192, W of 8,192 x 28,672, bf16.
    assert round(operands(8192, 8192, 28672, 2) / GB, 2) == 1.07


def test_the_operands_are_those_of_the_prompt():
    for problem in drawn("matmul-operands"):
        words = problem.prompt.replace(",", "")
        m, k = (int(x) for x in words.partition("X has ")[2].partition(" entries")[0].split(" × "))
        rows, n = (int(x) for x in words.partition("entries W ")[2].split(".")[0].split(" × "))
        each = {"fp8": 1, "bf16": 2, "fp32": 4}[words.partition(" in ")[2].split()[0]]
        assert rows == k, problem.id
        assert problem.answer.value == each * (m * k + k * n + m * n), problem.id


def test_steps_micro_batch_and_groups_make_the_batch():
    for problem in drawn("accumulation-steps"):
        words = problem.prompt.replace(",", "")
        batch = int(words.split()[3])
        if "in sequences of " in words:
            batch //= int(words.partition("in sequences of ")[2].split()[0])
        gpus = int(words.partition(" on ")[2].split()[0])
        for before in ("tensor parallel over ", "pipeline parallel over "):
            if before in words:
                gpus //= int(words.partition(before)[2].split()[0])
        micro = int(words.partition("micro-batch of ")[2].split(".")[0])
        assert problem.answer.value * micro * gpus == batch, problem.id


def test_fp8_copies_of_an_8b_model_are_about_7_gb_for_its_layers():
    # NVIDIA/TransformerEngine#2681: a byte a parameter, 8 GB for 8B with embeddings.
    elements = elements_of(models()["llama-3-8b"].architecture)
    assert elements == 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)


def test_a_senior_is_asked_for_what_is_more_than_the_shard():
    for problem in drawn("unsynchronised-gradients"):
        words = problem.prompt.replace(",", "")
        parameters = int(words.partition("P = ")[2].split()[0])
        ranks = int(words.partition(" over ")[2].split()[0])
        each = 2 if "are 16-bit" in words else 4
        whole = each * parameters
        shard = each * -(-parameters // ranks)
        assert problem.answer.value == whole - (shard if problem.level == "senior" else 0), (
            problem.id
        )


def test_half_of_the_hybrid_runs_fit():
    fits = [problem.answer.value for problem in map(build, ["hybrid-sharding"] * 120, range(120))]
    assert 0.4 <= sum(fits) / len(fits) <= 0.6


def test_32_checkpoints_of_a_quarter_gib_move_in_0_17_s_at_50_gb_a_second():
    # harvard-edge/cs249r_book
    assert round(float(one_way(32 * GIB // 4, 50)), 2) == 0.17


def test_4_bit_storage_takes_4_127_bits_and_70_6_billion_36_4_gb():
    # kaitchup.substack.com: blocks of 64 and double quantisation.
    assert round(float(8 * QUARTER), 3) == 4.127
    assert round(float(QUARTER * 706 * GB / 10 / GB), 1) == 36.4


def test_the_largest_share_is_that_of_the_ledger():
    for problem in drawn("largest-share")[:15]:
        book = ledger(problem.scenario)
        logits = book.total(Category.LOGITS, phase=book.peak_phase)
        saved = book.total(Category.ACTIVATIONS, phase=book.peak_phase)
        if problem.answer.said == "logits and loss":
            assert logits > saved
        if problem.answer.said == "saved activations":
            assert saved > logits


def test_more_ranks_leave_less_than_the_peak_and_more_than_a_part_of_it():
    for problem in drawn("more-ranks")[:15]:
        peak = ledger(problem.scenario).peak
        times = int(problem.prompt.partition("runs on ")[2].split()[0])
        assert peak / times < problem.answer.value < peak


def test_the_first_method_that_fits_is_the_largest_within_the_room():
    for problem in drawn("which-method"):
        words = problem.prompt.replace(",", "")
        memory = int(words.partition(" with ")[2].split()[0]) * MIB
        room = memory * int(words.partition("of which ")[2].split("%")[0]) / 100
        sizes = {choice.item.name: choice.item.value for choice in problem.answer.choices}
        fitting = {name: size for name, size in sizes.items() if 0 < size <= room}
        right = max(fitting, key=lambda name: fitting[name], default="none of the three")
        assert problem.answer.right.item.name == right


def test_a_shape_without_experts_has_all_its_layers_matrices_in_fp8():
    a = Architecture(
        layers=2, hidden=8, heads=2, kv_heads=2, head_dim=4, ffn=16, vocab=50, gated=True
    )
    assert elements_of(a) == 2 * (4 * 8 * 8 + 3 * 8 * 16)


def test_an_fp32_accumulator_of_6_7b_on_4_devices_is_6_7_gb():
    # young-geng/EasyLM#36
    assert accumulator(6_700_000_000, 4) == 67 * GB // 10


def test_an_accumulator_has_four_bytes_for_each_parameter_of_a_share():
    for problem in drawn("gradient-accumulator"):
        words = problem.prompt.replace(",", "")
        parameters = int(words.partition("P = ")[2].split()[0])
        ranks = (
            int(words.partition("sharded over ")[2].split()[0]) if "sharded over" in words else 1
        )
        assert float(problem.answer.value) == pytest.approx(4 * parameters / ranks, rel=1e-6), (
            problem.id
        )


def test_a_checkpoint_is_no_part_of_what_its_block_keeps():
    for problem in (build("checkpoint-table", seed) for seed in range(20)):
        assert "a copy of its input, which its norm makes; the input itself" in problem.prompt


@pytest.mark.parametrize("kind", ["adapter-states", "model-states"])
def test_no_gpu_is_said_to_hold_states_that_are_larger_than_any_card(kind):
    for problem in (build(kind, seed) for seed in range(20)):
        assert "holds it all" not in problem.prompt


@pytest.mark.parametrize("kind", ["weights-by-precision", "kv-pool", "plan-states", "serve-fits"])
def test_no_solution_blames_rounding_where_paper_has_the_answer_already(kind):
    for problem in (build(kind, seed) for seed in range(10)):
        assert not any("difference is rounding" in step.text for step in problem.solution)
