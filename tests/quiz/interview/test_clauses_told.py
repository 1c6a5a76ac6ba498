"""A number is read in one clause of a line where the others have none that it could be."""

import pytest

EARLIER = {"states": "1.99 GB", "activations": "19.9 GB", "logits": "19.8 GB", "peak": "42 GB"}
ROWS = {
    "states-on-8": {
        "same as before, ddp replicates everything so still 1.99": "1.99 GB",
        "still 1.99": "1.99 GB",
        "stays 1.99": "1.99 GB",
        "same, 2GB": "2 GB",
        "1.99 as before": "1.99 GB",
        "no change: 1.99 GB": "1.99 GB",
        "same 1.99 on each": "1.99 GB",
        "same number, nothing is sharded in ddp": "1.99 GB",
        "unchanged": "1.99 GB",
        "DDP so same": "1.99 GB",
    },
    "bytes-per-parameter": {
        "4 w + 4 g + 8 adam = 16": "16 bytes",
        "w 4, g 4, m 4, v 4: 16": "16 bytes",
        "usually 16-18, here 16": "16 bytes",
        "16 not 18": "16 bytes",
        "16 bytes (4 w, 4 g, 8 adam)": "16 bytes",
        "16 bytes: 4 w, 4 g, 8 adam": "16 bytes",
        "16, that is 4+4+8": "16 bytes",
        "weights 4 + grads 4 + adam 8": "16 bytes",
    },
    "activations": {
        "20 GB, no scores because flash": "20 GB",
        "20 GB (no scores, 66h per token)": "20 GB",
        "20 GB w/o logits": "20 GB",
        "logits not included: 20 GB": "20 GB",
        "18, no 20 GB": "20 GB",
        "18 GB, sorry 20 GB": "20 GB",
        "12 layers at 1.66 GB = 19.9 GB": "19.9 GB",
    },
    "activations-twice": {
        "2x so 39.8": "39.8 GB",
        "double, 2*19.9=39.8": "39.8 GB",
        "twice that: 39.8": "39.8 GB",
        "twice as much, 39.8 GB": "39.8 GB",
        "it doubles to 39.8": "39.8 GB",
        "doubles: 40": "40 GB",
        "x2 -> 39.8": "39.8 GB",
        "2x, 39.8": "39.8 GB",
        "2x = 39.8": "39.8 GB",
        "39.8, linear in b": "39.8 GB",
        "20 -> 40": "40 GB",
        "40 not 20": "40 GB",
        "40, was 20": "40 GB",
        "another 20 on top, 40": "40 GB",
        "from 20 to 40": "40 GB",
        "goes from 20 GB to 40 GB": "40 GB",
        "from 30 to 50": "30 to 50 GB",
        "scores go 64x, rest 8x: 184.7 GB": "184.7 GB",
        "linear part doubles and the probs go 4x: 2*94.5 + 4*68.7 = 464": "463.8 GB",
    },
    "activations-at-512": {
        "half of that, 10": "10 GB",
        "linear in b so half => 10": "10 GB",
        "half of 20": "10 GB",
    },
    "logits": {
        "16k tok * 128k vocab * 12 B = 25 GB, logprobs and two grads in fp32": "25 GB",
    },
    "peak": {
        "2 states + 20 acts + 20 logits = 42": "42 GB",
        "states 2, acts 20, logits 20 -> 42": "42 GB",
        "sum = 41.7": "41.7 GB",
        "41.7 + small stuff = 42": "42 GB",
        "~42 GB at the loss bwd": "about 42 GB",
        "41.7GB, at the loss's backward": "41.7 GB",
        "at the loss, when the activations are all still there and logits + grad are made. "
        "2 + 19.9 + 13.2 = 35.1": "35.1 GB",
        "42 > 34": "42 GB",
        "states 2 + activations 20 + logits 20": "42 GB",
    },
    "prediction": {
        "by 18.7 GB": "18.7 GB",
        "drops by about 18.7 GB": "about 18.7 GB",
        "saving is 18.7": "18.7 GB",
        "it would lower it by 18.7 GB": "18.7 GB",
        "18.7 gb saved": "18.7 GB",
        "I expect roughly 18 to 19 GB": "about 18 to 19 GB",
        "from 42 to 23": "19 GB",
        "it goes from 42 GB to 23 GB": "19 GB",
        "42 -> 23": "19 GB",
        "42 GB to 23 GB": "19 GB",
        "19 GB of 42": "19 GB",
        "nothing": "0 bytes",
        "from 42 to 23, so 19 GB less": "19 GB",
        "from 18 to 20 GB": "18 to 20 GB",
        "i dont know, 20?": "20 GB",
        "keeps 1.2 GB, saves 18.7 GB": "18.7 GB",
        "we'd keep only the layer inputs, 12*4*768*32k = 1.2, so we save 19.9-1.2 = 18.7": "18.7",
    },
}


def earlier(key):
    """Answers to what is asked before."""
    return {name: said for name, said in EARLIER.items() if name != key}


@pytest.mark.parametrize(
    ("key", "line", "number"),
    [(key, line, number) for key, lines in ROWS.items() for line, number in lines.items()],
)
def test_the_answer_is_read_beside_what_is_said_with_it(read_as, key, line, number):
    assert (
        read_as(line, key, **earlier(key))
        .replace("about ", "")
        .startswith(number.replace("about ", ""))
    )


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("states-on-8", "same as before but what about buckets?"),
        ("activations", "18 or 20 GB"),
        ("activations", "about 10 GB for attention, 10 GB for mlp"),
        ("bytes-per-parameter", "12 bytes: 4 w, 4 g"),
        ("bytes-per-parameter", "4 GB"),
        ("activations-twice", "double"),
        ("activations-twice", "twice the line"),
        ("peak", "logits 19.8, states 2, acts 20"),
        ("peak", "42 GB allocated, 44 reserved"),
        ("prediction", "45% of the peak"),
        ("prediction", "half"),
        ("prediction", "about half the peak"),
        ("prediction", "unchanged"),
        ("prediction", "only layer inputs stay, 1.2 GB"),
        ("prediction", "goes to 23 GB"),
        ("states", "weights and grads 56 GB, optimizer 5 GB"),
    ],
)
def test_what_could_be_two_answers_or_none_is_a_thought(read_as, key, line):
    assert read_as(line, key, **earlier(key)) is None


def test_the_same_as_before_is_nothing_where_nothing_was_said_before(read_as):
    assert read_as("same number, nothing is sharded in ddp", "states-on-8") is None


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("1.99 to be precise", "1.99 GB"),
        ("acutally with 8.03, 3.01 GB", "3.01 GB"),
    ],  # codespell:ignore
)
def test_a_number_that_is_put_right_replaces_the_first(read_as, line, number):
    assert read_as(line, "states", "2 GB").startswith(number)
