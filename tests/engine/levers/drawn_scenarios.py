"""Scenarios by chance, for what holds of all of them."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

SAMPLE = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

scenarios = st.fixed_dictionaries(
    {
        "name": st.sampled_from(
            ("gpt2", "llama-3.2-1b", "llama-3-8b", "qwen2.5-7b", "mixtral-8x7b")
        ),
        "gpu": st.sampled_from(("rtx-4090", "a100-40gb", "h100-80gb", "b200")),
        "implementation": st.sampled_from(("fused", "hf")),
        "precision": st.sampled_from(("mixed", "mixed-fp32-grad", "pure-bf16")),
        "optimizer": st.sampled_from(("adamw", "adamw-fused", "sgd-momentum")),
        "attention": st.sampled_from(("flash", "eager")),
        "recompute": st.sampled_from(("none", "full")),
        "micro_batch": st.sampled_from((1, 2, 3, 8)),
        "gradient_accumulation": st.sampled_from((1, 2, 6)),
        "sequence": st.sampled_from((256, 1024)),
        "data": st.sampled_from((1, 2, 6, 8, 16)),
        "zero": st.sampled_from((0, 1, 2)),
    }
)
