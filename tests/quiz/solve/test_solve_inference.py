"""`memquiz solve` of a model that is served, and what the commands of training say to one."""

import json
import re

import pytest
from click.testing import CliRunner

from quiz.cli import memquiz as cli
from quiz.exits import Exit

SERVED = ("--mode", "inference", "--model", "llama-3-8b", "--gpu", "h100-80gb")
MANY = (*SERVED, "--sequence", 8192, "--micro-batch", 32)


def typed(command, *arguments):
    result = CliRunner().invoke(cli, [command, *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def words(*arguments):
    return " ".join(typed("solve", *arguments).stdout.split())


def solved(*arguments):
    return json.loads(typed("solve", *arguments, "--json").stdout)


def test_weights_and_cache_stand_on_the_page_in_gib():
    """14.96 and 32.00 GiB: another tracer's figure for 32 sequences of 8,192 tokens."""
    page = words(*MANY)
    assert re.search(r"weights weights 16\.061 14\.958", page)
    assert re.search(r"KV cache kv cache 34\.360 32\.000", page)
    assert "inference, bf16 weights, bf16 cache · 32 x 8,192 tokens · 1 x H100" in page


def test_the_page_says_how_much_more_there_is_room_for():
    page = words(*MANY, "--utilization", 0.9)
    assert re.search(r"share 76\.97 GB = 71\.68 GiB of it may be taken", page)
    assert re.search(r"cache .* beside all else: [\d,]+ tokens of 131,072 bytes", page)
    assert re.search(r"room 55 sequences of 8,192 tokens at once", page)
    assert "8,192 tokens, the model's longest, of 32 sequences at once" in page


def test_a_sequence_beyond_the_models_longest_is_solved_and_named():
    page = words(*SERVED, "--sequence", 16384)
    assert "1 x 16,384 tokens · the model takes 8,192 tokens at most · 1 x H100" in page
    assert "the model's longest, of 1 sequence at once; 16,384 are asked for fits yes" in page


def test_the_object_has_the_models_longest_sequence_beside_that_which_fits():
    found = solved(*SERVED, "--sequence", 16384)["room"]
    assert (found["longest_sequence"], found["model_longest_sequence"]) == (8192, 8192)


@pytest.mark.parametrize(("sequence", "said"), [(8192, False), (8193, True)])
@pytest.mark.parametrize("command", ["solve", "levers"])
def test_training_beyond_the_models_longest_is_named_too(command, sequence, said):
    run = ("--model", "llama-3-8b", "--gpu", "h100-80gb", "--sequence", sequence)
    page = " ".join(typed(command, *run).stdout.split())
    assert ("the model takes 8,192 tokens at most" in page) is said


WINDOWED = ("--mode", "inference", "--model", "gemma-2-9b", "--gpu", "a100-80gb")


def test_the_page_says_at_which_size_tokens_and_sequences_are_counted():
    page = words(*WINDOWED, "--sequence", 8192, "--micro-batch", 4)
    assert "191,552 tokens of 344,064 bytes, while no window is full" in page
    assert (
        "31 sequences of 8,192 tokens at once, of 2.11 GB each: 21 layers with a window keep "
        "4,096 of the tokens"
    ) in page


@pytest.mark.parametrize(
    "more", [("--sequence", 4096), ("--sequence", 8192, "--kv-windows", "whole")], ids=str
)
def test_a_sequence_that_no_window_cuts_has_no_word_of_windows(more):
    page = words(*WINDOWED, *more)
    assert f"of {int(more[1]):,} tokens at once length" in page


A100 = ("--mode", "inference", "--model", "llama-3-8b", "--gpu", "a100-40gb")
# What leaves no cache: the weights take 16.06 GB, 0.374 of the card; passes and context 1.5 more.
FULL = [
    (
        (*A100, "--sequence", 8192, "--utilization", 0.1),
        "none: the weights alone, 16.06 GB = 14.96 GiB, are more than the share",
    ),
    (
        (*A100, "--sequence", 8192, "--utilization", 0.38),
        "at the upper estimate, fill the share",
    ),
    (
        ("--mode", "inference", "--model", "llama-3-70b", "--gpu", "h100-80gb", "--sequence", 64),
        "none: the weights alone, 141.11 GB = 131.42 GiB, are more than the card",
    ),
    (
        (*A100, "--sequence", 120000, "--implementation", "hf"),
        "none: beside weights and all else the card has no room for one sequence",
    ),
]


@pytest.mark.parametrize(("arguments", "said"), FULL, ids=[said for _, said in FULL])
def test_a_card_without_a_cache_says_what_takes_it(arguments, said):
    page = words(*arguments)
    assert said in page
    assert "cache 0 B" not in page


def test_no_length_at_all_is_not_called_the_models_longest():
    shape = ("--layers", 80, "--hidden", 8192, "--heads", 64, "--ffn", 28672, "--vocab", 32000)
    page = words("--mode", "inference", *shape, "--gpu", "t4", "--sequence", 64)
    assert "length 0 tokens, of 1 sequence at once" in page


def test_the_object_has_the_room_too():
    found = solved(*MANY, "--utilization", 0.9)
    assert found["room"]["sequences"] == 55
    assert found["room"]["bytes_per_token"] == 2 * 32 * 8 * 128 * 2
    assert found["room"]["bytes_per_sequence"] == 8192 * found["room"]["bytes_per_token"]
    assert found["room"]["pool_tokens"] % 16 == 0
    assert [phase["name"] for phase in found["phases"]] == ["prefill", "decode"]
    assert found["scenario"]["serving"]["utilization"] == 0.9


def test_an_object_of_training_has_no_room_and_no_serving_table():
    found = solved("--model", "gpt2", "--gpu", "t4", "--sequence", 64)
    assert "room" not in found
    assert "serving" not in found["scenario"]


def test_the_exit_code_says_whether_it_fits():
    counts = (400, 490, 495, 500, 505, 600)
    codes = [
        typed("solve", *SERVED, "--sequence", 1024, "--micro-batch", count).exit_code
        for count in counts
    ]
    assert codes == sorted(codes, key=[Exit.DONE, Exit.TIGHT, Exit.NO].index)
    assert set(codes) == {Exit.DONE, Exit.TIGHT, Exit.NO}


def test_blocks_that_are_free_are_to_spare():
    page = words(*MANY, "--utilization", 0.9)
    assert re.search(r"fits yes: 24\.88 GB = 23\.17 GiB to spare", page)


def test_formulas_explain_every_symbol():
    page = typed("solve", *MANY, "--formula").stdout
    found = solved(*MANY)
    symbols = set(re.findall(r"\b[A-Za-z_]+\b", " ".join(x["formula"] for x in found["ledger"])))
    for symbol in symbols - {"Max", "Min", "ceil_div"}:
        assert re.search(rf"^{symbol} = [\d,]+: \w", page, re.MULTILINE), symbol


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("levers", "workload.mode: inference has no levers; change the scenario"),
        ("verify", "workload.mode: inference has no run to compare with; memquiz solve"),
    ],
)
def test_what_knows_training_alone_says_so_and_what_to_do(command, said):
    result = typed(command, *MANY)
    assert result.exit_code == Exit.BAD_INPUT
    assert said in result.stderr


def test_a_share_that_is_none_is_refused_with_what_to_give():
    result = typed("solve", *MANY, "--utilization", 90)
    assert "serving.utilization: 90.0 is not a share of the card; give 0.9" in result.stderr
