"""The classes of Hugging Face Transformers: what the `hf` software stack runs."""

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
from engine.families.registry import family_of
from engine.scenario import Scenario
from engine.verify.kernels import flash_attention

FUSED_ATTENTION = "memquiz_fused_attention"  # a name with "flash" would be looked for elsewhere


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
    """Return the configuration of the class that has the scenario's blocks.

    Raises:
        InputError: no class of Transformers has them.
    """
    a, rate = scenario.architecture, scenario.recipe.dropout
    family = family_of(a)
    if family is None or family.written is None:
        raise InputError(Fault("model", "no class of Transformers has these blocks"))
    config: PreTrainedConfig = CONFIG_MAPPING[family.model_type](**family.written(a, rate))
    eager = scenario.recipe.attention == "eager"
    config._attn_implementation = "eager" if eager else FUSED_ATTENTION  # noqa: SLF001 - its documented name
    return config
