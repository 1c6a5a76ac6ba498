"""DeepSeek-V2 (arXiv 2405.04434): latent attention with experts."""

from engine.architecture import Architecture, Experts
from engine.families.deepseek import latent_with_experts
from engine.families.family import Family
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    return latent_with_experts(
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


FAMILY = Family(model_type="deepseek_v2", read=_read)
