"""What DeepSeek-V2 and V3 have alike: latent attention, and experts beside shared ones."""

from dataclasses import replace

from engine.architecture import Architecture, Experts, LatentAttention
from engine.families.reading import at_most, shape_of
from engine.fields import Fields


def latent_with_experts(c: Fields, experts: Experts, *, mlp_bias: bool) -> Architecture:
    """Read latent attention, and `experts` whose `shared_ffn` is how many are shared.

    The multi-token prediction module is left out.
    """
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
