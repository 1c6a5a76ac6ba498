"""A transformer's shape: its sizes, its parameter tensors and so its exact parameter count.

Vocabulary, fixed here: h hidden size, L layers, a query heads, k key-value heads, d head size,
f width of the MLP, V vocabulary rows, E routed experts, K experts a token is sent to.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, get_args

from engine.errors import Fault, InputError, unknown

Norm = Literal["rmsnorm", "layernorm", "layernorm-no-weight"]
Activation = Literal["silu", "gelu", "gelu-tanh", "relu"]
QkNorm = Literal["none", "head", "full"]
Place = Literal["embedding", "layer", "dense-layer", "moe-layer", "final", "head"]

# Vectors of the norm's width that it owns: a weight, or a weight and a bias.
NORM_VECTORS: Mapping[Norm, int] = {"rmsnorm": 1, "layernorm": 2, "layernorm-no-weight": 0}
MAY_BE_ZERO = frozenset(
    {"kv_heads", "head_dim", "positions", "rotary_dim", "window", "window_layers"}
)


@dataclass(frozen=True, kw_only=True)
class Experts:
    """Mixture of experts in place of the MLP of all but the first `dense_layers` layers."""

    routed: int
    per_token: int
    ffn: int
    shared_ffn: int = 0
    dense_layers: int = 0
    router_bias: bool = False


@dataclass(frozen=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): low-rank projections."""

    query_rank: int
    kv_rank: int
    nope_head_dim: int
    rope_head_dim: int
    value_head_dim: int


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """One parameter tensor and how often it occurs. `rows` is dim 0, the one that FSDP2 shards.

    `matmul` says whether a linear layer owns it, so that autocast casts it to 16 bits.
    """

    name: str
    place: Place
    rows: int
    columns: int = 1
    copies: int = 1
    matmul: bool = True

    @property
    def size(self) -> int:
        """Elements of one copy."""
        return self.rows * self.columns

    @property
    def routed(self) -> bool:
        """Whether it has the matrices of all routed experts, one behind the other in dim 0."""
        return self.name in {"expert up", "expert down"}


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The sizes and switches that fix a decoder's tensors. Checked at birth.

    Args:
        layers: L, decoder blocks.
        hidden: h, width of the residual stream.
        heads: a, query heads.
        kv_heads: k, key and value heads; 0 means as many as `heads`.
        head_dim: d, size of a head; 0 means `hidden / heads`.
        ffn: f, width of the (dense) MLP.
        vocab: V, rows of the embedding.
        positions: rows of a learned position table; 0 means rotary positions.
        rotary_dim: elements of each head that rotary positions turn; 0 means the whole head.
        gated: three MLP matrices (gate, up, down) instead of two.
        norm_inputs: the block's norms stand before attention and MLP.
        norm_outputs: norms stand behind them (OLMo-2), with `norm_inputs` both (Gemma 2).
        shared_norm: attention and MLP read the output of one norm (Phi-2), so the block has one.
        dropout: probability that the published model was trained with, in [0, 1).
        window: tokens that a windowed layer attends to; 0 means that no layer has a window.
        window_layers: how many layers have the window; 0 means all of them.

    Raises:
        InputError: listing every size that is not positive and every pair that does not divide.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int = 0
    head_dim: int = 0
    ffn: int
    vocab: int
    positions: int = 0
    rotary_dim: int = 0
    gated: bool = True
    activation: Activation = "silu"
    norm: Norm = "rmsnorm"
    norm_inputs: bool = True
    norm_outputs: bool = False
    shared_norm: bool = False
    qk_norm: QkNorm = "none"
    parallel_residual: bool = False
    tied: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    head_bias: bool = False
    dropout: float = 0.0
    soft_cap: bool = False
    window: int = 0
    window_layers: int = 0
    experts: Experts | None = None
    latent: LatentAttention | None = None

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise InputError(*faults)
        if not self.kv_heads:
            object.__setattr__(self, "kv_heads", self.heads)
        if not self.head_dim:
            object.__setattr__(self, "head_dim", self.hidden // self.heads)
        if not self.rotary_dim:
            object.__setattr__(self, "rotary_dim", self.head_dim)

    def _faults(self) -> Iterator[Fault]:
        sizes = list(_faults_of_fields("model", self, MAY_BE_ZERO))
        yield from sizes
        for name, choices in (("norm", Norm), ("activation", Activation), ("qk_norm", QkNorm)):
            value = getattr(self, name)
            if value not in get_args(choices):
                yield unknown(f"model.{name}", str(value), get_args(choices))
        rate: object = self.dropout
        if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0 <= rate < 1:
            yield Fault("model.dropout", f"{rate!r} is not in [0, 1)")
        yield from self._faults_of_heads()
        yield from self._faults_of_parts(compare=not sizes)

    def _faults_of_heads(self) -> Iterator[Fault]:
        numbers: tuple[object, ...] = (self.hidden, self.heads, self.kv_heads, self.head_dim)
        if not all(isinstance(n, int) and n >= 0 for n in numbers) or not self.heads:
            return
        if not self.head_dim and self.hidden % self.heads:
            yield Fault(
                "model.heads",
                f"{self.heads} heads do not divide hidden = {self.hidden}",
                "give head_dim or another number of heads",
            )
        if self.kv_heads and self.heads % self.kv_heads:
            yield Fault(
                "model.kv_heads",
                f"{self.kv_heads} key-value heads do not divide {self.heads} heads",
            )

    def _faults_of_parts(self, *, compare: bool) -> Iterator[Fault]:
        if compare:
            yield from _more("model.window_layers", self.window_layers, self.layers, "layers")
            one_head = self.head_dim or self.hidden // max(self.heads, 1)
            yield from _more("model.rotary_dim", self.rotary_dim, one_head, "elements of a head")
        if self.latent is not None:
            yield from _faults_of_fields("model.latent", self.latent, {"query_rank"})
        if self.experts is None:
            return
        e = self.experts
        faults = list(_faults_of_fields("model.experts", e, {"shared_ffn", "dense_layers"}))
        yield from faults
        if compare and not faults:
            yield from _more("model.experts.per_token", e.per_token, e.routed, "experts")
            yield from _more("model.experts.dense_layers", e.dense_layers, self.layers, "layers")

    @property
    def query_width(self) -> int:
        """Width q = a · d: elements of all queries of a token."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Width kv = k · d: elements of the keys (or the values) of a token and layer."""
        return self.kv_heads * self.head_dim

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every parameter tensor, from the embedding to the head."""
        return tuple(_tensors(self))

    @cached_property
    def parameters(self) -> int:
        """Exact number of parameters; a tied head counts once."""
        return sum(t.size * t.copies for t in self.tensors)

    @property
    def active_parameters(self) -> int:
        """Parameters that a token meets: all but the routed experts it is not sent to."""
        if self.experts is None:
            return self.parameters
        idle = self.experts.routed - self.experts.per_token
        matrices = 3 if self.gated else 2
        moe_layers = self.layers - self.experts.dense_layers
        return self.parameters - idle * matrices * self.hidden * self.experts.ffn * moe_layers


def _more(where: str, value: int, most: int, of: str) -> Iterator[Fault]:
    if value > most:
        yield Fault(where, f"{value:,} is more than the {most:,} {of}")


def _faults_of_fields(
    where: str, part: Architecture | Experts | LatentAttention, may_be_zero: Collection[str]
) -> Iterator[Fault]:
    """Yield what is wrong with the whole numbers and the switches of `part`."""
    for field in fields(part):
        value, at = getattr(part, field.name), f"{where}.{field.name}"
        if field.type in {bool, "bool"} and not isinstance(value, bool):
            yield Fault(at, f"{value!r} is not true or false")
        if field.type not in {int, "int"}:
            continue
        least = 0 if field.name in may_be_zero else 1
        if not isinstance(value, int) or isinstance(value, bool):
            yield Fault(at, f"{value!r} is not a whole number")
        elif value < least:
            yield Fault(at, f"{value:,} is less than {least}")
        elif value > 10**9:
            yield Fault(at, f"{value:,} is more than 1,000,000,000")


def _tensors(a: Architecture) -> Iterator[Tensor]:
    h = a.hidden
    yield Tensor(name="embedding", place="embedding", rows=a.vocab, columns=h, matmul=a.tied)
    if a.positions:
        yield Tensor(
            name="positions", place="embedding", rows=a.positions, columns=h, matmul=False
        )
    yield from _norm(a, "attention norm", "layer", h, a.layers * a.norm_inputs)
    own_norm = a.norm_inputs and not a.shared_norm
    yield from _norm(a, "MLP norm", "layer", h, a.layers * own_norm)
    yield from _norm(a, "attention output norm", "layer", h, a.layers * a.norm_outputs)
    yield from _norm(a, "MLP output norm", "layer", h, a.layers * a.norm_outputs)
    yield from _latent_attention(a, a.latent) if a.latent else _attention(a)
    dense_layers = a.layers if a.experts is None else a.experts.dense_layers
    dense: Place = "layer" if a.experts is None else "dense-layer"
    yield from _mlp(a, "MLP", dense, a.ffn, dense_layers, bias=a.mlp_bias)
    if a.experts is not None:
        yield from _experts(a, a.experts)
    yield from _norm(a, "final norm", "final", h, 1)
    if not a.tied:
        yield Tensor(name="head", place="head", rows=a.vocab, columns=h)
    if a.head_bias:
        yield Tensor(name="head bias", place="head", rows=a.vocab)


def _norm(a: Architecture, name: str, place: Place, width: int, copies: int) -> Iterator[Tensor]:
    if not copies or a.norm == "layernorm-no-weight":
        return
    yield Tensor(name=name, place=place, rows=width, copies=copies, matmul=False)
    if a.norm == "layernorm":
        yield Tensor(name=f"{name} bias", place=place, rows=width, copies=copies, matmul=False)


def _linear(
    name: str, place: Place, shape: tuple[int, int], copies: int, *, bias: bool = False
) -> Iterator[Tensor]:
    rows, columns = shape
    if not copies or not rows:
        return
    yield Tensor(name=name, place=place, rows=rows, columns=columns, copies=copies)
    if bias:
        yield Tensor(name=f"{name} bias", place=place, rows=rows, copies=copies)


def _attention(a: Architecture) -> Iterator[Tensor]:
    h, q, kv, layers = a.hidden, a.query_width, a.kv_width, a.layers
    yield from _linear("query", "layer", (q, h), layers, bias=a.qkv_bias)
    yield from _linear("key", "layer", (kv, h), layers, bias=a.qkv_bias)
    yield from _linear("value", "layer", (kv, h), layers, bias=a.qkv_bias)
    if a.qk_norm != "none":
        one_head = a.qk_norm == "head"
        yield from _norm(a, "query norm", "layer", a.head_dim if one_head else q, layers)
        yield from _norm(a, "key norm", "layer", a.head_dim if one_head else kv, layers)
    yield from _linear("attention output", "layer", (h, q), layers, bias=a.output_bias)


def _latent_attention(a: Architecture, m: LatentAttention) -> Iterator[Tensor]:
    h, layers = a.hidden, a.layers
    queries = a.heads * (m.nope_head_dim + m.rope_head_dim)
    if m.query_rank:
        yield from _linear("query down", "layer", (m.query_rank, h), layers, bias=a.qkv_bias)
        yield from _norm(a, "query norm", "layer", m.query_rank, layers)
        yield from _linear("query up", "layer", (queries, m.query_rank), layers)
    else:
        yield from _linear("query", "layer", (queries, h), layers)
    down = (m.kv_rank + m.rope_head_dim, h)
    yield from _linear("key-value down", "layer", down, layers, bias=a.qkv_bias)
    yield from _norm(a, "key-value norm", "layer", m.kv_rank, layers)
    up = a.heads * (m.nope_head_dim + m.value_head_dim)
    yield from _linear("key-value up", "layer", (up, m.kv_rank), layers)
    values = a.heads * m.value_head_dim
    yield from _linear("attention output", "layer", (h, values), layers, bias=a.output_bias)


def _mlp(
    a: Architecture, name: str, place: Place, width: int, copies: int, *, bias: bool
) -> Iterator[Tensor]:
    h = a.hidden
    if not width:
        return
    if a.gated:
        yield from _linear(f"{name} gate", place, (width, h), copies, bias=bias)
    yield from _linear(f"{name} up", place, (width, h), copies, bias=bias)
    yield from _linear(f"{name} down", place, (h, width), copies, bias=bias)


def _experts(a: Architecture, e: Experts) -> Iterator[Tensor]:
    layers = a.layers - e.dense_layers
    yield from _linear("router", "moe-layer", (e.routed, a.hidden), layers)
    if e.router_bias and layers:
        yield Tensor(
            name="router bias", place="moe-layer", rows=e.routed, copies=layers, matmul=False
        )
    yield from _mlp(a, "shared expert", "moe-layer", e.shared_ffn, layers, bias=a.mlp_bias)
    # A matrix of all experts is one tensor, with the experts in dim 0. DeepSeek-V2's mlp_bias
    # reaches the dense and shared MLPs only.
    if layers:
        up = (2 if a.gated else 1) * e.ffn * a.hidden
        for name, columns in (("expert up", up), ("expert down", e.ffn * a.hidden)):
            yield Tensor(
                name=name, place="moe-layer", rows=e.routed, columns=columns, copies=layers
            )
