"""What classes of Transformers have alike: the questions that `has` of a family asks."""

from engine.architecture import Architecture


def llama_like(a: Architecture) -> bool:
    """Say whether Llama's classes have these blocks but for biases, windows and experts."""
    whole = not a.positions and a.rotary_dim == a.head_dim
    return _plain(a) and whole and a.norm == "rmsnorm" and a.gated and not a.parallel_residual


def llama_in_branches(a: Architecture) -> bool:
    """Say whether attention and MLP are Llama's, whatever norms and caps are around them."""
    plain = not (a.positions or a.parallel_residual or a.shared_norm or a.head_bias or a.mlp_bias)
    dense = a.experts is None and a.latent is None
    whole = a.rotary_dim == a.head_dim and a.gated and a.norm == "rmsnorm"
    return plain and dense and whole and a.qkv_bias == a.output_bias


def gpt_like(a: Architecture) -> bool:
    """Say whether GPT's classes have these blocks but for positions and biases of attention."""
    heads = a.kv_heads == a.heads and a.query_width == a.hidden
    plain = _plain(a) and a.experts is None and not a.gated
    return plain and heads and a.norm == "layernorm" and a.mlp_bias


def unbiased(a: Architecture) -> bool:
    """Say whether no matrix of attention and MLP has a bias."""
    return not (a.qkv_bias or a.output_bias or a.mlp_bias)


def _plain(a: Architecture) -> bool:
    """Say that nothing is there that none of the modelled classes has."""
    norms = a.norm_inputs and not (a.norm_outputs or a.shared_norm)
    extras = a.qk_norm != "none" or a.soft_cap or a.latent is not None or a.head_bias
    return norms and not extras
