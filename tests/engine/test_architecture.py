"""What an architecture counts, and what it refuses at birth."""

import pytest

from engine.architecture import Architecture, Experts, LatentAttention
from engine.errors import InputError

SMALL = {"layers": 3, "hidden": 8, "heads": 2, "ffn": 10, "vocab": 7}
GPT = {
    "gated": False,
    "activation": "gelu-tanh",
    "norm": "layernorm",
    "tied": True,
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
}
EXPERTS = Experts(routed=5, per_token=2, ffn=4, shared_ffn=6, dense_layers=1)
LATENT = LatentAttention(
    query_rank=5, kv_rank=3, nope_head_dim=4, rope_head_dim=2, value_head_dim=6
)


def faults_of(**changes):
    with pytest.raises(InputError) as caught:
        Architecture(**SMALL | changes)
    return [str(fault) for fault in caught.value.faults]


PUBLISHED = [
    # what, shape, parameters, where the number is printed
    (
        "GPT-2",
        GPT
        | {"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": 50257}
        | {"positions": 1024},
        124_439_808,
        "openai/gpt-2: 124M",
    ),
    (
        "GPT-2 XL",
        GPT
        | {"layers": 48, "hidden": 1600, "heads": 25, "ffn": 6400, "vocab": 50257}
        | {"positions": 1024},
        1_557_611_200,
        "openai/gpt-2: 1558M",
    ),
    (
        "Llama 7B",
        {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 11008, "vocab": 32000},
        6_738_415_616,
        "arXiv 2302.13971 table 2: 6.7B",
    ),
    (
        "Llama 2 70B",
        {"layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672, "vocab": 32000},
        68_976_648_192,
        "arXiv 2307.09288: 70B",
    ),
    (
        "Llama 3.1 405B",
        {"layers": 126, "hidden": 16384, "heads": 128, "kv_heads": 8, "ffn": 53248}
        | {"vocab": 128256},
        405_853_388_800,
        "arXiv 2407.21783 table 3: 405B",
    ),
    (
        "Mixtral 8x7B",
        {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 32000}
        | {"experts": Experts(routed=8, per_token=2, ffn=14336)},
        46_702_792_704,
        "arXiv 2401.04088: 47B, 13B active",
    ),
    (
        "Gemma 7B",
        {"layers": 28, "hidden": 3072, "heads": 16, "head_dim": 256, "ffn": 24576}
        | {"vocab": 256000, "tied": True},
        8_537_680_896,
        "arXiv 2403.08295 table 2: 8,538,074,112 with 256,128 rows in the embedding",
    ),
    (
        "Pythia 6.9B",
        GPT
        | {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 16384, "vocab": 50432}
        | {"tied": False},
        6_857_302_016,
        "arXiv 2304.01373 table 1: 6,857,302,016",
    ),
    (
        "Pythia 160M",
        GPT
        | {"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": 50304}
        | {"tied": False},
        162_322_944,
        "arXiv 2304.01373 table 1: 162,322,944",
    ),
]


@pytest.mark.parametrize(
    ("shape", "published"), [row[1:3] for row in PUBLISHED], ids=[row[0] for row in PUBLISHED]
)
def test_the_count_is_the_published_one(shape, published):
    assert Architecture(**shape).parameters == published


def test_mixtral_sends_a_token_through_13b_parameters():
    # arXiv 2401.04088 section 1
    mixtral = next(shape for name, shape, *_ in PUBLISHED if name == "Mixtral 8x7B")
    assert Architecture(**mixtral).active_parameters == 12_879_925_248


EMBEDDING = 7 * 8
HEAD = 7 * 8
ATTENTION = 4 * 8 * 8
MLP = 3 * 8 * 10
PLAIN = EMBEDDING + HEAD + 3 * (ATTENTION + MLP + 2 * 8) + 8

COUNTED = [
    # switches, what they add to the plain block of 3 layers, h = 8, f = 10, V = 7
    ({}, 0),
    ({"tied": True}, -HEAD),
    ({"positions": 11}, 11 * 8),
    ({"gated": False}, -3 * 80),
    ({"norm": "layernorm"}, 7 * 8),
    ({"norm": "layernorm-no-weight"}, -7 * 8),
    ({"norm_outputs": True}, 6 * 8),
    ({"norm_inputs": False}, -6 * 8),
    ({"shared_norm": True}, -3 * 8),
    ({"qk_norm": "head"}, 3 * 2 * 4),
    ({"qk_norm": "full"}, 3 * 2 * 8),
    ({"qk_norm": "full", "kv_heads": 1}, 3 * (8 + 4) - 3 * 2 * 4 * 8),
    ({"qk_norm": "head", "norm": "layernorm"}, 7 * 8 + 3 * 4 * 4),
    ({"kv_heads": 1}, -3 * 2 * 4 * 8),
    ({"head_dim": 6}, 3 * 4 * 4 * 8),
    ({"qkv_bias": True}, 3 * 3 * 8),
    ({"output_bias": True}, 3 * 8),
    ({"mlp_bias": True}, 3 * (10 + 10 + 8)),
    ({"mlp_bias": True, "gated": False}, 3 * (10 + 8) - 3 * 80),
    ({"head_bias": True}, 7),
    ({"head_bias": True, "tied": True}, 7 - HEAD),
    ({"parallel_residual": True, "soft_cap": True, "window": 4, "dropout": 0.1}, 0),
    ({"experts": EXPERTS}, 2 * (5 * 8 + 3 * 8 * 6 + 5 * 3 * 8 * 4 - MLP)),
    (
        {"experts": EXPERTS, "mlp_bias": True},
        2 * (5 * 8 + 3 * 8 * 6 + 5 * 3 * 8 * 4 - MLP) + 28 + 2 * (6 + 6 + 8),
    ),
    (
        {"latent": LATENT},
        3 * (5 * 8 + 5 + 2 * 6 * 5 + 5 * 8 + 3 + 2 * 10 * 3 + 8 * 2 * 6 - ATTENTION),
    ),
]


@pytest.mark.parametrize(("switches", "added"), COUNTED)
def test_a_switch_adds_what_it_says(switches, added):
    assert Architecture(**SMALL | switches).parameters == PLAIN + added


def test_a_router_bias_has_one_element_for_each_expert_and_layer():
    plain = Architecture(**SMALL, experts=EXPERTS)
    biased = Experts(routed=5, per_token=2, ffn=4, shared_ffn=6, dense_layers=1, router_bias=True)
    assert Architecture(**SMALL, experts=biased).parameters == plain.parameters + 2 * 5


def test_queries_without_a_rank_have_one_matrix():
    full = LatentAttention(
        query_rank=0, kv_rank=3, nope_head_dim=4, rope_head_dim=2, value_head_dim=6
    )
    low = Architecture(**SMALL, latent=LATENT).parameters
    assert Architecture(**SMALL, latent=full).parameters == low + 3 * (12 * 8 - 40 - 5 - 60)


def test_every_expert_that_a_token_misses_is_idle():
    a = Architecture(**SMALL, experts=EXPERTS)
    assert a.parameters - a.active_parameters == 2 * 3 * (3 * 8 * 4)


def test_a_dense_model_is_wholly_active():
    a = Architecture(**SMALL)
    assert a.active_parameters == a.parameters


def test_heads_that_are_not_given_follow_from_the_others():
    a = Architecture(**SMALL)
    assert (a.kv_heads, a.head_dim) == (2, 4)


def test_no_tensor_is_empty():
    a = Architecture(**SMALL, experts=Experts(routed=2, per_token=1, ffn=4, dense_layers=3))
    assert all(tensor.size * tensor.copies for tensor in a.tensors)


REFUSED = [
    ({"layers": 0}, "model.layers: 0 is less than 1"),
    ({"layers": 1.0}, "model.layers: 1.0 is not a whole number"),
    ({"hidden": True, "head_dim": 4}, "model.hidden: True is not a whole number"),
    ({"vocab": 10**10}, "model.vocab: 10,000,000,000 is more than 1,000,000,000"),
    ({"heads": 3}, "model.heads: 3 heads do not divide hidden = 8"),
    ({"heads": 4, "kv_heads": 3}, "model.kv_heads: 3 key-value heads do not divide 4 heads"),
    ({"tied": "no"}, "model.tied: 'no' is not true or false"),
    ({"norm": "rms"}, "model.norm: 'rms' is not known"),
    ({"dropout": 1.0}, "model.dropout: 1.0 is not in [0, 1)"),
    ({"dropout": "0.1"}, "model.dropout: '0.1' is not in [0, 1)"),
    ({"window_layers": 4}, "model.window_layers: 4 is more than the 3 layers"),
    (
        {"experts": Experts(routed=2, per_token=3, ffn=4)},
        "model.experts.per_token: 3 is more than the 2 experts",
    ),
    (
        {"experts": Experts(routed=2, per_token=1, ffn=4, dense_layers=4)},
        "model.experts.dense_layers: 4 is more than the 3 layers",
    ),
    (
        {"experts": Experts(routed=2, per_token=1, ffn=0)},
        "model.experts.ffn: 0 is less than 1",
    ),
    (
        {
            "latent": LatentAttention(
                query_rank=-1, kv_rank=3, nope_head_dim=4, rope_head_dim=2, value_head_dim=6
            )
        },
        "model.latent.query_rank: -1 is less than 0",
    ),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_size_that_cannot_be_is_the_one_fault_and_named(changes, said):
    (fault,) = faults_of(**changes)
    assert fault.startswith(said)


def test_all_faults_are_reported_at_once():
    assert len(faults_of(layers=-1, vocab="many", norm="none", dropout=2)) == 4
