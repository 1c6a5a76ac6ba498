"""Which class of Hugging Face Transformers has the blocks of an architecture."""

from collections.abc import Callable, Mapping

from engine.architecture import Architecture

Has = Callable[[Architecture], bool]


def family_of(architecture: Architecture) -> str | None:
    """Return the `model_type` whose class has these blocks; None where no modelled one has."""
    return next((family for family, has in FAMILIES.items() if has(architecture)), None)


def _plain(a: Architecture) -> bool:
    """Say that nothing is there that none of the classes has."""
    norms = a.norm_inputs and not (a.norm_outputs or a.shared_norm)
    extras = a.qk_norm != "none" or a.soft_cap or a.latent is not None or a.head_bias
    return norms and not extras


def _llama_like(a: Architecture) -> bool:
    whole = not a.positions and a.rotary_dim == a.head_dim
    return _plain(a) and whole and a.norm == "rmsnorm" and a.gated and not a.parallel_residual


def _gpt_like(a: Architecture) -> bool:
    heads = a.kv_heads == a.heads and a.query_width == a.hidden
    plain = _plain(a) and a.experts is None and not a.gated
    return plain and heads and a.norm == "layernorm" and a.mlp_bias


def _mixtral(a: Architecture) -> bool:
    biases = a.qkv_bias or a.output_bias or a.mlp_bias
    if a.experts is None or biases or not _llama_like(a):
        return False
    return not (a.experts.shared_ffn or a.experts.dense_layers or a.experts.router_bias)


def _qwen2(a: Architecture) -> bool:
    biases = a.qkv_bias and not a.output_bias and not a.mlp_bias
    return _llama_like(a) and a.experts is None and biases


def _mistral(a: Architecture) -> bool:
    return _llama(a) and a.window > 0 and not a.qkv_bias and not a.mlp_bias


def _llama(a: Architecture) -> bool:
    return _llama_like(a) and a.experts is None and a.qkv_bias == a.output_bias


def _gpt2(a: Architecture) -> bool:
    biases = a.qkv_bias and a.output_bias
    return _gpt_like(a) and a.positions > 0 and biases and not a.parallel_residual


def _gpt_neox(a: Architecture) -> bool:
    return _gpt_like(a) and not a.positions and a.qkv_bias == a.output_bias


FAMILIES: Mapping[str, Has] = {
    "mixtral": _mixtral,
    "qwen2": _qwen2,
    "mistral": _mistral,
    "llama": _llama,
    "gpt2": _gpt2,
    "gpt_neox": _gpt_neox,
}
