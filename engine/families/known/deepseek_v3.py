"""DeepSeek-V3 (arXiv 2412.19437): latent attention with more experts, fewer of them shared."""

from engine.architecture import Architecture, Experts
from engine.families.deepseek import latent_with_experts
from engine.families.family import Family
from engine.fields import Fields


def _read(c: Fields) -> Architecture:
    return latent_with_experts(
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


FAMILY = Family(model_type="deepseek_v3", read=_read)
