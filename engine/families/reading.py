"""What the configurations of most families name alike, read: sizes, heads and windows."""

from collections.abc import Mapping
from typing import TypedDict

from engine.architecture import Activation
from engine.fields import Fields, show

ACTIVATIONS: Mapping[str, Activation] = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "relu": "relu",
}
LAYER_KINDS = ("sliding_attention", "full_attention")


class Shape(TypedDict):
    """What every family has."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    activation: Activation
    tied: bool
    dropout: float


class Windows(TypedDict):
    """A window and how many layers have it; 0 layers means all."""

    window: int
    window_layers: int


def shape_of(
    c: Fields,
    *,
    kv_heads: int | None = None,
    head_dim: int = 0,
    activation: str = "silu",
    tied: bool = False,
) -> Shape:
    """Read the fields that most families name alike; the arguments are the class's defaults."""
    hidden, heads = c.size("hidden_size"), c.size("num_attention_heads")
    kv = c.size("num_key_value_heads", default=kv_heads or heads, null=heads)
    one_head = c.size("head_dim", default=head_dim, null=head_dim)
    if not one_head:
        divides(c, "num_attention_heads", heads, "hidden_size", hidden)
    divides(c, "num_key_value_heads", kv, "num_attention_heads", heads)
    rates = ("attention_dropout", "resid_pdrop", "embd_pdrop", "hidden_dropout")
    return Shape(
        layers=c.size("num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=kv,
        head_dim=one_head,
        ffn=c.size("intermediate_size"),
        vocab=c.size("vocab_size"),
        activation=c.choice("hidden_act", ACTIVATIONS, default=activation),
        tied=c.switch("tie_word_embeddings", default=tied),
        dropout=max(c.rate(rate) for rate in rates),
    )


def rotary_of(c: Fields, head: int, *, default: float) -> int:
    """Return the elements of a head that are rotated, from the share that the class names."""
    nested = c.value("rope_parameters")
    share = nested.get("partial_rotary_factor") if isinstance(nested, dict) else None
    for key in ("rotary_pct", "partial_rotary_factor"):
        share = c.value(key) if share is None else share
    share = default if share is None else share
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        c.fault("partial_rotary_factor", f"{show(share)} is not a share in (0, 1]")
        return head
    return max(1, int(head * share))


def divides(c: Fields, small_key: str, small: int, large_key: str, large: int) -> None:
    """Note a fault where `small` does not divide `large`."""
    if large % small:
        what = f"{small:,} does not divide {large_key} = {large:,}"
        c.disagree((small_key, large_key), what, "change one of them")


def at_most(c: Fields, small_key: str, small: int, large_key: str, large: int) -> None:
    """Note a fault where `small` is more than `large`."""
    if small > large:
        c.disagree((small_key, large_key), f"{small:,} is more than {large_key} = {large:,}")


def window_everywhere(c: Fields, *, default: int = 0) -> Windows:
    """Return the window that all layers have, if any."""
    window = c.size("sliding_window", default=default, null=0, least=0)
    return Windows(window=window, window_layers=0)


def window_of_late_layers(c: Fields, layers: int) -> Windows:
    """Return the window of the layers behind `max_window_layers`, if any."""
    full = c.size("max_window_layers", default=28, least=0)
    window = c.size("sliding_window", default=4096, null=0, least=0)
    return windows_of(c, window * c.switch("use_sliding_window"), layers, max(0, layers - full))


def windows_of(c: Fields, window: int, layers: int, windowed: int) -> Windows:
    """Return the window and its layers: `windowed` of them unless `layer_types` lists them."""
    kinds = c.value("layer_types")
    if isinstance(kinds, list):
        if len(kinds) != layers or any(k not in LAYER_KINDS for k in kinds):
            what = f"is not one of {' and '.join(LAYER_KINDS)} for each layer"
            c.disagree(("layer_types", "num_hidden_layers"), what)
        windowed = kinds.count(LAYER_KINDS[0])
    elif kinds is not None:
        c.fault("layer_types", f"{show(kinds)} is not a list")
    if not window or not windowed:
        return Windows(window=0, window_layers=0)
    return Windows(window=window, window_layers=windowed)
