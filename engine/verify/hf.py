"""The classes of Hugging Face Transformers: what the `hf` software stack runs."""

from collections.abc import Callable, Mapping
from typing import Any
from warnings import catch_warnings, simplefilter

import torch
from torch import Tensor, nn
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    AutoModelForCausalLM,
    PreTrainedConfig,
)
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

from engine.architecture import Architecture
from engine.errors import Fault, InputError
from engine.families import family_of
from engine.scenario import Scenario
from engine.verify.kernels import flash_attention

FUSED_ATTENTION = "memquiz_fused_attention"  # a name with "flash" would be looked for elsewhere
ACTIVATIONS = {"gelu-tanh": "gelu_pytorch_tanh"}


def _flash(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Tensor | None,
    *,
    dropout: float = 0.0,
    scaling: float | None = None,
    **_more: object,
) -> tuple[Tensor, None]:
    """Attend as `scaled_dot_product_attention` does on a GPU, where it takes the flash kernel."""
    del module
    if torch.is_autocast_enabled(query.device.type):
        query, key, value = (x.to(torch.bfloat16) for x in (query, key, value))
    out = flash_attention(query, key, value, dropout, is_causal=True, scale=scaling)[0]
    return out.transpose(1, 2).contiguous(), None


def _no_mask(*_arguments: object, **_more: object) -> None:
    """Build no mask: a batch without padding needs none.

    Transformers skips it as well, but not under fake tensors, where it cannot look whether the
    batch is packed.
    """


AttentionInterface.register(FUSED_ATTENTION, _flash)
AttentionMaskInterface.register(FUSED_ATTENTION, _no_mask)


class HuggingFace(nn.Module):
    """A causal language model of Transformers with its loss."""

    def __init__(self, architecture: Architecture, config: PreTrainedConfig) -> None:
        super().__init__()
        self.model: Any = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call] # Transformers leaves it untyped
        self.architecture = architecture

    @property
    def layers(self) -> nn.ModuleList:
        """The decoder layers, from the bottom to the top."""
        body = self.model.base_model
        layers: nn.ModuleList = body.h if hasattr(body, "h") else body.layers  # GPT-2's are h
        return layers

    def batch(self, micro_batch: int, sequence: int) -> tuple[Tensor, ...]:
        """Return token ids and labels (b, s)."""
        return tuple(torch.zeros(micro_batch, sequence, dtype=torch.long) for _ in range(2))

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        """Return the loss; the logits are let go, as a training loop does."""
        loss: Tensor = self.model(input_ids=tokens, labels=labels, use_cache=False).loss
        return loss


def build(scenario: Scenario, weights: torch.dtype) -> HuggingFace:
    """Return the model of `scenario` with its weights in that dtype."""
    config = config_of(scenario)
    config.dtype = weights
    logging.set_verbosity_error()  # type: ignore[no-untyped-call] # it would tell of its choice of a loss
    before = torch.get_default_dtype()
    torch.set_default_dtype(weights)
    try:
        model = HuggingFace(scenario.architecture, config)
    finally:
        torch.set_default_dtype(before)
    model.train()
    if scenario.recipe.recompute == "full":
        with catch_warnings():
            simplefilter("ignore")  # the name has another one since Transformers 5.24
            model.model.gradient_checkpointing_enable({"use_reentrant": False})
    return model


def config_of(scenario: Scenario) -> PreTrainedConfig:
    """Return the configuration of the class that has the scenario's blocks."""
    a, rate = scenario.architecture, scenario.recipe.dropout
    family = family_of(a)
    if family is None:
        raise InputError(Fault("model", "no class of Transformers has these blocks"))
    config: PreTrainedConfig = CONFIG_MAPPING[family](**FAMILIES[family](a, rate))
    eager = scenario.recipe.attention == "eager"
    config._attn_implementation = "eager" if eager else FUSED_ATTENTION  # noqa: SLF001 - its documented name
    return config


def _shape(a: Architecture) -> dict[str, Any]:
    return {
        "num_hidden_layers": a.layers,
        "hidden_size": a.hidden,
        "num_attention_heads": a.heads,
        "intermediate_size": a.ffn,
        "vocab_size": a.vocab,
        "hidden_act": ACTIVATIONS.get(a.activation, a.activation),
        "tie_word_embeddings": a.tied,
        "pad_token_id": None,
        "bos_token_id": None,
        "eos_token_id": None,
        "max_position_embeddings": 1 << 20,
    }


def _grouped(a: Architecture, rate: float) -> dict[str, Any]:
    return _shape(a) | {
        "num_key_value_heads": a.kv_heads,
        "head_dim": a.head_dim,
        "attention_dropout": rate,
    }


def _llama(a: Architecture, rate: float) -> dict[str, Any]:
    return _grouped(a, rate) | {"attention_bias": a.qkv_bias, "mlp_bias": a.mlp_bias}


def _mixtral(a: Architecture, rate: float) -> dict[str, Any]:
    if a.experts is None:
        raise ValueError("a Mixtral block has experts")
    return _grouped(a, rate) | {
        "intermediate_size": a.experts.ffn,
        "num_local_experts": a.experts.routed,
        "num_experts_per_tok": a.experts.per_token,
        "sliding_window": None,
    }


def _gpt2(a: Architecture, rate: float) -> dict[str, Any]:
    return {
        "n_layer": a.layers,
        "n_embd": a.hidden,
        "n_head": a.heads,
        "n_inner": a.ffn,
        "vocab_size": a.vocab,
        "n_positions": a.positions,
        "activation_function": "gelu_new" if a.activation == "gelu-tanh" else a.activation,
        "tie_word_embeddings": a.tied,
        "resid_pdrop": rate,
        "embd_pdrop": rate,
        "attn_pdrop": rate,
        "bos_token_id": None,
        "eos_token_id": None,
    }


def _gpt_neox(a: Architecture, rate: float) -> dict[str, Any]:
    return _shape(a) | {
        "use_parallel_residual": a.parallel_residual,
        "attention_bias": a.qkv_bias,
        "attention_dropout": rate,
        "hidden_dropout": rate,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": a.rotary_dim / a.head_dim,
        },
    }


FAMILIES: Mapping[str, Callable[[Architecture, float], dict[str, Any]]] = {
    "llama": _llama,
    "mistral": lambda a, rate: _grouped(a, rate) | {"sliding_window": None},
    "qwen2": _grouped,
    "mixtral": _mixtral,
    "gpt2": _gpt2,
    "gpt_neox": _gpt_neox,
}
