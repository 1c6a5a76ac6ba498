"""What is of a part of an answer is a thought, and what corrects it is another answer."""

import pytest

# GPT-2, 12 layers, on one card of 34.19 GB: 19.96 GB of activations, a peak of 42.00 GB.
EARLIER = {"states": "1.99 GB", "activations": "19.9 GB", "logits": "19.8 GB", "peak": "42 GB"}


@pytest.mark.parametrize(
    "line",
    [
        "1.66 GB a layer",
        "that's 1.66 GB per layer",
        "so per layer that's 1.66 GB",
        "1.66 GB/layer",
        "1.66 each",
        "one layer makes 1.66 GB",
        "a layer: 1.66 GB",
        "66h per token",
        "51 KB per token",
        "34 GB card",
        "the mlp alone is 9.7 GB",
        "the card has 34 GB",
        "mlp = 9.7 GB",
        "if eager, 60 GB",
        "+ 0.5 GB",
        "0.5 GB more",
    ],
)
def test_a_part_does_not_replace_the_answer_that_stands(read_as, line):
    assert read_as(line, "activations", "19.9 GB") is None


@pytest.mark.parametrize(
    "line",
    ["actually 21 GB", "no, 21 GB", "sorry, 21", "wait, 21 GB", "make that 21 GB", "21",
     "1.75 GB per layer so 21", "12 layers of 1.75 GB = 21 GB", "plus 1.1 so actually 21 GB"],
)  # fmt: skip
def test_a_correction_replaces_it(read_as, line):
    assert read_as(line, "activations", "19.9 GB").startswith("21 GB")


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("12*1.66 GB per layer", "19.92 GB"),
        ("1.66 GB per layer x 12 = 20 GB", "19.92 GB"),
        ("roughly 1.7 per layer so 20 for all", "20 GB"),
        ("1.66 GB per layer, 20 GB in all", "20 GB"),
        ("per layer 1.66 GB, all 12 layers 20 GB", "20 GB"),
        ("1.66 GB/layer -> 20 GB", "20 GB"),
        ("attention 9 GB, mlp 11 GB, together 20 GB", "20 GB"),
    ],
)
def test_a_part_that_is_taken_as_often_as_there_are_is_the_whole(read_as, line, number):
    assert read_as(line, "activations").startswith(number)


@pytest.mark.parametrize(
    "line",
    ["20 GB activations", "12 GB of activations", "logits: 13 GB", "logits = 13 GB",
     "the logits, 13 GB", "16-bit weights"],
)  # fmt: skip
def test_a_term_of_the_peak_is_not_the_peak(read_as, line):
    assert read_as(line, "peak", **EARLIER | {"peak": ""}) is None


def test_what_a_question_asks_for_is_no_part_of_it(read_as):
    assert read_as("logits: 20 GB", "logits").startswith("20 GB")
    assert read_as("20 GB activations", "activations").startswith("20 GB")
    assert read_as("the moments, 1 GB", "second-step").startswith("1 GB")
    assert read_as("2 GB each", "states-on-8").startswith("2 GB")


@pytest.mark.parametrize(
    "line",
    ["4 bytes for weights", "4 bytes each", "2 bytes, 4 for the master",
     "4 weights, 4 grads, 8 moments"],
)  # fmt: skip
def test_the_bytes_of_one_tensor_are_not_those_of_a_parameter(read_as, line):
    assert read_as(line, "bytes-per-parameter") is None


@pytest.mark.parametrize("line", ["66h", "34*a*s", "2*a*s = 24576", "b*s = 32768", "128k",
                                  "softmax probs 2*a*s=128k"])  # fmt: skip
def test_a_product_is_not_read_in_a_unit_that_it_cannot_have(read_as, line):
    assert read_as(line, "activations") is None


@pytest.mark.parametrize("line", ["here b = 32", "again 12 bytes", "it's all fp32 so 4 bytes",
                                  "768 * 4 = 3072", "b*s = 32k tokens"])  # fmt: skip
def test_a_size_of_the_model_and_the_bytes_of_an_element_are_no_answer(read_as, line):
    assert read_as(line, "activations") is None


def test_the_value_of_a_symbol_is_no_answer(read_as):
    assert read_as("P = 124M", "states") is None
    assert read_as("P = 124M, 16 bytes", "states") is None
    assert read_as("with P = 124M, so 2 GB", "states").startswith("2 GB")


def test_of_a_very_long_line_the_end_is_read(read_as):
    assert read_as("so " * 2000 + "20 GB", "activations").startswith("20 GB")


def test_thousands_in_a_product_of_figures_are_thousands_though_k_is_a_symbol(read_as):
    assert read_as("32k*66*768*12", "activations").startswith("19.46 GB")
    assert read_as("so 66h. 66*768*32*1024*12", "activations").startswith("19.93 GB")
