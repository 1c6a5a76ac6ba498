"""Questions on serving answered from the words of their prompts alone, by a few products."""

import re
from math import ceil, floor, log2

import pytest

from engine.units import GIB, KIB, MIB
from problems.registry import build

SEEDS = range(60)
BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "16 bits": 2, "fp8": 1, "int8": 1}
FORMATS = "|".join(BYTES)


def numbers(pattern, text):
    """The numbers that a pattern finds, as whole ones or as they are."""
    found = re.search(pattern, text)
    assert found, (pattern, text)
    values = [value.replace(",", "") for value in found.groups()]
    return [float(value) if "." in value else int(value) for value in values]


def a_token(text):
    """Bytes of a token in all layers, from the model's shape and the cache's format."""
    width = BYTES[re.search(rf"(?:KV cache[^.;]*?|values are kept) in ({FORMATS})", text)[1]]
    return width * elements(text)


def elements(text):
    """Elements of a token in all layers."""
    if "latent" in text:
        layers, rank, rotary = numbers(r"(\d+) layers.*rank (\d+), rotary part (\d+)", text)
        return layers * (rank + rotary)
    layers, _, heads, size = numbers(
        r"(\d+) layers, (\d+) query heads, (\d+) key-value heads?, head size (\d+)", text
    )
    return 2 * layers * heads * size


def served(text):
    """Bytes of the weights, of a token, and of the room, of a prompt on cards that serve."""
    parameters, each = numbers(
        r"\(([\d,]+) parameters\).*Weights: .*?, ([\d.]+) bytes? each", text
    )
    width = BYTES[re.search(rf"KV cache: ({FORMATS})", text)[1]]
    cards = re.search(r"(?:served|serve it) on (\d+) ×", text)
    memory, percent = numbers(r"([\d,]+) MiB(?: for a card)?, of which (\d+)%", text)
    room = int(cards[1] if cards else 1) * memory * MIB * percent / 100
    return parameters * each, width * elements(text), room


def of_level(name, level):
    """The problems of a kind at a level, each with its prompt."""
    for seed in SEEDS:
        problem = build(name, seed)
        if problem.level == level:
            yield problem, problem.prompt


@pytest.mark.parametrize("level", ["junior", "mid"])
def test_a_token_is_a_product_of_the_prompts_numbers(level):
    for problem, text in of_level("kv-per-token", level):
        assert problem.answer.value == a_token(text), problem.id


def test_a_gpu_of_several_has_its_heads_and_one_at_least():
    for problem, text in of_level("kv-per-token", "senior"):
        ranks = numbers(r"parallel over (\d+)", text)[0]
        if "latent" in text:
            share = 1
        else:
            heads = numbers(r"(\d+) key-value head", text)[0]
            share = max(heads // ranks, 1) / heads
        assert problem.answer.value == a_token(text) * share, problem.id


def test_a_batch_is_tokens_times_a_token():
    for problem, text in of_level("kv-total", "mid"):
        count, prompt, answer = numbers(
            r"([\d,]+) requests are .* prompt of ([\d,]+) tokens and an answer of ([\d,]+)", text
        )
        assert problem.answer.value == count * (prompt + answer) * a_token(text), problem.id


def test_two_lengths_add_up():
    for problem, text in of_level("kv-total", "senior"):
        few, short, many, long = numbers(
            r"are ([\d,]+) requests of ([\d,]+) tokens and ([\d,]+) of ([\d,]+)\.", text
        )
        assert problem.answer.value == (few * short + many * long) * a_token(text), problem.id


def test_weights_and_cache_fit_or_do_not():
    for problem, text in of_level("serve-fits", "mid"):
        weights, each, room = served(text)
        count, length = numbers(r"([\d,]+) requests run .* come to ([\d,]+) tokens", text)
        size = weights + count * length * each
        assert problem.answer.proof.value == pytest.approx(size, rel=1e-6), problem.id
        assert problem.answer.value == (size <= room), problem.id


@pytest.mark.parametrize("level", ["mid", "senior"])
def test_requests_at_once_are_what_is_left_over_one(level):
    for problem, text in of_level("concurrent-requests", level):
        weights, each, room = served(text)
        prompt, answer = numbers(r"prompt of ([\d,]+) tokens and an answer of ([\d,]+)", text)
        left = (room - weights) / ((prompt + answer) * each)
        assert problem.answer.value == floor(left), problem.id


@pytest.mark.parametrize("level", ["mid", "senior"])
def test_the_longest_context_is_what_is_left_over_all_requests(level):
    for problem, text in of_level("longest-context-serving", level):
        weights, each, room = served(text)
        count = numbers(r"([\d,]+) requests run at once, all", text)[0]
        assert problem.answer.value == floor((room - weights) / (count * each)), problem.id


def test_cards_are_the_next_power_of_two():
    for problem, text in of_level("devices-to-serve", "mid"):
        weights, each, room = served(text.replace("of which all", "of which 100%"))
        count, length = numbers(r"([\d,]+) requests of ([\d,]+) tokens", text)
        cards = (weights + count * length * each) / room
        assert problem.answer.value == 2 ** ceil(log2(cards)), problem.id


def engine(text):
    """Bytes that an engine's share leaves behind weights and what else it needs."""
    memory, percent = numbers(r"reports ([\d,]+) MiB.* use (\d+)% of the card", text)
    parameters = numbers(r"\(([\d,]+) parameters\)", text)[0]
    besides = numbers(r"([\d.]+) GiB", text)[0]
    return memory * MIB * percent / 100 - 2 * parameters - besides * GIB


def test_a_pool_is_the_share_less_weights_and_the_rest():
    for problem, text in of_level("kv-pool", "mid"):
        assert problem.answer.value == pytest.approx(engine(text), rel=1e-6), problem.id


def test_a_pools_tokens_are_whole_blocks():
    for problem, text in of_level("tokens-in-pool", "senior"):
        tokens = engine(text) / (2 * elements(text))
        assert tokens - 17 < problem.answer.value <= tokens + 1, problem.id
        assert problem.answer.value % 16 == 0, problem.id


def test_what_a_refusal_lacks_is_read_off_its_log():
    for problem, text in of_level("blocks-and-refusal", "mid"):
        each = numbers(r"A token takes ([\d,.]+) KiB", text)[0]
        blocks, block = numbers(r"(\d+) blocks of (\d+) tokens", problem.exhibit)
        longest, held = numbers(r"request (\d+) tokens, cache (\d+) tokens", problem.exhibit)
        assert held == blocks * block
        missing = ceil(longest / block) * block - held
        assert problem.answer.value == pytest.approx(missing * each * KIB, rel=1e-3), problem.id


def test_what_an_engine_asks_for_is_free_or_not():
    for problem, text in of_level("engine-starts", "junior"):
        rows = [int(size) for size in re.findall(r"(\d+) MiB", problem.exhibit)]
        percent = numbers(r"use (\d+)% of the card", text)[0]
        spare = MIB * (rows[-1] - sum(rows[:-1]) - rows[-1] * percent / 100)
        assert problem.answer.value == (spare > 0), problem.id
        assert problem.answer.proof.value == pytest.approx(abs(spare), rel=1e-6), problem.id


def test_a_prefix_is_saved_for_all_requests_but_one():
    for problem, text in of_level("prefix-sharing", "mid"):
        count, prefix = numbers(r"([\d,]+) requests run .* prompt of ([\d,]+) tokens", text)
        assert problem.answer.value == (count - 1) * prefix * a_token(text), problem.id


def test_a_prefix_is_kept_once_beside_what_is_each_requests_own():
    for problem, text in of_level("prefix-sharing", "senior"):
        count, prefix, own = numbers(
            r"([\d,]+) requests run .* prompt of ([\d,]+) tokens, and each has ([\d,]+)", text
        )
        assert problem.answer.value == (prefix + count * own) * a_token(text), problem.id


def test_windows_cap_what_their_layers_keep():
    for problem, text in of_level("cache-with-windows", "senior"):
        layers = numbers(r"(\d+) layers", text)[0]
        found = re.search(r"In (\d+) of the layers", text)
        full = int(found[1]) if found else 0
        window = numbers(r"a window of ([\d,]+) tokens", text)[0]
        found = re.search(r"(\d+) requests of ", text)
        count = int(found[1]) if found else 1
        length = numbers(r"requests? of ([\d,]+) tokens", text)[0]
        kept = full * length + (layers - full) * window
        assert problem.answer.value == count * kept * a_token(text) / layers, problem.id


def test_a_log_of_windows_divides_into_the_answer():
    for problem, _ in of_level("windows-in-log", "senior"):
        size = numbers(r"([\d.]+) GiB", problem.exhibit)[0] * GIB
        tokens = numbers(r"room for (\d+) tokens", problem.exhibit)[0]
        assert problem.answer.proof.value == pytest.approx(size / tokens, rel=0.02), problem.id


def test_bits_and_scales_are_all_that_weights_are():
    bits = {"int8": 8, "fp8": 8, "fp32": 32, "bf16": 16, "fp16": 16, "4 bits": 4}
    for problem, text in of_level("weights-by-precision", "junior"):
        parameters = numbers(r"has ([\d,]+) parameters", text)[0]
        form = re.search(rf"stored in ({'|'.join(bits)})", text)[1]
        size = parameters * bits[form] / 8
        assert problem.answer.value == pytest.approx(size, rel=1e-6), problem.id


def test_logits_are_positions_times_vocabulary():
    for problem, text in of_level("prompt-logits", "senior"):
        vocab = numbers(r"vocabulary of ([\d,]+)", text)[0]
        chunk = numbers(r"sends ([\d,]+) tokens", text)[0]
        assert problem.answer.value == 6 * chunk * vocab, problem.id


def test_a_gpus_cache_is_that_of_its_heads():
    for problem, text in of_level("cache-under-tensor-parallel", "senior"):
        ranks = numbers(r"parallelism over (\d+)", text)[0]
        count, length = numbers(r"([\d,]+) requests of ([\d,]+) tokens", text)
        if "latent" in text:
            share = 1
        else:
            heads = numbers(r"(\d+) key-value head", text)[0]
            share = max(heads // ranks, 1) / heads
        assert problem.answer.value == count * length * a_token(text) * share, problem.id


def test_half_a_byte_a_weight_and_a_cache_in_16_bits():
    for problem, text in of_level("quantised-cache", "mid"):
        parameters = numbers(r"\(([\d,]+) parameters\)", text)[0]
        count, length = numbers(r"([\d,]+) requests of ([\d,]+) tokens", text)
        size = parameters / 2 + count * length * 2 * elements(text)
        assert problem.answer.value == pytest.approx(size, rel=1e-6), problem.id
