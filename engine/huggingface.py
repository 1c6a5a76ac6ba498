"""A Hugging Face config.json read as an `Architecture`: one small function for each model_type.

Defaults are those of the Transformers 5.24 configuration classes. Nothing is ever downloaded.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from engine.architecture import Architecture, Experts, LatentAttention
from engine.config_shape import (
    ACTIVATIONS,
    at_most,
    divides,
    rotary_of,
    shape_of,
    window_everywhere,
    window_of_late_layers,
    windows_of,
)
from engine.errors import Fault, InputError, unknown
from engine.fields import Fields, json_object, show

OTHER_HEADS = ("Classification", "QuestionAnswering", "DoubleHeads", "ConditionalGeneration")


def read_config(path: Path) -> tuple[Architecture, str]:
    """Read the architecture from a config.json, and the `model_type` of its class.

    Raises:
        InputError: the file cannot be read or is not a JSON object of at most 1 MiB, or
            `architecture_of` refuses it.
    """
    config = json_object(path)
    return architecture_of(config), str(config["model_type"])


def architecture_of(config: Mapping[str, object], *, where: str = "config") -> Architecture:
    """Return the causal language model that `config` describes.

    Dropout is the largest of the configuration's rates: an architecture has one.

    Args:
        config: the parsed config.json.
        where: what faults call it, as in `config.num_hidden_layers`.

    Raises:
        InputError: listing every field that is missing, of the wrong form or not representable.
    """
    name = config.get("model_type")
    if not isinstance(name, str):
        what = "is missing" if "model_type" not in config else f"{show(name)} is not a name"
        raise InputError(Fault(f"{where}.model_type", what, f"known: {', '.join(FAMILIES)}"))
    if name not in FAMILIES:
        raise InputError(unknown(f"{where}.model_type", name[:40], tuple(FAMILIES)))
    reader = Fields(config, where)
    _refuse_other_models(reader)
    try:
        architecture = FAMILIES[name](reader)
    except InputError as error:
        # Where a field was unreadable, a stand-in took its place: its disagreements mean nothing.
        raise InputError(*(reader.faults or error.faults)) from None
    if reader.faults:
        raise InputError(*reader.faults)
    return architecture


Family = Callable[[Fields], Architecture]
FAMILIES: dict[str, Family] = {}


def _reads(model_type: str) -> Callable[[Family], Family]:
    def register(family: Family) -> Family:
        FAMILIES[model_type] = family
        return family

    return register


@_reads("llama")
def _llama(c: Fields) -> Architecture:
    bias = c.switch("attention_bias")
    return Architecture(
        **shape_of(c), qkv_bias=bias, output_bias=bias, mlp_bias=c.switch("mlp_bias")
    )


@_reads("mistral")
def _mistral(c: Fields) -> Architecture:
    return Architecture(**shape_of(c, kv_heads=8), **window_everywhere(c, default=4096))


@_reads("mixtral")
def _mixtral(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=8)
    experts = Experts(
        routed=c.size("num_local_experts", "num_experts", default=8),
        per_token=c.size("num_experts_per_tok", default=2),
        ffn=shape["ffn"],
    )
    at_most(c, "num_experts_per_tok", experts.per_token, "num_local_experts", experts.routed)
    return Architecture(**shape, **window_everywhere(c), experts=experts)


@_reads("qwen2")
def _qwen2(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=32)
    windows = window_of_late_layers(c, shape["layers"])
    return Architecture(**shape, **windows, qkv_bias=True)


@_reads("qwen3")
def _qwen3(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=32, head_dim=128)
    bias = c.switch("attention_bias")
    return Architecture(
        **shape,
        **window_of_late_layers(c, shape["layers"]),
        qk_norm="head",
        qkv_bias=bias,
        output_bias=bias,
    )


@_reads("gemma")
def _gemma(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=16, head_dim=256, activation="gelu_pytorch_tanh", tied=True)
    if c.value("hidden_act") == "gelu":
        # The class reads its own early releases' "gelu" as the tanh form.
        shape["activation"] = "gelu-tanh"
    bias = c.switch("attention_bias")
    return Architecture(**shape, qkv_bias=bias, output_bias=bias)


@_reads("gemma2")
def _gemma2(c: Fields) -> Architecture:
    shape = shape_of(c, kv_heads=4, head_dim=256, tied=True)
    shape["activation"] = c.choice("hidden_activation", ACTIVATIONS, default="gelu_pytorch_tanh")
    window = c.size("sliding_window", default=4096, null=0, least=0)
    windows = windows_of(c, window, shape["layers"], (shape["layers"] + 1) // 2)
    caps = ("attn_logit_softcapping", "final_logit_softcapping")
    bias = c.switch("attention_bias")
    return Architecture(
        **shape,
        **windows,
        norm_outputs=True,
        soft_cap=any(c.value(cap, 1.0) is not None for cap in caps),
        qkv_bias=bias,
        output_bias=bias,
    )


@_reads("phi3")
def _phi3(c: Fields) -> Architecture:
    return Architecture(**shape_of(c), **window_everywhere(c))


@_reads("phi")
def _phi(c: Fields) -> Architecture:
    shape = shape_of(c, activation="gelu_new")
    normed = c.switch("qk_layernorm")
    if normed and shape["head_dim"]:
        c.fault("qk_layernorm", "is not representable beside a head_dim", "leave one of them out")
    return Architecture(
        **shape,
        gated=False,
        norm="layernorm",
        parallel_residual=True,
        shared_norm=True,
        rotary_dim=rotary_of(c, shape["hidden"] // shape["heads"], default=0.5),
        qk_norm="head" if normed else "none",
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        head_bias=True,
    )


@_reads("gpt2")
def _gpt2(c: Fields) -> Architecture:
    hidden = c.size("n_embd", "hidden_size")
    heads = c.size("n_head", "num_attention_heads")
    divides(c, "n_head", heads, "n_embd", hidden)
    return Architecture(
        layers=c.size("n_layer", "num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        ffn=c.size("n_inner", default=4 * hidden, null=4 * hidden),
        vocab=c.size("vocab_size"),
        positions=c.size("n_positions", "max_position_embeddings", default=1024),
        gated=False,
        activation=c.choice("activation_function", ACTIVATIONS, default="gelu_new"),
        norm="layernorm",
        tied=c.switch("tie_word_embeddings", default=True),
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        dropout=max(c.rate(f"{part}_pdrop", default=0.1) for part in ("resid", "embd", "attn")),
    )


@_reads("gpt_neox")
def _gpt_neox(c: Fields) -> Architecture:
    shape = shape_of(c, activation="gelu")
    heads = shape["heads"]
    divides(c, "num_attention_heads", heads, "hidden_size", shape["hidden"])
    # The class has one fused projection of 3h: no other head size, no grouped keys and values.
    shape["kv_heads"], shape["head_dim"] = heads, 0
    bias = c.switch("attention_bias", default=True)
    return Architecture(
        **shape,
        gated=False,
        norm="layernorm",
        parallel_residual=c.switch("use_parallel_residual", default=True),
        rotary_dim=rotary_of(c, shape["hidden"] // heads, default=0.25),
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=True,
    )


@_reads("olmo")
def _olmo(c: Fields) -> Architecture:
    bias = c.switch("attention_bias")
    return Architecture(**shape_of(c), norm="layernorm-no-weight", qkv_bias=bias, output_bias=bias)


@_reads("olmo2")
def _olmo2(c: Fields) -> Architecture:
    bias = c.switch("attention_bias")
    return Architecture(
        **shape_of(c),
        norm_inputs=False,
        norm_outputs=True,
        qk_norm="full",
        qkv_bias=bias,
        output_bias=bias,
    )


@_reads("deepseek_v2")
def _deepseek_v2(c: Fields) -> Architecture:
    return _deepseek(
        c,
        Experts(
            routed=c.size("n_routed_experts", "num_experts", default=64),
            per_token=c.size("num_experts_per_tok"),
            ffn=c.size("moe_intermediate_size", default=1407),
            shared_ffn=c.size("n_shared_experts", default=2, least=0),
            dense_layers=c.size("first_k_dense_replace", default=0, least=0),
        ),
        mlp_bias=c.switch("mlp_bias"),
    )


@_reads("deepseek_v3")
def _deepseek_v3(c: Fields) -> Architecture:
    return _deepseek(
        c,
        Experts(
            routed=c.size("n_routed_experts", "num_local_experts", default=256),
            per_token=c.size("num_experts_per_tok", default=8),
            ffn=c.size("moe_intermediate_size", default=2048),
            shared_ffn=c.size("n_shared_experts", default=1, least=0),
            dense_layers=c.size("first_k_dense_replace", default=3, least=0),
        ),
        mlp_bias=False,
    )


def _deepseek(c: Fields, experts: Experts, *, mlp_bias: bool) -> Architecture:
    """Multi-head latent attention with experts; the multi-token prediction module is left out."""
    nope = c.size("qk_nope_head_dim", default=128)
    rope = c.size("qk_rope_head_dim", default=64)
    shape = shape_of(c, head_dim=nope + rope)
    shape["kv_heads"], shape["head_dim"] = shape["heads"], nope + rope
    at_most(c, "num_experts_per_tok", experts.per_token, "n_routed_experts", experts.routed)
    if c.value("moe_layer_freq", 1) != 1:
        c.fault("moe_layer_freq", "other than 1 is not representable")
    bias = c.switch("attention_bias")
    return Architecture(
        **shape,
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=mlp_bias,
        experts=replace(
            experts,
            shared_ffn=experts.shared_ffn * experts.ffn,
            dense_layers=min(experts.dense_layers, shape["layers"]),
        ),
        latent=LatentAttention(
            query_rank=c.size("q_lora_rank", default=1536, null=0),
            kv_rank=c.size("kv_lora_rank", default=512),
            nope_head_dim=nope,
            rope_head_dim=rope,
            value_head_dim=c.size("v_head_dim", default=128),
        ),
    )


def _refuse_other_models(c: Fields) -> None:
    for switch in ("add_cross_attention", "is_encoder_decoder"):
        if c.switch(switch):
            c.fault(switch, "is not representable", "only decoders without it are")
    if c.value("pruned_heads"):
        c.fault("pruned_heads", "is not representable", "only whole heads are")
    classes = c.value("architectures")
    for name in classes if isinstance(classes, list) else ():
        if isinstance(name, str) and any(head in name for head in OTHER_HEADS):
            what = f"{show(name)} has another head than a language model's"
            c.fault("architectures", what, "only causal language models are counted")
