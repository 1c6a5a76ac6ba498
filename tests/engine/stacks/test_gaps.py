"""What each stack has no lines for, by the key that says it, and what it names instead."""

import pytest

from engine.architecture import Experts, LatentAttention
from engine.errors import UnmodelledError
from engine.estimate import ledger

EXPERTS = Experts(routed=4, per_token=2, ffn=128)
SHARED = Experts(routed=4, per_token=2, ffn=128, shared_ffn=64)
DENSE = Experts(routed=4, per_token=2, ffn=128, dense_layers=1)
ALL_DENSE = Experts(routed=4, per_token=2, ffn=128, dense_layers=3)
BIASED = Experts(routed=4, per_token=2, ffn=128, router_bias=True)
LATENT = LatentAttention(
    query_rank=96, kv_rank=64, nope_head_dim=32, rope_head_dim=16, value_head_dim=32
)
FUSED, HF = {"implementation": "fused"}, {"implementation": "hf"}
MEGATRON = {
    "implementation": "megatron",
    "precision": "mixed-fp32-grad",
    "optimizer": "adamw-fused",
    "loss": "fused",
}
SHARDED = {"data": 4, "zero": 3}
OF_MODULES = "1, or the megatron stack"

# A scenario, the key that is refused, and words of the refusal.
REFUSED = [
    *(
        (FUSED | {axis: 2}, f"parallel.{axis}", f"2 with fused is not modelled; {OF_MODULES}")
        for axis in ("tensor", "context")
    ),
    (FUSED | {"pipeline": 3}, "parallel.pipeline", f"3 with fused is not modelled; {OF_MODULES}"),
    (HF | {"tensor": 2}, "parallel.tensor", f"2 with hf is not modelled; {OF_MODULES}"),
    (
        FUSED | {"shape": {"experts": EXPERTS}, "data": 2, "expert": 2},
        "parallel.expert",
        OF_MODULES,
    ),
    (
        FUSED | {"tensor": 2, "sequence_parallel": True},
        "parallel.sequence_parallel",
        "true with fused is not modelled; false, or the megatron stack",
    ),
    (
        FUSED | SHARDED | {"precision": "autocast"},
        "recipe.precision",
        "autocast with ZeRO-3 is not modelled; mixed, whose FSDP2 shards are fp32",
    ),
    (
        FUSED | SHARDED | {"precision": "mixed-fp32-grad"},
        "recipe.precision",
        "mixed-fp32-grad with ZeRO-3 is not modelled; mixed, which FSDP2 reduces in fp32",
    ),
    *(
        (
            FUSED | {"shape": {"experts": EXPERTS}, "precision": name},
            "recipe.precision",
            f"{name} with experts is not modelled; mixed",
        )
        for name in ("fp32", "autocast")
    ),
    (
        FUSED | {"shape": {"experts": EXPERTS, "gated": False}},
        "model.gated",
        "false with experts is not modelled; true",
    ),
    (
        FUSED | {"shape": {"experts": BIASED}},
        "model",
        "activations of biases of routers are not modelled; parameters are exact",
    ),
    (
        FUSED | {"shape": {"experts": DENSE}, "data": 4, "zero": 2},
        "parallel.zero",
        "2 with dense layers beside experts is not modelled; 1, 3",
    ),
    (
        FUSED | {"shape": {"experts": DENSE}, "offload": "cpu"},
        "offload.optimizer",
        "cpu with dense layers beside experts is not modelled; none, or ZeRO-3",
    ),
    *(
        (HF | {"shape": {"experts": experts}}, "model", "no class of Transformers")
        for experts in (SHARED, DENSE, BIASED)
    ),
    (HF | {"shape": {"latent": LATENT}}, "model", "no class of Transformers"),
    (
        FUSED | {"shape": {"latent": LATENT, "qk_norm": "head"}},
        "model",
        "query and key norms with latent attention are not modelled",
    ),
    (
        FUSED | {"loss": "chunked", "precision": "autocast"},
        "recipe.loss",
        "chunked with autocast is not modelled; eager, fused",
    ),
    (HF | {"recompute": "selective"}, "recipe.recompute", "selective with hf is not modelled"),
    (HF | {"loss": "fused"}, "recipe.loss", "fused with hf is not modelled; eager; or the fused"),
    (
        HF | {"shape": {"gated": False, "activation": "relu"}},
        "model",
        "no class of Transformers that is modelled has these blocks",
    ),
    *(
        (
            MEGATRON | {key: other},
            f"recipe.{key}",
            f"{other} with megatron is not modelled; {MEGATRON[key]}",
        )
        for key, other in (("precision", "mixed"), ("optimizer", "adamw"), ("loss", "eager"))
    ),
    *(
        (MEGATRON | {"data": 4, "zero": zero}, "parallel.zero", f"{zero} with megatron is not")
        for zero in (2, 3)
    ),
    *(
        (MEGATRON | {"shape": shape}, "model", f"{what} are not modelled with megatron")
        for shape, what in (
            ({"parallel_residual": True}, "attention and MLP run side by side"),
            ({"qk_norm": "head"}, "query and key norms"),
            ({"rotary_dim": 16}, "rotary positions of a part of each head"),
            ({"head_bias": True}, "biases"),
            ({"soft_cap": True}, "soft-capped attention and logits"),
            ({"norm_outputs": True}, "norms behind attention and MLP"),
            ({"norm_inputs": False}, "layers without norms before attention and MLP"),
            ({"qk_norm": "full"}, "query and key norms"),
        )
    ),
    *(
        (
            MEGATRON | {"shape": {"experts": EXPERTS, bias: True}},
            "model",
            "biases beside experts or latent attention are not modelled",
        )
        for bias in ("qkv_bias", "output_bias", "mlp_bias")
    ),
    (
        MEGATRON | {"shape": {"latent": LATENT}, "context": 2},
        "parallel.context",
        "2 with latent attention is not modelled; 1",
    ),
    (
        MEGATRON | {"data": 2, "expert": 2},
        "parallel.expert",
        "the model has no experts; give expert = 1",
    ),
    (
        MEGATRON | {"shape": {"latent": LATENT}, "tensor": 2},
        "parallel.tensor",
        "2 with experts or latent attention is not modelled; 1: expert and pipeline ranks",
    ),
]


@pytest.mark.parametrize(("values", "where", "what"), REFUSED)
def test_what_a_stack_has_no_lines_for_is_refused_by_its_key(scenario, values, where, what):
    with pytest.raises(UnmodelledError) as refused:
        scenario(**values)
    said = [str(fault) for fault in refused.value.faults if fault.where == where]
    assert any(what in one.replace("modelled: ", "") for one in said), said


# The same switches where they are modelled.
MODELLED = [
    FUSED | SHARDED | {"precision": "fp32"},
    FUSED | {"shape": {"experts": EXPERTS}},
    *(FUSED | {"shape": {"experts": experts}} for experts in (SHARED, DENSE)),
    FUSED | {"shape": {"experts": SHARED}, "data": 4, "zero": 2},
    FUSED | {"shape": {"latent": LATENT, "experts": SHARED}},
    FUSED | {"shape": {"latent": LATENT}, "optimizer": "muon"},
    FUSED | {"shape": {"experts": DENSE}, "data": 4, "zero": 1},
    FUSED | {"shape": {"experts": DENSE}, "data": 4, "zero": 3, "offload": "cpu"},
    FUSED | {"shape": {"experts": ALL_DENSE}, "data": 4, "zero": 2},
    FUSED | {"loss": "chunked"},
    HF | {"recompute": "full"},
    HF | {"shape": {"experts": EXPERTS}},
    MEGATRON | {"shape": {"experts": EXPERTS}, "context": 2},
    MEGATRON | {"tensor": 2, "sequence_parallel": True, "context": 2},
    MEGATRON | {"data": 4, "zero": 1},
    MEGATRON | {"shape": {"qkv_bias": True, "gated": False, "activation": "gelu"}},
]


@pytest.mark.parametrize("number", range(len(MODELLED)))
def test_its_neighbours_are_modelled(scenario, number):
    assert ledger(scenario(**MODELLED[number])).peak > 0
