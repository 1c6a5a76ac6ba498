"""What the class of Transformers has, built without memory."""

from collections.abc import Mapping

import pytest


def counted_by_transformers(model_type: str, config: Mapping[str, object]) -> int:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    known = dict(config) | {"pad_token_id": None, "bos_token_id": None, "eos_token_id": None}
    built = transformers.AutoConfig.for_model(model_type, **known)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(built)
    return sum(parameter.numel() for parameter in model.parameters())
