"""Inference of the `hf` stack beside classes of Transformers, every byte of which is counted."""

import pytest

from engine.architecture import Experts
from engine.estimate import ledger
from engine.ledger import Category, Phase

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import MistralConfig, MistralForCausalLM
from transformers.cache_utils import DynamicCache, StaticCache

from engine.verify import hf
from engine.verify.live import LiveBytes

GPT_2 = {
    "gated": False,
    "norm": "layernorm",
    "activation": "gelu-tanh",
    "positions": 600,
    "qkv_bias": True,
    "output_bias": True,
    "mlp_bias": True,
    "tied": True,
}
NEOX = GPT_2 | {"activation": "gelu", "positions": 0, "rotary_dim": 8, "tied": False}
EXPERTS = Experts(routed=8, per_token=2, ffn=704)
# Switches of a class, precision, sequences, tokens, and how near the working sets come. GPT-NeoX
# puts heads together of two parts beside the growing cache.
TRACED = {
    "llama": ({}, "mixed", 2, 512, 0.002),
    "llama, grouped": ({"kv_heads": 2}, "mixed", 3, 300, 0.002),
    "llama, fp32": ({"kv_heads": 4}, "fp32", 2, 256, 0.002),
    "qwen2": ({"kv_heads": 2, "qkv_bias": True, "tied": True}, "mixed", 2, 512, 0.002),
    "gpt-2": (GPT_2, "mixed", 3, 300, 0.002),
    "gpt-neox": (NEOX, "mixed", 2, 512, 0.02),
    "mixtral": ({"kv_heads": 2, "experts": EXPERTS}, "mixed", 2, 512, 0.002),
}


class Counted(LiveBytes):
    """Sums of two tensors are third ones here: no gradients meet."""

    def _add_in_place(self, older, total):
        pass

    def peak(self, since=0):
        now = most = 0
        for at, (_, change) in enumerate(self._events):
            now += change
            most = max(most, now) if at >= since else now
        return most

    @property
    def now(self):
        return sum(change for _, change in self._events)

    @property
    def at(self):
        return len(self._events)


def generated(model, cache, sequences, tokens):
    """Return the peaks of a prefill and of one token more, and what is there after both."""
    live = Counted()
    with FakeTensorMode(allow_non_fake_inputs=True), live.counting(), torch.no_grad():
        made = model().eval()
        loaded = live.now
        kept = cache(made.config)
        known = {"cache": kept, "use_cache": True, "logits_to_keep": 1}
        ids = torch.zeros(sequences, tokens - 1, dtype=torch.long)
        made(input_ids=ids, **known)
        prefill, behind, begin = live.peak(), live.now, live.at
        made(input_ids=ids[:, :1], **known)
        return loaded, prefill, live.peak(begin), behind, held(kept)


def held(cache):
    tensors = [one for layer in cache.layers for one in (layer.keys, layer.values)]
    return sum(one.untyped_storage().nbytes() for one in tensors)


@pytest.mark.parametrize("name", TRACED)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_prefill_and_decode_meet_those_of_a_class(scenario, name):
    shape, precision, sequences, tokens, near = TRACED[name]
    made = scenario(
        shape={"layers": 4, **shape},
        implementation="hf",
        mode="inference",
        precision=precision,
        micro_batch=sequences,
        sequence=tokens,
    )
    dtype = torch.float32 if precision == "fp32" else torch.bfloat16
    book = ledger(made)
    loaded, prefill, decode, _, cache = generated(
        lambda: hf.build(made, dtype).model,
        lambda config: DynamicCache(config=config),
        sequences,
        tokens,
    )
    assert cache == book.size("KV cache")
    assert loaded == pytest.approx(book.size("weights"), rel=0.001)
    outside = book.size("cuBLAS workspace")
    assert prefill == pytest.approx(book.phases[Phase.PREFILL] - outside, rel=near)
    assert decode == pytest.approx(book.phases[Phase.DECODE] - outside, rel=near)


def mistral():
    sizes = {"num_hidden_layers": 3, "hidden_size": 256, "num_attention_heads": 8}
    config = MistralConfig(
        **sizes,
        num_key_value_heads=2,
        intermediate_size=704,
        vocab_size=1000,
        sliding_window=64,
    )
    config._attn_implementation = hf.FUSED_ATTENTION
    torch.set_default_dtype(torch.bfloat16)
    try:
        return MistralForCausalLM(config)
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_window_lets_go_of_the_prompt_with_the_next_token(scenario):
    """After the prefill a window is a view of all tokens; a token later it is 64 of them."""
    made = scenario(
        shape={"kv_heads": 2, "window": 64},
        implementation="hf",
        mode="inference",
        micro_batch=2,
        sequence=300,
    )
    book = ledger(made)
    loaded, _, _, behind, cache = generated(
        mistral, lambda config: DynamicCache(config=config), 2, 300
    )
    assert cache == book.size("KV cache of windowed layers")
    whole = book.size("KV cache of windowed layers, whole prompt") // 300 * 299
    assert behind - loaded == pytest.approx(whole, rel=0.02)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_static_cache_has_its_tokens_from_the_start(scenario):
    """What the fused stack's cache is with one block of all tokens."""
    made = scenario(shape={"kv_heads": 2}, implementation="hf", mode="inference", sequence=512)
    blocks = scenario(shape={"kv_heads": 2}, mode="inference", sequence=100, block=512)
    _, _, _, _, cache = generated(
        lambda: hf.build(made, torch.bfloat16).model,
        lambda config: StaticCache(config=config, max_cache_len=512),
        1,
        100,
    )
    assert cache == ledger(blocks).total(Category.KV_CACHE)
