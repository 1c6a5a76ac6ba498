"""The hf stack: formulas and figures known from elsewhere, traced ones, and its classes."""

import pytest
from long_rows import first

from engine.architecture import Experts
from engine.catalog import model
from engine.errors import UnmodelledError
from engine.estimate import ledger
from engine.families.registry import family_of, modelled_types
from engine.ledger import Category, Phase
from engine.symbols import E, K, L, a, b, d, f, h, k, s
from engine.units import GIB

TRANSFORMERS = "traced with PyTorch 2.13 and Transformers 5.24 by another tracer"

# GiB of the largest phase but the optimizer's step, unless the row names one.
FIGURES = [
    ("gpt2", {"precision": "fp32", "micro_batch": 8, "sequence": 1024}, None, 13.92),
    ("llama-2-7b", {"sequence": 4096}, Phase.LOSS, 112.2),
    ("llama-2-7b", {"sequence": 4096, "recompute": "full"}, Phase.BACKWARD_LAST, 100.8),
    (
        "llama-3-8b",
        {"sequence": 8192, "recompute": "full", "data": 8, "zero": 3},
        None,
        27.58,
    ),
    (
        "llama-3-70b",
        {"sequence": 8192, "recompute": "full", "data": 64, "zero": 3},
        None,
        40.07,
    ),
]


@pytest.mark.parametrize(("name", "values", "phase", "printed"), FIGURES)
def test_a_figure_traced_elsewhere_is_met(scenario, name, values, phase, printed):
    book = ledger(scenario(name, implementation="hf", **values))
    found = book.phases[phase] if phase else book.peak
    digits = len(str(printed).partition(".")[2])
    assert round((found - book.size("cuBLAS workspace")) / GIB, digits) == printed


def saved(book):
    """What layers keep, as a formula for one layer and token."""
    kept = [
        line.size
        for line in book.lines
        if line.category is Category.ACTIVATIONS and Phase.BACKWARD_FIRST in line.phases
    ]
    return (sum(kept) / (L * b * s)).expand()


def test_a_llama_layer_keeps_16h_4q_4kv_8f_4a_8_bytes_a_token(scenario):
    """Traced by another tracer, Transformers 5.24, SDPA, 16-bit compute."""
    book = ledger(scenario(implementation="hf", shape={"kv_heads": 2}))
    q, kv = a * d, k * d
    assert (saved(book) - (16 * h + 4 * q + 4 * kv + 8 * f + 4 * a + 8)).expand() == 0


def test_an_eager_llama_layer_keeps_6as_for_each_token(scenario):
    """16h + 8q + 6as + 8f + 8: probabilities in fp32 and in 16 bits; traced elsewhere."""
    book = ledger(scenario(implementation="hf", attention="eager", shape={"kv_heads": 2}))
    q = a * d
    assert (saved(book) - (16 * h + 8 * q + 6 * a * s + 8 * f + 8)).expand() == 0


def test_experts_keep_their_gated_mlp_and_two_hidden_rows_for_each_token_sent(scenario):
    """K(8f + 4h) in place of 8f, traced elsewhere; what routes the tokens comes on top."""
    experts = Experts(routed=4, per_token=2, ffn=704)
    with_experts = saved(ledger(scenario(implementation="hf", shape={"experts": experts})))
    without = saved(ledger(scenario(implementation="hf", shape={})))
    routing = 4 * E + 4 + 40 * K + 4 * E / (b * s)
    assert (with_experts - without - (K * (8 * f + 4 * h) - 8 * f + routing)).expand() == 0


def test_the_loss_holds_its_labels_padded_and_shifted_while_it_runs_forward(scenario):
    book = ledger(scenario(implementation="hf"))
    held = next(line for line in book.lines if line.name == "padded and shifted targets")
    assert (held.size - (8 * b * (s + 1) + 8 * b * s)).expand() == 0
    assert held.phases == (Phase.FORWARD,)


def test_each_expert_has_an_end_in_every_layer(scenario):
    book = ledger(scenario(implementation="hf", shape=MIXTRAL))
    assert book.size("ends of the experts' tokens") == 4 * 8 * 2


GPT_2 = {
    "gated": False,
    "norm": "layernorm",
    "activation": "gelu-tanh",
    "positions": 600,
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
    "tied": True,
}
NEOX = GPT_2 | {"activation": "gelu", "positions": 0, "rotary_dim": 8, "tied": False}
QWEN = {"kv_heads": 2, "qkv_bias": True, "tied": True}
MIXTRAL = {"layers": 2, "experts": Experts(routed=8, per_token=2, ffn=704)}
OLMO_2 = {"norm_inputs": False, "norm_outputs": True, "qk_norm": "full"}
GEMMA_2 = {"norm_outputs": True, "soft_cap": True, "activation": "gelu-tanh", "kv_heads": 4}
GEMMA_2 |= {"head_dim": 48, "tied": True}
WINDOWED = GEMMA_2 | {"window": 64, "window_layers": 2, "layers": 4}
# With more in a layer's forward pass than in the loss, and where a router's gradient is last.
ONE_EXPERT = {"hidden": 128, "experts": Experts(routed=4, per_token=1, ffn=1408), "vocab": 100}
SMALL_EXPERTS = {"experts": Experts(routed=8, per_token=3, ffn=512), "vocab": 100}
MANY_EXPERTS = {"experts": Experts(routed=16, per_token=2, ffn=704), "vocab": 100}

TRACED = {
    "llama": ({}, {}),
    "llama, eager": ({"kv_heads": 2}, {"precision": "fp32", "attention": "eager"}),
    "qwen": (QWEN, {"recompute": "full", "gradient_accumulation": 2}),
    "gpt-2": (GPT_2, {"precision": "autocast", "attention": "eager", "dropout": 0.1}),
    "gpt-2, recomputed": (GPT_2, {"attention": "eager", "precision": "fp32", "recompute": "full"}),
    "neox": (NEOX, {"precision": "pure-bf16", "dropout": 0.1}),
    "mixtral": (MIXTRAL, {}),
    "olmo-2": (OLMO_2, {}),
    "olmo-2, eager": (OLMO_2 | {"kv_heads": 2}, {"attention": "eager", "dropout": 0.1}),
    "olmo-2, autocast": (OLMO_2, {"precision": "autocast", "attention": "eager"}),
    "olmo-2, recomputed": (OLMO_2, {"precision": "fp32", "recompute": "full"}),
    "gemma-2": (GEMMA_2 | {"tied": False}, {"precision": "pure-bf16", "attention": "eager"}),
    "gemma-2, flash": (GEMMA_2, {"precision": "fp32", "gradient_accumulation": 2}),
    "gemma-2, autocast": (GEMMA_2, {"precision": "autocast", "attention": "eager"}),
    "gemma-2, recomputed": (GEMMA_2, {"attention": "eager", "recompute": "full"}),
    "gemma-2, two masks": (WINDOWED, {"attention": "eager", "recompute": "full"}),
    "mixtral, eager": (MIXTRAL, {"attention": "eager", "recompute": "full", "dropout": 0.1}),
    "one expert": (MIXTRAL | ONE_EXPERT, {}),
    "small experts": (MIXTRAL | SMALL_EXPERTS, {"precision": "mixed-fp32-grad"}),
    "experts, recomputed": (MIXTRAL | MANY_EXPERTS, {"recompute": "full"}),
}

KEPT = {"llama", "qwen", "gpt-2", "neox", "mixtral", "small experts", "olmo-2", "gemma-2"}


@pytest.mark.parametrize("name", first(KEPT, TRACED))
def test_the_formula_of_every_phase_is_the_traced_polynomial(scenario, name):
    pytest.importorskip("transformers")
    symbolic = pytest.importorskip("engine.verify.symbolic").symbolic
    shape, rest = TRACED[name]
    rest = {"optimizer": "sgd"} | rest
    made = scenario(
        implementation="hf", micro_batch=3, sequence=176, shape={"layers": 2} | shape, **rest
    )
    differences = {one.phase.value: one.difference for one in symbolic(made)}
    phases = ("forward", "loss", "backward-first", "backward-last", "step")
    assert differences == dict.fromkeys(phases, 0)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("llama-3-8b", "llama"),
        ("mistral-7b", "mistral"),
        ("qwen2.5-7b", "qwen2"),
        ("gpt2-xl", "gpt2"),
        ("pythia-6.9b", "gpt_neox"),
        ("mixtral-8x7b", "mixtral"),
        ("phi-2", None),
        ("gemma-2-9b", "gemma2"),
        ("olmo-2-32b", "olmo2"),
        ("deepseek-v3", None),
    ],
)
def test_a_catalogued_model_has_the_class_of_its_blocks(name, family):
    found = family_of(model(name).architecture)
    assert (found.model_type if found else None) == family


def test_a_model_without_a_class_is_refused_with_the_classes_that_there_are(scenario):
    named = "gemma2, gpt2, gpt_neox, llama, mistral, mixtral, olmo2, qwen2"
    with pytest.raises(UnmodelledError, match=named):
        scenario("phi-2", implementation="hf")
    assert len(modelled_types()) == 8


def test_transformers_has_no_selective_recomputation(scenario):
    with pytest.raises(UnmodelledError, match="selective with hf"):
        scenario(implementation="hf", recompute="selective")


@pytest.mark.parametrize(
    "name",
    [
        *("llama-3.2-1b", "qwen2.5-0.5b", "gpt2", "pythia-160m", "mixtral-8x7b"),
        *("olmo-2-7b", "gemma-2-2b"),
    ],
)
def test_the_class_has_as_many_parameters_as_the_architecture(scenario, name):
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    models = pytest.importorskip("engine.verify.models")
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    made = scenario(name, implementation="hf")
    with fake.FakeTensorMode(allow_non_fake_inputs=True):
        module = models.build(made, torch.bfloat16)
        assert sum(p.numel() for p in module.parameters()) == made.architecture.parameters
        assert len(module.layers) == made.architecture.layers
        assert {p.dtype for p in module.parameters()} == {torch.bfloat16}
